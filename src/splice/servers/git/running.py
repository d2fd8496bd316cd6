"""Runs the git program: an argument list, a fixed environment, a bound on its output and on its time.

A run that takes too long, or whose caller has gone, is ended together with what it started.
"""

import asyncio
import os
import signal
from collections.abc import Coroutine, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from splice import ToolError

OUTPUT_BYTES = 200_000
"""How much of an output is read, unless a caller says otherwise: about 50,000 tokens."""

ERROR_BYTES = 16_000
"""How much of what git says of an error is read; the rest is thrown away."""

PIECE_BYTES = 64_000
GRACE_SECONDS = 1.0
"""How long git may take to remove its lock files when it is told to end. Then it is killed."""

AT_ONCE = 16
"""How many runs there are at a time, each with a process and three pipes; others wait for their turn."""

_rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

T = TypeVar("T")
U = TypeVar("U")


class Ran(NamedTuple):
    """What came of a run. `cut` means that there was more output than asked for."""

    code: int
    out: bytes
    err: str
    cut: bool

    @property
    def text(self) -> str:
        """The output as text; what is not UTF-8 in it is marked."""
        return self.out.decode(errors="replace")


class Program(NamedTuple):
    """The git program, and how many seconds each run of it may take."""

    path: str
    seconds: float

    async def run(
        self,
        *words: str,
        cwd: str,
        env: Mapping[str, str],
        stdin: bytes = b"",
        most: int = OUTPUT_BYTES,
    ) -> Ran:
        """Run git to its end, or until it has written more than `most` bytes.

        Raises `ToolError` when time is up, and for more arguments than the system takes.
        """
        async with _rooms.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(AT_ONCE)):
            return await self._run(words, cwd, env, stdin, most)

    async def _run(self, words: Sequence[str], cwd: str, env: Mapping[str, str], stdin: bytes, most: int) -> Ran:
        try:
            process = await asyncio.create_subprocess_exec(
                self.path,
                *words,
                cwd=cwd,
                env=env,
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise ToolError(f"git could not be started: {error.strerror}. Ask for less at once.") from None
        try:
            async with asyncio.timeout(self.seconds):
                (out, cut), (err, _), _ = await asyncio.gather(
                    _read(process.stdout, most, process),
                    _read(process.stderr, ERROR_BYTES, None),
                    _feed(process.stdin, stdin),
                )
                code = await process.wait()
        except TimeoutError:
            raise ToolError(f"git took longer than {self.seconds:g} s and was ended. Ask for less at once.") from None
        finally:
            await _end(process)
        return Ran(code, out, err.decode(errors="replace"), cut)


async def both(first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, U]) -> tuple[T, U]:
    """Run two things at once. When one fails, the other is ended before that is told."""
    tasks = asyncio.create_task(first), asyncio.create_task(second)
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read(
    stream: asyncio.StreamReader | None, most: int, process: asyncio.subprocess.Process | None
) -> tuple[bytes, bool]:
    """Read a stream to its end. After `most` bytes the process is ended; where none is given, the rest is dropped."""
    pieces: list[bytes] = []
    size = 0
    while stream is not None and (piece := await stream.read(PIECE_BYTES)):
        if size <= most:
            pieces.append(piece)
        size += len(piece)
        if size > most and process is not None:
            _signal(process, signal.SIGKILL)  # only runs that change nothing have that much to say
    return b"".join(pieces)[:most], size > most


async def _feed(stream: asyncio.StreamWriter | None, data: bytes) -> None:
    if stream is None:
        return
    with suppress(BrokenPipeError, ConnectionResetError):
        if data:
            stream.write(data)
            await stream.drain()
        stream.close()
        await stream.wait_closed()


async def _end(process: asyncio.subprocess.Process) -> None:
    """See a process to its end, however often the caller is cancelled meanwhile: nobody else would reap it."""
    if process.returncode is not None:
        return
    ending = asyncio.create_task(_stop(process))
    cancelled: asyncio.CancelledError | None = None
    while not ending.done():
        try:
            await asyncio.shield(ending)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled


async def _stop(process: asyncio.subprocess.Process) -> None:
    """Stop a process with all it started: first so that it can tidy up, then at once."""
    _signal(process, signal.SIGTERM)
    try:
        async with asyncio.timeout(GRACE_SECONDS):
            await _gone(process)
    except TimeoutError:
        _signal(process, signal.SIGKILL)
        await _gone(process)


async def _gone(process: asyncio.subprocess.Process) -> None:
    """Wait for the end of a process; for asyncio it has not ended while something it wrote is unread."""
    await _read(process.stdout, 0, None)
    await _read(process.stderr, 0, None)
    await process.wait()


def _signal(process: asyncio.subprocess.Process, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)
