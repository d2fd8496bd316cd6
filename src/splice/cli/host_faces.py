"""The faces of the host, as a command opens them: loaded when they are wanted, with a word on what they lack."""

import os
import sys
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from splice.cli.host_failing import Refused
from splice.cli.outcomes import FAILED
from splice.host.failing import HostError
from splice.host.host import Host


def face_of(*, plain: bool) -> Any:
    """Load the face of this terminal: the app, or line mode. Raises `Refused`."""
    wants_plain = plain or os.environ.get("SPLICE_PLAIN", "") not in ("", "0") or os.environ.get("TERM") == "dumb"
    if wants_plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return import_module("splice.host.terminal.plain")
    try:
        return import_module("splice.host.terminal.full")
    except ModuleNotFoundError as error:
        raise missing("the terminal app", error, "host", "--plain works without it") from error


def missing(what: str, error: ModuleNotFoundError, extra: str, otherwise: str = "") -> Refused:
    """Say which package lacks, and how to install it. Raises the error itself if the package is our own."""
    needed = (error.name or "").partition(".")[0]
    if needed in ("", "splice"):
        raise error
    told = f"pip install 'splice[{extra}]'{f'; {otherwise}' if otherwise else ''}"
    return Refused(FAILED, f"{what} needs {needed}, which is not installed", mend=told)


def serving() -> Any:
    """Load the web face. Raises `Refused`."""
    try:
        return import_module("splice.host.web.serving")
    except ModuleNotFoundError as error:
        raise missing("the web page", error, "web", "splice host chat needs no browser") from error


async def served(
    face: Any, host: Host, port: int, *, opens: bool, proposed: Mapping[str, Mapping[str, str]] = {}
) -> int:
    """Serve the face, with what stands in the forms of prompts. Raises `Refused` when the port is taken."""
    try:
        code: int = await face.run(host, port, opens, proposed)
    except OSError as error:
        raise Refused(
            FAILED, f"port {port} cannot be used: {error.strerror or error}", mend="--port takes another"
        ) from error
    return code or 0


class Beside:
    """The page of a host that is open in another face, loaded and served once the user wants it."""

    def __init__(self, host: Host, port: int = 0) -> None:
        self._host, self._port = host, port
        self._page: Any = None

    async def open(self) -> str:
        """Open a browser, and return the address that it opens, once. Raises `HostError`."""
        try:
            self._page = self._page or serving().Page(self._host, self._port)
            address: str = await self._page.open()
        except Refused as refused:
            raise HostError(f"{refused}: {refused.mend}") from refused
        except OSError as error:
            raise HostError(str(error)) from error
        return address

    async def close(self) -> None:
        """End it."""
        if self._page is not None:
            await self._page.close()
