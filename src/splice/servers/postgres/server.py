"""The server `postgres`: tools that ask a database, its tables as resources, and a prompt with examples."""

from collections.abc import Sequence
from typing import Annotated, Any

from msgspec import Meta

from splice import ResourceNotFound, Server, ToolError
from splice.servers.postgres.catalog import Catalog
from splice.servers.postgres.database import Database
from splice.servers.postgres.listing import TABLE, Tables
from splice.servers.postgres.prompt import few_shot
from splice.servers.postgres.rows import Changed, Page, answer, changed
from splice.types import PromptMessage, ToolAnnotations

INSTRUCTIONS = (
    "A PostgreSQL database. Look at list_tables and describe_table before you write a statement for query. "
    "query cannot change anything."
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)

Schema = Annotated[str, "Name of the schema"]


def make(
    *,
    dsn: str = "",
    write: bool = False,
    read_only: bool = False,
    schemas: Sequence[str] = (),
    max_rows: int = 1_000,
    timeout: float = 10.0,
    allow_superuser: bool = False,
) -> Server:
    """Make the server. Raises `ValueError` for a setting that is wrong, and a database that cannot be used."""
    if not dsn:
        raise ValueError("--dsn, or DATABASE_URL in the environment, names the database")
    if write and read_only:
        raise ValueError("--write and --read-only exclude each other")
    if max_rows < 1:
        raise ValueError("--max-rows is at least 1")
    if not 0.001 <= timeout <= 3600:
        raise ValueError("--timeout is a number of seconds, up to 3600")
    database = Database(dsn, schemas=schemas, seconds=timeout, allow_superuser=allow_superuser)
    catalog = Catalog(database, schemas)
    server = Server("postgres", instructions=INSTRUCTIONS)
    _add_asking(server, database, max_rows)
    _add_looking(server, catalog)
    _add_resources(server, catalog)
    _add_prompt(server, catalog)
    if write:
        _add_writing(server, database, max_rows)
    return server


def _add_asking(server: Server, database: Database, max_rows: int) -> None:
    @server.tool(title="Ask", annotations=_READS)
    async def query(
        sql: Annotated[str, "One statement that only reads: SELECT, WITH, VALUES, TABLE, SHOW, EXPLAIN"],
        limit: Annotated[int, Meta(ge=1, description="How many rows to return, at the most")] = max_rows,
    ) -> Page:
        """Run a statement that only reads, and return its rows as JSON. Long results are cut, and say so."""
        return answer(await database.read(sql, min(limit, max_rows)))

    @server.tool(title="Explain", annotations=_READS)
    async def explain(sql: Annotated[str, "One statement. It is planned, not run"]) -> str:
        """Show how PostgreSQL would run a statement: which indexes it takes, and what that costs."""
        page = await database.read(f"EXPLAIN (ANALYZE FALSE) {sql}", max_rows)
        return "\n".join(str(line) for row in page.rows for line in row.values())


def _add_writing(server: Server, database: Database, max_rows: int) -> None:
    @server.tool(title="Change", annotations=_WRITES)
    async def execute(sql: Annotated[str, "One statement: INSERT, UPDATE, DELETE, CREATE, ALTER, ..."]) -> Changed:
        """Run a statement that changes the database: all of it, or nothing. Returns how many rows it changed."""
        return changed(*await database.write(sql, max_rows))


def _add_looking(server: Server, catalog: Catalog) -> None:
    @server.tool(title="List schemas", annotations=_READS)
    async def list_schemas() -> list[str]:
        """List the schemas that have tables to ask."""
        return await catalog.schemas()

    @server.tool(title="List tables", annotations=_READS)
    async def list_tables(
        schema: Annotated[str | None, "Name of a schema; all of them if it is left out"] = None,
    ) -> list[dict[str, Any]]:
        """List tables and views: their schema, name, kind, about how many rows they have, and their comment."""
        return await catalog.tables(_whole(schema))

    @server.tool(title="Describe a table", annotations=_READS)
    async def describe_table(
        table: Annotated[str, "Name of the table or view"], schema: Schema = "public"
    ) -> dict[str, Any]:
        """Describe a table: columns with types, defaults and comments, keys and other constraints, indexes."""
        found = await catalog.described(_whole(schema), _whole(table))
        if found is None:
            there = ", ".join(f"{row['schema']}.{row['name']}" for row in (await catalog.tables())[:50])
            raise ToolError(f"There is no such table in this schema. There are: {there or 'none'}")
        return found


def _whole(name: Any) -> Any:
    """Refuse a name that PostgreSQL cannot be told. Raises `ToolError`."""
    if name is not None and "\x00" in name:
        raise ToolError("A name has no NUL in it")
    return name


def _add_resources(server: Server, catalog: Catalog) -> None:
    server.add_source("resources", Tables(catalog))

    @server.resource(TABLE, name="Table", mime_type="application/json")
    async def table_schema(schema: str, table: str) -> list[dict[str, Any]]:
        """Tell the columns of one table, with their types."""
        columns = await catalog.columns(schema, table)
        if not columns:
            raise ResourceNotFound("There is no such table")
        return columns

    @server.completion(TABLE, "schema")
    async def complete_schema(typed: str) -> list[str]:
        return [name for name in await catalog.schemas() if name.lower().startswith(typed.lower())]

    @server.completion(TABLE, "table")
    async def complete_table(typed: str, known: dict[str, str]) -> list[str]:
        rows = await catalog.tables(known.get("schema"))
        return [row["name"] for row in rows if row["name"].lower().startswith(typed.lower())]


def _add_prompt(server: Server, catalog: Catalog) -> None:
    @server.prompt("ask-database", title="Ask the database")
    async def ask_database(question: Annotated[str, "What you want to know"]) -> list[PromptMessage]:
        """Answer a question from the data, led by examples."""
        names = [f"- {row['schema']}.{row['name']}" for row in (await catalog.tables())[:200]]
        return few_shot(question, "\n".join(names) or "- none")
