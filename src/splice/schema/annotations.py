"""Types, made ready for those who decode: annotations that msgspec or pydantic understand, and hooks for other types.

`Annotated[int, ...]` may carry plain strings, `msgspec.Meta`, `annotated_types`, `typing_extensions.Doc`, pydantic's
`Field(...)` and our `Header`. They are told apart by their attributes, so none of these libraries is imported: a class
of pydantic's proves that the user's code has imported it already.

msgspec leaves paths, iterables and everything of pydantic's to the hooks.
"""

import enum
import functools
import os
import sys
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, Literal, NewType, Union, cast, get_args, get_origin

import msgspec

from splice.schema.schemas import Schema

UNIONS = (Union, types.UnionType)
HEADER = "x-mcp-header"
_LIMITS = ("ge", "gt", "le", "lt", "multiple_of", "min_length", "max_length", "pattern")
_QUALIFIERS = ("Required", "NotRequired", "ReadOnly", "Final")
_MARKS = ("__get_pydantic_core_schema__", "__pydantic_validator__")


class Header(msgspec.Struct, frozen=True):
    """Mark: clients repeat this argument in the HTTP header `Mcp-Param-<name>`, for those who route requests.

    The tool is refused when it is registered if the name cannot be part of a header, or the type not stand in one.

    https://modelcontextprotocol.io/specification/2026-07-28/server/tools#x-mcp-header
    """

    name: str


class NotJSON(TypeError):
    """A type that JSON has nothing like, whoever decodes."""

    def __init__(self, kind: Any) -> None:
        super().__init__(f"{name_of(kind)} cannot be expressed in JSON Schema")


class Notes(msgspec.Struct):
    """Everything that was said beside one type."""

    words: dict[str, Any] = {}
    """Members of the JSON Schema: description, title, examples, header, and extra ones as the author wrote them."""
    limits: dict[str, Any] = {}


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
    remedy = "import or define it there, outside of `if TYPE_CHECKING` and of other functions"
    return TypeError(f"{where}: the name {error.name!r} in its annotations is not known in its module; {remedy}")


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
        if in_class and notes(item for item in metadata if not isinstance(item, msgspec.Meta)).limits:
            raise TypeError("limits of its fields need `msgspec.Meta`, or pydantic, which is not imported")
        return cast("Any", Annotated)[inner, msgspec.Meta(extra_json_schema=found.words or None, **found.limits)]

    return _rewritten(kind, said)


def for_pydantic(kind: Any, pydantic_field: Callable[..., Any]) -> Any:
    """Rewrite an annotation so that pydantic sees everything that is said in it."""

    def said(inner: Any, metadata: tuple[Any, ...]) -> Any:
        own = [item for item in metadata if not isinstance(item, (str, msgspec.Meta, Header))]
        rest = notes(item for item in metadata if isinstance(item, (str, msgspec.Meta, Header)))
        return cast("Any", Annotated)[(inner, *own, pydantic_field(json_schema_extra=rest.words, **rest.limits))]

    return _rewritten(kind, said)


def _rewritten(kind: Any, say: Callable[[Any, tuple[Any, ...]], Any]) -> Any:
    """Apply `say` to every `Annotated` in an annotation; nothing is done inside of classes."""
    if is_annotated(kind):
        return say(_rewritten(kind.__origin__, say), kind.__metadata__)
    if type(kind).__name__ == "TypeAliasType":
        return _rewritten(kind.__value__, say)
    origin, args = get_origin(kind), get_args(kind)
    if origin is Literal:
        if any(isinstance(value, enum.Enum) for value in args):
            raise NotJSON(kind)  # neither library would decode its member from the value
        # msgspec sorts the values; the author's order says more.
        return cast("Any", Annotated)[kind, msgspec.Meta(extra_json_schema={"enum": list(args)})]
    inner = tuple(_rewritten(arg, say) for arg in args)
    if getattr(origin, "_name", None) in _QUALIFIERS:
        return inner[0]
    if Iterable in (kind, origin):
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
        limits = {name: getattr(item, name, None) for name in _LIMITS}
        found.limits |= {name: value for name, value in limits.items() if value is not None and not callable(value)}
        words = {name: getattr(item, name, None) for name in ("title", "description", "examples")}
        words["description"] = words["description"] or getattr(item, "documentation", None)
        found.words |= {name: value for name, value in words.items() if value}
        for extra in (getattr(item, "extra_json_schema", None), getattr(item, "json_schema_extra", None)):
            found.words |= cast("Mapping[str, Any]", extra) if isinstance(extra, Mapping) else {}
        for constraint in item.metadata if is_field else item if hasattr(item, "__iter__") else ():
            _read(constraint, found)


