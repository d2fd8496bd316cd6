"""The servers as processes of their own: over stdin and stdout, and over HTTP on a port that is free."""

import asyncio
import re
import signal
import sys
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from os import environ
from pathlib import Path
from typing import Any, TypeVar

from splice import StdioServer

FOLDER = Path(__file__).parent
URL = re.compile(r"http://\S+")

READY_SECONDS = 20.0
"""How long a server may take to say where it listens."""

GRACE_SECONDS = 5.0
"""How long it may take to end."""

T = TypeVar("T")


def command(name: str, *options: str) -> list[str]:
    """Give the command that runs a server of this folder."""
    return [sys.executable, "-m", "splice.cli", "run", str(FOLDER / f"{name}.py"), *options]


def on_stdio(name: str, settings: Mapping[str, str]) -> StdioServer:
    """Name a server that the client starts, and talks to over its stdin and stdout."""
    server = StdioServer(*command(name), env={**settings})
    server.name = f"the {name} server"
    return server


async def until_told(work: Coroutine[Any, Any, T]) -> T:
    """Do work, and end it in order when the process is told to end: servers and files would outlive it."""
    task, loop = asyncio.ensure_future(work), asyncio.get_running_loop()
    told = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]
    told = [each for each in told if signal.getsignal(each) == signal.SIG_DFL]  # with nohup, one of them is ignored
    with suppress(NotImplementedError):  # as on Windows
        for each in told:
            loop.add_signal_handler(each, task.cancel)
    try:
        return await task
    finally:
        with suppress(NotImplementedError):
            for each in told:
                loop.remove_signal_handler(each)


@asynccontextmanager
async def on_http(name: str, settings: Mapping[str, str]) -> AsyncIterator[str]:
    """Run a server over HTTP for the length of the block; yields its URL. Raises `RuntimeError`."""
    process = await asyncio.create_subprocess_exec(
        *command(name, "--http", "--port", "0"),
        env={**environ, **settings},
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        yield await _url_of(name, process)
    finally:
        await _end(process)


async def _url_of(name: str, process: asyncio.subprocess.Process) -> str:
    """Read where the server listens from what it says."""
    said: list[str] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(READY_SECONDS):
            while process.stderr is not None and (line := await process.stderr.readline()):
                said.append(line.decode(errors="replace").strip())
                if found := URL.search(said[-1]):
                    return found[0]
    raise RuntimeError(f"the {name} server does not start: {' '.join(said) or 'it says nothing'}")


async def _end(process: asyncio.subprocess.Process) -> None:
    if process.returncode is None:
        process.terminate()
        try:
            await asyncio.wait_for(process.wait(), GRACE_SECONDS)
        except TimeoutError:
            process.kill()
            await process.wait()
