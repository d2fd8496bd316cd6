"""Serving on this process's own stdin and stdout.

The two descriptors are taken away from everybody else first: what a handler or its children print goes to stderr,
and nobody but us reads stdin. A pipe is read and written by the event loop itself; what the loop cannot watch (a
file, Windows) is read on a thread and written directly.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

import asyncio
import contextlib
import os
import stat
import sys
import threading
from collections.abc import Awaitable, Callable, Generator
from functools import partial
from typing import Any

from splice.errors import ConnectionClosed
from splice.rules import sessions
from splice.transports import base, lines, processes, tasks

DRAIN_SECONDS = 3.0
"""How long requests in flight may still run after the end of input, SIGTERM or Ctrl-C."""

CHUNK_BYTES = 256 * 1024
"""How much is read at once on a thread."""


async def serve_stdio(service: base.Service) -> None:
    """Serve one peer until it closes our stdin, or until a signal asks to stop; requests in flight may finish.

    Raises what `service.open` raises, before anything is read.
    """
    ended, session = asyncio.Event(), sessions.Session()
    sender = base.Sender(kind="stdio", session=session)
    with _own_descriptors() as (source, target):
        await service.open()
        with processes.stop_signals(ended.set):
            pipes = _Pipes(service, sender, ended.set)
            pipes.batches = lambda: session.batches
            session.push = pipes.send
            try:
                await pipes.open(source, target)
                await ended.wait()
                pipes.stop_reading()
                await service.drain()
                await pipes.drain(DRAIN_SECONDS)
            finally:
                pipes.stop_reading()
                pipes.gather.flush()
                await pipes.lost(ConnectionClosed("The client closed the connection"))
                session.end()
                await pipes.close()
                await service.close()


class _Pipes(lines.LineChannel, asyncio.Protocol):
    """The channel over stdin and stdout. The event loop calls it with what it sees of either."""

    _target: Any

    def __init__(self, service: base.Service, sender: base.Sender, at_end: Callable[[], None]) -> None:
        super().__init__(self.write, service.handle, partial(service.hear, sender=sender), sender)
        self._at_end = at_end
        self._reader: asyncio.ReadTransport | None = None
        """None while a thread reads."""
        self._writer: asyncio.WriteTransport | None = None
        """None while writing blocks."""
        self._watched = 0
        """How many of the two the event loop still watches."""
        self._gone = asyncio.Event()
        self._closed = False

    async def open(self, source: int, target: int) -> None:
        """Begin to write, and to read; on a thread if the loop cannot watch this descriptor."""
        self._target = os.fdopen(target, "wb", buffering=0)
        pipe = os.fdopen(source, "rb", buffering=0)
        self._writer = await self._watch(self._loop.connect_write_pipe, self._target)
        self._reader = await self._watch(self._loop.connect_read_pipe, pipe)
        if self._reader is None:
            threading.Thread(target=self._read_on_thread, args=(pipe,), daemon=True).start()

    async def _watch(self, connect: Callable[..., Awaitable[tuple[Any, Any]]], pipe: Any) -> Any:
        """Let the event loop watch a descriptor, and return its transport; None where it cannot."""
        with contextlib.suppress(OSError, ValueError, NotImplementedError):
            mode = os.fstat(pipe.fileno()).st_mode
            # uvloop ends the whole process over anything else, such as a file
            if stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(pipe.fileno()):
                transport, _ = await connect(lambda: self, pipe)
                return transport
        return None

    def write(self, data: bytes) -> None:
        """Write all of it, now or as soon as the peer takes it."""
        if self._writer is not None:
            self._writer.write(data)
            return
        view = memoryview(data)
        try:
            while view:
                view = view[self._target.write(view) :]
        except (OSError, ValueError):
            self._at_end()

    def stop_reading(self) -> None:
        """Read no more."""
        self._closed = True
        if self._reader is not None:
            self._reader.close()

    async def close(self) -> None:
        """Write out what is buffered, but wait no longer than `DRAIN_SECONDS` for the peer to take it."""
        if self._writer is None:
            self._target.close()
            return
        self._writer.close()
        if not await tasks.within(DRAIN_SECONDS, self._gone):
            self._writer.abort()

    def _read_on_thread(self, pipe: Any) -> None:
        with contextlib.suppress(OSError, RuntimeError, ValueError), pipe:
            while data := pipe.read(CHUNK_BYTES):
                self._loop.call_soon_threadsafe(self.data_received, data)
            self._loop.call_soon_threadsafe(self._at_end)

    # What the event loop sees.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:  # noqa: ARG002 - the loop's signature
        self._watched += 1

    def data_received(self, data: bytes) -> None:
        if not self._closed:
            self.feed(data)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        self._watched -= 1
        if not self._watched:
            self._gone.set()
        self._at_end()

    def pause_writing(self) -> None:
        super().pause_writing()
        if self._reader is not None and self._reader.is_reading():
            self._reader.pause_reading()

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._reader is not None and not self._reader.is_closing():
            self._reader.resume_reading()


@contextlib.contextmanager
def _own_descriptors() -> Generator[tuple[int, int]]:
    """Take stdin and stdout for ourselves: meanwhile fd 0 reads nothing, and fd 1 is stderr."""
    _flush_prints()
    kept = [(fd, os.dup(fd), os.get_blocking(fd)) for fd in (0, 1)]
    source, target = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield source, target
    finally:
        _flush_prints()
        for fd, copy, blocking in kept:
            os.set_blocking(copy, blocking)
            os.dup2(copy, fd)
            os.close(copy)


def _flush_prints() -> None:
    """Let what was printed so far go where it was meant to, while fd 1 still, or again, is that."""
    if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # it is None without a stdout
        sys.stdout.flush()
