"""A Python function as something with a JSON Schema: its arguments are decoded, its result is described.

Everything that can be worked out at registration is: one Struct with a field per parameter, one decoder. A call is one
decode. Parameters that a caller leaves out are left out of the call too, so Python's own defaults apply.
"""

import copy
import functools
import inspect
import typing
from collections.abc import Callable, Mapping
from typing import Any, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from splice.schema.docstrings import parse
from splice.schema.fields import Header, is_pydantic_field
from splice.schema.foreign import encode_hook
from splice.schema.markers import decode_hook
from splice.schema.problems import Problem
from splice.schema.refusals import BadArguments, bad_arguments, explained
from splice.schema.shape import Schema
from splice.schema.types import Types, described
from splice.schema.values import whole

__all__ = ["BadArguments", "Header", "Signature"]

_REFUSED = {
    inspect.Parameter.VAR_POSITIONAL: "`*{name}` has no names; declare a list parameter instead",
    inspect.Parameter.VAR_KEYWORD: "`**{name}` has no schema; declare each parameter, or one dict parameter, instead",
    inspect.Parameter.POSITIONAL_ONLY: "`{name}` is positional-only, but arguments come by name; remove the `/`",
}
_UNTYPED = (None, Any, object, type(None), str, inspect.Parameter.empty)
_AS_IS = (str, int, float, bool, type(None))


class _Parameter(Struct):
    """One parameter that a caller fills."""

    name: str
    wire: Any
    default: Any
    """`NODEFAULT` when it is required, `UNSET` when Python knows the default, else a `msgspec.field`."""


