"""Running a server as a program: the event loop, stdio or an HTTP listener, and a prompt end.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

import asyncio
import contextlib
import os
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from splice.transports.stdio import serve_stdio

if TYPE_CHECKING:
    from splice.server.server import Server


new_event_loop: Callable[[], asyncio.AbstractEventLoop]
try:
    from uvloop import new_event_loop
except ImportError:  # Windows
    new_event_loop = asyncio.new_event_loop


def run(server: "Server", transport: str, **options: Any) -> None:
    """Run `server` on its own event loop. Raises `ValueError` for an unknown transport."""
    if transport == "stdio":
        if options:
            raise ValueError(f"stdio has no option {', '.join(options)}")
        _run(serve_stdio(server))
    elif transport == "http":
        from splice.transports.http_listener import serve_http  # noqa: PLC0415 - stdio must not load a web server

        _run(serve_http(server, **options))
    else:
        raise ValueError(f"unknown transport {transport!r}: it is 'stdio' or 'http'")


def _run(main: Coroutine[Any, Any, None]) -> None:
    _open_standard_descriptors()
    with asyncio.Runner(loop_factory=new_event_loop) as runner, contextlib.suppress(KeyboardInterrupt):
        runner.run(main)


def _open_standard_descriptors() -> None:
    """Put nothing where whoever started us left a hole: no other file may become our stdin, stdout or stderr."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is `fd`
