"""Processes: the signals that ask ours to stop, and how a child gets a group of its own, which is ended as a whole.

SIGTERM, Ctrl-C, and SIGHUP where it is not ignored (nohup), ask a server to stop. The first one lets what is in flight
finish. Whoever presses Ctrl-C again does not want to wait for that.

On POSIX a child is the leader of a new session, and signals go to its process group, so that grandchildren get them
as well. On Windows there are neither; `taskkill` walks the tree of processes instead. Only Linux was tested.
"""

import asyncio
import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from pathlib import Path
from typing import Any

AGAIN_SECONDS = 0.5
"""Since when another Ctrl-C counts: a terminal and the launcher between us may both pass on the first one."""

_ASKING = [getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)]

INHERITED = ("PATH", "HOME", "LANG", "TERM", "USER", "LOGNAME", "SHELL", "TMPDIR")
"""The variables of our environment that a child sees, besides `LC_*`. The others may hold secrets."""

INHERITED_ON_WINDOWS = (
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE"),
    *("SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "COMSPEC", "PROGRAMFILES"),
)

_WINDOWS = sys.platform == "win32"

OWN_GROUP: Mapping[str, Any] = (
    {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)} if _WINDOWS else {"start_new_session": True}
)
"""Tells `subprocess` to start a child apart from us: our Ctrl-C is not its own."""


@contextlib.contextmanager
def stop_signals(stop: Callable[[], None]) -> Generator[None]:
    """Let these signals call `stop` on this event loop; a second Ctrl-C ends the process at once.

    On any other thread than the main one, where nothing can be done about signals, nothing is.
    """
    loop, first = asyncio.get_running_loop(), 0.0

    def asked(number: int, _: object) -> None:
        nonlocal first
        now = time.monotonic()
        if first and number == signal.SIGINT and now - first > AGAIN_SECONDS:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        first = first or now
        loop.call_soon_threadsafe(stop)

    before: dict[int, Any] = {}
    with contextlib.suppress(ValueError):
        for number in _ASKING:
            if number in (signal.SIGTERM, signal.SIGINT) or signal.getsignal(number) != signal.SIG_IGN:
                before[number] = signal.signal(number, asked)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Make the environment of a child: the little it needs of ours, and what the caller adds."""
    names = INHERITED_ON_WINDOWS if _WINDOWS else INHERITED
    own = {name: value for name, value in os.environ.items() if name in names or name.startswith("LC_")}
    # A value that bash would read as a function is code, not a setting.
    return {name: value for name, value in own.items() if not value.startswith("()")} | dict(extra or {})


def hint(program: str) -> str:
    """Say what to do about a program that is a file, and still cannot be started."""
    return f"; to run this file, name its program too, as in: python {program}" if Path(program).is_file() else ""


def end_group(pid: int, *, force: bool) -> None:
    """Ask a child and all its descendants to end, or end them by force. What is gone already is fine."""
    if _WINDOWS:  # pragma: no cover  # only Linux is tested
        command = ["taskkill", "/T", *(["/F"] if force else []), "/PID", str(pid)]
        with contextlib.suppress(OSError):
            subprocess.run(command, check=False, timeout=5)  # noqa: S603 - the arguments are our own
    else:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL if force else signal.SIGTERM)


def how_it_ended(returncode: int) -> str:
    """Say in words what an exit status means."""
    if returncode >= 0:
        return f"exited with code {returncode}"
    names = {each.value: each.name for each in signal.Signals}
    return f"was killed by {names.get(-returncode, f'signal {-returncode}')}"