class Signature:
    """What a function takes and gives, seen from JSON."""

    __slots__ = (
        "_decode",
        "_optional",
        "_wires",
        "description",
        "injected",
        "input_schema",
        "is_async",
        "output_schema",
    )

    def __init__(
        self,
        input_schema: Schema,
        output_schema: Schema | None,
        description: str,
        injected: dict[str, Any],
        is_async: bool,
        parameters: list[_Parameter],
    ) -> None:
        self.input_schema = input_schema
        """An object schema, JSON Schema 2020-12."""
        self.output_schema = output_schema
        """The schema of the declared result; None when it is text, content or not declared."""
        self.description = description
        """The docstring without its sections about parameters."""
        self.injected = injected
        """Parameters the caller does not fill, and their annotations."""
        self.is_async = is_async
        """Calling the function gives an awaitable."""
        self._wires = {parameter.name: parameter.wire for parameter in parameters}
        self._optional = any(parameter.default is not msgspec.NODEFAULT for parameter in parameters)
        self._decode = _decoder(parameters)

    @classmethod
    def of(
        cls,
        function: Callable[..., Any],
        *,
        skip: Callable[[Any], bool] = lambda _: False,
        opaque: tuple[type, ...] = (),
    ) -> "Signature":
        """Read the signature of a function, a method, a partial or a callable object.

        Parameters whose annotation `skip` claims are injected, not filled by the caller. A result type in `opaque`, or
        a union, list or tuple with one in it, has no output schema.

        Raises `TypeError` when a parameter cannot be expressed in JSON.
        """
        name = getattr(function, "__qualname__", type(function).__qualname__).replace("<locals>.", "")
        hints = _hints(function, name)
        types, doc = Types(), parse(inspect.getdoc(_source(function)))
        injected: dict[str, Any] = {}
        parameters: list[_Parameter] = []
        properties: dict[str, Schema] = {}
        for parameter in _parameters(function, name):
            hint = hints.get(parameter.name, Any)
            if skip(hint):
                injected[parameter.name] = hint
                continue
            try:
                taken, schema = _parameter(parameter, hint, types)
            except TypeError as error:
                raise TypeError(f"{name}(): parameter `{parameter.name}`: {error}") from None
            parameters.append(taken)
            properties[parameter.name] = described(schema[0], doc.parameters.get(parameter.name), schema[1])
        _check_headers(name, properties)
        required = [parameter.name for parameter in parameters if parameter.default is msgspec.NODEFAULT]
        schema = _document({"type": "object", "properties": properties}, required, types.defs)
        output = _output(hints.get("return"), opaque)
        return cls(schema, output, doc.description, injected, _is_async(function), parameters)

    @property
    def wraps(self) -> bool:
        """Whether the result is described, but is no object: versions before 2026-07-28 want it wrapped in one."""
        return self.output_schema is not None and self.output_schema.get("type") != "object"

    def arguments(self, raw: Raw | bytes | UnsetType) -> dict[str, Any]:
        """Decode keyword arguments from a JSON object; arguments the caller left out are not in the result.

        Raises `BadArguments`.
        """
        try:
            values = self._decode(b"{}" if isinstance(raw, UnsetType) else raw)
        except (msgspec.DecodeError, RecursionError) as error:
            values = self._second_look(raw, error)
        if self._optional:
            return {name: value for name, value in values.items() if value is not UNSET}
        return values

    def arguments_from_text(self, values: Mapping[str, str]) -> dict[str, Any]:
        """Take arguments that can only be text, as those of prompts and resource templates, for what they stand for.

        Text stays text where the parameter takes text; `"3"` becomes 3 where it takes a number; anything else is JSON.
        Raises `BadArguments`.
        """
        taken = {name: _from_text(value, self._wires.get(name, str)) for name, value in values.items()}
        return self.arguments(msgspec.json.encode(taken))

    def dump(self, value: Any) -> Any:
        """Turn a result into JSON values.

        Raises `TypeError` for what JSON cannot carry.
        """
        if type(value) in _AS_IS:
            return value
        return msgspec.to_builtins(value, str_keys=True, enc_hook=encode_hook)

    def _second_look(self, raw: Raw | bytes | UnsetType, error: Exception) -> dict[str, Any]:
        """Find every reason why arguments do not fit; but let 1.0 be an integer, as JSON Schema does."""
        try:
            given = msgspec.json.decode(b"{}" if isinstance(raw, UnsetType) else raw)
        except (msgspec.DecodeError, RecursionError):
            raise bad_arguments([Problem((), str(error))]) from None
        if not isinstance(given, dict):
            raise bad_arguments([Problem((), "expected object", given)])
        values = cast("dict[str, Any]", given)
        if msgspec.json.encode(tidy := whole(values)) != msgspec.json.encode(values):
            try:
                return self._decode(msgspec.json.encode(tidy))
            except msgspec.DecodeError:
                values = tidy
        raise bad_arguments(list(self._problems(values)) or [Problem((), str(error))]) from None

    def _problems(self, values: dict[str, Any]) -> list[Problem]:
        found: list[Problem] = []
        known: dict[str, Schema] = self.input_schema["properties"]
        for name in self.input_schema.get("required", ()):
            if name not in values:
                found.append(Problem((name,), "required, but missing"))
        for name, value in values.items():
            if name not in known:
                names = ", ".join(known) or "none"
                found.append(Problem((name,), f"unknown argument; known are: {names}"))
                continue
            try:
                _convert(value, self._wires[name])
            except ValueError as error:
                inner = explained(error, value, known[name], self.input_schema.get("$defs", {}))
                found += [Problem((name, *problem.path), problem.text, problem.value) for problem in inner]
        return found


def _source(function: Any) -> Any:
    """Give the function behind partials, methods, decorators and callable objects: it has the hints and the docstring."""
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    function = inspect.unwrap(function)
    if inspect.isroutine(function) or isinstance(function, type):
        return function
    return type(function).__call__


def _hints(function: Any, name: str) -> dict[str, Any]:
    source = _source(function)
    try:
        return typing.get_type_hints(source.__init__ if isinstance(source, type) else source, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{name}(): the name {error.name!r} in its annotations is not known in its module; "
            f"import or define it there, outside of `if TYPE_CHECKING` and of other functions"
        ) from None


def _parameters(function: Any, name: str) -> list[inspect.Parameter]:
    """List the parameters that are still open; what a partial has filled is not the caller's to change."""
    filled: set[str] = set()
    if isinstance(function, functools.partial):
        filled = set(cast("functools.partial[Any]", function).keywords)
    parameters = [each for each in inspect.signature(function).parameters.values() if each.name not in filled]
    for parameter in parameters:
        if (reason := _REFUSED.get(parameter.kind)) is not None:
            raise TypeError(f"{name}(): {reason.format(name=parameter.name)}")
    return parameters


