"""Where the host keeps its files: in `SPLICE_HOME` if that is set, else where the system keeps such files.

    config    what a person writes: `mcp.json`, `permissions.json`, `settings.json`
    state     what the host writes: trust, pins, manifests, the activity log, chats

https://specifications.freedesktop.org/basedir-spec/latest/
"""

import errno
import fcntl
import os
import sys
import tempfile
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from msgspec import Struct

FOLDER = "splice"

LOCK_TRIES, LOCK_PAUSE = 100, 0.01
"""How often, and after how many seconds, a lock is tried again: whoever has it writes one small file."""


class Places(Struct, frozen=True):
    """The two folders of the host. Neither needs to exist."""

    config: Path
    state: Path

    @classmethod
    def under(cls, home: Path) -> "Places":
        """Keep everything under one folder."""
        return cls(home / "config", home / "state")

    @property
    def servers(self) -> Path:
        """The user's own file of servers."""
        return self.config / "mcp.json"


def places(environ: Mapping[str, str] | None = None) -> Places:
    """Find the folders. A variable that holds no absolute path counts as not set, as XDG demands."""
    variables = os.environ if environ is None else environ
    own = variables.get("SPLICE_HOME", "")
    if own:
        return Places.under(at_home(own).absolute())
    if sys.platform == "win32":
        return Places(
            _given(variables, "APPDATA", "AppData/Roaming") / FOLDER,
            _given(variables, "LOCALAPPDATA", "AppData/Local") / FOLDER,
        )
    if sys.platform == "darwin" and "XDG_CONFIG_HOME" not in variables:
        base = Path.home() / "Library" / "Application Support" / FOLDER
        return Places(base, base / "state")
    return Places(
        _given(variables, "XDG_CONFIG_HOME", ".config") / FOLDER,
        _given(variables, "XDG_STATE_HOME", ".local/state") / FOLDER,
    )


def at_home(text: str) -> Path:
    """Read a path, whose `~` is the user's home. One that names a user who does not exist stays as it is."""
    try:
        return Path(text).expanduser()
    except RuntimeError:
        return Path(text)


def as_typed(path: Path) -> str:
    """Write a path as the user would type it: short where it is below this folder, or at home."""
    for base, short in ((Path.cwd(), ""), (Path.home(), "~/")):
        if path.is_relative_to(base):
            return f"{short}{path.relative_to(base)}"
    return str(path)


def _given(variables: Mapping[str, str], name: str, otherwise: str) -> Path:
    given = Path(variables.get(name, ""))
    return given if given.is_absolute() else Path.home() / otherwise


def private(folder: Path) -> Path:
    """Make a folder that only the user may enter, and return it; likewise those above that are missing.

    Raises `OSError`.
    """
    if not folder.parent.exists():
        private(folder.parent)
    folder.mkdir(exist_ok=True, mode=0o700)
    return folder


def keep(path: Path, data: bytes, mode: int = 0o600) -> None:
    """Replace a file as a whole: whoever reads it sees the old or the new one. Raises `OSError`."""
    with tempfile.NamedTemporaryFile("wb", dir=path.parent, prefix=f".{path.name[:50]}.", delete=False) as file:
        new = Path(file.name)
        try:
            new.chmod(mode)
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            new.replace(path)
        except BaseException:
            with suppress(OSError):
                new.unlink()
            raise


@contextmanager
def locked(path: Path) -> Generator[None]:
    """Let no other process change a file of the user's meanwhile. Raises `OSError` if one does for too long."""
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        for _ in range(LOCK_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(LOCK_PAUSE)
        else:
            raise OSError(errno.EAGAIN, f"another process has been writing {path.name} for too long")
        yield
    finally:
        os.close(descriptor)


def set_aside(path: Path) -> Path:
    """Rename a file that cannot be read, so that a new one may take its place. Returns its new name."""
    aside = path.with_name(f"{path.name}.damaged")
    with suppress(OSError):
        path.replace(aside)
    return aside
