"""The server `sqlite` answers as the original did, but for what is named here; and what it does beyond that."""

import ast
import asyncio
import json
import sqlite3
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from servers.recorded import Recorded, answered, assert_offers, calls
from splice import Client, RPCError, StdioServer
from splice.servers.sqlite import rows, server
from splice.servers.sqlite import watch as watching
from splice.servers.sqlite.__main__ import COMMAND
from splice.servers.sqlite.server import make
from splice.servers.sqlite.threads import on_a_thread
from splice.types import CallToolResult, ResourceTemplateReference
from support.listening import listening
from support.waiting import until

REFUSALS = {2, 4, 6, 7}
"""Calls that the original answered with an error as if it were a result: ours says that it is one."""

WRITTEN_BY_PYTHON = {0, 3, 5, 8}
"""Calls whose rows the original wrote as Python does: ours are JSON."""

OF_OUR_OWN = {11}
"""The prompt: the original's leads through the menus of one host. Ours has the same purpose, in words for any host."""


@asynccontextmanager
async def connected(path: Path, protocol: str = "modern", **settings: Any) -> AsyncIterator[Client]:
    async with Client(make(db_path=path, **settings), protocol=protocol) as client:
        yield client


async def text_of(client: Client, uri: str) -> str:
    return (await client.read_resource(uri)).contents[0].text or ""


async def asked(client: Client, query: str, **more: Any) -> CallToolResult:
    return await client.call_tool("read_query", {"query": query, **more})


def filled(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(statement)
    return path


def as_ours(call: Recorded) -> dict[str, Any]:
    """Rewrite an answer of the original's as far as ours is meant to differ."""
    wanted: dict[str, Any] = json.loads(json.dumps(call.answer["result"]))
    if call.number in REFUSALS:
        wanted["isError"] = True
    if call.number in WRITTEN_BY_PYTHON:
        wanted["content"][0]["text"] = ast.literal_eval(wanted["content"][0]["text"])
    if call.number in OF_OUR_OWN:
        wanted.pop("messages")
    return wanted


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_the_recorded_calls_are_answered_as_they_were(tmp_path: Path, protocol: str) -> None:
    async with connected(tmp_path / "new" / "t.db", protocol) as client:
        await assert_offers(client, "sqlite")
        for call in calls("sqlite"):
            wanted, got = as_ours(call), (await answered(client, call, {}))["result"]
            if call.number in WRITTEN_BY_PYTHON:
                got["content"][0]["text"] = json.loads(got["content"][0]["text"])
            assert {key: got.get(key) for key in wanted} == wanted, call


async def test_a_process_serves_what_its_command_line_says(tmp_path: Path) -> None:
    path = filled(tmp_path / "t.db", "CREATE TABLE t(a)", "INSERT INTO t VALUES (1)")
    command = [sys.executable, "-m", "splice.servers.sqlite", "--db-path", str(path), "--read-only"]
    async with Client(StdioServer(*command)) as client:
        assert {tool.name for tool in await client.list_tools()} == {
            *("read_query", "list_tables", "describe_table", "append_insight")
        }
        assert await client.list_prompts() == []
        assert (await asked(client, "SELECT a FROM t")).text == '[{"a": 1}]'


@pytest.mark.parametrize(
    "settings",
    [
        {"db_path": ""},
        {"db_path": ":memory:"},
        {"max_rows": 0},
        {"timeout": 0},
        {"db_path": "nowhere", "read_only": True},
    ],
)
def test_a_wrong_setting_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: dict[str, Any]) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=r"--|cannot be used"):
        make(**settings)


def test_a_file_that_is_no_database_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.db"
    path.write_text("no database, but long enough to have a header of one " * 40)
    with pytest.raises(SystemExit):
        COMMAND.main(["--db-path", str(path)])
    assert "not a database" in capsys.readouterr().err


