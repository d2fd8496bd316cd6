"""A Python function as something with a JSON Schema: its arguments are decoded, its result is described.

Everything that can be worked out at registration is: one Struct with a field per parameter, one decoder. A call is one
decode. Parameters that a caller leaves out are left out of the call too, so Python's own defaults apply.
"""

import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias, cast

import msgspec
from msgspec import Raw, Struct

from splice.schema.annotations import HEADER, is_annotated, is_pydantic_field
from splice.schema.docstrings import parse
from splice.schema.foreign import decode_hook, encode_hook
from splice.schema.schemas import Schema, described, whole, without_null
from splice.schema.types import BadArguments, Shape, Types, bad_arguments, output_schema
from splice.schema.writing import with_default

__all__ = ["BadArguments", "Signature", "dump"]

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

_LEFT_OUT: Any = object()
"""Stands for an argument that the caller left out, for which Python's default applies: one that is null was given."""


Opaque: TypeAlias = tuple[type, ...]
"""Result types that are content: they have no structure to promise."""


class _Parameter(Struct):
    """One parameter that a caller fills."""

    name: str
    shape: Shape
    required: bool = True
    default: Any = _LEFT_OUT
    """The decoder's default. Only that of a pydantic `Field` is one; without, Python's own default applies."""
    shown: Any = _LEFT_OUT
    """The default, for the schema. None can be one."""


class Signature:
    """The parameters and the result of a function, seen from JSON."""

    def __init__(
        self, function: Callable[..., Any], *, skip: Callable[[Any], bool] = lambda _: False, opaque: Opaque = ()
    ) -> None:
        """Read the signature of a function, a method, a partial or a callable object.

        Parameters whose annotation `skip` claims are injected, not filled by the caller. A result type in `opaque`, or
        a union, list or tuple with one in it, has no output schema.

        Raises `TypeError` when a parameter cannot be expressed in JSON.
        """
        name = getattr(function, "__qualname__", type(function).__qualname__).replace("<locals>.", "")
        inner, filled = _unpartial(function)
        source = _source(inner)
        if inspect.isgeneratorfunction(inner) or inspect.isasyncgenfunction(inner):
            raise TypeError(f"{name}(): a generator has no result; return a list of what it yields")
        hints, types, doc = _hints(source, name), Types(), parse(source.__doc__)
        parameters: list[_Parameter] = []
        self.injected: dict[str, Any] = {}
        """Parameters the caller does not fill, and their annotations."""
        for parameter in _parameters(function, filled, name):
            hint = hints.get(parameter.name, Any)
            if skip(hint):
                self.injected[parameter.name] = hint
            else:
                parameters.append(_parameter(parameter, hint, types, name))
        self.description = doc.description
        """The docstring without its sections about parameters."""
        self.input_schema = _input_schema(parameters, doc.parameters, types.defs)
        """An object schema, JSON Schema 2020-12."""
        self.output_schema = output_schema(hints.get("return"), opaque)
        """The schema of the declared result; None when it is text, content or not declared."""
        self.is_async = any(map(inspect.iscoroutinefunction, (inner, inspect.unwrap(inner), type(inner).__call__)))
        """Calling the function gives an awaitable, also if a plain `def` decorator returns it."""
        self._shapes = {parameter.name: parameter.shape for parameter in parameters}
        self._decode = _decoder(parameters)

    def arguments(self, raw: Raw | bytes) -> dict[str, Any]:
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
        taken = {name: _from_text(value, self._shapes.get(name)) for name, value in values.items()}
        return self.arguments(msgspec.json.encode(taken))

    def _second_look(self, raw: Raw | bytes) -> dict[str, Any]:
        """Let 1.0 be an integer, as JSON Schema does; else raise every reason why arguments do not fit."""
        try:
            given = whole(msgspec.json.decode(raw))
        except RecursionError:
            raise BadArguments("arguments: nested too deeply") from None
        except msgspec.DecodeError as error:
            raise BadArguments(f"arguments: {error}") from None
        try:
            return self._decode(msgspec.json.encode(given))
        except ValueError as error:
            raise bad_arguments(self.input_schema, given, error, self._shapes) from None


def dump(value: Any) -> Any:
    """Turn a result into JSON values.

    Raises `TypeError` for what JSON cannot carry.
    """
    return msgspec.to_builtins(value, str_keys=True, enc_hook=encode_hook)


