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
from splice.schema.problems import Problem, problems_of
from splice.schema.refusals import BadArguments, bad_arguments, explained
from splice.schema.results import output_schema
from splice.schema.shape import Schema, Shape
from splice.schema.types import Types, described
from splice.schema.values import is_object, whole

__all__ = ["BadArguments", "Header", "Signature"]

_REFUSED: dict[Any, str] = {
    inspect.Parameter.VAR_POSITIONAL: "`*{name}` has no names; declare a list parameter instead",
    inspect.Parameter.VAR_KEYWORD: "`**{name}` has no schema; declare each parameter, or one dict parameter, instead",
    inspect.Parameter.POSITIONAL_ONLY: "`{name}` is positional-only, but arguments come by name; remove the `/`",
}
_AS_IS = (str, int, float, bool, type(None))


class _Parameter(Struct):
    """One parameter that a caller fills."""

    name: str
    shape: Shape
    required: bool = True
    default: Any = UNSET
    """What the decoder fills in: nothing, so that Python's default applies, unless that is a pydantic field."""
    shown: Any = UNSET
    """The default, for the schema."""


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
        self._wires = {parameter.name: parameter.shape.wire for parameter in parameters}
        self._optional = not all(parameter.required for parameter in parameters)
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
        types, doc = Types(), parse(_source(function).__doc__)
        injected: dict[str, Any] = {}
        parameters: list[_Parameter] = []
        for parameter in _parameters(function, name):
            hint = hints.get(parameter.name, Any)
            if skip(hint):
                injected[parameter.name] = hint
            else:
                parameters.append(_parameter(parameter, hint, types, name))
        schema = _input_schema(parameters, doc.parameters, types.defs)
        _check_headers(name, schema["properties"])
        output = output_schema(hints.get("return"), opaque)
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
            tidy = whole(given)
        except (msgspec.DecodeError, RecursionError):
            raise bad_arguments(problems_of(error)) from None
        if not is_object(given):
            raise bad_arguments([Problem((), "expected object", given)])
        if msgspec.json.encode(tidy) != msgspec.json.encode(given):
            try:
                return self._decode(msgspec.json.encode(tidy))
            except msgspec.DecodeError:
                given = tidy
        raise bad_arguments(self._problems(given) or problems_of(error)) from None

    def _problems(self, values: dict[str, Any]) -> list[Problem]:
        known: dict[str, Schema] = self.input_schema["properties"]
        needed: list[str] = self.input_schema.get("required", [])
        found = [Problem((name,), "required, but missing") for name in needed if name not in values]
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


def _unpartial(function: Any) -> Any:
    while isinstance(function, functools.partial):
        function = cast("Any", function).func
    return function


def _source(function: Any) -> Any:
    """Give the function behind partials, decorators and callable objects: it has the hints and the docstring."""
    function = inspect.unwrap(_unpartial(function))
    if inspect.isroutine(function) or isinstance(function, type):
        return cast("Any", function)
    return type(function).__call__


def _hints(function: Any, name: str) -> dict[str, Any]:
    source = _source(function)
    if isinstance(source, type):
        source = cast("Any", source).__init__
    try:
        return typing.get_type_hints(source, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"{name}(): the name {error.name!r} in its annotations is not known in its module; "
            f"import or define it there, outside of `if TYPE_CHECKING` and of other functions"
        ) from None


def _parameters(function: Any, name: str) -> list[inspect.Parameter]:
    """List the parameters that are still open; what a partial has filled is not the caller's to change."""
    filled = set[str]()
    inner = function
    while isinstance(inner, functools.partial):
        filled.update(cast("Any", inner).keywords)
        inner = cast("Any", inner).func
    signature = inspect.signature(cast("Callable[..., Any]", function))
    parameters = [each for each in signature.parameters.values() if each.name not in filled]
    for parameter in parameters:
        if (reason := _REFUSED.get(parameter.kind)) is not None:
            raise TypeError(f"{name}(): {reason.format(name=parameter.name)}")
    return parameters


def _parameter(parameter: inspect.Parameter, hint: Any, types: Types, function: str) -> _Parameter:
    try:
        return _read(parameter, hint, types)
    except TypeError as error:
        raise TypeError(f"{function}(): parameter `{parameter.name}`: {error}") from None


def _read(parameter: inspect.Parameter, hint: Any, types: Types) -> _Parameter:
    name, default = parameter.name, parameter.default
    if is_pydantic_field(default):
        return _pydantic_parameter(name, types.read(typing.Annotated[hint, default]), default)
    if default is inspect.Parameter.empty:
        return _Parameter(name, types.read(hint))
    if default is None and not _takes_none(hint):
        hint = typing.Optional[hint]  # noqa: UP045 - the hint may be anything
    return _Parameter(name, types.read(hint), required=False, shown=default)


def _pydantic_parameter(name: str, shape: Shape, field: Any) -> _Parameter:
    """Read a parameter whose default is `Field(...)`, which Python would pass on as it is."""
    if field.default_factory is not None:
        return _Parameter(name, shape, required=False, default=msgspec.field(default_factory=field.default_factory))
    if field.is_required():
        return _Parameter(name, shape)
    fresh = functools.partial(copy.deepcopy, field.default)
    return _Parameter(name, shape, False, msgspec.field(default_factory=fresh), field.default)


def _takes_none(hint: Any) -> bool:
    if hasattr(hint, "__metadata__"):
        return _takes_none(hint.__origin__)
    return hint in (Any, None, object) or type(None) in typing.get_args(hint)


def _input_schema(parameters: list[_Parameter], said: Mapping[str, str], defs: dict[str, Schema]) -> Schema:
    properties = {each.name: described(each.shape.schema, said.get(each.name), each.shown) for each in parameters}
    schema: Schema = {"type": "object", "properties": properties}
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
    return lambda raw: asdict(decode(raw))


def _check_headers(name: str, properties: dict[str, Schema]) -> None:
    seen: dict[str, str] = {}
    for parameter, schema in properties.items():
        header = schema.get("x-mcp-header")
        if header is not None and (other := seen.setdefault(header.lower(), parameter)) != parameter:
            raise TypeError(f"{name}(): parameters `{other}` and `{parameter}` share the header {header!r}")


def _is_async(function: Any) -> bool:
    """Tell whether a call gives an awaitable, also when a decorator that is no coroutine function passes it on."""
    outer = _unpartial(function)
    candidates = (outer, inspect.unwrap(outer), type(outer).__call__)
    return any(map(inspect.iscoroutinefunction, candidates))


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
