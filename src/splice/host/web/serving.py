"""Serving the web face on a port of this machine: alone until the user ends it, or beside another face."""

import asyncio
import socket
import sys
import webbrowser
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from splice.host.web.app import Web
from splice.host.web.door import Door
from splice.transports.http.listener import Listener, bound, serve_app

Proposed = Mapping[str, Mapping[str, str]]
"""What stands in the forms of prompts, by ``server/name``."""

NOTHING: Proposed = {}


async def run(host: Any, port: int = 0, open_browser: bool = True, proposed: Proposed = NOTHING) -> int:
    """Serve the face of a host until SIGTERM or Ctrl-C, and say where; 0 is any free port.

    Raises `OSError` when the port is taken. The address holds a token that opens it once: it is written to stderr and
    nowhere else.
    """
    with bound("127.0.0.1", port) as listening:
        door = _door(host, listening, proposed)
        with suppress(OSError, AttributeError):  # nobody reads it
            sys.stderr.write(f"Splice is at {door.link}\nThe link opens one browser, once. Ctrl-C ends it.\n")
        if open_browser:
            await asyncio.to_thread(webbrowser.open, door.link)
        await serve_app(door, listening)
    return 0


class Page:
    """The page of a host that has another face too: what one shows, the other shows. It is served once it is wanted."""

    def __init__(self, host: Any, port: int = 0, *, opens: bool = True) -> None:
        """Take a host; unless it `opens`, no browser is opened, and only the address is told."""
        self._host, self._port, self._opens = host, port, opens
        self._door: Door | None = None
        self._server: _Quiet | None = None
        self._serving: asyncio.Task[None] | None = None
        self._listening: socket.socket | None = None

    async def open(self) -> str:
        """Return an address that opens one browser, once; each time another. Raises `OSError`: the port is taken."""
        if self._door is None:
            self._listening = bound("127.0.0.1", self._port)
            self._door = _door(self._host, self._listening, NOTHING)
            self._server = _Quiet(self._door)
            self._serving = asyncio.create_task(self._server.serve(sockets=[self._listening]))
        else:
            self._door.invite()
        link = self._door.link
        if self._opens:
            await asyncio.to_thread(webbrowser.open, link)
        return link

    async def close(self) -> None:
        """End it, if it was ever wanted."""
        if self._server is not None and self._serving is not None:
            self._server.should_exit = True
            await self._serving
        if self._listening is not None:
            self._listening.close()


class _Quiet(Listener):
    """A server that leaves signals to the face beside which it stands."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        """Capture none."""
        yield


def _door(host: Any, listening: socket.socket, proposed: Proposed) -> Door:
    web = Web(host, is_over=lambda: listening.fileno() == -1, name=Path.cwd().name, proposed=proposed)
    return Door(web.app, listening.getsockname()[1])
