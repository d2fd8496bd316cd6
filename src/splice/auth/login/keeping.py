"""Where logins are kept: in memory, in files, in the keyring of the system.

Each server has one entry, found by its URL. Whoever changes one holds its lock meanwhile, and reads it again first: so
clients and processes that share a store ask for new tokens once.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization/security-considerations#token-theft
"""

import asyncio
import fcntl
import hashlib
import os
import secrets
import stat
import threading
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol
from weakref import WeakKeyDictionary

import msgspec
from msgspec import Struct

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.kept import Kept

LOCK_SECONDS = 330.0
"""How long to wait for another process: a login in a browser may take five minutes."""

POLL_SECONDS = 0.05
"""How long to wait before a lock is tried again. The system tells nobody when a lock is free without blocking."""

MAX_BYTES = 256 * 1024
"""The largest entry that is read or written."""

MAX_KEYRING_BYTES = 16 * 1024
"""The largest entry that is put into a keyring. Some take less, and say so."""


class TokenStore(Protocol):
    """Keeps logins. `server` is the URL of an MCP server. Raises `AuthorizationFailed` when it cannot."""

    async def load(self, server: str) -> Kept | None:
        """Return what is kept of a server."""
        ...

    async def save(self, server: str, kept: Kept | None) -> None:
        """Keep this of a server; None: keep nothing."""

    def locked(self, server: str) -> AbstractAsyncContextManager[None]:
        """Let nobody else who locks this entry in, for the length of the block."""
        ...


class MemoryTokens:
    """Keeps logins as long as this object is there."""

    def __init__(self) -> None:
        self._kept: dict[str, Kept] = {}
        self._here: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, asyncio.Lock]] = WeakKeyDictionary()
        self._everywhere: dict[str, threading.Lock] = {}

    async def load(self, server: str) -> Kept | None:
        """Return what is kept of a server."""
        return self._kept.get(server)

    async def save(self, server: str, kept: Kept | None) -> None:
        """Keep this of a server; None: keep nothing."""
        self._kept.pop(server, None)
        if kept is not None:
            self._kept[server] = kept

    @asynccontextmanager
    async def locked(self, server: str) -> AsyncGenerator[None]:
        """Let nobody else who locks this entry in, on any event loop. Raises `AuthorizationFailed` as files do."""
        here = self._here.setdefault(asyncio.get_running_loop(), {}).setdefault(server, asyncio.Lock())
        lock = self._everywhere.setdefault(server, threading.Lock())
        async with here:
            await _take(lambda: lock.acquire(blocking=False), server)
            try:
                yield
            finally:
                lock.release()


class _Entry(Struct):
    """What stands in a file, or in a keyring."""

    server: str
    kept: Kept


class FileTokens:
    """Keeps logins in a directory of its own, in one file per server that only its user can read.

    Unless given, the directory is `splice/tokens` in `$XDG_STATE_HOME`, which is `~/.local/state` by default. A file
    that is damaged, a link, or readable by others is reported and left as it is.
    """

    def __init__(self, path: str | Path | None = None) -> None:
        self.path = state_directory() / "tokens" if path is None else Path(path)
        """The directory."""

    def __repr__(self) -> str:
        return f"FileTokens({str(self.path)!r})"

    def file_of(self, server: str) -> Path:
        """Return the file for a server."""
        return self.path / f"{_name_of(server)}.json"

    async def load(self, server: str) -> Kept | None:
        """Return what is kept of a server. Raises `AuthorizationFailed` for a file that cannot be trusted."""
        return await asyncio.to_thread(self._load, server)

    async def save(self, server: str, kept: Kept | None) -> None:
        """Keep this of a server, in place of what was there; None: keep nothing. Raises `AuthorizationFailed`."""
        await asyncio.to_thread(self._save, server, kept)

    def locked(self, server: str) -> AbstractAsyncContextManager[None]:
        """Let no other process in that locks this entry. Raises `AuthorizationFailed`, after `LOCK_SECONDS` too."""
        return _locked(self.path, server)

    def _load(self, server: str) -> Kept | None:
        file = self.file_of(server)
        with _told(file), suppress(FileNotFoundError), open(file, "rb", opener=_carefully) as opened:
            _check_private(file, os.fstat(opened.fileno()))
            return _read(opened.read(MAX_BYTES + 1), server, str(file))
        return None

    def _save(self, server: str, kept: Kept | None) -> None:
        file = self.file_of(server)
        with _told(file):
            _prepare(self.path)
            if kept is None:
                for each in (file, *self.path.glob(f".{file.name}.*")):  # and drafts of a process that was killed
                    each.unlink(missing_ok=True)
                return
            if file.is_symlink():
                raise AuthorizationFailed(f"{file} is a link: tokens are not written there. Remove it")
            draft = file.with_name(f".{file.name}.{secrets.token_hex(4)}")
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
            try:
                with os.fdopen(os.open(draft, flags, 0o600), "wb") as opened:
                    opened.write(_written(server, kept, MAX_BYTES, str(file)))
                    opened.flush()
                    os.fsync(opened.fileno())
                draft.replace(file)
            except BaseException:
                with suppress(OSError):
                    draft.unlink()
                raise
            _sync(self.path)


