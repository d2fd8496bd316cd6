"""The file of the user's lasting rules, which several processes may have open: read when it changed, written whole."""

import fcntl
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from splice.host.places import keep, private, set_aside

LOCK_SECONDS = 2.0
"""How long another process may write before this one gives up."""

POLL_SECONDS = 0.005

MAX_BYTES = 4_000_000


class Kept(Struct, frozen=True, omit_defaults=True):
    """A rule as it is kept."""

    effect: Literal["allow", "ask", "deny"]
    what: str
    made: float
    uses: int = 0
    used: float = 0.0
    identity: str = ""
    """Which server had the name when this was allowed."""
    chat: str | None = None
    """The chat that it holds in, empty for all chats of a process; None: for always."""


class _Content(Struct):
    rules: list[Any] = []
    void: dict[str, float] = {}
    """When permissions for a tool were taken back, because its definition changed."""
    version: Literal[1] = 1


class RuleFile:
    """The rules in a file. One that cannot be read is set aside, and `problem` says so."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problem = ""
        self.voided: dict[str, float] = {}
        self._rules: list[Kept] = []
        self._strange: list[Any] = []
        """Rules that this version cannot read. They are written back as they were."""
        self._seen: tuple[int, ...] = ()
        self._unreadable: OSError | None = None

    @property
    def is_changed(self) -> bool:
        """Whether the file is another than the one that was read."""
        return self._stamp() != self._seen

    def read(self) -> list[Kept]:
        """List the rules, anew if the file changed."""
        if self.is_changed and not self._load():
            with suppress(OSError), self._locked():  # another process may be about to mend it
                self._fresh()
        return self._rules

    def change(self, change: Callable[[list[Kept]], list[Kept]]) -> None:
        """Write the rules as a function makes them of those in the file. Raises `OSError`."""
        with self._locked():
            self._write(change(self._fresh()))

    def void(self, what: str, at: float) -> None:
        """Note when permissions for a tool were taken back. Raises `OSError`."""
        with self._locked():
            rules = self._fresh()
            self.voided[what] = at
            self._write(rules)

    def _fresh(self) -> list[Kept]:
        """List the rules while nobody else writes, and set a damaged file aside.

        Raises `OSError` for a file that cannot be read: it must not be replaced.
        """
        if self.is_changed and not self._load():
            aside = set_aside(self._path)
            self.problem = f"{self._path} was damaged and is now {aside}. No lasting rule counts: give them anew."
        if self._unreadable is not None:
            raise self._unreadable
        return self._rules

    def _load(self) -> bool:
        """Read the file; False: it is damaged. While it cannot be read, no lasting rule counts."""
        self._rules, self._strange, self.voided, self._unreadable = [], [], {}, None
        self._seen = self._stamp()
        try:
            with self._path.open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            content = msgspec.json.decode(data if len(data) <= MAX_BYTES else b"", type=_Content)
        except FileNotFoundError:
            return True
        except OSError as error:
            self._unreadable = error
            self._seen = ()
            self.problem = f"{self._path} cannot be read ({error.strerror}): no lasting rule counts until it can."
            return True
        except (msgspec.DecodeError, RecursionError) as error:
            self._seen = ()
            self.problem = f"{self._path} is damaged ({error}): no lasting rule counts."
            return False
        self.voided = content.void
        for each in content.rules:
            try:
                self._rules.append(msgspec.convert(each, Kept))
            except msgspec.ValidationError as error:
                self._strange.append(each)
                self.problem = f"A rule in {self._path} cannot be read and does not count: {error}"
        return True

    def _write(self, rules: list[Kept]) -> None:
        written: list[Any] = [*(msgspec.to_builtins(each) for each in rules), *self._strange]
        data = msgspec.json.format(msgspec.json.encode(_Content(written, self.voided)), indent=2)
        keep(self._path, data + b"\n")
        self._rules = rules
        self._seen = self._stamp()

    def _stamp(self) -> tuple[int, ...]:
        try:
            found = self._path.stat()
        except OSError:
            return (0,)
        return found.st_mtime_ns, found.st_ino, found.st_size

    @contextmanager
    def _locked(self) -> Generator[None]:
        """Hold the lock that all processes share; it ends with its descriptor, also when a process dies."""
        private(self._path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(self._path.with_name(f"{self._path.name}.lock"), flags, 0o600)
        try:
            end = time.monotonic() + LOCK_SECONDS
            while not _taken(descriptor):
                if time.monotonic() > end:
                    raise OSError(f"another process has been writing {self._path} for {LOCK_SECONDS:g} s")
                time.sleep(POLL_SECONDS)
            yield
        finally:
            os.close(descriptor)


def _taken(descriptor: int) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False