def _parameter(parameter: inspect.Parameter, hint: Any, types: Types) -> tuple[_Parameter, tuple[Schema, Any]]:
    """Read one parameter; give its schema and the default to show in it."""
    default: Any = parameter.default
    if default is None and not _takes_none(hint):
        hint = typing.Optional[hint]  # noqa: UP045  `hint` may be any annotation
    if is_pydantic_field(default):
        shape = types.read(typing.Annotated[hint, default])
        if default.default_factory is not None:
            field = msgspec.field(default_factory=default.default_factory)
            return _Parameter(parameter.name, shape.wire, field), (shape.schema, UNSET)
        if default.is_required():
            return _Parameter(parameter.name, shape.wire, msgspec.NODEFAULT), (shape.schema, UNSET)
        field = msgspec.field(default_factory=functools.partial(copy.deepcopy, default.default))
        return _Parameter(parameter.name, shape.wire, field), (shape.schema, default.default)
    shape = types.read(hint)
    if default is inspect.Parameter.empty:
        return _Parameter(parameter.name, shape.wire, msgspec.NODEFAULT), (shape.schema, UNSET)
    return _Parameter(parameter.name, shape.wire, UNSET), (shape.schema, default)


def _takes_none(hint: Any) -> bool:
    if hasattr(hint, "__metadata__"):
        return _takes_none(hint.__origin__)
    return hint in (Any, None, object) or type(None) in typing.get_args(hint)


def _document(schema: Schema, required: list[str], defs: dict[str, Schema]) -> Schema:
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    if defs:
        schema["$defs"] = defs
    return schema


def _decoder(parameters: list[_Parameter]) -> Callable[[Any], dict[str, Any]]:
    """Make the one decode of a call."""
    fields = [
        (each.name, each.wire) if each.default is msgspec.NODEFAULT else (each.name, each.wire, each.default)
        for each in parameters
    ]
    struct = msgspec.defstruct("Arguments", fields, forbid_unknown_fields=True, kw_only=True)
    decode = msgspec.json.Decoder(struct, dec_hook=decode_hook).decode
    asdict = msgspec.structs.asdict
    return lambda raw: asdict(decode(raw))


def _output(kind: Any, opaque: tuple[type, ...]) -> Schema | None:
    """Describe a result; None for text, for content, and for what has no JSON Schema."""
    if _is_opaque(kind, opaque):
        return None
    types = Types("serialization")
    try:
        schema = types.read(kind).schema
    except TypeError:
        return None
    if not schema or _is_text(schema):
        return None
    defs = types.defs
    if (name := str(schema.get("$ref", "")).removeprefix("#/$defs/")) in defs:
        root = {key: value for key, value in schema.items() if key != "$ref"}
        schema = defs[name] | root
        if f'"#/$defs/{name}"' not in msgspec.json.encode(defs).decode():
            del defs[name]
    return schema | {"$defs": defs} if defs else schema


def _is_opaque(kind: Any, opaque: tuple[type, ...]) -> bool:
    if hasattr(kind, "__metadata__"):
        return _is_opaque(kind.__origin__, opaque)
    if kind in _UNTYPED or (isinstance(kind, type) and issubclass(kind, opaque)):
        return kind not in (str, type(None)) or True
    return any(
        _is_opaque(arg, opaque) for arg in typing.get_args(kind) if isinstance(arg, type) and issubclass(arg, opaque)
    )


def _is_text(schema: Schema) -> bool:
    members = schema.get("anyOf", [schema])
    return all(
        member.get("type") in ("string", "null") and len(member.keys() - {"description"}) == 1 for member in members
    )


def _check_headers(name: str, properties: dict[str, Schema]) -> None:
    seen: dict[str, str] = {}
    for parameter, schema in properties.items():
        if (header := schema.get("x-mcp-header")) is None:
            continue
        if (other := seen.setdefault(header.lower(), parameter)) != parameter:
            raise TypeError(f"{name}(): parameters `{other}` and `{parameter}` share the header {header!r}")


def _is_async(function: Any) -> bool:
    while isinstance(function, functools.partial):
        function = cast("functools.partial[Any]", function).func
    return any(
        map(inspect.iscoroutinefunction, (function, inspect.unwrap(function), getattr(function, "__call__", None)))
    )  # noqa: B004


def _convert(value: Any, wire: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value), type=wire, dec_hook=decode_hook)


def _from_text(text: str, wire: Any) -> Any:
    try:
        _convert(text, wire)
    except ValueError:
        try:
            return msgspec.json.decode(text)
        except msgspec.DecodeError:
            return text
    return text
