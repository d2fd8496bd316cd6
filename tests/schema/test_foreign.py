"""pydantic takes the types that only it knows, if it is there."""

import pathlib
import sys
from collections.abc import Callable, Iterable
from typing import Any

import msgspec
import pydantic
import pytest

from schema.models import Address, Limited, Person, Point, Stored, User
from splice.schema.foreign import (
    decode_hook,
    encode_hook,
    is_path,
    is_pydantic,
    pydantic_schema,
    strict_adapter,
)

UNWRITTEN: Any = Callable[[int], int]


def test_without_pydantic_nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "pydantic")
    with pytest.raises(TypeError, match=r"^it might be known to pydantic, which is not imported$"):
        strict_adapter(Limited)


@pytest.mark.parametrize("kind", [User | Point, list[User]])
def test_types_that_pydantic_does_not_know(kind: Any) -> None:
    with pytest.raises(RuntimeError):
        strict_adapter(kind)


def test_types_that_json_does_not_know() -> None:
    with pytest.raises(RuntimeError):
        pydantic_schema(strict_adapter(UNWRITTEN), "validation", "")


def test_dataclasses_are_strict_and_models_choose_for_themselves() -> None:
    validate = strict_adapter(Limited | Address).validate_json
    assert validate('{"size":3}') == Limited(3)
    assert validate('{"street":"s","number":"3"}') == Address(street="s", number=3)
    with pytest.raises(ValueError, match="valid integer"):
        validate('{"size":"3"}')


def test_bytes_are_base64_as_everywhere() -> None:
    assert strict_adapter(list[bytes]).validate_json('["aGk="]') == [b"hi"]


def test_definitions_get_a_suffix() -> None:
    schema, defs = pydantic_schema(strict_adapter(list[Address]), "validation", "2")
    assert schema == {"type": "array", "items": {"$ref": "#/$defs/Address2"}}
    assert list(defs) == ["Address2"]


def test_serialization_has_a_schema_of_its_own() -> None:
    class Computed(pydantic.BaseModel):
        side: int

        @pydantic.computed_field
        def area(self) -> int:
            return self.side**2

    _, defs = pydantic_schema(strict_adapter(Computed), "serialization", "")
    assert defs["Computed"]["required"] == ["side", "area"]


class Text(str):
    __slots__ = ()


class Number(float):
    pass


def test_classes_of_pydantic_are_known_by_their_methods() -> None:
    assert all(map(is_pydantic, (Address, Stored, pydantic.HttpUrl)))
    assert not is_pydantic(int)
    assert is_path(pathlib.Path)
    assert not is_path(str)


def test_decoding() -> None:
    assert decode_hook(Address, {"street": "s", "number": 1}) == Address(street="s", number=1)
    assert decode_hook(pathlib.Path, "a") == pathlib.Path("a")
    assert decode_hook(object, [1]) == [1]
    assert decode_hook(Iterable[bytes], ["aGk="]) == [b"hi"]
    with pytest.raises(ValueError, match="Expected `str`"):
        decode_hook(pathlib.Path, 3)


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Address(street="s", number=1), {"street": "s", "number": 1}),
        (
            [Person(home=Address(street="s", number=1), shoeSize=40)],
            [{"home": {"street": "s", "number": 1}, "friend": None, "shoeSize": 40}],
        ),
        (pathlib.Path("a/b"), "a/b"),
        (Text("t"), "t"),
        (Number(1.5), 1.5),
        (pydantic.HttpUrl("http://a/"), "http://a/"),
        ({1: {2}}, {"1": [2]}),
        (b"hi", "aGk="),
    ],
)
def test_everything_is_written_as_json(value: Any, plain: Any) -> None:
    assert msgspec.to_builtins(value, str_keys=True, enc_hook=encode_hook) == plain


def test_values_that_json_does_not_have() -> None:
    with pytest.raises(TypeError, match=r"^object cannot be written as JSON$"):
        encode_hook(object())
    assert msgspec.json.encode(pathlib.Path("d"), enc_hook=encode_hook) == b'"d"'


def test_titles_that_only_repeat_a_name_are_left_out() -> None:
    class Plain(pydantic.BaseModel):
        a_b: int
        titled: int = pydantic.Field(title="Mine", default=3)

    class Named(pydantic.BaseModel):
        model_config = pydantic.ConfigDict(title="A name")

    _, defs = pydantic_schema(strict_adapter(tuple[Plain, Named]), "validation", "")
    assert defs["Plain"]["properties"] == {
        "a_b": {"type": "integer"},
        "titled": {"type": "integer", "title": "Mine", "default": 3},
    }
    assert "title" not in defs["Plain"]
    assert defs["Named"]["title"] == "A name"
