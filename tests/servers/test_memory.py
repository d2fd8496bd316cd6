"""The memory server: as the original answered, and what it answers better."""

import json
from pathlib import Path
from typing import Any

import pytest

from servers.recorded import answered, assert_offers, calls, contract
from splice import Client, MCPError
from splice.servers.memory import graph, reading, server
from splice.servers.memory.reading import URI
from splice.servers.memory.server import default_file, make
from splice.types import CallToolResult
from support.waiting import until

NOTED = {
    3: "nothing is created, and a note says why",
    4: "a note names the end of a relation that does not exist",
}
"""By the number of a call: why a note, and a text after the original's, say more than the original did."""


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    return (await client.call_tool(tool, arguments)).structured_content


def entity(name: str, *observations: str, kind: str = "t") -> dict[str, Any]:
    return {"name": name, "entityType": kind, "observations": list(observations)}


def relation(source: str, target: str, kind: str = "knows") -> dict[str, str]:
    return {"from": source, "to": target, "relationType": kind}


def written(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text().split("\n")]


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
async def test_it_answers_as_the_original(protocol: str, tmp_path: Path) -> None:
    async with Client(make(file=tmp_path / "m.jsonl"), protocol=protocol) as client:
        await assert_offers(client, "memory")
        assert [each.uri for each in await client.list_resources()] == contract("memory")["resources"]
        for each in calls("memory"):
            if protocol == "modern" and each.method == "resources/subscribe":
                continue  # this era has streams instead
            answer = await answered(client, each, {})
            for name in ("resultType", "_meta", "ttlMs", "cacheScope"):  # of the modern era
                answer["result"].pop(name, None)
            if each.number in NOTED:
                assert answer["result"]["content"].pop()["text"] == answer["result"]["structuredContent"].pop("note")
            assert answer == each.answer, str(each)


async def test_the_file_is_the_originals_to_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    async with Client(make(file=path)) as client:
        await call(client, "create_entities", entities=[entity('Ä\u2028\x01"', "1\n2"), entity("B", kind="")])
        await call(client, "create_relations", relations=[relation("B", "Ä")])
        await call(client, "create_entities", entities=[entity("C")])
    assert path.read_text() == (
        '{"type":"entity","name":"Ä\u2028\\u0001\\"","entityType":"t","observations":["1\\n2"]}\n'
        '{"type":"entity","name":"B","entityType":"","observations":[]}\n'
        '{"type":"entity","name":"C","entityType":"t","observations":[]}\n'
        '{"type":"relation","from":"B","to":"Ä","relationType":"knows"}'
    )
    assert path.stat().st_mode & 0o777 == 0o600
    path.chmod(0o640)
    async with Client(make(file=path)) as client:
        await call(client, "delete_entities", entityNames=["B", "C", 'Ä\u2028\x01"'])
        assert path.read_bytes() == b""
        assert await call(client, "read_graph") == {"entities": [], "relations": []}
    assert path.stat().st_mode & 0o777 == 0o640


async def test_names_within_one_call_are_new_once(tmp_path: Path) -> None:
    async with Client(make(file=tmp_path / "m.jsonl")) as client:
        created = await call(client, "create_entities", entities=[entity("A", "1"), entity("A", "2")])
        assert created["entities"] == [entity("A", "1")]
        taken = await call(client, "create_entities", entities=[entity("A", "2")])
        left = "There already, and left as it was: 'A'. add_observations adds to what is there."
        assert taken == {"entities": [], "note": left}
        again = await call(client, "create_relations", relations=[relation("A", "A"), relation("A", "A")])
        assert again == {"relations": [relation("A", "A")]}
        more = [{"entityName": "A", "contents": ["2", "2"]}, {"entityName": "A", "contents": ["2", "3"]}]
        added = await call(client, "add_observations", observations=more)
        assert [each["addedObservations"] for each in added["results"]] == [["2"], ["3"]]


async def test_a_change_that_fails_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    async with Client(make(file=path)) as client:
        await call(client, "create_entities", entities=[entity("A")])
        before = path.read_bytes()
        more = [{"entityName": "A", "contents": ["new"]}, {"entityName": "Z", "contents": ["x"]}]
        failed = await client.call_tool("add_observations", {"observations": more})
        assert (failed.is_error, failed.text) == (True, "Entity with name Z not found")
        assert await call(client, "open_nodes", names=["A"]) == {"entities": [entity("A")], "relations": []}
    assert path.read_bytes() == before


async def test_read_only_offers_reading_and_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    path.write_text('{"type":"entity","name":"A","entityType":"t","observations":[]}\nbroken')
    async with Client(make(file=path, read_only=True)) as client:
        tools = await client.list_tools()
        assert {each.name for each in tools} == {"read_graph", "search_nodes", "open_nodes"}
        assert all(each.annotations is not None and each.annotations.read_only_hint for each in tools)
        with pytest.raises(MCPError, match="Unknown tool"):
            await client.call_tool("delete_entities", {"entityNames": ["A"]})
        assert (await call(client, "read_graph"))["entities"] == [entity("A")]
    assert list(tmp_path.iterdir()) == [path]  # noqa: ASYNC240 - the test has nothing else to do


