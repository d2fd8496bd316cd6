"""Ways out of "read-only" that others had, tried on a real PostgreSQL: the archived server first of all.

The role of these tests may change the database: what keeps it from that is how the server asks.
"""

from pathlib import Path

import psycopg
import pytest

from interop.fuzz_postgres import digest
from interop.postgres import asked, connected, of
from splice.servers.postgres.server import make

READ_ONLY = "only statements that read"
REFUSED = {
    "INSERT INTO customer VALUES (9)": READ_ONLY,
    "/* SELECT */ -- SELECT\n DELETE FROM customer": READ_ONLY,
    "WITH x AS (DELETE FROM customer RETURNING id) SELECT * FROM x": READ_ONLY,
    "EXPLAIN ANALYZE DELETE FROM shop.purchase": READ_ONLY,
    "SELECT * INTO stolen FROM customer": READ_ONLY,
    "SELECT * FROM customer FOR UPDATE": READ_ONLY,
    "CREATE TABLE x(a int)": READ_ONLY,
    "TRUNCATE customer": READ_ONLY,
    "COPY customer FROM STDIN": READ_ONLY,
    "SELECT nextval('counter')": READ_ONLY,
    "SELECT setval('counter', 100)": READ_ONLY,
    "SELECT change_it()": READ_ONLY,
    "DO $$ BEGIN INSERT INTO customer VALUES (9); END $$": READ_ONLY,
    "DO $$ BEGIN EXECUTE 'DELETE FROM customer'; END $$": READ_ONLY,
    "DO $$ BEGIN COMMIT; DELETE FROM customer; END $$": "invalid transaction termination",
    "DO $$ BEGIN SET TRANSACTION READ WRITE; DELETE FROM customer; END $$": "before any query",
    "DO $$ BEGIN PERFORM set_config('transaction_read_only', 'off', true); END $$": "before any query",
    "SELECT set_config('transaction_read_only', 'off', false)": "before any query",
    "SET TRANSACTION READ WRITE": "before any query",
    "SELECT 1; DROP TABLE customer": "multiple commands",
    "COMMIT; DROP TABLE customer": "multiple commands",
    "ROLLBACK; BEGIN READ WRITE; DELETE FROM customer; COMMIT": "multiple commands",
    "COMMIT": "no rows",
    "COMMIT AND CHAIN": "no rows",
    "ROLLBACK": "no rows",
    "SET SESSION CHARACTERISTICS AS TRANSACTION READ WRITE": "no rows",
    "SET statement_timeout = 0": "no rows",
    "SET ROLE admin": "permission denied",
    "SET SESSION AUTHORIZATION admin": "permission denied",
    "PREPARE x AS DELETE FROM customer": "no rows",
    "LISTEN x": "no rows",
    "CALL end_it()": "invalid transaction termination",
    "VACUUM": "transaction block",
    "COPY customer TO STDOUT": "no rows",
    "COPY customer TO PROGRAM 'touch {OUT}'": "pg_execute_server_program",
    "COPY customer TO '{OUT}'": "pg_write_server_files",
    "SELECT pg_read_file('/etc/passwd')": "permission denied",
    "SELECT pg_ls_dir('/')": "permission denied",
    "SELECT lo_import('/etc/passwd')": "permission denied",
    "SELECT lo_export(1, '{OUT}')": "permission denied",
    "SELECT pg_reload_conf()": "permission denied",
    "SELECT * FROM pg_authid": "permission denied",
    "SELECT * FROM secret": "permission denied",
    "LOAD '{OUT}'": "",
    "ALTER SYSTEM SET fsync = off": "",
    "SELECT dblink_connect('host=localhost')": "does not exist",
    "SELECT $1": "parameters",
    "": "1 to",
    "SELECT '\x00'": "NUL",
}
"""Statements that reached further elsewhere, and why they do not here."""


async def test_what_must_not_write_does_not(admin: str, tmp_path: Path) -> None:
    before = digest(admin)
    async with connected(admin) as client:
        for statement, reason in REFUSED.items():
            result = await asked(client, statement.replace("{OUT}", str(tmp_path / "out")))
            assert result.is_error, statement
            assert reason in result.text, (statement, result.text)
        for statement in [key for key, reason in REFUSED.items() if reason == READ_ONLY]:
            planned = await asked(client, statement, "explain")
            assert planned.is_error or "cost=" in planned.text, statement
    assert digest(admin) == before
    assert not (tmp_path / "out").exists()


async def test_nothing_of_a_session_stays(admin: str) -> None:
    before = digest(admin)
    async with connected(admin) as client:
        for statement in (
            "SELECT pg_advisory_lock(7)",
            "SELECT set_config('work_mem', '64kB', false)",
            "SELECT pg_notify('channel', 'text')",
            "SELECT lo_create(4711)",
        ):
            assert not (await asked(client, statement)).is_error
        assert (await asked(client, "SELECT count(*) n FROM pg_locks WHERE locktype = 'advisory'")).text == '[{"n": 0}]'
        assert "64kB" not in (await asked(client, "SHOW work_mem")).text
        assert (await asked(client, "SELECT count(*) n FROM pg_largeobject_metadata")).text == '[{"n": 0}]'
    assert digest(admin) == before


def test_a_role_that_reaches_beyond_the_database_is_refused(admin: str, caplog: pytest.LogCaptureFixture) -> None:
    with pytest.raises(ValueError, match=r"the powers of admin, .*--allow-superuser"):
        make(dsn=admin)
    with pytest.raises(ValueError, match="pg_read_server_files"):
        make(dsn=of(admin, "spy"))
    make(dsn=admin, allow_superuser=True)
    assert "beyond the database" in caplog.text


async def test_powers_that_are_granted_later_are_noticed(admin: str) -> None:
    async with connected(admin, "climber") as client:
        assert not (await asked(client, "SELECT 1")).is_error
        with psycopg.connect(admin, autocommit=True) as connection:
            connection.execute("GRANT pg_write_server_files TO climber")
        assert "pg_write_server_files" in (await asked(client, "SELECT 1")).text
