"""Serving the web face on a port of this machine, for as long as the user wants it."""

import asyncio
import sys
import webbrowser
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from splice.host.web.app import Web
from splice.host.web.door import Door
from splice.transports.http.listener import bound, serve_app


async def run(
    host: Any, port: int = 0, open_browser: bool = True, proposed: Mapping[str, Mapping[str, str]] = {}
) -> int:
    """Serve the face of a host until SIGTERM or Ctrl-C, and say where; 0 is any free port.

    Raises `OSError` when the port is taken. The address holds a token that opens it once: it is written to stderr and
    nowhere else. `proposed` is what stands in the forms of prompts, by ``server/name``.
    """
    with bound("127.0.0.1", port) as listening:
        number: int = listening.getsockname()[1]
        web = Web(host, is_over=lambda: listening.fileno() == -1, name=Path.cwd().name, proposed=proposed)
        door = Door(web.app, number)
        address = f"http://127.0.0.1:{number}/?token={door.token}"
        with suppress(OSError, AttributeError):  # nobody reads it
            sys.stderr.write(f"Splice is at {address}\nThe link opens one browser, once. Ctrl-C ends it.\n")
        if open_browser:
            await asyncio.to_thread(webbrowser.open, address)
        await serve_app(door, listening)
    return 0
