"""Looks for a statement that changes something although it is only to read: `python -m tests.interop.fuzz_postgres`.

The statements follow from the seed. Each is sent as the server `postgres` would send it; every now and then all that is
in the database is compared with what was there. Ends with 1 and the statements since, when something is different.
"""

import argparse
import asyncio
import hashlib
import logging
import random
import secrets
import sys
import time
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import psycopg
from psycopg import conninfo

from interop.postgres import postgres
from splice import ToolError
from splice.servers.postgres.database import Database

SHOP = [
    *(f"CREATE ROLE {name} LOGIN PASSWORD '{name}'" for name in ("reader", "writer", "climber")),
    "CREATE TABLE customer(id int PRIMARY KEY, name text)",
    "INSERT INTO customer VALUES (1, 'Ada'), (2, 'Ben')",
    "CREATE TABLE secret(word text)",
    "CREATE SEQUENCE counter",
    "CREATE SCHEMA shop",
    "CREATE TABLE shop.purchase(id serial PRIMARY KEY, customer_id int REFERENCES customer(id), total numeric)",
    "INSERT INTO shop.purchase(customer_id, total) VALUES (1, 9.50)",
    'CREATE TABLE shop."Odd name?"(a int)',
    "CREATE FUNCTION change_it() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'DELETE FROM customer; SELECT 1'",
    "CREATE PROCEDURE end_it() LANGUAGE plpgsql AS 'BEGIN COMMIT; DELETE FROM customer; END'",
    "GRANT ALL ON SCHEMA public, shop TO reader, writer",
    'GRANT ALL ON customer, shop.purchase, shop."Odd name?" TO reader, writer',
    "GRANT ALL ON ALL SEQUENCES IN SCHEMA public, shop TO reader, writer",
]
"""A database whose reader may change it: only the server keeps it from that."""

WHOLE = [
    *("SELECT * FROM customer", "VALUES (1)", "TABLE customer", "SHOW ALL", "SELECT count(*) FROM pg_class"),
    *(
        "DELETE FROM customer",
        "INSERT INTO customer VALUES (9, 'x')",
        "UPDATE customer SET name = 'x'",
        "DROP TABLE customer",
    ),
    *("TRUNCATE customer", "CREATE TABLE x(a int)", "CREATE TEMP TABLE x(a int)", "ALTER TABLE customer RENAME TO x"),
    *(
        "COMMIT",
        "ROLLBACK",
        "BEGIN",
        "BEGIN READ WRITE",
        "COMMIT AND CHAIN",
        "SAVEPOINT s",
        "ROLLBACK TO s",
        "RELEASE s",
    ),
    *("SET TRANSACTION READ WRITE", "SET transaction_read_only = off", "SET default_transaction_read_only = off"),
    *("SELECT set_config('transaction_read_only', 'off', true)", "RESET ALL", "DISCARD ALL", "SET ROLE writer"),
    *("SELECT nextval('counter')", "SELECT setval('counter', 9)", "SELECT change_it()", "CALL end_it()", "NOTIFY x"),
    *("SELECT lo_create(0)", "SELECT lo_from_bytea(0, 'x')", "SELECT lo_unlink(1)", "SELECT pg_advisory_lock(1)"),
    *(
        "COPY customer TO STDOUT",
        "COPY customer FROM STDIN",
        "COPY customer TO '/tmp/x'",
        "COPY customer TO PROGRAM 'true'",
    ),
    *("DO $$ BEGIN DELETE FROM customer; END $$", "DO $$ BEGIN COMMIT; END $$", "PREPARE p AS DELETE FROM customer"),
    *(
        "EXECUTE p",
        "DECLARE c CURSOR FOR SELECT 1",
        "FETCH ALL FROM c",
        "LOCK customer",
        "VACUUM",
        "ANALYZE",
        "CHECKPOINT",
    ),
    *(
        "SELECT * INTO x FROM customer",
        "SELECT * FROM customer FOR UPDATE",
        "CREATE VIEW v AS SELECT 1",
        "REINDEX TABLE customer",
    ),
    *(
        "PREPARE TRANSACTION 'x'",
        "COMMIT PREPARED 'x'",
        "LISTEN x",
        "CLUSTER",
        "COMMENT ON TABLE customer IS 'x'",
        "GRANT ALL ON customer TO PUBLIC",
    ),
    *("SELECT query_to_xml('DELETE FROM customer', true, true, '')", "SELECT query_to_xml('COMMIT', true, true, '')"),
    *(
        "CREATE FUNCTION f() RETURNS int LANGUAGE sql AS 'DELETE FROM customer RETURNING 1'",
        "IMPORT FOREIGN SCHEMA x FROM SERVER y INTO z",
    ),
]
FRAMES = [
    *("{}", "{}", "EXPLAIN ANALYZE {}", "EXPLAIN (ANALYZE, BUFFERS) {}", "WITH x AS ({} RETURNING 1) SELECT * FROM x"),
    *(
        "WITH x AS MATERIALIZED ({}) SELECT * FROM x",
        "SELECT * FROM ({}) y",
        "DO $$ BEGIN {}; END $$",
        "PREPARE q AS {}",
    ),
    *("DO $$ BEGIN EXECUTE '{}'; EXCEPTION WHEN OTHERS THEN {}; END $$", "DECLARE d CURSOR WITH HOLD FOR {}"),
    *("CREATE TABLE made AS {}", "COPY ({}) TO STDOUT", "CREATE RULE r AS ON SELECT TO customer DO INSTEAD {}"),
    *(
        "/* {} */ {}",
        "-- \n{}",
        "{}; {}",
        "{};",
        ";{}",
        "({})",
        "BEGIN; {}; COMMIT",
        "COMMIT; {}",
        "{} \\; {}",
        "\ufeff{}",
        "{}\t--",
    ),
]
WORDS = [
    "SELECT",
    ";",
    "'",
    '"',
    "$$",
    "--",
    "/*",
    "*/",
    "(",
    ")",
    "COMMIT",
    "RETURNING id",
    "INTO x",
    "\\",
    "\u00a0",
    "%s",
    "$1",
    "E'\\''",
]
EVERY = 200
"""After how many statements the database is looked at."""


