"""Values are held against schemas, within bounds, and nothing is ever fetched."""

import datetime as dt
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Annotated, Any

import msgspec
import pydantic
import pytest

from schema.models import Address, Car, Point, User
from schema.test_cost import chain, recursive
from splice.schema import validate
from splice.schema.cost import Cost
from splice.schema.schemas import BadArguments
from splice.schema.types import Types
from splice.schema.validate import BadSchema, Mismatch, OverBudget, Validator, bad_arguments, validator
from support.tables import rows


@rows(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, "x", 'value: expected integer, got "x"'),
        ({"type": ["integer", "null"]}, "x", 'value: expected null or integer, got "x"'),
        ({"properties": {"a": {"items": {"enum": ["x", 1]}}}}, {"a": ["q"]}, 'a[0]: expected one of "x", 1, got "q"'),
        ({"const": {"a": 1}}, 4, 'value: expected {"a":1}, got 4'),
        ({"properties": {"b": {"required": ["a"]}}}, {"b": {}}, "b.a: required, but missing"),
        (
            {"properties": {"a": {}}, "additionalProperties": False},
            {"b": 1},
            "b: unknown name; known are: a",
        ),
        (
            {"properties": {"a": {}}, "additionalProperties": False},
            {"x" * 1000: 1},
            f"{'x' * 500}: unknown name; known are: a",
        ),
        (
            {"allOf": [{"properties": {"a": {}}}], "unevaluatedProperties": False},
            {"a": 1, "b": 1},
            "b: unknown name",
        ),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, 3, "value: expected string or null, got 3"),
        ({"anyOf": [{"required": ["a", "b"]}, {"required": ["c"]}]}, {}, "c: required, but missing"),
        ({"oneOf": [{"properties": {"a": {"type": "null"}}}]}, {"a": 1}, "a: expected null, got 1"),
        (
            {"oneOf": [{}, {}]},
            3,
            "value: it is valid under more than one of the schemas listed in the 'oneOf' keyword, got 3",
        ),
        ({"minimum": 1.5}, 1, "value: it is less than the minimum of 1.5, got 1"),
        ({"exclusiveMinimum": 1}, 1, "value: it is less than or equal to the minimum of 1, got 1"),
        ({"maximum": 1}, 2, "value: it is greater than the maximum of 1, got 2"),
        ({"exclusiveMaximum": 1}, 1, "value: it is greater than or equal to the maximum of 1, got 1"),
        ({"multipleOf": 3}, 4, "value: it is not a multiple of 3, got 4"),
        ({"minLength": 2}, "a", 'value: it is shorter than 2 characters, got "a"'),
        ({"maxLength": 0}, "a", 'value: it is longer than 0 characters, got "a"'),
        ({"pattern": "^b"}, "a", 'value: it does not match "^b", got "a"'),
        ({"minItems": 1}, [], "value: it has less than 1 item, got []"),
        ({"maxItems": 0}, [1], "value: it has more than 0 items, got [1]"),
        ({"minProperties": 1}, {}, "value: it has less than 1 property, got {}"),
        ({"maxProperties": 0}, {"a": 1}, 'value: it has more than 0 properties, got {"a":1}'),
        ({"uniqueItems": True}, [1, 1], "value: it has non-unique elements, got [1,1]"),
        ({"not": {}}, 1, "value: {} is not allowed for it, got 1"),
        (False, 1, "value: nothing is allowed here, got 1"),
        ({"prefixItems": [{"type": "string"}]}, [1], "[0]: expected string, got 1"),
        (
            {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]},
            [1],
            "[0]: expected string, got 1",
        ),
        (
            {"$schema": "https://json-schema.org/draft/2019-09/schema", "items": [{"type": "string"}]},
            [1],
            "[0]: expected string, got 1",
        ),
    ],
)
def test_a_mismatch_says_where_and_what(schema: dict[str, Any] | bool, value: Any, message: str) -> None:
    with pytest.raises(Mismatch) as caught:
        Validator(schema).check(value)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        ({}, None),
        (True, 1),
        ({"type": "integer"}, 1.0),
        ({"format": "email"}, "not an address"),
        ({"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "integer"}, 3),
        ({"x-mcp-header": "Region", "discriminator": {}}, 3),
        (recursive({"properties": {"l": {"$ref": "#/$defs/n"}}, "additionalProperties": False}), {"l": {"l": {}}}),
    ],
)
def test_a_value_that_fits(schema: dict[str, Any] | bool, value: Any) -> None:
    Validator(schema).check(value)


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "foo"}, "invalid JSON Schema at type: "),
        ({"properties": {"a": {"minimum": "x"}}}, "invalid JSON Schema at properties/a/minimum: "),
        ({"pattern": "("}, "invalid JSON Schema at pattern: "),
        (
            {"$schema": "http://json-schema.org/draft-04/schema#"},
            (
                "unsupported JSON Schema dialect http://json-schema.org/draft-04/schema; supported are "
                "https://json-schema.org/draft/2020-12/schema, https://json-schema.org/draft/2019-09/schema, "
                "http://json-schema.org/draft-07/schema"
            ),
        ),
        ({"$schema": 3}, "unsupported JSON Schema dialect 3; supported are "),
        (chain(40), "the schema's references and choices amount to more than 100000 subschemas"),
        ({"$ref": "#/$defs/a"}, "the schema refers to #/$defs/a, which it does not have"),
        ([], "invalid JSON Schema at allOf/0: "),
    ],
)
def test_what_is_no_schema(schema: dict[str, Any], message: str) -> None:
    with pytest.raises(BadSchema) as caught:
        Validator(schema)
    assert str(caught.value).startswith(message)


