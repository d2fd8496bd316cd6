"""The program behind the tests of HTTP: one server, served by our own listener or by plain uvicorn."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.routing import Mount

from splice import Server


@asynccontextmanager
async def lifespan(server: Server) -> AsyncIterator[None]:
    yield
    sys.stderr.write("lifespan closed\n")


server = Server("served", lifespan=lifespan)


@server.tool
async def hangs() -> str:
    """Hang until cancelled."""
    sys.stderr.write("hanging\n")
    await asyncio.Event().wait()
    return ""


if __name__ == "__main__":
    match sys.argv[1]:
        case "ours":
            server.run("http", port=0)
        case "uvicorn":
            uvicorn.run(server.http_app(), port=0)
        case "mounted":
            uvicorn.run(Starlette(routes=[Mount("/", server.http_app())]), port=0)
