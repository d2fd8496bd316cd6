"""The server `sqlite`: six tools, a memo of insights, and the schema as resources."""

import os
from pathlib import Path
from typing import Annotated, Any

from msgspec import Meta

from splice import Context, ResourceNotFound, Server, ToolError
from splice.servers.sqlite import schema
from splice.servers.sqlite.database import Database
from splice.servers.sqlite.prompt import demo
from splice.servers.sqlite.rows import Changed, Page, answer, changed
from splice.servers.sqlite.threads import on_a_thread
from splice.servers.sqlite.watch import SCHEMA, TABLE, Watch
from splice.types import ToolAnnotations

DEFAULT_PATH = "./sqlite_mcp_server.db"
"""Where the original keeps its database, too."""

MAX_INSIGHTS = 1_000
"""How many insights the memo holds; the oldest go first."""

MAX_INSIGHT = 10_000
"""How many characters an insight may have."""

MEMO = "memo://insights"

INSTRUCTIONS = (
    "A SQLite database. Look at sqlite://schema, or call list_tables and describe_table, before you write a query. "
    "read_query cannot change anything."
)
_READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)
_ADDS = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)


def make(
    *,
    db_path: str | os.PathLike[str] = DEFAULT_PATH,
    read_only: bool = False,
    max_rows: int = 1_000,
    timeout: float = 10.0,
) -> Server:
    """Make the server. Raises `ValueError` for a setting that is wrong."""
    if not db_path or os.fspath(db_path).startswith(":memory:"):
        raise ValueError("--db-path names a file")
    if max_rows < 1:
        raise ValueError("--max-rows is at least 1")
    if not 0 < timeout <= 3600:
        raise ValueError("--timeout is a number of seconds, up to 3600")
    database = Database(Path(db_path).expanduser(), read_only=read_only, seconds=timeout)
    watch = Watch(database)
    server = Server("sqlite", instructions=INSTRUCTIONS, middleware=[watch])
    watch.tell = server.publish
    _add_reading(server, database, max_rows)
    _add_memo(server)
    _add_resources(server, database)
    if not read_only:
        _add_writing(server, database, watch, max_rows)
        server.add_prompt(demo, name="mcp-demo", title="Demonstration")
    return server


def _add_reading(server: Server, database: Database, max_rows: int) -> None:
    @server.tool(title="Read", annotations=_READS, timeout=database.patience)
    async def read_query(
        query: Annotated[
            str, "One SQL statement that only reads: SELECT, WITH, VALUES, EXPLAIN, or a PRAGMA that tells"
        ],
        limit: Annotated[int, Meta(ge=1, description="How many rows to return, at the most")] = max_rows,
        offset: Annotated[
            int, Meta(ge=0, description="How many rows to pass over: next_offset of the last answer")
        ] = 0,
    ) -> Page:
        """Run a query that only reads, and return its rows as JSON. Long results come in parts."""
        page = min(limit, max_rows), offset
        return answer(await on_a_thread(lambda stop: database.read(query, page, stop)))

    @server.tool(title="List tables", annotations=_READS)
    def list_tables() -> list[dict[str, Any]]:
        """List the names of all tables."""
        return database.look(schema.TABLES)

    @server.tool(title="Describe a table", annotations=_READS)
    def describe_table(
        table_name: Annotated[str, "Name of the table or view to describe"],
    ) -> list[dict[str, Any]]:
        """Describe the columns of a table or view: name, declared type, default, and whether it is in the key."""
        columns = database.look(schema.COLUMNS, [table_name])
        if not columns:
            known = [table["name"] for table in database.look(schema.TABLES)]
            there = f"The tables are: {', '.join(known[:50])}" if known else "There are no tables"
            raise ToolError(f"There is no table of this name. {there[:2000]}")
        return columns


def _add_writing(server: Server, database: Database, watch: Watch, max_rows: int) -> None:
    @server.tool(title="Write", annotations=_WRITES, timeout=database.patience)
    async def write_query(
        query: Annotated[
            str, "One SQL statement that changes rows or tables: INSERT, UPDATE, DELETE, ALTER, DROP, ..."
        ],
    ) -> Changed:
        """Run a statement that changes the database: all of it, or nothing. Returns how many rows it changed."""
        written = await on_a_thread(lambda stop: database.write(query, max_rows, stop))
        watch.look_now()
        return changed(*written)

    @server.tool(title="Create a table", annotations=_ADDS, timeout=database.patience)
    async def create_table(query: Annotated[str, "One CREATE TABLE statement"]) -> str:
        """Make a new table. Fails if there is one of this name, unless the statement says IF NOT EXISTS."""
        await on_a_thread(lambda stop: database.create(query, stop))
        watch.look_now()
        return "Table created successfully"


def _add_memo(server: Server) -> None:
    insights: list[str] = []

    @server.tool(title="Note an insight", annotations=_ADDS)
    async def append_insight(
        insight: Annotated[str, Meta(min_length=1, max_length=MAX_INSIGHT, description="What was found in the data")],
        ctx: Context,
    ) -> str:
        """Write down what was found in the data: it is added to the memo at memo://insights."""
        insights.append(insight)
        del insights[:-MAX_INSIGHTS]
        await ctx.notify_resource_updated(MEMO)
        return "Insight added to memo"

    @server.resource(MEMO, name="Business Insights Memo", mime_type="text/plain")
    async def memo() -> str:
        """Tell what was found in the data so far, as append_insight noted it."""
        found = "\n".join(f"- {insight}" for insight in insights) or "None yet: append_insight adds one."
        return f"📊 Business Intelligence Memo 📊\n\nKey Insights Discovered:\n\n{found}"


def _add_resources(server: Server, database: Database) -> None:
    @server.resource(SCHEMA, name="Schema", mime_type="application/sql")
    def whole_schema() -> str:
        """Tell how all tables, views, indexes and triggers were made, as SQL."""
        return schema.script(database.look(schema.STATEMENTS))

    @server.resource(TABLE, name="Table", mime_type="application/json")
    def one_table(table: str) -> dict[str, Any]:
        """Describe a table or view: its columns, its indexes, what it refers to, and how it was made."""
        found = schema.described(database, table)
        if found is None:
            raise ResourceNotFound("There is no table of this name")
        return found

    @server.completion(TABLE, "table")
    def complete_table(typed: str) -> list[str]:
        names = [row["name"] for row in database.look(schema.TABLES_AND_VIEWS)]
        return [name for name in names if name.lower().startswith(typed.lower())]
