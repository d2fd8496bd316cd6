"""Child processes, where platforms differ: how one gets a group of its own, and how the whole group is ended.

On POSIX a child is the leader of a new session, and signals go to its process group, so that grandchildren get them
as well. On Windows there are neither; `taskkill` walks the tree of processes instead. Only Linux was tested.
"""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

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
    try:
        return f"was killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"was killed by signal {-returncode}"
