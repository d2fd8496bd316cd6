"""Search in the memory: what the original finds, the best first."""

from pathlib import Path

import pytest

from servers.test_memory import call, entity, relation
from splice import Client
from splice.servers.memory.graph import Entity, Graph
from splice.servers.memory.search import search
from splice.servers.memory.server import make


def graph(*entities: Entity) -> Graph:
    return Graph({each.name: each for each in entities})


def found(known: Graph, query: str) -> list[str]:
    return [each.name for each in search(known, query).entities]


PEOPLE = graph(
    Entity("Trust", "concept", ["nothing"]),
    Entity("Anna", "person", ["Likes tea", "writes Rust every day"]),
    Entity("rust", "metal", []),
    Entity("Rust Belt", "region", ["USA"]),
    Entity("Ferris", "rust", ["a crab"]),
    Entity("Ben", "person", ["once heard of a trusty friend"] + [str(each) for each in range(50)]),
)


def test_names_go_before_types_and_types_before_observations() -> None:
    assert found(PEOPLE, "RUST") == ["rust", "Rust Belt", "Ferris", "Trust", "Anna", "Ben"]
    assert set(found(PEOPLE, "RUST")) == set(PEOPLE.entities), "all that contain it, as by the original"


@pytest.mark.timeout(20)  # what goes back for each sign takes twice as long
def test_a_query_of_one_sign_again_and_again_is_found_in_time() -> None:
    known = graph(Entity("A", "t", ["!" * 30_000_000 + "a b"]), Entity("B", "t", ["!" * 999 + "ab", "!" * 999 + "a"]))
    assert found(known, "!" * 999 + "a") == ["B", "A"]


def test_a_text_is_found_within_one_observation_only() -> None:
    known = graph(Entity("A", "b", ["c\nd", "e"]), Entity("x", "y", []))
    assert found(known, "c\nd") == ["A"]
    assert found(known, "\n\0\nb") == []
    assert found(known, "") == ["A", "x"]
    assert found(known, ".*") == []


def test_words_are_looked_for_where_nothing_contains_them_all_together() -> None:
    result = search(PEOPLE, "tea day person")
    assert result.by_words
    assert [each.name for each in result.entities] == ["Anna", "Ben"]
    assert not search(PEOPLE, "likes tea").by_words
    assert search(PEOPLE, "nowhere").entities == ()


async def test_an_answer_tells_what_it_leaves_out(tmp_path: Path) -> None:
    async with Client(make(file=tmp_path / "m.jsonl")) as client:
        await call(client, "create_entities", entities=[entity(f"tea {each}", "green") for each in range(5)])
        await call(client, "create_relations", relations=[relation("tea 1", "tea 4"), relation("tea 3", "tea 4")])
        some = await call(client, "search_nodes", query="tea", limit=2)
        assert [each["name"] for each in some["entities"]] == ["tea 0", "tea 1"]
        assert some["relations"] == [relation("tea 1", "tea 4")]
        assert some["note"] == "The best 2 of 5: say more, or ask for a larger limit."
        words = await call(client, "search_nodes", query="green 3")
        assert words["entities"][0]["name"] == "tea 3"
        assert words["note"].startswith("Nothing contains the whole query")
        assert await call(client, "search_nodes", query="coffee beans") == {"entities": [], "relations": []}
