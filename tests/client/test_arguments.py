"""Arguments of tools and prompts, as callers have them."""

from dataclasses import dataclass
from typing import Any

import pydantic
import pytest
from msgspec import Raw, Struct

from client.scripted import DONE, modern, returning
from splice import Client
from splice.errors import LocalProtocolError


@dataclass
class Plain:
    n: int


@dataclass
class Tall:
    metres: float


class Note(pydantic.BaseModel):
    title: str
    kind: str = pydantic.Field(default="x", alias="Kind")


class Wire(Struct):
    note: Any


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (Plain(1), {"n": 1}),
        (Note(title="a"), {"title": "a", "Kind": "x"}),
        ([Note(title="a"), None], [{"title": "a", "Kind": "x"}, None]),
        (Wire(note=Note(title="a")), {"note": {"title": "a", "Kind": "x"}}),
        ({"deep": {"est": (1, None)}}, {"deep": {"est": [1, None]}}),
        (Raw(b'{"a":null}'), {"a": None}),
        ("null", "null"),
    ],
)
async def test_what_arguments_may_be(value: Any, written: Any) -> None:
    async with Client(target := modern(tools__call=returning(DONE))) as client:
        await client.call_tool("t", {"x": value})
    assert target.sent[-1]["params"]["arguments"] == {"x": written}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            {"ok": 1, "x": object()},
            "argument 'x' cannot be written as JSON (object has no JSON form); pass JSON values",
        ),
        ({"x": {"y": [1, object()]}}, "argument 'x' cannot be written as JSON"),
        ({"x": "\ud800"}, "argument 'x' cannot be written as JSON"),
        ({"x": float("nan")}, "argument 'x' cannot be written as JSON (Out of range float values"),
        ({"ok": None, "x": {"y": [1, float("inf")]}}, "argument 'x' cannot be written as JSON"),
        ({"x": Tall(metres=float("nan"))}, "argument 'x' cannot be written as JSON"),
    ],
)
async def test_what_arguments_may_not_be(arguments: Any, said: str) -> None:
    async with Client(target := modern(tools__call=returning(DONE))) as client:
        with pytest.raises(LocalProtocolError) as caught:
            await client.call_tool("t", arguments)
    assert str(caught.value).startswith("Cannot call t: ")
    assert said in str(caught.value)
    assert not target.calls("tools/call")


async def test_arguments_of_prompts_are_text() -> None:
    wrong: Any = {"name": "Ann", "age": 5}
    async with Client(target := modern()) as client:
        with pytest.raises(LocalProtocolError, match="Argument 'age' of prompt toast must be text, not int: 5"):
            await client.get_prompt("toast", wrong)
    assert not target.calls("prompts/get")
