"""The server `postgres` on a real PostgreSQL: what it tells, what it refuses, and what others got out of its kin."""

import asyncio
import json
import sys
from pathlib import Path

import psycopg
import pytest

from guards.snippets import play
from interop.fuzz_postgres import fuzzed
from interop.peer import ROOT
from interop.postgres import asked, connected, of
from splice import Client, RPCError, StdioServer
from splice.types import ResourceTemplateReference, TextContent
from support.waiting import until

FOREVER = "SELECT count(*) FROM generate_series(1, 10000) a, generate_series(1, 10000) b, generate_series(1, 10000) c"


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_rows_are_json(admin: str, protocol: str) -> None:
    async with connected(admin, protocol=protocol) as client:
        row = {
            "a": 1,
            "b": "x",
            "c": "1.5",
            "d": "infinity",
            "e": {"k": [1]},
            "f": "{1,2}",
            "g": "\\x00ff",
            "h": "NaN",
        }
        told = await asked(client, "SELECT * FROM kinds")
        assert json.loads(told.text) == [{**row, "i": "4713-01-01 BC", "j": None}]
        assert told.structured_content["rows"] == json.loads(told.text)
        assert (await asked(client, "SELECT '100%s' LIKE '%' a, 2 a")).text == '[{"a": true, "a:1": 2}]'
        assert "Index" in (await asked(client, "SELECT * FROM customer WHERE id = 1", "explain")).text


async def test_long_results_are_cut_and_say_so(admin: str) -> None:
    async with connected(admin, max_rows=10) as client:
        many = await asked(client, "SELECT x FROM generate_series(1, 1000) x")
        assert len(many.structured_content["rows"]) == 10
        assert "OFFSET" in many.text
        assert len((await asked(client, "VALUES (1), (2), (3)", limit=2)).structured_content["rows"]) == 2
        long = await asked(client, "SELECT repeat('x', 1000000) a, to_jsonb(repeat('x', 100000)) b")
        assert long.structured_content["cut_values"] == 2
        assert len(long.text) < 50_000


async def test_values_that_no_peer_reads_stay_text(admin: str) -> None:
    values = {
        "deep": "(repeat('[', 3000) || repeat(']', 3000))::jsonb",
        "digits": "(repeat('9', 5000))::jsonb",
        "huge": "'[1e400]'::json",
        "half": """'"\\ud800"'::json""",
        "other": "set_config('client_encoding', 'LATIN1', false) || 'é'",
    }
    async with connected(admin) as client:
        for name, value in values.items():
            told = await asked(client, f"SELECT {value} AS {name}")
            assert not told.is_error, told.text
            assert isinstance(json.loads(told.text, parse_constant=pytest.fail)[0][name], str)
        wide = await asked(client, "SELECT " + ", ".join(f"repeat('x', 19000) c{each}" for each in range(100)))
        assert wide.structured_content["cut_values"] == 100
        assert len(wide.text) < 210_000


async def test_the_catalog(admin: str) -> None:
    async with connected(admin) as client:
        assert (await client.call_tool("list_schemas")).structured_content == ["public", "shop"]
        tables = (await client.call_tool("list_tables", {"schema": "shop"})).structured_content
        assert [(row["name"], row["kind"]) for row in tables] == [("Odd name?", "table"), ("purchase", "table")]
        told = (await client.call_tool("describe_table", {"table": "purchase", "schema": "shop"})).structured_content
        assert [column["column_name"] for column in told["columns"]] == ["id", "customer_id", "total"]
        assert "REFERENCES customer(id)" in json.dumps(told["constraints"])
        for name in ("secret", "x'; DROP TABLE customer", "\x00", "", "pg_authid"):
            missing = await client.call_tool("describe_table", {"table": name})
            assert missing.is_error, name
    async with connected(admin, schemas=["shop"]) as client:
        assert (await client.call_tool("list_schemas")).structured_content == ["shop"]
        assert (await asked(client, "SELECT count(*) n FROM purchase")).text == '[{"n": 1}]'  # by the search path


async def test_tables_are_resources(admin: str) -> None:
    async with connected(admin) as client:
        uris = [resource.uri for resource in await client.list_resources()]
        assert "postgres://shop/Odd%20name%3F/schema" in uris
        for uri in uris:
            columns = json.loads((await client.read_resource(uri)).contents[0].text or "")
            assert {"column_name", "data_type"} <= set(columns[0])
        with pytest.raises(RPCError, match="no such table"):
            await client.read_resource("postgres://public/secret/schema")
        template = ResourceTemplateReference(uri="postgres://{schema}/{table}/schema")
        assert (await client.complete(template, "schema", "S")).values == ["shop"]
        assert (await client.complete(template, "table", "p", {"schema": "shop"})).values == ["purchase"]
        prompt = await client.get_prompt("ask-database", {"question": "Who?"})
        assert [message.role for message in prompt.messages][-3:] == ["user", "assistant", "user"]
        first = prompt.messages[0].content
        assert isinstance(first, TextContent)
        assert "shop.purchase" in first.text


