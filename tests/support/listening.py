"""A real HTTP listener for an endpoint, on a port of this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn

from splice.transports.http_server import HTTPApp
from support.waiting import until


@asynccontextmanager
async def listening(app: HTTPApp) -> AsyncIterator[str]:
    """Serve `app` for the length of the block; its URL."""
    config = uvicorn.Config(
        app, host="127.0.0.1", port=0, log_level="error", lifespan="on", ws="none", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve())
    await until(lambda: server.started or serving.done())
    try:
        host, port = server.servers[0].sockets[0].getsockname()[:2]
        yield f"http://{host}:{port}/mcp"
    finally:
        server.should_exit = True
        async with asyncio.timeout(5):
            await serving
