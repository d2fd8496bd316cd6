"""A real HTTP listener for an endpoint, on a port of this machine."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import uvicorn

from splice.transports.http.app import HTTPApp
from support.waiting import until


@asynccontextmanager
async def listening(app: Any) -> AsyncIterator[str]:
    """Serve `app` for the length of the block, by uvicorn's own protocol but without its signals and its clock."""
    config = uvicorn.Config(app, log_level="error", lifespan="off", ws="none")
    config.load()
    state = uvicorn.Server(config).server_state
    loop = asyncio.get_running_loop()

    def protocol() -> asyncio.Protocol:
        made: asyncio.Protocol = config.http_protocol_class(config=config, server_state=state, app_state={})  # type: ignore[call-arg]  # uvicorn names a wider type
        return made

    server = await loop.create_server(protocol, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/mcp"
    finally:
        server.close()
        if isinstance(app, HTTPApp):
            await app.stop(0.5)
        for connection in list(state.connections):
            connection.shutdown()
        await until(lambda: not state.tasks)
        for connection in list(state.connections):
            if connection.transport is not None:
                connection.transport.abort()
        await until(lambda: not state.connections)
