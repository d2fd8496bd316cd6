"""A Python function as something with a JSON Schema: its arguments are decoded, its result is described.

Everything that can be worked out at registration is: one Struct with a field per parameter, one decoder. A call is one
decode. Parameters that a caller leaves out are left out of the call too, so Python's own defaults apply.
"""

import functools
import inspect
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import msgspec

from splice.schema import annotations, docstrings, schemas
from splice.schema.types import Shape, Types, with_default

_REFUSED: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "`*{name}` has no names; declare a list parameter instead",
    inspect.Parameter.VAR_KEYWORD: "`**{name}` has no schema; declare each parameter, or one dict parameter, instead",
    inspect.Parameter.POSITIONAL_ONLY: "`{name}` is positional-only, but arguments come by name; remove the `/`",
}
_WITHOUT_TYPE = {
    "self": "`self` is not an argument; add the method of an object: `server.add_tool(shop.order)`",
    "ctx": "`ctx` has no type; write `ctx: Context` for the context, or give it the type of an argument",
}
"""Parameters that are no arguments where nothing says that they are."""

_AS_IS = (str, int, float, bool, type(None))
"""Types of values that are JSON values already."""

_REQUIRED: Any = msgspec.field()
_LEFT_OUT: Any = object()
"""Stands for an argument that the caller left out, for which Python's default applies: one that is null was given."""


