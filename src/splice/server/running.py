"""Running a server as a program: the event loop, stdio or an HTTP listener, and a prompt end.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports
"""

import asyncio
import os
import sys
from collections.abc import Callable, Coroutine
from typing import Any

from splice.rules.options import checked
from splice.transports.base import Service
from splice.transports.stdio.server import serve_stdio

new_event_loop: Callable[[], asyncio.AbstractEventLoop]
try:
    from uvloop import new_event_loop
except ImportError:  # Windows
    new_event_loop = asyncio.new_event_loop

INTERRUPTED = 130
"""The exit status of a program that Ctrl-C ended, where it could not end by itself."""


def run(service: Service, transport: str, **options: Any) -> None:
    """Serve on an event loop of its own. Raises `RuntimeError` where one runs already, and what `serving` raises."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        main = serving(service, transport, **options)
    else:
        raise RuntimeError("an event loop runs here already: `await server.run_async(...)` serves on it")
    try:
        with asyncio.Runner(loop_factory=new_event_loop) as runner:
            runner.run(main)
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def serving(service: Service, transport: str, **options: Any) -> Coroutine[Any, Any, None]:
    """Give what serves, to be awaited. Raises `ValueError` for an unknown transport, `TypeError` for a wrong option."""
    _open_standard_descriptors()
    if transport == "stdio":
        checked("stdio", options, {})
        return serve_stdio(service)
    if transport == "http":
        from splice.transports.http.listener import serve_http  # noqa: PLC0415 - stdio must not load a web server

        return serve_http(service, **options)
    raise ValueError(f"unknown transport {transport!r}: it is 'stdio' or 'http'")


def _open_standard_descriptors() -> None:
    """Put nothing where whoever started us left a hole: no other file may become our stdin, stdout or stderr."""
    for fd in range(3):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number, which is `fd`
