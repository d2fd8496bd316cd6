"""Ways out of "read-only" and out of the file that others had: the reference SQLite server, the Postgres one, and kin.

Each statement is refused by SQLite, whatever its text looks like, and the bytes on the disk stay what they were.
"""

import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

import pytest

from splice import Client
from splice.servers.sqlite.server import make

WRITES = [
    "DELETE FROM t",
    "delete from t where 1",
    "\ufeffDELETE FROM t",
    "-- SELECT\nDELETE FROM t",
    "/* SELECT */ UPDATE t SET a = 2",
    "\t\r\n;DELETE FROM t",
    "WITH x AS (SELECT 1) INSERT INTO t SELECT * FROM x",
    "WITH x AS (SELECT 1) DELETE FROM t RETURNING a",
    "REPLACE INTO t VALUES (1)",
    "EXPLAIN DELETE FROM t",
    "INSERT INTO t SELECT 1 RETURNING a",
    "INSERT INTO words(words) VALUES ('rebuild')",
    "CREATE TABLE u AS SELECT * FROM t",
    "CREATE TEMP TABLE u(a)",
    "CREATE TEMP TRIGGER g AFTER INSERT ON t BEGIN SELECT 1; END",
    "CREATE VIEW w AS SELECT 1",
    "CREATE VIRTUAL TABLE w USING fts5(a)",
    "DROP TABLE t",
    "ALTER TABLE t RENAME TO u",
    "UPDATE sqlite_master SET sql = 'x'",
    "UPDATE sqlite_schema SET sql = 'x' WHERE name = 't'",
    "REINDEX",
    "ANALYZE",
]
STACKED = [
    "SELECT 1; DELETE FROM t",
    "SELECT 1; -- \n DELETE FROM t",
    "COMMIT; DELETE FROM t",
    "ROLLBACK; PRAGMA query_only = OFF; DELETE FROM t",
    "SELECT 1;;DELETE FROM t",
    "SELECT 1 /* ; */; DELETE FROM t",
]
WAYS_OUT = [
    "ATTACH '{OUT}' AS o",
    "ATTACH DATABASE 'file:{OUT}?mode=rwc' AS o",
    "DETACH main",
    "VACUUM",
    "VACUUM INTO '{OUT}'",
    "SELECT load_extension('{OUT}')",
    "SELECT 1 WHERE load_extension('{OUT}', 'x')",
    "SELECT writefile('{OUT}', 'x')",
    "SELECT fts3_tokenizer('simple', x'00')",
    "BEGIN",
    "COMMIT",
    "ROLLBACK",
    "SAVEPOINT s",
    "PRAGMA query_only = OFF",
    "PRAGMA query_only(0)",
    "PRAGMA main.query_only = 0",
    "PRAGMA writable_schema = ON",
    "PRAGMA trusted_schema = ON",
    "PRAGMA journal_mode = DELETE",
    "PRAGMA journal_mode(MEMORY)",
    "PRAGMA user_version = 9",
    "PRAGMA application_id = 9",
    "PRAGMA hard_heap_limit = 0",
    "PRAGMA temp_store_directory = '{OUT}'",
    "PRAGMA wal_checkpoint(TRUNCATE)",
    "PRAGMA incremental_vacuum",
    "PRAGMA optimize",
    "PRAGMA database_list",
    "SELECT file FROM pragma_database_list",
]
OUTWARD_WRITES = [
    *WAYS_OUT,
    "CREATE VIRTUAL TABLE x USING csv(filename='{OUT}')",
    "CREATE VIRTUAL TABLE temp.x USING fts5(a)",
    "CREATE TABLE temp.x(a)",
    "CREATE TEMP TABLE x(a)",
    "INSERT INTO t SELECT load_extension('{OUT}')",
    "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 2, 'x')",
    "DELETE FROM t; ATTACH '{OUT}' AS o",
]


