"""Programs as text, for tests that write them to a file and start them."""

FAILING_LIFESPAN = """
from contextlib import asynccontextmanager
from splice import Server

@asynccontextmanager
async def lifespan(server):
    raise RuntimeError("DATABASE_URL is not set")
    yield

server = Server("shop", lifespan=lifespan)

@server.tool
def f() -> str:
    return ""
"""
"""A server that cannot start, with a tool `f` that is never reached."""
