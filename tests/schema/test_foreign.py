"""Models of other libraries describe, build and write themselves."""

import pathlib
import sys
from typing import Any

import msgspec
import pydantic
import pytest

from schema.models import Address, Person, Stored
from splice.schema.foreign import adapter, encode_hook, is_foreign, plain_json, tidy
from splice.schema.problems import Problem, Refused


class Duck:
    """Looks like a model, without any library."""

    def __init__(self, name: str) -> None:
        self.name = name

    @classmethod
    def model_validate(cls, value: Any) -> "Duck":
        if not isinstance(value, str):
            raise ValueError("no name")  # noqa: TRY004 - as models do
        return cls(value)

    @classmethod
    def model_json_schema(cls, mode: str) -> dict[str, Any]:
        return {"type": "string", "title": mode}

    def model_dump(self, mode: str, by_alias: bool) -> Any:
        return self.name if mode == "json" and by_alias else None


class Text(str):
    __slots__ = ()


class Number(float):
    pass


def test_models_are_known_by_their_methods() -> None:
    assert is_foreign(Duck)
    assert is_foreign(Address)
    assert is_foreign(Stored)
    assert is_foreign(pydantic.HttpUrl)
    assert not is_foreign(int)


def test_a_duck_needs_no_pydantic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pydantic")
    duck = adapter(Duck)
    assert duck.schema("validation") == {"type": "string", "title": "validation"}
    assert duck.convert("d").name == "d"
    with pytest.raises(ValueError, match=r"^no name$"):
        duck.convert(3)
    with pytest.raises(TypeError, match="needs pydantic, which is not imported"):
        adapter(int)


def test_models_tell_all_that_is_wrong() -> None:
    with pytest.raises(Refused) as caught:
        adapter(Person).convert({"home": {"number": 0}, "friend": 3})
    assert caught.value.problems == (
        Problem(("home", "street"), "required, but missing"),
        Problem(("home", "number"), "expected greater than or equal to 1", 0),
        Problem(("friend",), "expected object", 3),
    )


def test_types_that_are_no_models() -> None:
    url = adapter(pydantic.HttpUrl)
    assert url.schema("validation")["format"] == "uri"
    assert str(url.convert("http://a/")) == "http://a/"
    with pytest.raises(Refused):
        url.convert("a")


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Address(street="s", number=1), {"street": "s", "number": 1}),
        ([Person(home=Address(street="s", number=1), shoeSize=40)], None),
        ({"a": Duck("d")}, {"a": "d"}),
        (pathlib.Path("a/b"), "a/b"),
        (Text("t"), "t"),
        (Number(1.5), 1.5),
        (pydantic.HttpUrl("http://a/"), "http://a/"),
        ({1: {2}}, {"1": [2]}),
        (b"hi", "aGk="),
    ],
)
def test_everything_is_written_as_json(value: Any, plain: Any) -> None:
    found = plain_json(value)
    if plain is None:
        assert found == [{"home": {"street": "s", "number": 1}, "friend": None, "shoeSize": 40}]
    else:
        assert found == plain


def test_what_json_does_not_have() -> None:
    with pytest.raises(TypeError, match=r"^object cannot be written as JSON$"):
        encode_hook(object())
    with pytest.raises(ValueError, match=r"^JSON has no nan$"):
        plain_json(float("nan"))
    assert msgspec.json.encode(Duck("d"), enc_hook=encode_hook) == b'"d"'


def test_schemas_of_others_are_tidied() -> None:
    schema = {
        "$defs": {"MyThing": {"title": "MyThing", "type": "object", "properties": {"a_b": {"title": "A B"}}}},
        "properties": {
            "title": {"title": "Title", "type": "string", "default": {"title": "Title"}},
            "named": {"title": "Not its name", "anyOf": [{"$ref": "#/$defs/MyThing"}, {"enum": ["title"]}]},
        },
    }
    assert tidy(schema, {"#/$defs/MyThing": "#/$defs/Other"}) == {
        "$defs": {"MyThing": {"type": "object", "properties": {"a_b": {}}}},
        "properties": {
            "title": {"type": "string", "default": {"title": "Title"}},
            "named": {"title": "Not its name", "anyOf": [{"$ref": "#/$defs/Other"}, {"enum": ["title"]}]},
        },
    }
