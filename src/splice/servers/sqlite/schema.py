"""What is asked of a database about itself. Names that clients send are bound, never written into a statement."""

import json
from collections.abc import Sequence
from typing import Any

from splice.servers.sqlite.database import Database

MAX_SCRIPT = 200_000
"""How many characters of the whole schema are shown."""

TABLES = r"""SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'
ORDER BY rowid LIMIT 5000"""
TABLES_AND_VIEWS = r"""SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')
AND name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY name LIMIT 5000"""
COLUMNS = """SELECT cid, name, type, "notnull", dflt_value, pk FROM pragma_table_info((
SELECT name FROM sqlite_schema WHERE type IN ('table', 'view') AND lower(name) = lower(?)))"""
STATEMENTS = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid"

_TABLE = "SELECT name, type AS kind, sql FROM sqlite_schema WHERE type IN ('table', 'view') AND lower(name) = lower(?)"
_INDEXES = """SELECT name, "unique", (SELECT json_group_array(name) FROM pragma_index_info(list.name))
AS columns FROM pragma_index_list(?) AS list ORDER BY name"""
_REFERENCES = """SELECT "from" AS "column", "table" AS refers_to, "to" AS its_column FROM pragma_foreign_key_list(?)"""


def script(statements: Sequence[dict[str, Any]]) -> str:
    """Join the statements of a schema."""
    text = "\n".join(f"{row['sql']};" for row in statements)
    return text if len(text) <= MAX_SCRIPT else f"{text[:MAX_SCRIPT]}\n-- cut: read sqlite://tables/NAME for one table"


def described(database: Database, table: str) -> dict[str, Any] | None:
    """Describe a table or view; None if it is not there."""
    found = database.look(_TABLE, [table])
    if not found:
        return None
    parts = {"columns": COLUMNS, "indexes": _INDEXES, "references": _REFERENCES}
    told = {part: database.look(query, [found[0]["name"]]) for part, query in parts.items()}
    for index in told["indexes"]:
        index["columns"] = json.loads(index["columns"])
    return found[0] | told