class Signature:
    """The parameters and the result of a function, seen from JSON."""

    def __init__(self, fn: Callable[..., Any], *, skip: Callable[[Any], bool], opaque: tuple[type, ...]) -> None:
        """Read the signature of a function, a method, a partial or a callable object.

        Parameters whose annotation `skip` claims are injected, not filled by the caller. A result type in `opaque`, or
        a union, list or tuple with one in it, has no output schema.

        Raises `TypeError` when a parameter cannot be expressed in JSON.
        """
        name = getattr(fn, "__qualname__", type(fn).__qualname__).replace("<locals>.", "")
        # What a partial has filled is not the caller's to change.
        outer: Any = fn
        inner, filled = (outer.func, outer.keywords) if isinstance(fn, functools.partial) else (outer, ())
        if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
            raise TypeError(f"{name}(): a generator has no result; return a list of what it yields")
        source = _source(inner)
        hints, doc = _hints(source, name), docstrings.parse(source.__doc__)
        parameters = [each for each in inspect.signature(outer).parameters.values() if each.name not in filled]
        for parameter in parameters:
            _check(parameter, name)
        self.injected = {each.name: hints[each.name] for each in parameters if skip(hints.get(each.name))}
        """Parameters the caller does not fill, and their annotations."""
        self.description = doc.description
        """The docstring without its sections about parameters."""
        taken = [each for each in parameters if each.name not in self.injected]
        self._shapes, self.input_schema, self._decode = _arguments(taken, hints, doc.parameters, name)
        self.output_schema = output_schema(hints.get("return"), opaque)
        """The schema of the declared result; None when it is text, content or not declared."""
        self.is_async = any(map(inspect.iscoroutinefunction, (inner, inspect.unwrap(inner), type(inner).__call__)))
        """Calling the function gives an awaitable, also if a plain `def` decorator returns it."""

    def arguments(self, raw: msgspec.Raw | bytes) -> dict[str, Any]:
        """Decode keyword arguments from a JSON object; arguments the caller left out are not in the result.

        Raises `BadArguments`.
        """
        try:
            return self._decode(raw)
        except (ValueError, RecursionError):
            return self._second_look(raw)

    def arguments_from_text(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Take arguments that can only be text, as those of prompts and resource templates, for what they stand for.

        Text stays text where the parameter takes text; `"3"` becomes 3 where it takes a number; anything else is JSON.
        Raises `BadArguments`.
        """
        read = {name: _from_text(values[name], shape) for name, shape in self._shapes.items() if name in values}
        return self.arguments(msgspec.json.encode(dict(values) | read))

    def _second_look(self, raw: msgspec.Raw | bytes) -> dict[str, Any]:
        """Let 1.0 be an integer, as JSON Schema does; else raise every reason why arguments do not fit."""
        try:
            given = schemas.whole(msgspec.json.decode(raw))
        except (msgspec.DecodeError, RecursionError) as error:
            raise schemas.BadArguments(f"arguments: {error}") from None
        try:
            return self._decode(msgspec.json.encode(given))
        except ValueError as error:
            from splice.schema.validate import bad_arguments  # noqa: PLC0415 - it is not small

            raise bad_arguments(self.input_schema, given, error, self._shapes) from None


def dump(value: Any) -> Any:
    """Turn a result into JSON values.

    Raises `TypeError` for what JSON cannot carry.
    """
    if type(value) in _AS_IS:  # msgspec takes ten times as long to see that nothing is to be done
        return value
    return msgspec.to_builtins(value, str_keys=True, enc_hook=annotations.encode_hook)


def _source(function: Any) -> Any:
    """Give the function behind decorators and callable objects: it has the hints and the docstring."""
    function = inspect.unwrap(function)
    return function if inspect.isroutine(function) or isinstance(function, type) else type(function).__call__


def _hints(source: Any, name: str) -> dict[str, Any]:
    try:
        annotated = cast("Any", source).__init__ if isinstance(source, type) else source
        return get_type_hints(annotated, include_extras=True)
    except NameError as error:
        raise annotations.unknown_name(f"{name}()", error) from None


def _check(parameter: inspect.Parameter, function: str) -> None:
    """Raise `TypeError` for a parameter that no caller can fill by name."""
    is_bare = parameter.annotation is parameter.empty
    reason = _REFUSED.get(parameter.kind) or (_WITHOUT_TYPE.get(parameter.name) if is_bare else None)
    if reason:
        raise TypeError(f"{function}(): {reason.format(name=parameter.name)}")


def _arguments(
    parameters: list[inspect.Parameter], hints: Mapping[str, Any], said: Mapping[str, str], function: str
) -> tuple[dict[str, Shape], schemas.Schema, Callable[[Any], dict[str, Any]]]:
    """Read the parameters that a caller fills: the shape of each, the schema of all, and the one decode of a call."""
    types = Types()
    shapes: dict[str, Shape] = {}
    properties: dict[str, schemas.Schema] = {}
    fields: list[tuple[str, Any, Any]] = []
    for parameter in parameters:
        name = parameter.name
        try:
            hint, default, shown = _read(parameter.default, hints.get(name, Any))
            shapes[name] = types.read(hint)
        except TypeError as error:
            raise TypeError(f"{function}(): parameter `{name}`: {error}") from None
        own = shapes[name].schema
        own = schemas.without_null(own) if annotations.HEADER in own else own  # null has no header
        properties[name] = with_default(schemas.described(own, said.get(name)), shown)
        fields.append((name, shapes[name].wire, default))
    struct = msgspec.defstruct("Arguments", fields, forbid_unknown_fields=True, kw_only=True)
    required = [name for name, _, default in fields if default is _REQUIRED]
    schema = schemas.object_of(properties, required, closed=True)
    schema |= {"$defs": types.defs} if types.defs else {}
    return shapes, schema, _decoder(struct, is_whole=len(required) == len(fields))


def _read(default: Any, hint: Any) -> tuple[Any, Any, Any]:
    """Give the type of a parameter, its default for the decoder, and the one that its schema shows; None can be one."""
    if default is inspect.Parameter.empty:
        return hint, _REQUIRED, msgspec.NODEFAULT
    if annotations.is_pydantic_field(default):
        # Python would pass a default that is `Field(...)` on as it is.
        fresh = functools.partial(default.get_default, call_default_factory=True)
        decoded = _REQUIRED if default.is_required() else msgspec.field(default_factory=fresh)
        return Annotated[hint, default], decoded, default.default
    if default is None and type(None) not in get_args(annotations.bare(hint)):
        hint = hint | None
    return hint, _LEFT_OUT, default


def _decoder(struct: type[msgspec.Struct], *, is_whole: bool) -> Callable[[Any], dict[str, Any]]:
    """Make the one decode of a call; in a call that `is_whole`, no argument can be left out."""
    decode, asdict = msgspec.json.Decoder(struct, dec_hook=annotations.decode_hook).decode, msgspec.structs.asdict
    if is_whole:
        return lambda raw: asdict(decode(raw))
    return lambda raw: {name: value for name, value in asdict(decode(raw)).items() if value is not _LEFT_OUT}


def _from_text(text: str, shape: Shape) -> Any:
    with suppress(ValueError):
        shape.decode(msgspec.json.encode(text))
        return text
    with suppress(ValueError, RecursionError):
        return msgspec.json.decode(text)
    return text


def output_schema(kind: Any, opaque: tuple[type, ...]) -> schemas.Schema | None:
    """Describe the result of a function that is annotated with `kind`.

    None for nothing, for plain text, for the types in `opaque` wherever they occur in it, and for anything that JSON
    cannot carry: such results are shown, but have no structure to promise.
    """
    if kind is None or _holds(kind, opaque):
        return None
    types = Types("serialization")
    try:
        schema = types.read(kind).schema
    except TypeError:
        return None
    any_list = schema.get("type") == "array" and not schema.get("items") and not schema.get("prefixItems")
    if not schema or any_list or _is_text(schema):
        return None  # the items of a list of anything may well be content
    return rooted(schema, types.defs)


def _holds(kind: Any, opaque: tuple[type, ...]) -> bool:
    """Tell whether a type is one of `opaque`, or has one in it."""
    outer = get_origin(kind) or kind
    if isinstance(outer, type) and issubclass(outer, opaque):
        return True
    return any(_holds(inner, opaque) for inner in get_args(kind))


def _is_text(schema: schemas.Schema) -> bool:
    members: list[schemas.Schema] = schema.get("anyOf", [schema])
    return all(each.keys() <= {"type", "description"} and each.get("type") in ("string", "null") for each in members)


def rooted(schema: schemas.Schema, defs: dict[str, schemas.Schema]) -> schemas.Schema:
    """Put the definition of a value itself at the root, where `type` is looked for, and the others beside it."""
    root, reference = schemas.resolved(schema, defs), str(schema.get("$ref"))
    if f'"{reference}"' not in msgspec.json.encode(defs).decode():
        defs.pop(reference.removeprefix("#/$defs/"), None)
    return root | {"$defs": defs} if defs else root
