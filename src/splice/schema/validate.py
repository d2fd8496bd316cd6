"""JSON Schema validation at native speed, with bounds, and without ever fetching anything.

The dialect is 2020-12 unless a schema names another one in `$schema`; draft-07 and 2019-09 are understood too. `format`
is an annotation, as 2020-12 has it. Only those who validate import this module: the library behind it is not small.

https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
"""

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import jsonschema_rs
import msgspec

from splice.protocol.jsonrpc import depth
from splice.schema.cost import Costly, cost
from splice.schema.problems import Problem
from splice.schema.refusals import line

__all__ = ["BadSchema", "Mismatch", "Validator", "validator"]

MAX_WORK = 1_000_000_000
"""Bytes of a value times subschemas applied to each of its parts: a few seconds at worst."""

MAX_BRANCHES = 1_000_000
"""How many times a recursive schema may apply itself to one value."""

MAX_TELLING = 2_000
"""Up to how many subschemas the reason of a mismatch is looked for; explaining takes longer than refusing."""

_DIALECTS: dict[str, Any] = {
    "https://json-schema.org/draft/2020-12/schema": jsonschema_rs.Draft202012Validator,
    "https://json-schema.org/draft/2019-09/schema": jsonschema_rs.Draft201909Validator,
    "http://json-schema.org/draft-07/schema": jsonschema_rs.Draft7Validator,
}
_DEFAULT = "https://json-schema.org/draft/2020-12/schema"


class BadSchema(ValueError):
    """A schema is invalid, uses a dialect we do not speak, refers to something outside, or breaks a bound."""


class Mismatch(ValueError):
    """A value does not fit a schema. The text names the place, what was expected and what came."""


class Validator:
    """A schema, ready to check values.

    Raises `BadSchema`.
    """

    def __init__(self, schema: dict[str, Any] | bool) -> None:
        whole: dict[str, Any] = schema if isinstance(schema, dict) else {"allOf": [schema]}
        dialect = str(whole.get("$schema", _DEFAULT)).removesuffix("#")
        if dialect not in _DIALECTS:
            known = ", ".join(_DIALECTS)
            raise BadSchema(f"unsupported JSON Schema dialect {dialect}; supported are {known}")
        try:
            self._cost = cost(whole)
            options = jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000)
            self._inner: jsonschema_rs.Validator = _DIALECTS[dialect](
                whole, retriever=_refuse, pattern_options=options, validate_formats=False
            )
        except jsonschema_rs.ValidationError as error:
            where = "/".join(map(str, error.instance_path))
            raise BadSchema(f"invalid JSON Schema{f' at {where}' if where else ''}: {error.message}") from None
        except Costly as error:
            raise BadSchema(f"refused JSON Schema: {error}") from None
        except ValueError as error:
            raise BadSchema(f"invalid JSON Schema: {error}") from None

    def check(self, value: Any) -> None:
        """Check a JSON value.

        Raises `Mismatch`.
        """
        self._check_cost(value)
        if self._inner.is_valid(value):
            return
        if self._cost.work > MAX_TELLING:
            raise Mismatch("the value does not fit the schema")
        try:
            self._inner.validate(value)
        except jsonschema_rs.ValidationError as error:
            raise Mismatch(
                line(Problem(tuple(error.instance_path), _reason(error), _received(error)), "value")
            ) from None

    def _check_cost(self, value: Any) -> None:
        """Refuse a value that would keep the validator busy for too long."""
        text = msgspec.json.encode(value)
        branches = self._cost.branching ** depth(text) if self._cost.branching > 1 else 1
        if self._cost.work * len(text) > MAX_WORK or branches > MAX_BRANCHES:
            raise Mismatch("the value is too large or nested too deeply to be checked against this schema")


def validator(schema: dict[str, Any] | bool) -> Validator:
    """Give the validator for a schema: the same one for an equal schema, for the 512 used last."""
    return _cached(msgspec.json.encode(schema))


@functools.lru_cache(maxsize=512)
def _cached(text: bytes) -> Validator:
    return Validator(msgspec.json.decode(text))


def _refuse(uri: str) -> NoReturn:
    raise ValueError(f"{uri} is outside of the schema; nothing is ever fetched")


def _reason(error: jsonschema_rs.ValidationError) -> str:
    """Say what was expected, in the words used for arguments."""
    if isinstance(error.kind, jsonschema_rs.ValidationErrorKind.BacktrackLimitExceeded):
        return "its pattern takes too long"
    word, limit = error.kind.name, error.kind.value
    return _REASONS[word](limit) if word in _REASONS else f"does not fit `{word}`"


def _received(error: jsonschema_rs.ValidationError) -> Any:
    absent = isinstance(error.kind, jsonschema_rs.ValidationErrorKind.Required)
    return msgspec.UNSET if absent else error.instance


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


_REASONS: dict[str, Callable[[Any], str]] = {
    "type": lambda types: f"expected {' or '.join(types)}",
    "enum": lambda options: f"expected one of {', '.join(map(_json, options))}",
    "const": lambda expected: f"expected {_json(expected)}",
    "required": lambda name: f"{_json(name)} is required, but missing",
    "additionalProperties": lambda names: f"unknown members {', '.join(map(_json, names))}",
    "unevaluatedProperties": lambda names: f"unknown members {', '.join(map(_json, names))}",
    "falseSchema": lambda _: "nothing is allowed here",
    "anyOf": lambda _: "fits none of several shapes",
    "oneOf": lambda _: "does not fit exactly one of several shapes",
    "minimum": lambda limit: f"expected a number >= {limit}",
    "exclusiveMinimum": lambda limit: f"expected a number > {limit}",
    "maximum": lambda limit: f"expected a number <= {limit}",
    "exclusiveMaximum": lambda limit: f"expected a number < {limit}",
    "multipleOf": lambda limit: f"expected a multiple of {limit}",
    "minLength": lambda limit: f"expected string of length >= {limit}",
    "maxLength": lambda limit: f"expected string of length <= {limit}",
    "pattern": lambda pattern: f"expected string matching {_json(pattern)}",
    "minItems": lambda limit: f"expected array of length >= {limit}",
    "maxItems": lambda limit: f"expected array of length <= {limit}",
    "minProperties": lambda limit: f"expected object of length >= {limit}",
    "maxProperties": lambda limit: f"expected object of length <= {limit}",
    "uniqueItems": lambda _: "expected array without duplicates",
}