async def test_a_large_graph_is_read_in_parts_that_together_are_all_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reading, "MAX_RELATIONS", 3)
    async with Client(make(file=tmp_path / "m.jsonl")) as client:
        names = "ABCDE"
        edges = [relation(a, b) for a, b in zip("ABCDEX", "BCDEAY", strict=True)]
        await call(client, "create_entities", entities=[entity(each) for each in names])
        await call(client, "create_relations", relations=edges)
        parts = [await call(client, "read_graph", offset=each, limit=2) for each in (0, 2, 4)]
        assert [each["name"] for part in parts for each in part["entities"]] == list(names)
        assert [each for part in parts for each in part["relations"]] == edges
        start = "with the relations that start there"
        assert parts[0]["note"] == f"Entities 1 to 2 of 5, {start}; the next ones begin at offset 2."
        assert parts[2]["note"] == f"Entities 5 to 5 of 5, {start}."
        beyond = await call(client, "read_graph", offset=9)
        assert beyond == {"entities": [], "relations": [], "note": "There are 5 entities, and no more at offset 9."}
        whole = await call(client, "read_graph")
        assert len(whole["relations"]) == 3
        assert whole["note"] == f"3 of 6 relations; the resource {URI} has all."
        assert len(json.loads((await client.read_resource(URI)).contents[0].text or "")["relations"]) == 6


async def test_the_graph_cannot_grow_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAX_ENTITIES", "MAX_RELATIONS", "MAX_OBSERVATIONS"):
        monkeypatch.setattr(graph, name, 2)
    abc = [entity(each) for each in "ABC"]

    async def refused(tool: str, **arguments: Any) -> str:
        result: CallToolResult = await client.call_tool(tool, arguments)
        assert result.is_error
        return result.text

    async with Client(make(file=tmp_path / "m.jsonl")) as client:
        assert "3 entities; there may be 2" in await refused("create_entities", entities=abc)
        await call(client, "create_entities", entities=abc[:2])
        assert "3 relations" in await refused("create_relations", relations=[relation("A", each) for each in "ABC"])
        many = [{"entityName": "A", "contents": ["1", "2", "3"]}]
        assert "3 observations" in await refused("add_observations", observations=many)
        await call(client, "delete_entities", entityNames=["B"])
        assert "3 observations" in await refused("create_entities", entities=[entity("B", "1", "2", "3")])
        assert "entities[0].name" in await refused("create_entities", entities=[entity("x" * 1_001)])
        assert "observations[0]" in await refused("create_entities", entities=[entity("x", "y" * 20_001)])


def test_the_file_is_in_the_users_data_directory_unless_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert default_file() == tmp_path / ".local" / "share" / "splice" / "memory.jsonl"
    monkeypatch.setenv("XDG_DATA_HOME", "not/absolute")
    assert default_file().is_relative_to(tmp_path)
    with monkeypatch.context() as patch:
        patch.delenv("HOME")
        patch.setattr("pwd.getpwuid", {}.__getitem__)
        with pytest.raises(ValueError, match="name the memory by --file"):
            default_file()
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert default_file() == Path("/data/splice/memory.jsonl")


async def test_directories_are_made_when_something_is_remembered(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "m.jsonl"
    async with Client(make(file=path)) as client:
        assert await call(client, "read_graph") == {"entities": [], "relations": []}
        assert not path.parent.exists()
        await call(client, "create_entities", entities=[entity("A")])
    assert path.parent.stat().st_mode & 0o777 == 0o700
    assert written(path) == [{"type": "entity", **entity("A")}]


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
async def test_subscribers_hear_of_changes_here_and_elsewhere(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("splice.servers.memory.watching.POLL_SECONDS", 0.01)
    path, heard = tmp_path / "m.jsonl", list[str | None]()
    async with (
        Client(make(file=path), protocol=protocol, on_change=lambda change: heard.append(change.uri)) as client,
        Client(make(file=path)) as elsewhere,
    ):
        await client.subscribe(URI)
        await call(client, "create_entities", entities=[entity("A")])
        await until(lambda: heard)
        heard.clear()
        await call(client, "create_entities", entities=[entity("A")])  # changes nothing: nobody is told
        await call(client, "read_graph")
        assert heard == []
        await call(elsewhere, "create_entities", entities=[entity("B")])
        await until(lambda: heard)
        assert set(heard) == {URI}
        assert [each["name"] for each in (await call(client, "read_graph"))["entities"]] == ["A", "B"]


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
async def test_the_file_is_watched_only_while_somebody_listens(
    protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from splice.servers.memory.watching import Watcher

    monkeypatch.setattr("splice.servers.memory.watching.POLL_SECONDS", 0.01)
    watchers: list[Watcher] = []

    class Noted(Watcher):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            watchers.append(self)

    monkeypatch.setattr(server, "Watcher", Noted)
    made = make(file=tmp_path / "m.jsonl")
    async with Client(made, protocol=protocol) as client:
        await call(client, "read_graph")
        (watcher,) = watchers
        assert not watcher.is_watching
        await client.subscribe(URI)
        await until(lambda: watcher.is_watching)
        await client.unsubscribe(URI)
        await until(lambda: not watcher.is_watching)
        await client.subscribe(URI)
        await until(lambda: watcher.is_watching)
    await until(lambda: not watcher.is_watching)


async def test_a_file_that_is_not_there_any_more_is_an_empty_graph(tmp_path: Path) -> None:
    path = tmp_path / "m.jsonl"
    async with Client(make(file=path)) as client:
        await call(client, "create_entities", entities=[entity("A")])
        path.unlink()
        assert await call(client, "read_graph") == {"entities": [], "relations": []}
        path.mkdir()
        failed = await client.call_tool("read_graph")
        assert failed.is_error
        assert str(tmp_path) not in failed.text