async def test_long_results_come_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows, "MAX_BYTES", 5_000)
    count = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 25) SELECT "
    async with connected(tmp_path / "t.db", max_rows=10) as client:
        seen: list[int] = []
        offset: int | None = 0
        while offset is not None:
            part = await asked(client, f"{count} x FROM c", offset=offset)
            seen += [row["x"] for row in part.structured_content["rows"]]
            assert json.loads(part.text.splitlines()[0]) == part.structured_content["rows"]
            offset = part.structured_content["next_offset"]
            assert ("offset=" in part.text) is (offset is not None)
        assert seen == list(range(1, 26))
        assert len((await asked(client, f"{count} x FROM c", limit=3)).structured_content["rows"]) == 3
        assert len((await asked(client, f"{count} hex(zeroblob(1000)) FROM c")).structured_content["rows"]) == 2
        cut = (await asked(client, "SELECT hex(zeroblob(100000)), zeroblob(100000)")).structured_content
        assert cut["cut_values"] == 2
        assert [len(str(value)) for value in cut["rows"][0].values()] < [21_000, 28_000]


async def test_values_that_json_lacks_are_told(tmp_path: Path) -> None:
    path = filled(tmp_path / "t.db", "CREATE TABLE t(a)", "INSERT INTO t VALUES (CAST(x'ff41' AS TEXT))")
    async with connected(path) as client:
        row = (await asked(client, "SELECT 9e999 i, -9e999 j, x'00ff' k, NULL l, 1 a, 2 a")).structured_content["rows"]
        blob = {"base64": "AP8=", "bytes": 2}
        assert row == [{"i": "Infinity", "j": "-Infinity", "k": blob, "l": None, "a": 1, "a:1": 2}]
        assert (await asked(client, "SELECT a FROM t")).structured_content["rows"] == [{"a": "\ufffdA"}]


async def test_a_write_is_whole_or_not_at_all(tmp_path: Path) -> None:
    async with connected(tmp_path / "t.db") as client:
        await client.call_tool("create_table", {"query": "CREATE TABLE t(a INTEGER PRIMARY KEY, b UNIQUE)"})
        for query, error in {
            "INSERT INTO t VALUES (1, 'x'), (2, 'x')": "UNIQUE constraint failed",
            "ALTER TABLE t RENAME COLUMN b TO c": "",
            "CREATE VIEW v AS SELECT c FROM t": "",
            "CREATE VIRTUAL TABLE words USING fts5(word)": "",
            "INSERT INTO words VALUES ('tea'), ('coffee')": "",
        }.items():
            result = await client.call_tool("write_query", {"query": query})
            assert (result.is_error, error in result.text) == (bool(error), True), result.text
        returned = await client.call_tool("write_query", {"query": "INSERT INTO t VALUES (3, 'y') RETURNING *"})
        assert returned.structured_content == {"affected_rows": 1, "returned": [{"a": 3, "c": "y"}]}
        assert (await asked(client, "SELECT * FROM v")).text == '[{"c": "y"}]'
        assert (await asked(client, "SELECT word FROM words WHERE words MATCH 'tea'")).text == '[{"word": "tea"}]'


async def test_the_schema_is_a_resource(tmp_path: Path) -> None:
    path = filled(
        tmp_path / "t.db",
        "CREATE TABLE town(id INTEGER PRIMARY KEY, name TEXT UNIQUE)",
        "CREATE TABLE 'a?b %'(town REFERENCES town(id))",
    )
    async with connected(path) as client:
        assert "CREATE TABLE town" in await text_of(client, "sqlite://schema")
        template = ResourceTemplateReference(uri="sqlite://tables/{table}")
        assert (await client.complete(template, "table", "T")).values == ["town"]
        told = json.loads(await text_of(client, "sqlite://tables/a%3Fb%20%25"))
        assert told["references"] == [{"column": "town", "refers_to": "town", "its_column": "id"}]
        told = json.loads(await text_of(client, "sqlite://tables/town"))
        assert told["indexes"] == [{"name": "sqlite_autoindex_town_1", "unique": 1, "columns": ["name"]}]
        with pytest.raises(RPCError, match="no table"):
            await client.read_resource("sqlite://tables/nobody")
        missing = await client.call_tool("describe_table", {"table_name": "twon"})
        assert missing.is_error
        assert "a?b %" in missing.text


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_changes_are_heard_of(tmp_path: Path, protocol: str) -> None:
    path = filled(tmp_path / "t.db", "CREATE TABLE t(a)")
    heard: asyncio.Queue[str | None] = asyncio.Queue()
    uris = ["memo://insights", "sqlite://schema", "sqlite://tables/t"]

    async def after(act: Callable[[], Awaitable[Any]], *wanted: str) -> None:
        await act()
        assert {await asyncio.wait_for(heard.get(), 10) for _ in wanted} == set(wanted)

    async def elsewhere() -> None:
        await asyncio.to_thread(filled, path, "INSERT INTO t VALUES (1)")

    made = server.make(db_path=str(path))
    async with Client(made, protocol=protocol, on_change=lambda change: heard.put_nowait(change.uri)) as client:
        for uri in uris:
            await client.subscribe(uri)
        await after(elsewhere, uris[2])
        await after(lambda: client.call_tool("write_query", {"query": "DELETE FROM t"}), uris[2])
        await after(lambda: client.call_tool("create_table", {"query": "CREATE TABLE u(a)"}), *uris[1:])
        await after(lambda: client.call_tool("append_insight", {"insight": "x"}), uris[0])
        assert heard.empty()


