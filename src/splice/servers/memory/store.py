"""The file that the graph is kept in: safe where many threads and processes write it at the same time.

A writer takes a lock, reads what others wrote meanwhile, and puts a whole new file in the place of the old one. Who
dies while writing leaves the old file as it was. Readers take no lock: each file they can see is whole. The lock lies
on a file of its own, because the memory itself is another file after each change; it is never deleted, since a writer
that waits for it would hold another one than the next.
"""

import fcntl
import os
import stat
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from logging import getLogger
from pathlib import Path
from threading import Lock
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from splice import ToolError
from splice.servers.memory import lines
from splice.servers.memory.graph import Full, Graph

MAX_BYTES = 64 * 1024 * 1024
"""How large the file may be."""

WAIT_SECONDS = 10.0
"""How long a writer waits for others."""

LOCK, NEW, REJECTED = ".lock", ".new", ".rejected"
"""What the names of the files beside the memory end in: the lock, the next version, and lines that cannot be read."""

_PAUSE_SECONDS = 0.005
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK

T = TypeVar("T")
Signature: TypeAlias = tuple[int, ...] | None
"""Tells one version of the file from another; None where there is no file."""

log = getLogger("splice.servers.memory")


class Changed(NamedTuple, Generic[T]):
    """What came of a change."""

    answer: T
    is_written: bool
    """The file is another one now."""
    moved: int
    """How many lines that cannot be read were moved out of it."""


class Store:
    """The graph in one file. To be used on any thread. What goes wrong raises `ToolError`."""

    _held = -1
    """The file that was read last, open."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Take the path of the file, which need not exist. Raises `ValueError` for what cannot be such a file."""
        try:
            self.path = Path(os.path.realpath(path))
            mode = self.path.stat().st_mode if self.path.exists() else stat.S_IFREG
        except (OSError, ValueError) as error:
            raise ValueError(f"the memory cannot be kept in {os.fspath(path)!r}: {error}") from None
        if not stat.S_ISREG(mode) or not self.path.name:
            raise ValueError(f"the memory cannot be kept in {os.fspath(path)!r}: it is not a regular file")
        self._turn, self._reading = Lock(), Lock()
        self._graph = Graph()
        self._signature: Signature = None
        self.written: Signature = None
        """The version that this process wrote last, or is about to."""

    def __del__(self) -> None:
        self._hold(-1)

    def signature(self) -> Signature:
        """Tell which version of the file is there now. Raises `OSError`: what cannot be seen may be there."""
        try:
            return _signature(self.path.lstat())
        except FileNotFoundError:
            return None

    def read(self) -> Graph:
        """Give the graph as it is now; the file is read only if it changed."""
        with self._reading, _explained("read"):
            if (now := self.signature()) is None:
                self._graph, self._signature = Graph(), None
            elif now != self._signature:
                self._load()
            return self._graph

    def change(self, edit: Callable[[Graph], tuple[Graph, T]]) -> Changed[T]:
        """Change the graph, as it is when all others are done; tell what `edit` answered."""
        with self._alone():
            before = self.read()
            try:
                after, answer = edit(before)
            except Full as full:
                raise ToolError(str(full)) from None
            if after is before:
                return Changed(answer, is_written=False, moved=0)
            self._replace(before, after)
        return Changed(answer, is_written=True, moved=len(before.rejected))

    def _load(self) -> None:
        file = os.open(self.path, os.O_RDONLY | _FLAGS)
        self._hold(file)
        known = os.fstat(file)
        if not stat.S_ISREG(known.st_mode) or known.st_size > MAX_BYTES:
            raise ToolError(f"{self.path.name} is not a regular file of at most {MAX_BYTES} bytes")
        with open(file, "rb", closefd=False) as reader:
            self._graph = lines.read(reader.read())
        self._signature = _signature(known)
        if self._graph.rejected:
            log.warning("%d lines of %s cannot be read", len(self._graph.rejected), self.path.name)

    def _hold(self, file: int) -> None:
        """Keep the file open that was read last, so that no later one gets its number, which is in the signature."""
        held, self._held = self._held, file
        if held >= 0:
            os.close(held)

    def _replace(self, before: Graph, after: Graph) -> None:
        """Put a new file in the place of the old one, and what could not be read of it into a file beside it."""
        if before.rejected and not before.entities and not before.relations:
            name = self.path.name
            raise ToolError(
                f"{name} is not a memory: none of its lines can be read. Move it away, or name another file"
            )
        data = lines.write(after)
        if len(data) > MAX_BYTES:
            raise ToolError(f"The memory would have {len(data)} bytes; it may have {MAX_BYTES}. Delete something first")
        with _explained("written"):
            if before.rejected:
                self._set_aside(before)
            new = self._beside(NEW)
            with suppress(FileNotFoundError):  # whoever left it died
                new.unlink()
            file = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
            try:
                if self.path.exists():
                    os.fchmod(file, stat.S_IMODE(self.path.stat().st_mode))
                _write(file, data)
                self.written = _signature(os.fstat(file))
                new.replace(self.path)
                _sync(self.path.parent)
            except BaseException:
                os.close(file)
                with suppress(OSError):  # on a full disk it takes the room that others need
                    new.unlink()
                raise
            with self._reading:
                self._hold(file)
                kept = after if not after.rejected else Graph(after.entities, after.relations)
                self._graph, self._signature = kept, self.written

    def _set_aside(self, before: Graph) -> None:
        file = os.open(self._beside(REJECTED), os.O_WRONLY | os.O_CREAT | os.O_APPEND | _FLAGS, 0o600)
        try:
            _write(file, b"\n".join([*before.rejected, b""]))
        finally:
            os.close(file)

    @contextmanager
    def _alone(self) -> Generator[None]:
        """Keep other threads and processes from writing. Raises `ToolError` when they take too long."""
        until = time.monotonic() + WAIT_SECONDS
        busy = ToolError(f"Others have been writing the memory for {WAIT_SECONDS:g} s. Try again later")
        if not self._turn.acquire(timeout=WAIT_SECONDS):
            raise busy
        try:
            with _explained("written"):
                self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                file = os.open(self._beside(LOCK), os.O_RDWR | os.O_CREAT | _FLAGS, 0o600)
            try:
                while not _locked(file):
                    if time.monotonic() > until:
                        raise busy
                    time.sleep(_PAUSE_SECONDS)
                yield
            finally:
                os.close(file)
        finally:
            self._turn.release()

    def _beside(self, ending: str) -> Path:
        return self.path.with_name(self.path.name + ending)


def _signature(found: os.stat_result) -> Signature:
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _write(file: int, data: bytes) -> None:
    """Write all of it, down to the disk."""
    view = memoryview(data)
    while view:
        view = view[os.write(file, view) :]
    os.fsync(file)


def _sync(directory: Path) -> None:
    """Let the new name outlast a power cut as well, where the file system can promise it."""
    with suppress(OSError):
        file = os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(file)
        finally:
            os.close(file)


@contextmanager
def _explained(what: str) -> Generator[None]:
    """Tell the model what the system said, without paths."""
    try:
        yield
    except OSError as error:
        log.warning("the memory cannot be %s: %s", what, error)
        raise ToolError(f"The memory cannot be {what}: {error.strerror}") from error
