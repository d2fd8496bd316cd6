"""With too many tools the model searches for them, and nothing is dropped."""

import json
from pathlib import Path
from typing import Any

import pytest

from splice.host.board import Board
from splice.host.connecting.manifest import Manifest
from splice.host.tools.discovery import CALL, DESCRIBE, MOST_FOUND, OWN, SEARCH, BadUse, Discovery, unwrap
from splice.host.tools.pins import Pins
from splice.host.tools.registry import Registry
from splice.host.tools.search import Index
from splice.types import Tool

BIG = 1_000_000


@pytest.fixture
def registry(tmp_path: Path) -> Registry:
    return Registry(Board(), Pins(tmp_path / "pins.json"))


def tools(count: int, about: str = "Does something") -> list[Tool]:
    schema = {"type": "object", "properties": {"city": {"type": "string"}}}
    return [Tool(name=f"do_{number}", description=about, input_schema=schema) for number in range(count)]


def found(discovery: Discovery, words: str) -> list[dict[str, str]]:
    entries: list[dict[str, str]] = json.loads(discovery.answer(SEARCH, {"query": words}))
    return entries


FLIGHTS = Tool(name="searchFlights", description="Find flights\nbetween cities", input_schema={"type": "object"})


@pytest.mark.parametrize(
    ("count", "about", "window", "most", "is_searching"),
    [
        (100, "short", BIG, 128, False),
        (129, "short", BIG, 128, True),
        (41, "short", BIG, 40, True),
        (100, "long " * 200, 200_000, 128, True),
        (100, "long " * 200, 0, 128, False),
        (5, "short", 4_000, 128, False),
    ],
)
def test_above_a_share_of_the_window_or_a_number_the_model_searches(
    registry: Registry, count: int, about: str, window: int, most: int, is_searching: bool
) -> None:
    registry.heard("a", Manifest(tools=tools(count, about)))
    discovery = Discovery(registry)
    discovery.begin(window, most=most)
    offered = [tool.name for tool in discovery.offered()]
    assert discovery.is_searching is is_searching
    assert offered == (list(OWN) if is_searching else [f"a__do_{number}" for number in range(count)])


def test_every_one_of_three_hundred_tools_can_be_found_and_called(registry: Registry) -> None:
    registry.heard("a", Manifest(tools=[*tools(300), FLIGHTS]))
    discovery = Discovery(registry)
    discovery.begin(BIG)
    discovery.offered()
    for name in ("do_0", "do_299", "searchFlights"):
        assert found(discovery, name)[0]["name"] == f"a__{name}"
    assert found(discovery, "flight") == [{"name": "a__searchFlights", "description": "Find flights between cities"}]
    assert len(found(discovery, "city")) == MOST_FOUND
    assert json.loads(discovery.answer(DESCRIBE, {"name": "a__do_7"}))["inputSchema"]["properties"]
    called, arguments = unwrap(CALL, {"name": "a__do_7", "arguments": {"city": "Rome"}})
    inner = registry.find(called)
    assert inner is not None
    assert (inner.item.id, arguments) == ("tool:a/do_7", {"city": "Rome"})


def test_tools_that_the_user_mentioned_come_along(registry: Registry) -> None:
    registry.heard("a", Manifest(tools=[*tools(200), FLIGHTS]))
    discovery = Discovery(registry)
    discovery.begin(BIG, wanted=["a__searchFlights", "a__gone", "a__searchFlights"])
    assert [tool.name for tool in discovery.offered()] == [*OWN, "a__searchFlights"]


def test_within_a_turn_the_array_stays_while_what_is_found_is_new(registry: Registry) -> None:
    registry.heard("a", Manifest(tools=tools(200)))
    discovery = Discovery(registry)
    discovery.begin(BIG)
    before = discovery.offered()
    registry.heard("b", Manifest(tools=[FLIGHTS]))
    assert discovery.offered() is before
    assert found(discovery, "flights")[0]["name"] == "b__searchFlights"
    registry.switch("tool:b/searchFlights", on=False)
    assert discovery.answer(SEARCH, {"query": "flights"}) == (
        "No tool fits these words. There are tools of a (200). Try other words."
    )
    with pytest.raises(BadUse, match=r"^b__searchFlights is switched off\."):
        discovery.answer(DESCRIBE, {"name": "b__searchFlights"})
    discovery.begin(BIG)
    assert discovery.offered() is not before


def test_without_searching_changes_come_at_once_and_too_many_turn_it_on(registry: Registry) -> None:
    registry.heard("a", Manifest(tools=tools(1)))
    discovery = Discovery(registry)
    discovery.begin(BIG)
    assert len(discovery.offered()) == 1
    registry.heard("a", Manifest(tools=tools(3)))
    assert len(discovery.offered()) == 3
    registry.heard("a", Manifest(tools=tools(200)))
    assert [tool.name for tool in discovery.offered()] == list(OWN)


@pytest.mark.parametrize("given", [None, [], {}, {"query": 1}, {"query": " "}, "query"])
def test_a_wrong_search_is_told_to_the_model(registry: Registry, given: Any) -> None:
    with pytest.raises(BadUse, match="query is missing"):
        Discovery(registry).answer(SEARCH, given)


@pytest.mark.parametrize(
    ("given", "result"),
    [
        ({"name": "a__b"}, ("a__b", {})),
        ({"name": "a__b", "arguments": None}, ("a__b", {})),
        ({"name": "a__b", "arguments": '{"c": 1}'}, ("a__b", {"c": 1})),
        ({"name": "a__b", "arguments": "{"}, "not JSON"),
        ({"name": "a__b", "arguments": [1]}, "must be an object"),
        ({"name": CALL, "arguments": {}}, "cannot call call_tool"),
        ({"arguments": {}}, "name is missing"),
        ("a__b", "name is missing"),
    ],
)
def test_the_inner_tool_of_a_call(given: Any, result: Any) -> None:
    if isinstance(result, str):
        with pytest.raises(BadUse, match=result):
            unwrap(CALL, given)
    else:
        assert unwrap(CALL, given) == result
    assert unwrap("a__other", given) == ("a__other", given)


def test_five_hundred_tools_are_indexed_once(registry: Registry, monkeypatch: pytest.MonkeyPatch) -> None:
    registry.heard("a", Manifest(tools=tools(500, "Finds something for somebody " * 10)))
    discovery, made = Discovery(registry), list[Index]()

    def noted(documents: Any) -> Index:
        made.append(Index(documents))
        return made[-1]

    monkeypatch.setattr("splice.host.tools.discovery.Index", noted)
    discovery.begin(BIG)
    discovery.offered()
    for _ in range(20):
        discovery.answer(SEARCH, {"query": "find something in a city"})
    assert len(made) == 1