class KeyringTokens:
    """Keeps logins in the keyring of the system: needs the package `keyring` (`pip install 'splice[keyring]'`).

    `service` is the name that the entries have there. Raises `AuthorizationFailed` when the package is not there.
    """

    def __init__(self, service: str = "splice") -> None:
        self.service = service
        try:
            self._keyring: Any = import_module("keyring")  # an extra
        except ImportError as error:
            told = "KeyringTokens needs the package keyring: pip install 'splice[keyring]', or use FileTokens"
            raise AuthorizationFailed(told) from error

    async def load(self, server: str) -> Kept | None:
        """Return what is kept of a server. Raises `AuthorizationFailed`."""
        text: Any = await asyncio.to_thread(self._call, "get_password", server)
        return None if text is None else _read(str(text).encode(), server, f"the entry of {server} in the keyring")

    async def save(self, server: str, kept: Kept | None) -> None:
        """Keep this of a server; None: keep nothing. Raises `AuthorizationFailed`, for too large an entry too."""
        if kept is not None:
            text = _written(server, kept, MAX_KEYRING_BYTES, "the keyring").decode()
            await asyncio.to_thread(self._call, "set_password", server, text)
        elif await self.load(server) is not None:
            await asyncio.to_thread(self._call, "delete_password", server)

    def locked(self, server: str) -> AbstractAsyncContextManager[None]:
        """Let no other process in that locks this entry. Keyrings have no locks: files stand for them."""
        return _locked(state_directory() / "locks", server)

    def _call(self, name: str, *arguments: str) -> Any:
        try:
            return getattr(self._keyring, name)(self.service, *arguments)
        except Exception as error:  # each backend has errors of its own
            what = f"{type(error).__name__}: {str(error)[:200]!a}" if name != "set_password" else type(error).__name__
            told = f"The keyring of the system failed ({what}); FileTokens needs none"
            raise AuthorizationFailed(told) from error


def state_directory() -> Path:
    """Return where this package keeps state of the user's."""
    given = os.environ.get("XDG_STATE_HOME", "")
    return (Path(given) if given.startswith("/") else Path.home() / ".local" / "state") / "splice"


def _name_of(server: str) -> str:
    return hashlib.sha256(server.encode()).hexdigest()[:32]


def _written(server: str, kept: Kept, limit: int, where: str) -> bytes:
    text = msgspec.json.encode(_Entry(server, kept))
    if len(text) > limit:
        raise AuthorizationFailed(f"The login at {server} has {len(text)} bytes, more than {where} may hold ({limit})")
    return text


def _read(text: bytes, server: str, where: str) -> Kept:
    todo = "remove it to log in anew, or let `splice logout` do so"
    if len(text) > MAX_BYTES:
        raise AuthorizationFailed(f"{where} has more than {MAX_BYTES} bytes, so it is not a login; {todo}")
    try:
        entry = msgspec.json.decode(text, type=_Entry)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):  # the message could show what stands there
        raise AuthorizationFailed(f"{where} is damaged: it is not a login that was kept; {todo}") from None
    if entry.server != server:
        raise AuthorizationFailed(f"{where} is the login of another server, {entry.server[:100]!a}; {todo}")
    return entry.kept


@contextmanager
def _told(file: Path) -> Generator[None]:
    """Say which file it was that could not be read or written."""
    try:
        yield
    except OSError as error:
        raise AuthorizationFailed(f"Cannot use {file} to keep a login: {error.strerror}") from error


def _carefully(path: str, _flags: int) -> int:
    return os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)


def _prepare(directory: Path) -> None:
    """Make a directory that only its user can enter. Raises `AuthorizationFailed` for one that others can."""
    directory.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        directory.mkdir(mode=0o700)
    _check_private(directory, directory.lstat(), is_directory=True)


def _check_private(path: Path, found: os.stat_result, *, is_directory: bool = False) -> None:
    if not (stat.S_ISDIR(found.st_mode) if is_directory else stat.S_ISREG(found.st_mode)):
        raise AuthorizationFailed(f"{path} is not a {'directory' if is_directory else 'file'}: no login is kept there")
    if found.st_uid != os.getuid():
        raise AuthorizationFailed(f"{path} belongs to another user: no login is kept there")
    if found.st_mode & 0o077:
        todo = f"chmod {'700' if is_directory else '600'} {path}"
        raise AuthorizationFailed(f"{path} is open to other users: no login is kept there. To mend it: {todo}")


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@asynccontextmanager
async def _locked(directory: Path, server: str) -> AsyncGenerator[None]:
    file = directory / f"{_name_of(server)}.lock"
    with _told(file):
        _prepare(directory)
        descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        await _take(lambda: _try(descriptor), server)
        yield
    finally:
        os.close(descriptor)


async def _take(attempt: Callable[[], bool], server: str) -> None:
    """Take a lock that another process, or event loop, may have: neither tells when it is free."""
    try:
        async with asyncio.timeout(LOCK_SECONDS):
            while True:
                if attempt():
                    return
                await asyncio.sleep(POLL_SECONDS)
    except TimeoutError:
        told = f"Another process, or thread, has been logging in to {server} for {LOCK_SECONDS:g} s"
        raise AuthorizationFailed(f"{told}; end it, or wait for it") from None


def _try(descriptor: int) -> bool:
    """Take a lock if it is free; it ends with its descriptor, also when the process dies."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
