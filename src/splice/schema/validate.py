"""JSON Schema validation at native speed, with bounds, and without ever fetching anything.

The dialect is 2020-12 unless a schema names another one in `$schema`; draft-07 and 2019-09 are understood too. `format`
is an annotation, as 2020-12 has it. `cost.py` measures schemas, because no library bounds the work that one can cause.
Only those who validate import this module: the library behind it is not small.

https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
"""

import functools
import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, TypeAlias, cast

import jsonschema_rs
import msgspec

from splice.protocol.jsonrpc import depth
from splice.schema.cost import BadSchema, OverBudget, cost
from splice.schema.schemas import BadArguments, Schema, cut, is_object, meant
from splice.schema.types import Shape

__all__ = ["BadSchema", "Mismatch", "OverBudget", "Problem", "Validator", "bad_arguments", "lines", "validator"]

PATTERN_BYTES = 2 * 1024 * 1024
"""The largest regular expression when it is compiled."""

MAX_WORK = 250_000_000
"""Bytes of a value times subschemas applied to each of its parts: half a second at worst, and nothing interrupts it."""

MAX_BRANCHES = 1_000_000
"""How many times a recursive schema may apply itself to one value."""

MAX_TELLING = 2_000
"""Up to how many subschemas the reason of a mismatch is looked for; explaining takes longer than refusing."""

MAX_TOLD = 10_000
"""Up to how many bytes of a value all problems are looked for, which takes microseconds each; beyond, only one is."""

MAX_PROBLEMS = 10
"""How many problems of one value are told."""

MAX_SAID = 500
"""How many characters of a schema or a place are quoted, such as the names in it: they may be of a peer's making."""

MAX_VALUE = 80
"""How many characters of a value are quoted."""

Path: TypeAlias = tuple[str | int, ...]
_Errors: TypeAlias = list[jsonschema_rs.ValidationError]

_DIALECTS: dict[str, Any] = {
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
}
_Kind = jsonschema_rs.ValidationErrorKind


_TOO_DEEP = "the value is nested too deeply to be checked"
"""The library gives up at 255 levels, by an exception of its own."""


class Mismatch(ValueError):
    """A value does not fit a schema. The text names each place, what was expected and what came."""


class Problem(msgspec.Struct, frozen=True):
    """One thing wrong with a value."""

    path: Path
    text: str

    def line(self, whole: str) -> str:
        """Write the problem; `whole` is the name of the value itself."""
        place = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in self.path)
        return f"{place.removeprefix('.')[:MAX_SAID] or whole}: {self.text}"


class Validator:
    """A schema, ready to check values; `formats` are checked only if asked for.

    Raises `BadSchema`, `OverBudget` for one that could take too long.
    """

    def __init__(self, schema: dict[str, Any] | bool, *, formats: bool = False) -> None:
        whole: dict[str, Any] = schema if isinstance(schema, dict) else {"allOf": [schema]}
        dialect = str(whole.get("$schema", next(iter(_DIALECTS)))).removesuffix("#")
        if dialect not in _DIALECTS:
            raise BadSchema(f"unsupported JSON Schema dialect {dialect}; supported are {', '.join(_DIALECTS)}")
        self._cost = cost(whole)
        try:
            options = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000, size_limit=PATTERN_BYTES)
            self._inner: jsonschema_rs.Validator = _DIALECTS[dialect](
                whole, retriever=_refuse, pattern_options=options, validate_formats=formats, mask="it"
            )
        except jsonschema_rs.ValidationError as error:
            where = "/".join(map(str, error.instance_path))
            raise BadSchema(f"invalid JSON Schema{f' at {where}' if where else ''}: {error.message}") from None
        except ValueError as error:
            raise BadSchema(f"invalid JSON Schema: {error}") from None
        self._schema = whole

    def check(self, value: Any) -> None:
        """Check a JSON value.

        Raises `Mismatch`, and `OverBudget` for a value that would take too long.
        """
        self._check_cost(value)
        if not self._inner.is_valid(value):
            raise Mismatch(lines(self.problems(value), "value"))

    def problems(self, value: Any) -> list[Problem]:
        """Find every reason why a value does not fit, up to some number.

        Raises `Mismatch` without a reason if it would take too long to find one, `OverBudget` if even to look would.
        """
        size = self._check_cost(value)
        if self._cost.work > MAX_TELLING:
            raise Mismatch("the value does not fit the schema")
        return [problem for error in self._errors(value, size) for problem in self._explained(error)]

    def _errors(self, value: Any, size: int) -> Iterator[jsonschema_rs.ValidationError]:
        try:
            if size <= MAX_TOLD:
                yield from self._inner.iter_errors(value)
            else:
                self._inner.validate(value)
        except jsonschema_rs.ValidationError as error:
            yield error
        except ValueError:
            raise OverBudget(_TOO_DEEP) from None

    def _check_cost(self, value: Any) -> int:
        """Measure a value. Raises `OverBudget` for one that would keep the validator busy for too long."""
        text = msgspec.json.encode(value)
        branches = self._cost.branching ** depth(text) if self._cost.branching > 1 else 1
        if self._cost.work * len(text) > MAX_WORK or branches > MAX_BRANCHES:
            raise OverBudget("the value is too large or nested too deeply to be checked against this schema")
        return len(text)

    def _explained(self, error: jsonschema_rs.ValidationError) -> Iterator[Problem]:
        path, kind = tuple(error.instance_path), error.kind
        if isinstance(kind, _Kind.Required):
            yield Problem((*path, kind.property), "required, but missing")
        elif isinstance(kind, _Kind.AdditionalProperties):
            schema = functools.reduce(operator.getitem, error.schema_path[:-1], cast("Any", self._schema))
            known = list(schema.get("properties", ()))
            told = cut(", ".join(known) or "none", MAX_SAID)
            for name in kind.unexpected:
                yield Problem((*path, name), f"unknown name; known are: {told}{meant(name, known)}")
        elif isinstance(kind, _Kind.UnevaluatedProperties):
            yield from (Problem((*path, name), "unknown name") for name in kind.unexpected)
        elif isinstance(kind, _Kind.AnyOf | _Kind.OneOfNotValid):
            yield from self._nearest(kind.context, error)
        else:
            reason = _EXPECTED[kind.name](kind.value) if kind.name in _EXPECTED else error.message
            yield Problem(path, f"{cut(reason, MAX_SAID)}, got {cut(_json(error.instance), MAX_VALUE)}")

    def _nearest(self, shapes: list[_Errors], whole: jsonschema_rs.ValidationError) -> Iterator[Problem]:
        """Explain the shape with the fewest problems among those of the right type; if none is, name the types."""

        def types(shape: _Errors) -> list[str]:
            kinds = (error.kind for error in shape if error.instance_path == whole.instance_path)
            return [name for kind in kinds if isinstance(kind, _Kind.Type) for name in kind.types]

        place, got = tuple(whole.instance_path), f", got {cut(_json(whole.instance), MAX_VALUE)}"
        named = [error.kind.value for shape in shapes for error in shape if isinstance(error.kind, _Kind.Constant)]
        if len(named) == len(shapes):  # choices with titles
            yield Problem(place, cut(_EXPECTED["enum"](named), MAX_SAID) + got)
        elif near := [shape for shape in shapes if not types(shape)]:
            for error in min(near, key=len):
                yield from self._explained(error)
        else:
            expected = _EXPECTED["type"](dict.fromkeys(name for shape in shapes for name in types(shape)))
            yield Problem(place, expected + got)


