"""Listening: the MCP endpoint on a port of this machine, served by uvicorn.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import ipaddress
import logging
from collections.abc import Sequence
from typing import Any

import uvicorn

from splice.transports.base import Service
from splice.transports.http_server import HTTPApp

DRAIN_SECONDS = 3
"""How long requests in flight may still run after SIGTERM or Ctrl-C."""

log = logging.getLogger("splice.transport")


async def serve_http(
    service: Service,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    path: str = "/mcp",
    allowed_hosts: Sequence[str] | None = None,
    **options: Any,
) -> None:
    """Serve at `http://host:port/path` until SIGTERM or Ctrl-C.

    Raises `ValueError` for an address beyond this machine without `allowed_hosts`, `OSError` when it is taken.
    """
    if allowed_hosts is None and not _is_loopback(host):
        raise ValueError(
            f"listening on {host} lets other machines in: name the hosts clients will use, such as "
            "allowed_hosts=['mcp.example.com'], or listen on 127.0.0.1"
        )
    app = HTTPApp(service, path=path, allowed_hosts=allowed_hosts, **options)
    config = uvicorn.Config(
        app,
        host=host,
        port=port,
        log_level="warning",
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=DRAIN_SECONDS,
        server_header=False,
        ws="none",
    )
    await uvicorn.Server(config).serve()


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
