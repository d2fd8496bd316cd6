"""What a statement may do, asked by SQLite itself while it reads the statement: before any of it runs.

SQLite calls a `Gate` for each thing that a statement would do, however it is written: in a CTE, a view, a trigger,
behind comments. Nothing here looks at the text of a statement.

https://sqlite.org/c3ref/set_authorizer.html
"""

import sqlite3
from enum import Enum

PRAGMAS_OF_TABLES = {
    *("table_info", "table_xinfo", "table_list", "index_list", "index_info", "index_xinfo", "foreign_key_list"),
    *("foreign_key_check", "integrity_check", "quick_check"),
}
"""Pragmas that only tell something, whatever they are given."""

PRAGMAS_THAT_TELL = {
    *PRAGMAS_OF_TABLES,
    *("application_id", "collation_list", "compile_options", "data_version", "encoding", "foreign_keys"),
    *("freelist_count", "function_list", "journal_mode", "module_list", "page_count", "page_size", "pragma_list"),
    *("schema_version", "user_version"),
}
"""Pragmas that only tell something when they are given nothing. Not `database_list`: it tells the path of the file."""

OUTWARD_FUNCTIONS = {"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit"}
"""Functions that reach outside of the database, where a build of SQLite has them at all."""

MODULES = {"fts3", "fts4", "fts5", "rtree", "rtree_i32", "geopoly"}
"""Virtual tables that keep what they hold in the database itself."""

_SCHEMA_TABLES = {"sqlite_master", "sqlite_schema", "sqlite_sequence", "sqlite_temp_master", "sqlite_temp_schema"}
_READS = {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE}
_ROWS = {sqlite3.SQLITE_INSERT: "INSERT", sqlite3.SQLITE_UPDATE: "UPDATE", sqlite3.SQLITE_DELETE: "DELETE"}
_TABLES = {
    sqlite3.SQLITE_CREATE_INDEX: "CREATE INDEX",
    sqlite3.SQLITE_CREATE_TABLE: "CREATE TABLE",
    sqlite3.SQLITE_CREATE_TRIGGER: "CREATE TRIGGER",
    sqlite3.SQLITE_CREATE_VIEW: "CREATE VIEW",
    sqlite3.SQLITE_CREATE_VTABLE: "CREATE VIRTUAL TABLE",
    sqlite3.SQLITE_DROP_INDEX: "DROP INDEX",
    sqlite3.SQLITE_DROP_TABLE: "DROP TABLE",
    sqlite3.SQLITE_DROP_TRIGGER: "DROP TRIGGER",
    sqlite3.SQLITE_DROP_VIEW: "DROP VIEW",
    sqlite3.SQLITE_DROP_VTABLE: "DROP TABLE",
    sqlite3.SQLITE_ALTER_TABLE: "ALTER TABLE",
    sqlite3.SQLITE_ANALYZE: "ANALYZE",
    sqlite3.SQLITE_REINDEX: "REINDEX",
}
_OTHERS = {
    sqlite3.SQLITE_ATTACH: "ATTACH or VACUUM",
    sqlite3.SQLITE_DETACH: "DETACH",
    sqlite3.SQLITE_TRANSACTION: "a transaction of its own",
    sqlite3.SQLITE_SAVEPOINT: "a savepoint",
}
_WRITES = _ROWS | _TABLES
_TEMPORARY = {
    sqlite3.SQLITE_CREATE_TEMP_INDEX,
    sqlite3.SQLITE_CREATE_TEMP_TABLE,
    sqlite3.SQLITE_CREATE_TEMP_TRIGGER,
    sqlite3.SQLITE_CREATE_TEMP_VIEW,
}


class Purpose(Enum):
    """Why a statement is run."""

    READ = "read"
    WRITE = "write"
    CREATE = "create"


class Gate:
    """Lets a statement do what its purpose needs, and remembers what it wanted beyond that."""

    def __init__(self, purpose: Purpose) -> None:
        self.purpose = purpose
        self.writes = False
        """The statement changes rows or tables."""
        self.creates = False
        """The statement makes a table."""
        self.denied: str | None = None
        """The first thing that was refused, in words."""
        self.denied_write = False
        """What was refused is a change of rows or tables, rather than a way out of the database."""

    def __call__(self, action: int, first: str | None, second: str | None, of: str | None, _: str | None) -> int:
        """Answer SQLite, which asks by the number of an action and its details."""
        self.writes = self.writes or (action in _WRITES and not _is_of_the_schema(action, first))
        self.creates = self.creates or action in {sqlite3.SQLITE_CREATE_TABLE, sqlite3.SQLITE_CREATE_VTABLE}
        if self._may(action, first or "", second, of):
            return sqlite3.SQLITE_OK
        if self.denied is None:
            self.denied_write = action in _WRITES
            self.denied = _words(action, first or "", second or "")
        return sqlite3.SQLITE_DENY

    def _may(self, action: int, first: str, second: str | None, of: str | None) -> bool:
        if action in _READS or _is_of_the_schema(action, first):
            return True
        if action == sqlite3.SQLITE_FUNCTION:
            return (second or "").lower() not in OUTWARD_FUNCTIONS
        if action == sqlite3.SQLITE_PRAGMA:
            return first.lower() in (PRAGMAS_THAT_TELL if second is None else PRAGMAS_OF_TABLES)
        if self.purpose is Purpose.CREATE:
            return self._may_create(action, first)
        return self.purpose is Purpose.WRITE and _may_write(action, first, second, of)

    def _may_create(self, action: int, first: str) -> bool:
        """Allow a table, and what SQLite writes down about it."""
        if action == sqlite3.SQLITE_CREATE_INDEX:
            return first.startswith("sqlite_autoindex_")
        return action == sqlite3.SQLITE_CREATE_TABLE or (action in _ROWS and first in _SCHEMA_TABLES)


def _is_of_the_schema(action: int, first: str | None) -> bool:
    """Tell whether SQLite writes to its own table, as it does in memory for whoever reads a virtual table.

    A statement of a client's cannot: that needs `PRAGMA writable_schema`.
    """
    return action == sqlite3.SQLITE_UPDATE and first in _SCHEMA_TABLES


def _may_write(action: int, first: str, second: str | None, of: str | None) -> bool:
    """Allow changes within the file. SQLite itself keeps statements from writing to its own tables."""
    if action == sqlite3.SQLITE_ALTER_TABLE:
        return first == "main"
    if action == sqlite3.SQLITE_CREATE_VTABLE:
        return of == "main" and (second or "").lower() in MODULES
    return action in _WRITES and (of == "main" or first in _SCHEMA_TABLES)


def _words(action: int, first: str, second: str) -> str:
    """Name what was refused."""
    if action == sqlite3.SQLITE_FUNCTION:
        return f"the function {second}"
    if action == sqlite3.SQLITE_PRAGMA:
        return f"PRAGMA {first}" + (" with a value" if second else "")
    if action in _TEMPORARY:
        return "a temporary table, index, view or trigger"
    return _WRITES.get(action) or _OTHERS.get(action) or "this statement"