async def test_a_statement_that_takes_too_long_is_stopped(admin: str) -> None:
    async with connected(admin, timeout=0.2) as client:
        assert "longer than 0.2 s" in (await asked(client, FOREVER)).text
        assert "longer than 0.2 s" in (await asked(client, "SELECT pg_sleep(30)")).text
        endless = "DO $$ BEGIN SET LOCAL statement_timeout = 0; PERFORM pg_sleep(30); END $$"
        assert "longer than 0.2 s" in (await asked(client, endless)).text


DEAF = """DO $$ BEGIN SET LOCAL statement_timeout = 0; SET LOCAL client_connection_check_interval = 0;
LOOP BEGIN PERFORM pg_sleep(30); EXCEPTION WHEN query_canceled THEN NULL; END; END LOOP; END $$"""
"""A statement that hears of no cancellation."""


@pytest.mark.parametrize("statement", [FOREVER, DEAF])
async def test_a_call_that_is_cancelled_ends_its_statement(admin: str, statement: str) -> None:
    async with connected(admin, timeout=60) as client:
        task = asyncio.ensure_future(asked(client, statement))
        await until(lambda: running(admin, statement) == 1)
        task.cancel()
        await until(lambda: running(admin, statement) == 0)


async def test_a_statement_ends_when_its_server_is_gone(admin: str) -> None:
    async with connected(admin) as client:
        assert (await asked(client, "SHOW client_connection_check_interval")).text.endswith('"1s"}]')


def running(admin: str, statement: str) -> int:
    with psycopg.connect(admin) as connection:
        found = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE usename = 'reader' AND query = %s", [statement]
        ).fetchone()
    return found[0] if found else -1


async def test_many_calls_share_few_sessions(admin: str) -> None:
    async with connected(admin) as client:
        told = await asyncio.gather(*(asked(client, f"SELECT {number} n, pg_sleep(0.01)") for number in range(20)))
    assert [result.structured_content["rows"][0]["n"] for result in told] == list(range(20))


async def test_with_write_a_tool_changes_and_query_still_does_not(admin: str) -> None:
    async with connected(admin) as client:
        assert "execute" not in {tool.name for tool in await client.list_tools()}
    async with connected(admin, "writer", write=True) as client:
        await asked(client, "CREATE TABLE shop.note(id int PRIMARY KEY, text text)", "execute")
        done = await asked(client, "INSERT INTO shop.note VALUES (1, 'a'), (2, 'b') RETURNING id", "execute")
        assert done.structured_content == {
            "affected_rows": 2,
            "status": "INSERT 0 2",
            "returned": [{"id": 1}, {"id": 2}],
        }
        failed = await asked(client, "INSERT INTO shop.note VALUES (3, 'c'), (1, 'd')", "execute")
        assert "duplicate key" in failed.text
        assert "multiple commands" in (await asked(client, "SELECT 1; DROP TABLE shop.note", "execute")).text
        assert "only statements that read" in (await asked(client, "DELETE FROM shop.note")).text
        assert (await asked(client, "SELECT count(*) n FROM shop.note")).text == '[{"n": 2}]'
        assert not (await asked(client, "DROP TABLE shop.note", "execute")).is_error


async def test_a_process_takes_the_database_from_its_environment(admin: str) -> None:
    command = [sys.executable, "-m", "splice.servers.postgres"]
    async with Client(StdioServer(*command, env={"DATABASE_URL": of(admin, "reader")})) as client:
        assert (await asked(client, "SELECT name FROM customer ORDER BY id")).text.startswith('[{"name": "Ada"}')


async def test_a_database_that_is_gone_is_told_without_details(admin: str, caplog: pytest.LogCaptureFixture) -> None:
    with psycopg.connect(admin, autocommit=True) as connection:
        connection.execute("CREATE ROLE leaver LOGIN PASSWORD 'leaver'")
        async with connected(admin, "leaver") as client:
            connection.execute("DROP ROLE leaver")
            told = await asked(client, "SELECT 1")
    assert "cannot be reached" in told.text
    assert "authentication failed" in caplog.text


def test_the_page_runs(admin: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", of(admin, "reader"))
    page = (ROOT / "docs" / "servers" / "postgres.md").read_text()
    (tmp_path / "postgres.md").write_text(page.replace("<!-- not run: needs a database -->\n", ""))
    play(tmp_path / "postgres.md", tmp_path / "stage")


def test_fuzzing_finds_nothing(admin: str) -> None:
    assert fuzzed(admin, seconds=5, seed=7) > 50
