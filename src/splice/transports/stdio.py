"""Serving on this process's own stdin and stdout.

The two descriptors are taken away from everybody else first: what a handler or its children print goes to stderr,
and nobody but us reads stdin. A pipe is read and written by the event loop itself; what the loop cannot watch (a
file, Windows) is read on a thread and written directly.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
"""

import asyncio
import contextlib
import os
import signal
import stat
import sys
import threading
from collections.abc import Callable, Generator
from typing import Any

from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import Notification
from splice.protocol.versions import FACTS
from splice.rules.eras import Session
from splice.transports.base import Sender, Service
from splice.transports.duplex import Duplex

DRAIN_SECONDS = 3.0
"""How long requests in flight may still run after the end of input, SIGTERM or Ctrl-C."""

CHUNK_BYTES = 256 * 1024


async def serve_stdio(service: Service) -> None:
    """Serve one peer until it closes our stdin, or until SIGTERM or Ctrl-C; requests in flight may finish."""
    ended = asyncio.Event()
    with _own_descriptors() as (source, target), _signals(ended.set):
        session = Session()
        sender = Sender(kind="stdio", session=session)

        async def hear(note: Notification) -> None:
            await service.hear(note, sender)

        def batches() -> bool:
            return session.version is not None and FACTS[session.version].batches

        output = _Output(target)
        duplex = Duplex(output.write, service.handle, hear, sender=sender, batches=batches)
        session.push = duplex.push
        reader = _Input(duplex, ended.set)
        await output.open(pause=reader.pause, resume=reader.resume, lost=ended.set)
        await service.open(session)
        try:
            await reader.open(source)
            await ended.wait()
            reader.close()
            await service.stop()
            await duplex.drain(DRAIN_SECONDS)
        finally:
            reader.close()
            await duplex.lost(ConnectionClosed("The client closed the connection"))
            await service.close(session)
            await output.close(DRAIN_SECONDS)
            await service.end()


class _Input(asyncio.Protocol):
    """Feeds what arrives on stdin to the duplex."""

    def __init__(self, duplex: Duplex, at_end: Callable[[], None]) -> None:
        self._duplex = duplex
        self._at_end = at_end
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.ReadTransport | None = None
        self._closed = False

    async def open(self, source: int) -> None:
        """Begin to read; on a thread if the loop cannot watch this descriptor."""
        pipe = os.fdopen(source, "rb", buffering=0)
        try:
            _check_watchable(source)
            self._transport, _ = await self._loop.connect_read_pipe(lambda: self, pipe)
        except (OSError, ValueError, NotImplementedError):
            threading.Thread(target=self._read_on_thread, args=(pipe,), daemon=True).start()

    def data_received(self, data: bytes) -> None:
        if not self._closed:
            self._duplex.feed(data)

    def eof_received(self) -> None:
        self._at_end()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        self._at_end()

    def pause(self) -> None:
        """Read no more until `resume`: the peer does not take our answers."""
        self._duplex.pause()
        if self._transport is not None and self._transport.is_reading():
            self._transport.pause_reading()

    def resume(self) -> None:
        """Read on."""
        self._duplex.resume()
        if self._transport is not None and not self._transport.is_closing():
            self._transport.resume_reading()

    def close(self) -> None:
        """Read no more."""
        self._closed = True
        if self._transport is not None:
            self._transport.close()

    def _read_on_thread(self, pipe: Any) -> None:
        with contextlib.suppress(OSError, RuntimeError, ValueError), pipe:
            while data := pipe.read(CHUNK_BYTES):
                self._loop.call_soon_threadsafe(self.data_received, data)
            self._loop.call_soon_threadsafe(self._at_end)


class _Output(asyncio.BaseProtocol):
    """Writes to stdout, without waiting where the loop can watch the descriptor."""

    def __init__(self, target: int) -> None:
        self._target = target
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.WriteTransport | None = None
        self._pause: Callable[[], None]
        self._resume: Callable[[], None]
        self._lost: Callable[[], None]
        self._gone = asyncio.Event()

    async def open(self, *, pause: Callable[[], None], resume: Callable[[], None], lost: Callable[[], None]) -> None:
        """Begin to write; `pause` and `resume` are told when the peer reads too slowly, `lost` when it is gone."""
        self._pause, self._resume, self._lost = pause, resume, lost
        pipe = os.fdopen(self._target, "wb", buffering=0)
        try:
            _check_watchable(self._target)
            self._transport, _ = await self._loop.connect_write_pipe(lambda: self, pipe)
        except (OSError, ValueError, NotImplementedError):
            self._pipe = pipe

    def write(self, data: bytes) -> None:
        """Write all of it, now or as soon as the peer takes it."""
        if self._transport is not None:
            self._transport.write(data)
            return
        view = memoryview(data)
        try:
            while view:
                view = view[self._pipe.write(view) :]
        except (OSError, ValueError):
            self._lost()

    def pause_writing(self) -> None:
        self._pause()

    def resume_writing(self) -> None:
        self._resume()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the loop's signature
        self._gone.set()
        self._lost()

    async def close(self, seconds: float) -> None:
        """Write out what is buffered, but wait no longer than `seconds` for the peer to take it."""
        if self._transport is None:
            self._pipe.close()
            return
        self._transport.close()
        try:
            async with asyncio.timeout(seconds):
                await self._gone.wait()
        except TimeoutError:
            self._transport.abort()


def _check_watchable(descriptor: int) -> None:
    """Refuse files and devices here: uvloop ends the whole process over them. Raises `ValueError`."""
    mode = os.fstat(descriptor).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(descriptor)):
        raise ValueError("neither a pipe nor a terminal")


@contextlib.contextmanager
def _own_descriptors() -> Generator[tuple[int, int]]:
    """Take stdin and stdout for ourselves: meanwhile fd 0 reads nothing, and fd 1 is stderr."""
    _flush_prints()
    source, target = os.dup(0), os.dup(1)
    kept = (os.dup(0), os.dup(1))
    blocking = [os.get_blocking(fd) for fd in kept]
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield source, target
    finally:
        _flush_prints()
        for number, fd in enumerate(kept):
            os.set_blocking(fd, blocking[number])
            os.dup2(fd, number)
            os.close(fd)


def _flush_prints() -> None:
    """Let what was printed so far go where it was meant to, while fd 1 still, or again, is that."""
    if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison]  # it is None without a stdout
        sys.stdout.flush()


@contextlib.contextmanager
def _signals(stop: Callable[[], None]) -> Generator[None]:
    """Let SIGTERM and Ctrl-C call `stop`, where the loop can do that."""
    loop = asyncio.get_running_loop()
    caught: list[signal.Signals] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop)
            caught.append(number)
    try:
        yield
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