def validator(schema: dict[str, Any] | bool | msgspec.Raw, *, formats: bool = False) -> Validator:
    """Give the validator for a schema: the same one for an equal schema, for the 512 used last."""
    return _cached(msgspec.json.encode(schema), formats)


def lines(problems: list[Problem], whole: str) -> str:
    """Write problems, a line each, up to a number; `whole` is the name of the value itself."""
    written = list(dict.fromkeys(problem.line(whole) for problem in problems))
    return "\n".join([*written[:MAX_PROBLEMS], *(["... and more"] if len(written) > MAX_PROBLEMS else [])])


def bad_arguments(schema: Schema, given: Any, error: ValueError, shapes: Mapping[str, Shape]) -> BadArguments:
    """Explain why decoding `given` failed with `error`; `shapes` are the types of its members, if known.

    Decoding stops at the first problem, in words of msgspec or pydantic. So the same JSON is validated against the
    schema that was advertised: all problems are found, in one voice. What no schema can say, such as a validator of the
    user's, is told in the words it raised.
    """
    try:
        found = validator(schema, formats=True).problems(given)
    except (BadSchema, Mismatch):
        found = []  # a pattern that only Python understands, for example
    members = given if is_object(given) else {}
    for name in [each for each in shapes if each in members]:
        others = [each for each in found if each.path[:1] != (name,)]
        try:
            shapes[name].decode(msgspec.json.encode(members[name]))
        except ValueError as refusal:
            found += _own_words(refusal, (name,)) if others == found else ()
        else:
            found = others  # a format can be stricter than decoding is
    return BadArguments(lines(found or list(_own_words(error, ())), "arguments"))


@functools.lru_cache(maxsize=512)
def _cached(text: bytes, formats: bool) -> Validator:
    return Validator(msgspec.json.decode(text), formats=formats)


def _own_words(error: ValueError, path: Path) -> Iterator[Problem]:
    """Repeat what a validator of the user's said, or the library that decoded."""
    cause = error.__cause__ or error
    if hasattr(cause, "errors"):
        for each in cast("Any", cause).errors():
            yield Problem((*path, *each["loc"]), str(each["msg"]).removeprefix("Value error, "))
    else:
        yield Problem(path, str(cause))


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is outside of the schema; nothing is ever fetched")


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


_EXAMPLES = {"date-time": "2026-01-31T09:30:00Z", "date": "2026-01-31", "time": "09:30:00Z", "duration": "PT1H30M"}
_EXPECTED: dict[str, Callable[[Any], str]] = {
    "type": lambda types: f"expected {' or '.join(types)}",
    "enum": lambda options: f"expected one of {', '.join(map(_json, options))}",
    "const": lambda expected: f"expected {_json(expected)}",
    "format": lambda name: f"expected {name}" + (f" such as {_EXAMPLES[name]}" if name in _EXAMPLES else ""),
    "falseSchema": lambda _: "nothing is allowed here",
}
"""What is said of the commonest problems; the library says the others well."""