def name_of(kind: Any) -> str:
    """Name a type for people."""
    kind = bare(kind)
    origin = get_origin(kind)
    if origin is not None and isinstance(origin, type) and origin not in UNIONS:
        return "_".join([origin.__name__, *map(name_of, get_args(kind))])
    return kind.__name__ if isinstance(kind, type) else repr(kind).replace("typing.", "")


# Types that msgspec leaves to others.


def is_pydantic(kind: Any) -> bool:
    """Tell whether a class is decoded by pydantic: a model, one of its dataclasses, or one of its types."""
    return any(hasattr(kind, mark) for mark in _MARKS)


def is_path(kind: Any) -> bool:
    """Tell whether a class is one for paths."""
    return hasattr(kind, "__fspath__")


@functools.lru_cache(maxsize=512)
def adapter(kind: Any) -> Any:
    """Give pydantic's adapter of a class of its own. How strict it is, the class decides."""
    return cast("Any", sys.modules["pydantic"]).TypeAdapter(kind)


def strict_adapter(kind: Any) -> Any:
    """Give pydantic's adapter for any type, as strict as msgspec is, except with models that set this themselves.

    Raises `TypeError` if it is not imported; for a type that it does not know either, it raises `RuntimeError`.
    """
    pydantic = cast("Any", sys.modules.get("pydantic"))
    if pydantic is None:
        raise TypeError("it might be known to pydantic, which is not imported")
    # A new type of it, because an adapter takes no configuration for a dataclass as such.
    new = cast("Any", NewType)("new", for_pydantic(kind, pydantic.Field))
    return pydantic.TypeAdapter(new, config={"strict": True, "val_json_bytes": "base64", "ser_json_bytes": "base64"})


def pydantic_schema(of: Any, mode: str, suffix: str) -> tuple[Schema, dict[str, Schema]]:
    """Give the schema of an adapter, and its definitions, all named with `suffix`.

    Raises what pydantic raises for a type that JSON cannot carry: `RuntimeError`.
    """
    # Titles that only repeat a name are left out.
    generator = cast("Any", sys.modules["pydantic.json_schema"]).GenerateJsonSchema
    plain = type("Untitled", (generator,), {"field_title_should_be_set": _never})
    make, template = cast("Any", type(of)).json_schemas, f"#/$defs/{{model}}{suffix}"
    schemas, rest = make([(0, mode, of)], ref_template=template, schema_generator=plain)
    defs: dict[str, Schema] = rest.get("$defs", {})
    for name, schema in defs.items():
        if schema.get("title") == name:
            del schema["title"]
    return schemas[0, mode], {name + suffix: schema for name, schema in defs.items()}


def _never(*_: object) -> bool:
    return False


class Foreign(type):
    """Types that `decode_hook` decodes from their JSON by a function of their own, whatever comes of it."""

    from_json: Callable[[bytes], Any]

    def __instancecheck__(cls, instance: object) -> bool:
        """Let msgspec take every value for one of this type."""
        return True


def left_to(from_json: Callable[[bytes], Any]) -> Foreign:
    """Make a type that msgspec leaves to `from_json`, which raises `ValueError`."""
    return Foreign("Left", (), {"from_json": staticmethod(from_json)})


def decode_hook(kind: Any, value: Any) -> Any:
    """Decode what msgspec does not: the `dec_hook` of every decoder in this package."""
    return _decoding(kind)(value)


@functools.lru_cache(maxsize=512)
def _decoding(kind: Any) -> Callable[[Any], Any]:
    if isinstance(kind, Foreign):
        return lambda value: kind.from_json(msgspec.json.encode(value))
    if is_pydantic(kind):
        return cast("Callable[[Any], Any]", adapter(kind).validate_python)
    if is_path(kind):
        return lambda value: kind(msgspec.convert(value, str))
    if (several := for_msgspec(kind)) is not kind:  # it is an `Iterable`
        return lambda value: msgspec.convert(value, several, str_keys=True, dec_hook=decode_hook)
    return lambda value: value


def encode_hook(value: Any) -> Any:
    """Encode what msgspec does not: written JSON, models, paths, subclasses of builtins, what pydantic knows."""
    if is_pydantic(type(value)):
        return adapter(cast("Any", type(value))).dump_python(value, mode="json", by_alias=True)
    if isinstance(value, msgspec.Raw):
        return msgspec.json.decode(value)
    if isinstance(value, os.PathLike):
        return os.fspath(cast("os.PathLike[str]", value))
    for base in (str, int, float):
        if isinstance(value, base):
            return base(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")