@asynccontextmanager
async def guarded(folder: Path) -> AsyncIterator[Client]:
    """Serve a file; afterwards nothing is different, and nothing is beside it."""
    path = folder / "home" / "t.db"
    path.parent.mkdir()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE t(a)")
        connection.execute("INSERT INTO t VALUES (1)")
        connection.execute("CREATE VIRTUAL TABLE words USING fts5(word)")
    before = path.read_bytes()
    async with Client(make(db_path=str(path), timeout=0.3)) as client:
        yield client
    assert path.read_bytes() == before
    assert found(folder) == ["home", "t.db"]


def found(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.rglob("*"))


@pytest.mark.parametrize("tool", ["read_query", "create_table"])
async def test_what_must_not_write_does_not(tmp_path: Path, tool: str) -> None:
    async with guarded(tmp_path) as client:
        for query in WRITES + STACKED + WAYS_OUT:
            if tool == "create_table" and query.startswith("CREATE TABLE"):
                continue
            result = await client.call_tool(tool, {"query": query.replace("{OUT}", str(tmp_path / "out"))})
            assert result.is_error, query


async def test_what_writes_stays_in_its_file(tmp_path: Path) -> None:
    async with guarded(tmp_path) as client:
        for query in STACKED + OUTWARD_WRITES:
            result = await client.call_tool("write_query", {"query": query.replace("{OUT}", str(tmp_path / "out"))})
            assert result.is_error, query


async def test_what_a_schema_holds_is_judged_when_it_runs(tmp_path: Path) -> None:
    statements = [
        "CREATE TABLE t(a)",
        "CREATE TRIGGER g AFTER INSERT ON t BEGIN SELECT load_extension('x'); END",
        "CREATE VIEW v AS SELECT load_extension('x')",
    ]
    async with Client(make(db_path=str(tmp_path / "t.db"))) as client:
        for statement in statements:
            assert not (await client.call_tool("write_query", {"query": statement})).is_error
        for tool, query in {"write_query": "INSERT INTO t VALUES (1)", "read_query": "SELECT * FROM v"}.items():
            result = await client.call_tool(tool, {"query": query})
            assert "load_extension" in result.text
            assert result.is_error


async def test_names_are_bound(tmp_path: Path) -> None:
    async with guarded(tmp_path) as client:
        for name in ("t); DELETE FROM t; --", "t') ; DROP TABLE t", "'", '"', "t\x00", "", "t' OR '1'='1", "main.t"):
            assert (await client.call_tool("describe_table", {"table_name": name})).is_error, name


@pytest.mark.parametrize(
    "query",
    [
        "SELECT zeroblob(1000000000)",
        "SELECT length(hex(randomblob(100000000)))",
        "SELECT replace(hex(zeroblob(1000000)), '0', hex(zeroblob(1000)))",
        f"SELECT 'x' LIKE '{'%a' * 5_000}'",
        "SELECT group_concat(hex(zeroblob(1000000))) FROM pragma_function_list, pragma_function_list",
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION SELECT x + 1 FROM c) SELECT count(*), max(x) FROM c",
        f"SELECT {'(' * 5_000}1{')' * 5_000}",
        "SELECT 1" + " UNION ALL SELECT 1" * 5_000,
        f"SELECT '{'x' * 2_000_000}'",
    ],
    ids=lambda query: query[:40],
)
async def test_a_bomb_does_not_go_off(tmp_path: Path, query: str) -> None:
    async with guarded(tmp_path) as client:
        assert (await client.call_tool("read_query", {"query": query})).is_error


async def test_a_flood_is_cut(tmp_path: Path) -> None:
    flood = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x, hex(zeroblob(500)) FROM c"
    async with guarded(tmp_path) as client:
        result = await client.call_tool("read_query", {"query": flood})
        assert not result.is_error
        assert len(result.text) < 300_000
        assert result.structured_content["next_offset"] > 100


async def test_errors_tell_no_paths(tmp_path: Path) -> None:
    async with guarded(tmp_path) as client:
        for query in ("SELECT nothing", "SELECT * FROM pragma_database_list", "ATTACH 'x' AS y", "\x1b[31m"):
            result = await client.call_tool("read_query", {"query": query})
            assert str(tmp_path) not in result.text
            assert "\x1b" not in result.text
