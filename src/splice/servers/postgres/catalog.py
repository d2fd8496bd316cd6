"""What a database tells about itself. Names that clients send are bound, never written into a statement."""

from collections.abc import Sequence
from typing import Any, LiteralString

from splice.servers.postgres.database import Database

MAX_TABLES = 2_000
"""How many tables are listed."""

_SCHEMAS: LiteralString = """SELECT n.nspname AS name FROM pg_namespace n
WHERE n.nspname NOT LIKE 'pg\\_%%' AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')
AND (%s::text[] = '{}' OR n.nspname = ANY(%s::text[])) ORDER BY 1"""

_TABLES: LiteralString = """SELECT n.nspname AS schema, c.relname AS name, CASE c.relkind WHEN 'r' THEN 'table'
WHEN 'p' THEN 'partitioned table' WHEN 'v' THEN 'view' WHEN 'm' THEN 'materialized view' ELSE 'foreign table' END
AS kind, CASE WHEN c.reltuples >= 0 THEN c.reltuples::bigint END AS about_rows,
obj_description(c.oid, 'pg_class') AS comment
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname NOT LIKE 'pg\\_%%' AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')
AND (%s::text[] = '{}' OR n.nspname = ANY(%s::text[])) AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
AND NOT c.relispartition AND has_any_column_privilege(c.oid, 'SELECT') AND (%s::text IS NULL OR n.nspname = %s)
ORDER BY 1, 2 LIMIT %s"""

_COLUMNS: LiteralString = """SELECT a.attname AS column_name, format_type(a.atttypid, a.atttypmod) AS data_type,
NOT a.attnotnull AS is_nullable, pg_get_expr(d.adbin, d.adrelid) AS column_default,
col_description(a.attrelid, a.attnum) AS comment
FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE a.attrelid = (SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s AND c.relkind IN ('r', 'p', 'v', 'm', 'f'))
AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"""

_CONSTRAINTS: LiteralString = """SELECT o.conname AS name, pg_get_constraintdef(o.oid) AS definition
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = %s AND c.relname = %s ORDER BY o.contype DESC, 1"""

_INDEXES: LiteralString = """SELECT indexname AS name, indexdef AS definition FROM pg_indexes
WHERE schemaname = %s AND tablename = %s ORDER BY 1"""


class Catalog:
    """The schemas and tables that are shown: those of `schemas`, or all that the role may use."""

    def __init__(self, database: Database, schemas: Sequence[str]) -> None:
        self._database = database
        self._only = list(schemas)

    async def schemas(self) -> list[str]:
        """List the schemas."""
        return [row["name"] for row in await self._database.look(_SCHEMAS, self._only, self._only)]

    async def tables(self, schema: str | None = None) -> list[dict[str, Any]]:
        """List the tables and views of one schema, or of all."""
        return await self._database.look(_TABLES, self._only, self._only, schema, schema, MAX_TABLES)

    async def columns(self, schema: str, table: str) -> list[dict[str, Any]]:
        """Describe the columns of a table that is listed; none if it is not."""
        if "\x00" in schema + table or table not in {row["name"] for row in await self.tables(schema)}:
            return []
        return await self._database.look(_COLUMNS, schema, table)

    async def described(self, schema: str, table: str) -> dict[str, Any] | None:
        """Describe a table: columns, constraints and indexes. None if it is not there."""
        columns = await self.columns(schema, table)
        if not columns:
            return None
        constraints = await self._database.look(_CONSTRAINTS, schema, table)
        indexes = await self._database.look(_INDEXES, schema, table)
        return {"schema": schema, "table": table, "columns": columns, "constraints": constraints, "indexes": indexes}
