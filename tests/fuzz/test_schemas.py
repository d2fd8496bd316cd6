"""The budget of schemas: whatever a peer calls a schema is refused or used, in bounded steps and bounded time.

The work in Python is counted in calls of functions, which do not depend on the machine; the time of the library that
validates is taken as CPU time of this thread, against the half second that `validate.MAX_WORK` promises.
"""

import contextlib
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

import msgspec
from hypothesis import assume
from hypothesis import strategies as st

from fuzz.fuzzing import JSON, SCALAR, VALUE, cpu_seconds, fuzz
from splice.schema import cost as costs
from splice.schema.validate import BadSchema, Mismatch, Validator, validator

CALLS_PER_SUBSCHEMA = 200
"""How many calls of functions measuring takes for each byte of a schema, at most."""
SECONDS = 2.0
TOLD = 20_000

NAMES = ["n", "m", "a", "b"]
REFERENCES = [
    *(f"#/$defs/{name}" for name in NAMES),
    *("#", "#n", "#/properties/a", "#/allOf/0", "#/allOf/-1", "#/$defs", "#/nowhere", "#/%7e", "#/~", "n", ""),
    *("http://127.0.0.1:9/x", "file:///etc/passwd", "urn:x", "//h", "#/$defs/n/", "http://[", "ftp://h/x"),
]
PATTERNS = [
    "^a",
    "(a+)+$",
    "(?=(a|b)*c)",
    "x{1000}{1000}",
    r"\p{L}+",
    "[",
    r"(?<n>a)\k<n>",
    "a{9999999999}",
    "(?i)é",
    "\\",
]
DIALECTS: list[Any] = [
    *("https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema#"),
    *("https://json-schema.org/draft/2019-09/schema", "https://example.com/own", "", 3, None, {}),
]


def odd(usual: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Draw what belongs there, and now and then anything else."""
    return st.one_of(usual, usual, usual, SCALAR, VALUE)


@st.composite
def keywords(draw: st.DrawFn, inner: st.SearchStrategy[Any]) -> dict[str, Any]:
    several, mapped = st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)
    words: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(("$ref", "$dynamicRef", "$recursiveRef"), odd(st.sampled_from(REFERENCES))),
        **dict.fromkeys(("allOf", "anyOf", "oneOf", "prefixItems"), odd(several)),
        **dict.fromkeys(("not", "if", "then", "contains", "additionalProperties", "propertyNames"), odd(inner)),
        **dict.fromkeys(("properties", "$defs", "dependentSchemas", "dependencies"), odd(mapped)),
        **dict.fromkeys(("unevaluatedProperties", "unevaluatedItems", "additionalItems"), odd(inner)),
        **dict.fromkeys(("$anchor", "$dynamicAnchor", "$id"), odd(st.sampled_from(["n", "urn:x", "#", "http://h/"]))),
        **dict.fromkeys(("minimum", "maxLength", "minItems", "multipleOf", "maxProperties"), odd(st.integers())),
        "items": odd(inner | several),
        "type": odd(st.sampled_from(["object", "array", "string", "integer", ["string", "null"], "nothing"])),
        "pattern": odd(st.sampled_from(PATTERNS)),
        "patternProperties": odd(st.dictionaries(st.sampled_from(PATTERNS), inner, max_size=2)),
        "enum": odd(st.lists(VALUE, max_size=3)),
        "const": VALUE,
        "format": odd(st.sampled_from(["date-time", "email", "regex", "own"])),
        "required": odd(st.lists(st.sampled_from(NAMES), max_size=2)),
        "$schema": st.sampled_from(DIALECTS),
    }
    chosen = draw(st.lists(st.sampled_from(sorted(words)), max_size=5, unique=True))
    return {word: draw(words[word]) for word in chosen}


SCHEMA = st.recursive(st.booleans() | keywords(st.booleans()), keywords, max_leaves=8)


def instances(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=3)


INSTANCE = st.recursive(SCALAR | st.sampled_from(["a" * 40 + "!", "abc", "x" * 3000]), instances, max_leaves=15)


def calls(work: Callable[[], object]) -> int:
    """Count the functions that `work` calls, so long as it stays in Python."""
    count = 0

    def called(_frame: FrameType, event: str, _argument: Any) -> None:
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        work()
    finally:
        sys.setprofile(before)
    return count


def check_told(error: ValueError) -> None:
    assert 0 < len(str(error)) < TOLD


def measured(schema: JSON) -> int:
    """Measure a schema, and return how many calls that took."""

    def measure() -> None:
        with contextlib.suppress(costs.BadSchema):
            costs.cost(schema)

    return calls(measure)


@fuzz(schema=SCHEMA | VALUE, values=st.lists(INSTANCE | VALUE, max_size=4))
def test_any_schema_is_used_or_refused_in_time(schema: JSON, values: list[Any]) -> None:
    assume(isinstance(schema, dict | bool))
    schema = msgspec.json.decode(msgspec.json.encode(schema))  # as it arrives
    made = list[Validator]()

    def make() -> None:
        try:
            made[:] = [Validator(schema, formats=True)]
        except BadSchema as error:
            check_told(error)

    assert cpu_seconds(make) < SECONDS
    if isinstance(schema, dict):
        assert measured(schema) <= 100 + CALLS_PER_SUBSCHEMA * len(msgspec.json.encode(schema))
    for value in values if made else ():

        def check(value: Any = value) -> None:
            try:
                made[0].check(value)
            except (Mismatch, BadSchema) as error:
                check_told(error)

        assert cpu_seconds(check) < SECONDS


@fuzz(schema=SCHEMA)
def test_the_same_schema_is_the_same_validator(schema: JSON) -> None:
    try:
        assert validator(schema) is validator(msgspec.json.decode(msgspec.json.encode(schema)))
    except BadSchema:
        return


@st.composite
def bombs(draw: st.DrawFn) -> dict[str, Any]:
    """Write definitions that lead to each other, many times over, under keywords that apply to value or member."""
    count, times = draw(st.integers(1, 60)), draw(st.integers(1, 3))
    definitions: dict[str, Any] = {}
    for number in range(count):
        onward: list[JSON] = [{"$ref": f"#/$defs/d{draw(st.integers(0, count))}"} for _ in range(times)]
        word = draw(st.sampled_from(["allOf", "anyOf", "oneOf", "prefixItems", "properties", "items"]))
        definitions[f"d{number}"] = {
            "properties": {"properties": {str(place): each for place, each in enumerate(onward)}},
            "items": {"items": onward[0], "contains": onward[-1]},
        }.get(word, {word: onward})
    return {"$ref": "#/$defs/d0", "$defs": definitions | {f"d{count}": {"type": "integer"}}}


def deep(depth: int, *, arrays: bool) -> JSON:
    value: JSON = 1
    for _ in range(depth):
        value = [value, value] if arrays and depth < 10 else [value] if arrays else {"0": value, "1": 1}
    return value


@fuzz(schema=bombs(), depth=st.integers(0, 60), arrays=st.booleans())
def test_what_multiplies_is_refused_or_ends(schema: dict[str, Any], depth: int, arrays: bool) -> None:
    assert measured(schema) <= 100 + CALLS_PER_SUBSCHEMA * len(msgspec.json.encode(schema))
    try:
        made = Validator(schema)
    except BadSchema:
        return

    def check() -> None:
        with contextlib.suppress(Mismatch, BadSchema):
            made.check(deep(depth, arrays=arrays))

    assert cpu_seconds(check) < SECONDS