def _unpartial(function: Any) -> tuple[Any, set[str]]:
    """Give the function inside of partials, and the names of the parameters that they fill."""
    filled = set[str]()
    while isinstance(function, functools.partial):
        filled.update(cast("Any", function).keywords)
        function = cast("Any", function).func
    return function, filled


def _source(function: Any) -> Any:
    """Give the function behind decorators and callable objects: it has the hints and the docstring."""
    function = inspect.unwrap(function)
    return function if inspect.isroutine(function) or isinstance(function, type) else type(function).__call__


def _hints(source: Any, name: str) -> dict[str, Any]:
    try:
        return typing.get_type_hints(
            cast("Any", source).__init__ if isinstance(source, type) else source, include_extras=True
        )
    except NameError as error:
        raise TypeError(
            f"{name}(): the name {error.name!r} in its annotations is not known in its module; "
            f"import or define it there, outside of `if TYPE_CHECKING` and of other functions"
        ) from None


def _parameters(function: Callable[..., Any], filled: set[str], name: str) -> Iterator[inspect.Parameter]:
    """List the parameters that are still open; what a partial has filled is not the caller's to change."""
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in filled:
            continue
        if (reason := _REFUSED.get(parameter.kind)) is not None:
            raise TypeError(f"{name}(): {reason.format(name=parameter.name)}")
        if parameter.annotation is parameter.empty and parameter.name in _WITHOUT_TYPE:
            raise TypeError(f"{name}(): {_WITHOUT_TYPE[parameter.name]}")
        yield parameter


def _parameter(parameter: inspect.Parameter, hint: Any, types: Types, function: str) -> _Parameter:
    name, default = parameter.name, parameter.default
    is_field = is_pydantic_field(default)
    if is_field:
        hint = typing.Annotated[hint, default]
    elif parameter.default is None and not _takes_none(hint):
        hint = typing.Optional[hint]  # noqa: UP045 - the hint may be anything
    try:
        shape = types.read(hint)
    except TypeError as error:
        raise TypeError(f"{function}(): parameter `{name}`: {error}") from None
    if default is inspect.Parameter.empty or (is_field and default.is_required()):
        return _Parameter(name, shape)
    if not is_field:
        return _Parameter(name, shape, required=False, shown=default)
    # Python would pass a default that is `Field(...)` on as it is.
    fresh = functools.partial(default.get_default, call_default_factory=True)
    return _Parameter(name, shape, False, msgspec.field(default_factory=fresh), default.default)


def _takes_none(hint: Any) -> bool:
    if is_annotated(hint):
        return _takes_none(hint.__origin__)
    return hint in (Any, None, object) or type(None) in typing.get_args(hint)


def _input_schema(parameters: list[_Parameter], said: Mapping[str, str], defs: dict[str, Schema]) -> Schema:
    schema: Schema = {"type": "object", "properties": {}}
    for each in parameters:
        own = each.shape.schema
        own = without_null(own) if HEADER in own else own  # null has no header
        schema["properties"][each.name] = with_default(described(own, said.get(each.name)), each.shown)
    if required := [each.name for each in parameters if each.required]:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema | {"$defs": defs} if defs else schema


def _decoder(parameters: list[_Parameter]) -> Callable[[Any], dict[str, Any]]:
    """Make the one decode of a call."""
    fields = [
        (each.name, each.shape.wire) if each.required else (each.name, each.shape.wire, each.default)
        for each in parameters
    ]
    struct = msgspec.defstruct("Arguments", fields, forbid_unknown_fields=True, kw_only=True)
    decode = msgspec.json.Decoder(struct, dec_hook=decode_hook).decode
    asdict = msgspec.structs.asdict
    converts = [(each.name, each.shape.convert) for each in parameters if each.shape.convert is not None]
    if all(each.required for each in parameters) and not converts:
        return lambda raw: asdict(decode(raw))

    def decode_given(raw: Any) -> dict[str, Any]:
        values = {name: value for name, value in asdict(decode(raw)).items() if value is not _LEFT_OUT}
        for name, convert in converts:
            if isinstance(value := values.get(name), Raw):
                values[name] = convert(bytes(value))
        return values

    return decode_given


def _from_text(text: str, shape: Shape | None) -> Any:
    try:
        if shape is not None:
            shape.decode(msgspec.json.encode(text))
    except ValueError:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            return text
    return text