def statement(chance: random.Random) -> str:
    """Write a statement."""
    text = chance.choice(FRAMES)
    while "{}" in text:
        text = text.replace("{}", chance.choice(WHOLE), 1)
    for _ in range(chance.choice([0, 0, 1, 3])):
        place = chance.randrange(len(text) + 1)
        text = text[:place] + chance.choice(WORDS) + text[place + chance.choice([0, 0, 1, 4]) :]
    return text


def digest(admin: str) -> str:
    """Sum up what is in the database: rows, sequences, and all that its catalog says."""
    catalogs = ("pg_class", "pg_proc", "pg_namespace", "pg_largeobject_metadata", "pg_rewrite", "pg_db_role_setting")
    with psycopg.connect(admin) as connection:
        found = [connection.execute(f"SELECT oid FROM {name} ORDER BY 1").fetchall() for name in catalogs[:-1]]
        found.append(connection.execute("SELECT * FROM pg_db_role_setting").fetchall())
        found.append(connection.execute("SELECT * FROM pg_prepared_xacts").fetchall())
        tables = ("customer", "secret", "shop.purchase", 'shop."Odd name?"', "counter")
        found += [connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in tables]
    return hashlib.sha256(repr(found).encode()).hexdigest()


def fuzzed(admin: str, *, seconds: float, seed: int) -> int:
    """Try statements for so long; return how many. Raises `AssertionError` with those that may have done something."""
    chance, before, tried = random.Random(seed), digest(admin), 0
    dsn = conninfo.make_conninfo(admin, user="reader", password="reader")
    database = Database(dsn, schemas=(), seconds=0.3, allow_superuser=False)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        batch = [statement(chance) for _ in range(EVERY if seconds > 30 else 25)]
        asyncio.run(_all(database, batch))
        tried += len(batch)
        assert digest(admin) == before, "\n".join(batch)
    return tried


async def _all(database: Database, batch: list[str]) -> None:
    async def one(text: str) -> None:
        try:
            await database.read(text, 5)
        except ToolError:
            return

    await asyncio.gather(*map(one, batch))


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m tests.interop.fuzz_postgres", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9))
    options = parser.parse_args()
    logging.disable()
    with postgres(SHOP, auth="trust") as admin:
        tried = fuzzed(admin, seconds=options.seconds, seed=options.seed)
    sys.stdout.write(f"{tried:,} statements, seed {options.seed}: nothing found\n")


if __name__ == "__main__":
    main()
