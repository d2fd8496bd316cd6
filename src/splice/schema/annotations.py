"""Annotations, rewritten so that msgspec or pydantic understands all of them.

`Annotated[int, ...]` may carry plain strings, `msgspec.Meta`, `annotated_types`, `typing_extensions.Doc`, pydantic's
`Field(...)` and our `Header`. They are told apart by their attributes, so none of these libraries is imported.
"""

import enum
import types
import typing
from collections import abc
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, Union, cast

from msgspec import Meta, Struct, field

UNIONS = (Union, types.UnionType)
HEADER = "x-mcp-header"
_LIMITS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
_QUALIFIERS = ("Required", "NotRequired", "ReadOnly", "Final")


class Header(Struct, frozen=True):
    """Mark: clients repeat this argument in the HTTP header `Mcp-Param-<name>`, for those who route requests.

    The tool is refused when it is registered if the name cannot be part of a header, or the type not stand in one.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
    """

    name: str


class NotJSON(TypeError):
    """A type that JSON has nothing like, whoever decodes."""

    def __init__(self, kind: Any) -> None:
        super().__init__(f"{name_of(kind)} cannot be expressed in JSON Schema")


class Notes(Struct):
    """Everything that was said beside one type."""

    words: dict[str, Any] = field(default_factory=dict)
    """Members of the JSON Schema: description, title, examples, header, and extra ones as the author wrote them."""
    limits: dict[str, Any] = field(default_factory=dict)


def notes(metadata: Iterable[Any]) -> Notes:
    """Read the metadata of an `Annotated`. An unknown object is ignored, as `Annotated` demands.

    Raises `TypeError` for what only pydantic can do.
    """
    found = Notes()
    for item in metadata:
        _read(item, found)
    return found


def is_pydantic_field(value: object) -> bool:
    """Tell whether `value` is what pydantic's `Field(...)` returns."""
    return type(value).__name__ == "FieldInfo" and hasattr(value, "metadata") and hasattr(value, "default_factory")


def unknown_name(where: str, error: NameError) -> TypeError:
    """Explain that an annotation names what its module does not have."""
    return TypeError(
        f"{where}: the name {error.name!r} in its annotations is not known in its module; "
        f"import or define it there, outside of `if TYPE_CHECKING` and of other functions"
    )


def is_annotated(kind: Any) -> bool:
    """Tell whether a type is an `Annotated[...]`."""
    return hasattr(kind, "__metadata__")


def bare(kind: Any) -> Any:
    """Give a type without what is said beside it."""
    return kind.__origin__ if is_annotated(kind) else kind


def for_msgspec(kind: Any, *, in_class: bool = False) -> Any:
    """Rewrite an annotation so that msgspec sees everything that is said in it.

    Raises `TypeError` if something in it is for pydantic only, and `ValueError` for limits that do not go together.
    `in_class`, limits in the words of others are for pydantic too: there, msgspec checks its own `Meta` alone.
    """

    def said(inner: Any, metadata: tuple[Any, ...]) -> Any:
        found = notes(metadata)
        if in_class and notes(item for item in metadata if not isinstance(item, Meta)).limits:
            raise TypeError("limits of its fields need `msgspec.Meta`, or pydantic, which is not imported")
        return cast("Any", Annotated)[inner, Meta(extra_json_schema=found.words or None, **found.limits)]

    return _rewritten(kind, said)


def for_pydantic(kind: Any, pydantic_field: Callable[..., Any]) -> Any:
    """Rewrite an annotation so that pydantic sees everything that is said in it."""

    def said(inner: Any, metadata: tuple[Any, ...]) -> Any:
        own = [item for item in metadata if not isinstance(item, (str, Meta, Header))]
        rest = notes(item for item in metadata if isinstance(item, (str, Meta, Header)))
        return cast("Any", Annotated)[(inner, *own, pydantic_field(json_schema_extra=rest.words, **rest.limits))]

    return _rewritten(kind, said)


def _rewritten(kind: Any, say: Callable[[Any, tuple[Any, ...]], Any]) -> Any:
    """Apply `say` to every `Annotated` in an annotation; nothing is done inside of classes."""
    if is_annotated(kind):
        return say(_rewritten(kind.__origin__, say), kind.__metadata__)
    if type(kind).__name__ == "TypeAliasType":
        return _rewritten(kind.__value__, say)
    origin, args = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal:
        if any(isinstance(value, enum.Enum) for value in args):
            raise NotJSON(kind)  # neither library would decode its member from the value
        # msgspec sorts the values; the author's order says more.
        return cast("Any", Annotated)[kind, Meta(extra_json_schema={"enum": list(args)})]
    inner = tuple(_rewritten(arg, say) for arg in args)
    if getattr(origin, "_name", None) in _QUALIFIERS:
        return inner[0]
    if abc.Iterable in (kind, origin):
        return types.GenericAlias(list, inner) if inner else list
    same = all(new is old for new, old in zip(inner, args, strict=True))
    return kind if same else Union[inner] if origin in UNIONS else origin[inner]  # noqa: UP007 - made at run time


def _read(item: Any, found: Notes) -> None:
    is_field = is_pydantic_field(item)
    is_foreign = type(item).__module__.partition(".")[0] == "pydantic" and not is_field
    if is_foreign or getattr(item, "discriminator", None) is not None:
        raise TypeError(f"{type(item).__name__} needs pydantic, which is not imported")
    if isinstance(item, str):
        found.words["description"] = item
    elif isinstance(item, Header):
        found.words[HEADER] = item.name
    else:
        said = {name: getattr(item, name, None) for name in (*_LIMITS, "title", "description", "examples")}
        said["description"] = said["description"] or getattr(item, "documentation", None)
        for name, value in said.items():
            if name in _LIMITS and value is not None and not callable(value):
                found.limits[name] = value
            elif name not in _LIMITS and value:
                found.words[name] = value
        for extra in (getattr(item, "extra_json_schema", None), getattr(item, "json_schema_extra", None)):
            found.words |= cast("Mapping[str, Any]", extra) if isinstance(extra, Mapping) else {}
        for constraint in item.metadata if is_field else item if hasattr(item, "__iter__") else ():
            _read(constraint, found)


def name_of(kind: Any) -> str:
    """Name a type for people."""
    kind = bare(kind)
    origin = typing.get_origin(kind)
    if origin is not None and isinstance(origin, type) and origin not in UNIONS:
        return "_".join([origin.__name__, *map(name_of, typing.get_args(kind))])
    return kind.__name__ if isinstance(kind, type) else repr(kind).replace("typing.", "")