async def test_a_statement_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    forever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c"
    async with connected(tmp_path / "t.db", timeout=0.1) as client:
        stopped = await asked(client, forever)
        assert stopped.is_error
        assert "longer than 0.1 s" in stopped.text
        await client.call_tool("create_table", {"query": "CREATE TABLE t(a)"})
        insert = f"INSERT INTO t {forever.replace('count(*)', 'x')}"
        assert (await client.call_tool("write_query", {"query": insert})).is_error
        assert (await asked(client, "SELECT count(*) n FROM t")).text == '[{"n": 0}]'


async def test_a_call_that_is_cancelled_ends_its_statement(tmp_path: Path) -> None:
    forever = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) INSERT INTO t SELECT x FROM c"
    async with connected(filled(tmp_path / "t.db", "CREATE TABLE t(a)"), timeout=60) as client:
        task = asyncio.ensure_future(client.call_tool("write_query", {"query": forever}))
        while not await asyncio.to_thread(is_locked, tmp_path / "t.db"):
            assert not task.done()
        task.cancel()
        written = await client.call_tool("write_query", {"query": "INSERT INTO t VALUES (1)"})  # waits for the lock
        assert written.structured_content["affected_rows"] == 1


async def test_a_statement_that_nothing_stops_does_not_keep_the_process() -> None:
    assert await on_a_thread(lambda _: threading.current_thread().daemon)
    with pytest.raises(ZeroDivisionError):
        await on_a_thread(lambda _: 1 // 0)


async def test_a_row_of_long_values_gives_each_its_share(tmp_path: Path) -> None:
    many = ", ".join(f"hex(zeroblob(9000)) c{number}" for number in range(100))
    async with connected(filled(tmp_path / "t.db", "CREATE TABLE t(a)")) as client:
        read = await client.call_tool("read_query", {"query": f"SELECT {many}"})
        assert read.structured_content["cut_values"] == 100
        assert len(read.text) < 210_000


async def test_a_file_that_is_broken_meanwhile_is_told(tmp_path: Path) -> None:
    path = filled(tmp_path / "t.db", "CREATE TABLE t(a)")
    async with connected(path) as client:
        path.write_bytes(b"SQLite format 3\0" + b"\xff" * 5000)
        for tool, arguments in (("list_tables", {}), ("describe_table", {"table_name": "t"})):
            told = await client.call_tool(tool, arguments)
            assert told.text.startswith("Database error: "), told.text


def is_locked(path: Path) -> bool:
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        return False


async def test_the_memo_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "MAX_INSIGHTS", 2)
    async with connected(tmp_path / "t.db") as client:
        assert "None yet" in await text_of(client, "memo://insights")
        for insight in "abc":
            await client.call_tool("append_insight", {"insight": insight})
        assert (await text_of(client, "memo://insights")).endswith("\n- b\n- c")
        assert (await client.call_tool("append_insight", {"insight": "x" * 20_000})).is_error


async def test_nobody_looks_when_the_sessions_that_subscribed_are_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "LOOK_SECONDS", 0.01)
    made = make(db_path=tmp_path / "t.db")
    watch = next(each for each in made.service.home.middleware if isinstance(each, watching.Watch))
    async with listening(made.http_app()) as url:
        async with Client(url, protocol="2025-11-25") as client:
            await client.subscribe(watching.SCHEMA)
            assert watch._is_looking()
        await until(lambda: not watch._is_looking())
