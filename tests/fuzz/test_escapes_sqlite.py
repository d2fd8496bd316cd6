"""The server `sqlite`: no statement gets out of the purpose it is run for, and each ends in rows or a `ToolError`."""

import atexit
import hashlib
import shutil
import sqlite3
import tempfile
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from hypothesis import example
from hypothesis import strategies as st

from fuzz.fuzzing import fuzz
from splice import ToolError
from splice.servers.sqlite.database import Database
from splice.servers.sqlite.schema import COLUMNS

FOLDER = Path(tempfile.mkdtemp(prefix="splice-fuzz-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
HOME, AWAY = FOLDER / "home", FOLDER / "away"
OUT = str(AWAY / "out")
_SEED = HOME / "seed.db"

WORDS = [
    *(
        "SELECT",
        "WITH",
        "VALUES",
        "EXPLAIN",
        "EXPLAIN QUERY PLAN",
        "INSERT INTO",
        "REPLACE INTO",
        "UPDATE",
        "DELETE FROM",
    ),
    *("CREATE", "TEMP", "TABLE", "VIEW", "INDEX", "TRIGGER", "VIRTUAL TABLE", "DROP", "ALTER TABLE", "RENAME TO"),
    *("ATTACH", "DETACH", "VACUUM", "VACUUM INTO", "PRAGMA", "BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT s", "RELEASE s"),
    *(
        "REINDEX",
        "ANALYZE",
        "FROM",
        "WHERE",
        "INTO",
        "SET",
        "AS",
        "USING",
        "RETURNING",
        "UNION ALL",
        "ON",
        "AFTER",
        "END",
    ),
    *("fts5(x)", "fts4(x)", "csv(filename='x')", "rtree(id, a, b)", "dbstat", "sqlite_dbpage", "generate_series(1, 9)"),
    *(
        "t",
        "u",
        "v",
        "words",
        "main",
        "temp",
        "main.t",
        "temp.t",
        "sqlite_master",
        "sqlite_temp_master",
        "sqlite_schema",
    ),
    *(
        "query_only",
        "writable_schema",
        "journal_mode",
        "user_version",
        "temp_store_directory",
        "database_list",
        "wal_checkpoint",
    ),
    *(
        "load_extension",
        "writefile",
        "readfile",
        "edit",
        "fts3_tokenizer",
        "zeroblob",
        "randomblob",
        "json_each",
        "hex",
        "printf",
    ),
    *("(", ")", ",", ";", "=", "*", "1", "0", "a", "b", "'x'", '"t"', "[t]", "`t`", "NULL", "?", ":a", "x'00'", "||"),
    *(
        f"'{OUT}'",
        f"'file:{OUT}?mode=rwc'",
        "-- ",
        "\n",
        "/*",
        "*/",
        "\t",
        "\ufeff",
        "\x00",
        "\u00a0",
        "\u2028",
        "é",
        "\ud800",
    ),
]
WHOLE = [
    *(
        "SELECT * FROM t",
        "SELECT 1",
        "VALUES (1)",
        "WITH x AS (SELECT a FROM t) SELECT * FROM x",
        "PRAGMA table_info(t)",
    ),
    *("DELETE FROM t", "INSERT INTO t VALUES (3, 4)", "UPDATE t SET a = 1", "DROP TABLE t", "CREATE TABLE w(a)"),
    *("PRAGMA query_only = 0", "PRAGMA writable_schema = 1", "UPDATE sqlite_master SET sql = ''", "COMMIT", "BEGIN"),
    *(f"ATTACH '{OUT}' AS o", f"VACUUM INTO '{OUT}'", f"SELECT load_extension('{OUT}')", "CREATE TEMP TABLE x(a)"),
    *(f"CREATE VIRTUAL TABLE x USING csv('{OUT}')", "INSERT INTO words VALUES ('x')", "ALTER TABLE t RENAME TO z"),
    *("CREATE TRIGGER g AFTER INSERT ON t BEGIN DELETE FROM u; END", "SELECT * FROM words WHERE words MATCH 'x'"),
    *("CREATE VIEW w AS SELECT * FROM t", "SELECT * FROM pragma_table_list", "SELECT * FROM pragma_query_only(0)"),
]
GLUE = st.sampled_from([" ", " ", " ", "", "\n", ";", "; ", "/**/", " -- \n"])
SOUP = st.lists(st.sampled_from(WORDS), max_size=9).flatmap(lambda parts: GLUE.map(lambda glue: glue.join(parts)))
PAIR = st.tuples(GLUE, st.sampled_from(WHOLE), GLUE, st.sampled_from(["", *WHOLE]), GLUE).map("".join)
NESTED = st.tuples(
    st.sampled_from(["SELECT * FROM ({})", "EXPLAIN {}", "WITH x AS ({}) SELECT * FROM x", "CREATE TABLE y AS {}"]),
    st.sampled_from(WHOLE),
).map(lambda parts: parts[0].format(parts[1]))


def spliced(parts: tuple[str, str, int, int]) -> str:
    """Put a word somewhere into a statement, in the place of some characters."""
    whole, word, place, length = parts
    return whole[:place] + word + whole[place + length :]


SQL = (
    SOUP
    | PAIR
    | NESTED
    | st.tuples(st.sampled_from(WHOLE), st.sampled_from(WORDS), st.integers(0, 40), st.integers(0, 8)).map(spliced)
)


def _prepare() -> Database:
    HOME.mkdir()
    AWAY.mkdir()
    with closing(sqlite3.connect(_SEED)) as connection, connection:
        for statement in (
            "CREATE TABLE t(a, b)",
            "CREATE TABLE u(a PRIMARY KEY)",
            "INSERT INTO t VALUES (1, 'one'), (2, x'02')",
            "CREATE VIEW v AS SELECT a FROM t",
            "CREATE VIRTUAL TABLE words USING fts5(word)",
        ):
            connection.execute(statement)
    return Database(_SEED, read_only=True, seconds=0.2)


SEED = _prepare()
DIGEST = hashlib.sha256(_SEED.read_bytes()).digest()
COPY = HOME / "copy.db"


def attempt(run: Callable[[threading.Event], Any]) -> bool:
    """Run something; only a `ToolError` may come of it, and nothing may come to be elsewhere."""
    done = False
    with suppress(ToolError):
        run(threading.Event())
        done = True
    assert list(AWAY.iterdir()) == []
    assert {each.name for each in HOME.iterdir()} <= {"seed.db", "copy.db", "copy.db-journal"}
    return done


@fuzz(sql=SQL)
@example(sql="SELECT * FROM words WHERE words MATCH 'x'")
@example(sql="WITH x AS (SELECT 1) DELETE FROM t RETURNING a")
@example(sql="UPDATE sqlite_master SET sql = ''")
def test_what_reads_changes_nothing(sql: str) -> None:
    attempt(lambda stop: SEED.read(sql, (20, 0), stop))
    assert hashlib.sha256(_SEED.read_bytes()).digest() == DIGEST


@fuzz(sql=SQL)
@example(sql="CREATE VIRTUAL TABLE x USING fts5(a)")
@example(sql="ALTER TABLE t RENAME TO z")
def test_what_writes_stays_in_its_file(sql: str) -> None:
    shutil.copyfile(_SEED, COPY)
    database = Database(COPY, read_only=True, seconds=0.2)
    wrote = attempt(lambda stop: database.write(sql, 20, stop))
    assert wrote or hashlib.sha256(COPY.read_bytes()).digest() == DIGEST
    with closing(sqlite3.connect(COPY)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@fuzz(sql=SQL)
def test_what_creates_tables_leaves_the_others_alone(sql: str) -> None:
    shutil.copyfile(_SEED, COPY)
    attempt(lambda stop: Database(COPY, read_only=True, seconds=0.2).create(sql, stop))
    with closing(sqlite3.connect(COPY)) as connection:
        assert connection.execute("SELECT count(*), max(a) FROM t").fetchone() == (2, 2)
        assert connection.execute("SELECT count(*) FROM sqlite_master WHERE type = 'view'").fetchone() == (1,)


@fuzz(name=st.text(max_size=12) | st.sampled_from(WORDS + WHOLE))
def test_names_are_names(name: str) -> None:
    with suppress(UnicodeEncodeError):
        assert len(SEED.look(COLUMNS, [name])) <= 20
    assert hashlib.sha256(_SEED.read_bytes()).digest() == DIGEST
