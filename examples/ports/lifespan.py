"""A database that is open as long as the server serves: the port of an example of `mcp`.

There it is `ctx.request_context.lifespan_context`; here `ctx.lifespan`, and type checkers know what it is.

splice call examples/ports/lifespan.py query
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from splice import Context, Server


class Database:
    """Stands for the real one."""

    def __init__(self) -> None:
        self.state = "closed"

    async def connect(self) -> None:
        """Open it."""
        self.state = "open"

    async def close(self) -> None:
        """Close it."""
        self.state = "closed"

    def query(self) -> str:
        """Ask for something."""
        return f"the database is {self.state}"


@dataclass
class App:
    """What handlers need."""

    database: Database


database = Database()


@asynccontextmanager
async def connected(_server: Server) -> AsyncIterator[App]:
    """Connect, and part at the end, whatever happens."""
    await database.connect()
    try:
        yield App(database)
    finally:
        await database.close()


server = Server("records", lifespan=connected)


@server.tool
def query(ctx: Context[App]) -> str:
    """Ask the database."""
    return ctx.lifespan.database.query()


if __name__ == "__main__":
    server.run()