def test_all_problems_of_a_small_value_are_told_and_one_of_a_large_one() -> None:
    check = Validator({"items": {"type": "integer"}}).check
    with pytest.raises(Mismatch) as caught:
        check(["x", 1, "y"])
    assert str(caught.value) == '[0]: expected integer, got "x"\n[2]: expected integer, got "y"'
    with pytest.raises(Mismatch) as caught:
        check(["x"] * 15)
    assert str(caught.value).splitlines()[9:] == ['[9]: expected integer, got "x"', "... and more"]
    with pytest.raises(Mismatch) as caught:
        check(["x"] * 15_000)
    assert str(caught.value) == '[0]: expected integer, got "x"'


def test_long_values_are_cut() -> None:
    with pytest.raises(Mismatch) as caught:
        Validator({"type": "null"}).check("x" * 200)
    assert str(caught.value) == f'value: expected null, got "{"x" * 76}...'


def test_formats_count_when_asked_for() -> None:
    schema: dict[str, Any] = {"items": {"anyOf": [{"format": "date"}, {"format": "email"}]}}
    Validator(schema).check(["x"])
    with pytest.raises(Mismatch, match=r"^\[0\]: expected date such as 2026-01-31, got \"x\"$"):
        Validator(schema, formats=True).check(["x"])


@pytest.mark.requirement(58)
def test_what_takes_too_long_is_refused() -> None:
    twice = recursive({"allOf": [{"properties": {"c": {"$ref": "#/$defs/n"}}}] * 2})
    value: dict[str, Any] = {}
    for _ in range(60):
        value = {"c": value}
    Validator(twice).check({"c": {"c": {}}})
    with pytest.raises(OverBudget, match=r"^the value is too large or nested too deeply to be checked"):
        Validator(twice).check(value)
    with pytest.raises(OverBudget, match=r"^the value is too large or nested too deeply to be checked"):
        Validator(chain(14)).check(["x" * 100_000])
    with pytest.raises(Mismatch, match=r"^the value does not fit the schema$"):
        Validator(chain(12, "anyOf")).check("x")
    with pytest.raises(Mismatch, match=r"^value: Error executing regex: Max limit for backtracking"):
        Validator({"pattern": r"^(a|a)*\1$"}).check("a" * 60 + "b")


@pytest.mark.parametrize("more", ["", "x" * 20_000], ids=["small", "large"])
def test_what_nests_deeper_than_the_library_goes_is_refused(more: str) -> None:
    value: dict[str, Any] = {"more": more}
    for _ in range(400):
        value = {"c": value}
    for look in (Validator({"type": "string"}).check, Validator({"type": "string"}).problems):
        with pytest.raises(OverBudget, match=r"^the value is nested too deeply to be checked$"):
            look(value)


def test_values_are_not_compared_to_many_others_for_long() -> None:
    choices = [{"n": number} for number in range(4_000)]
    check = Validator({"items": {"enum": choices}}).check
    check(choices[-10:])
    with pytest.raises(OverBudget, match=r"^the value is too large"):
        check(choices[-1:] * 4_000)
    words = [f"word {number}" for number in range(4_000)]
    Validator({"items": {"enum": words}}).check(words * 4)


def test_a_schema_over_budget_is_not_compiled() -> None:
    with pytest.raises(OverBudget, match=r"^the schema has more than 200 patterns"):
        Validator({"anyOf": [{"pattern": f"^{number}$"} for number in range(201)]})


def test_a_schema_the_library_gives_up_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any, **__: Any) -> None:
        raise ValueError("no more")

    monkeypatch.setitem(validate._DIALECTS, next(iter(validate._DIALECTS)), broken)
    with pytest.raises(BadSchema, match=r"^invalid JSON Schema: no more$"):
        Validator({})


def test_equal_schemas_share_a_validator() -> None:
    assert validator({"type": "string"}) is validator({"type": "string"})
    assert validator({"type": "string"}) is not validator({"type": "integer"})


@pytest.fixture
def sink() -> Iterator[tuple[str, list[bytes]]]:
    """Listen on this machine and note who calls."""
    calls: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.05)
        done = threading.Event()

        def serve() -> None:
            while not done.is_set():
                try:
                    connection, _ = server.accept()
                except TimeoutError:
                    continue
                with connection:
                    calls.append(b"called")

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}", calls
        done.set()
        thread.join(5)


