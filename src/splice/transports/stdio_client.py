"""A server in a child process: spoken to over its stdin and stdout, its stderr kept for the day it dies.

What arrives on stdout goes from the pipe straight to the duplex: no reader task, no queue. stderr is always read, so
a talkative child never blocks; the last of it is in the error that pending requests fail with.

Shutdown follows the specification: close stdin, wait, SIGTERM, wait, SIGKILL. The signals go to the process group.
A child that leaves by itself after its stdin was closed is believed to have cleaned up: what it started and left
running is then its own business, and gets no signal.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import BadMessage, Notification, Request, Response
from splice.protocol.methods import INITIALIZE
from splice.protocol.versions import FACTS
from splice.rules.negotiation import version_settled_by
from splice.transports import processes
from splice.transports.base import Answer, Heard, Sender, no_notice, no_request
from splice.transports.duplex import Duplex, DuplexExchange
from splice.transports.finishing import finish
from splice.transports.interrupting import Interruptible

GRACE_SECONDS = 2.0
"""How long a child may take to leave, first after its stdin was closed, then after SIGTERM."""

LAST_WORDS_SECONDS = 0.5
"""How long to wait for the other half of the news: the exit status after end of output, or the reverse."""

STDERR_BYTES = 64 * 1024
"""How much of stderr is kept."""

_SHOWN_STDERR_LINES = 20
_SHOWN_JUNK_LINES = 5

log = logging.getLogger("splice.client")


async def spawn(
    command: Sequence[str],
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | Path | None = None,
    name: str | None = None,
) -> "StdioLink":
    """Start a server and return the link to it. `name` is what errors and logs call it.

    Raises `ConnectionClosed` if the program cannot be started.
    """
    loop = asyncio.get_running_loop()
    called = name or Path(command[0]).name
    try:
        _, pipes = await loop.subprocess_exec(
            lambda: _Pipes(called), *command, env=processes.environment(env), cwd=cwd, **processes.own_group()
        )
    except (OSError, ValueError) as error:
        raise ConnectionClosed(f"Cannot start {command[0]!r}: {error}") from error
    return pipes.link


class StdioLink:
    """The way to a server in a child process."""

    def __init__(self, name: str, transport: asyncio.SubprocessTransport) -> None:
        self.on_request: Answer = no_request
        self.on_notice: Heard = no_notice
        self.name = name
        self.errors = Tail(STDERR_BYTES)
        """The last of what the child wrote to stderr."""
        self._duplex = Duplex(
            self._write,
            self._serve,
            self._hear,
            sender=Sender(kind="stdio"),
            stray=self._skip,
            batches=lambda: self._batches,
        )
        self._loop = asyncio.get_running_loop()
        self._transport = transport
        self._input = cast("asyncio.WriteTransport", transport.get_pipe_transport(0))
        self._running: set[Interruptible] = set()
        self._batches = False
        self._junk = 0
        self._open_outputs = 2
        self._exited = asyncio.Event()
        self._all_told = asyncio.Event()
        self._released = asyncio.Event()
        self._closing: asyncio.Task[None] | None = None
        self._losing: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """The process id of the child."""
        return self._transport.get_pid()

    # The link.

    async def exchange(self, request: Request, heard: Heard, headers: Mapping[str, str]) -> Response:  # noqa: ARG002 - no headers on a pipe
        """Send a request and wait for its response. Raises `ConnectionClosed`."""
        self._check_open()
        with Interruptible(self._running, self.name):
            response = await self._duplex.request(request, heard)
        if request.method == INITIALIZE.name:
            version = version_settled_by(response)
            self._batches = version is not None and FACTS[version].batches
        return response

    async def notify(self, note: Notification) -> None:
        """Send a notification. Raises `ConnectionClosed`."""
        self._check_open()
        await self._duplex.notify(note)

    async def close(self) -> None:
        """Shut the child down and wait until it is gone, even while being cancelled."""
        if self._closing is None:
            self._closing = self._loop.create_task(self._shut_down())
        await finish(self._closing)

    def _check_open(self) -> None:
        if self._duplex.table.closed:
            raise ConnectionClosed(self._obituary())

    # What the duplex needs.

    def _write(self, data: bytes) -> None:
        if not self._input.is_closing():
            self._input.write(data)

    async def _serve(self, exchange: DuplexExchange) -> Response:
        return await self.on_request(exchange.request)

    async def _hear(self, note: Notification) -> None:
        await self.on_notice(note)

    def _skip(self, bad: BadMessage) -> None:
        """Report output that is no message; it is never acted upon."""
        self._junk += 1
        if self._junk <= _SHOWN_JUNK_LINES:
            log.warning("%s wrote a line to stdout that is no message, skipped: %s", self.name, bad.message)
        if self._junk == _SHOWN_JUNK_LINES:
            log.warning("%s: further lines like that are skipped silently", self.name)

    # What the pipes tell.

    def arrived(self, fd: int, data: bytes) -> None:
        """Take what the child wrote."""
        if fd == 1:
            self._duplex.feed(data)
        else:
            self.errors.add(data)

    def pipe_closed(self, fd: int) -> None:
        """Take note that one of the three pipes has come to its end."""
        if fd != 0:
            self._open_outputs -= 1
        self._ends(for_certain=fd != 2)

    def exited(self) -> None:
        """Take note that the child is gone."""
        self._exited.set()
        self._ends(for_certain=True)

    def released(self) -> None:
        """Take note that the event loop holds nothing of the child any more."""
        self._released.set()

    def pause(self) -> None:
        """Let writers wait: the child reads too slowly."""
        self._duplex.pause()

    def resume(self) -> None:
        """Let writers go on."""
        self._duplex.resume()

    def _ends(self, *, for_certain: bool) -> None:
        """Fail what is pending, once all the news is in or after a moment."""
        if self._exited.is_set() and self._open_outputs == 0:
            self._all_told.set()
        if for_certain and self._losing is None and self._closing is None:
            self._losing = self._loop.create_task(self._lose())

    async def _lose(self) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LAST_WORDS_SECONDS):
                await self._all_told.wait()
        await self._duplex.lost(ConnectionClosed(self._obituary()))

    def _obituary(self) -> str:
        """Say how the child ended, and its last words."""
        code = self._transport.get_returncode()
        if self._closing is not None:
            text = f"The connection to {self.name} was closed"
        else:
            text = f"{self.name} {'closed its output' if code is None else processes.how_it_ended(code)}"
        if self._junk:
            text += f"; {self._junk} lines of its output were no messages"
        said = self.errors.lines(_SHOWN_STDERR_LINES)
        return text + ("; the last it wrote to stderr:\n" + "\n".join(said) if said else "")

    # Shutdown.

    async def _shut_down(self) -> None:
        try:
            for running in tuple(self._running):
                running.interrupt()
            await asyncio.sleep(0)  # each call tells the server that nobody waits for it any more
            self._duplex.flush()
            self._input.close()
            await self._duplex.lost(ConnectionClosed(self._obituary()))
            if not await self._is_gone():
                processes.terminate_group(self.pid)
                await self._is_gone()
                processes.kill_group(self.pid)
                await self._exited.wait()
        except asyncio.CancelledError:  # the event loop itself is ending
            processes.kill_group(self.pid)
            raise
        finally:
            if self._losing is not None:
                self._losing.cancel()
            self._transport.close()
        await self._released.wait()

    async def _is_gone(self) -> bool:
        """Wait a while for the child to exit."""
        try:
            async with asyncio.timeout(GRACE_SECONDS):
                await self._exited.wait()
        except TimeoutError:
            return False
        return True


class _Pipes(asyncio.SubprocessProtocol):
    """Hands what the event loop sees of the child to its link."""

    link: StdioLink

    def __init__(self, name: str) -> None:
        self._name = name

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.link = StdioLink(self._name, cast("asyncio.SubprocessTransport", transport))

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self.link.arrived(fd, data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        self.link.pipe_closed(fd)

    def process_exited(self) -> None:
        self.link.exited()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        self.link.released()

    def pause_writing(self) -> None:
        self.link.pause()

    def resume_writing(self) -> None:
        self.link.resume()


class Tail:
    """The last bytes of a stream."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._parts: deque[bytes] = deque()
        self._size = 0

    def add(self, data: bytes) -> None:
        """Take more, and forget what is too long ago."""
        self._parts.append(data[-self._limit :])
        self._size += len(self._parts[-1])
        while self._size - len(self._parts[0]) >= self._limit:
            self._size -= len(self._parts.popleft())

    @property
    def text(self) -> str:
        """What is kept."""
        return b"".join(self._parts)[-self._limit :].decode(errors="replace")

    def lines(self, count: int) -> list[str]:
        """Return the last lines, without those that are blank."""
        return [line for line in self.text.splitlines() if line.strip()][-count:]