@pytest.mark.requirement(54, 57)
def test_nothing_is_ever_fetched(sink: tuple[str, list[bytes]], tmp_path: Any) -> None:
    host, calls = sink
    (tmp_path / "x.json").write_text('{"type":"integer"}')
    schemas: list[dict[str, Any]] = [
        {"$ref": f"http://{host}/x"},
        {"$ref": f"https://{host}/x"},
        {"$ref": f"ftp://{host}/x"},
        {"$ref": f"//{host}/x"},
        {"$ref": (tmp_path / "x.json").as_uri()},
        {"$ref": f"http://{host}/x#/$defs/a"},
        {"$dynamicRef": f"http://{host}/x"},
        {"$id": f"http://{host}/a/b", "$ref": "c"},
        {"$id": f"http://{host}/a/b", "items": {"$ref": "/c"}},
        {"$id": f"http://{host}/a/b", "$dynamicRef": "c#x"},
        {"$schema": f"http://{host}/meta"},
        {"$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveRef": f"http://{host}/x"},
        {"$schema": "http://json-schema.org/draft-07/schema#", "items": {"$ref": f"http://{host}/x"}},
        {"$defs": {"a": {"$id": f"http://{host}/x", "$schema": f"http://{host}/meta"}}},
        {"$defs": {"unused": {"$ref": f"http://{host}/x"}}},
        {"default": {"$ref": f"http://{host}/x"}},
    ]
    for schema in schemas:
        try:
            Validator(schema).check(1)
        except (BadSchema, Mismatch):
            continue
        assert schema.keys() <= {"default"}, schema
    Validator({"$id": f"http://{host}/x", "$ref": "#/$defs/a", "$defs": {"a": {}}}).check(1)
    assert calls == []


@pytest.mark.requirement(54)
def test_the_library_itself_may_not_fetch(sink: tuple[str, list[bytes]], monkeypatch: pytest.MonkeyPatch) -> None:
    host, calls = sink
    monkeypatch.setattr(validate, "cost", lambda _: Cost(1, 0))
    with pytest.raises(BadSchema, match="nothing is ever fetched"):
        Validator({"$ref": f"http://{host}/x"})
    assert calls == []


def test_only_those_who_validate_load_the_library() -> None:
    code = "import sys, splice.schema.functions, splice.schema.forms; print('jsonschema_rs' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.strip() == "False"


def test_the_names_that_a_peer_made_are_cut() -> None:
    hostile = {"type": "object", "properties": {"n" * 50_000: {}}, "additionalProperties": False}
    (problem,) = Validator(hostile).problems({"x": 1})
    assert len(problem.text) < 1_100


class Even(pydantic.BaseModel):
    number: int

    @pydantic.field_validator("number")
    @classmethod
    def is_even(cls, value: int) -> int:
        if value % 2:
            raise ValueError("it is odd")
        return value


def shouted(value: str) -> str:
    if value != value.upper():
        raise ValueError("shout")
    return value


@pytest.mark.parametrize(
    ("kind", "value", "text"),
    [
        (int, "x", 'a: expected integer, got "x"'),
        (dt.date, "x", 'a: expected date such as 2026-01-31, got "x"'),
        (Address, {"number": 0}, "a.street: required, but missing\na.number: it is less than the minimum of 1, got 0"),
        (Point | Address | None, {"x": "a"}, 'a.x: expected integer, got "a"'),
        (
            list[User],
            [{"x": 1}],
            "a[0].x: unknown name; known are: userName, logCount\na[0].userName: required, but missing",
        ),
        (Even, {"number": 3}, "a.number: it is odd"),
        (list[Even], [{"number": 3}], "a.number: it is odd"),
        (Annotated[str, pydantic.AfterValidator(shouted)], "x", "a: shout"),
        (Car, {"wheels": 1}, "a: 'wheels' must be >= 3: 1"),
        (bytes, "?", "a: Invalid base64 encoded string"),
        (
            Annotated[str, msgspec.Meta(pattern=r"(?P<a>x)(?(a)y|z)")],
            "q",
            "a: Expected `str` matching regex '(?P<a>x)(?(a)y|z)'",
        ),
    ],
)
def test_one_argument(kind: Any, value: Any, text: str) -> None:
    types = Types()
    shape = types.read(kind)
    schema = {"properties": {"a": shape.schema}, "$defs": types.defs}
    assert str(bad_arguments(schema, {"a": value}, ValueError("unused"), {"a": shape})) == text


def test_an_argument_that_decodes_is_not_blamed() -> None:
    shapes = {"when": Types().read(dt.datetime), "count": Types().read(int)}
    schema = {"properties": {name: shape.schema for name, shape in shapes.items()}, "additionalProperties": False}
    given = {"when": "2026-01-02T03:04:05", "count": "x", "more": 1}
    assert str(bad_arguments(schema, given, ValueError("unused"), shapes)).splitlines() == [
        'count: expected integer, got "x"',
        "more: unknown name; known are: when, count",
    ]


@pytest.mark.parametrize("schema", [{"pattern": "("}, {}])
def test_a_schema_that_finds_nothing(schema: dict[str, Any]) -> None:
    error = bad_arguments(schema, "x", ValueError("too odd"), {})
    assert isinstance(error, BadArguments)
    assert str(error) == "arguments: too odd"
