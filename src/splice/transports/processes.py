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
from typing import Any

INHERITED = ("PATH", "HOME", "LANG", "TERM", "USER", "LOGNAME", "SHELL", "TMPDIR")
"""What a child sees of our environment, besides `LC_*`; the rest may hold secrets that are none of its business."""

INHERITED_ON_WINDOWS = (
    *("APPDATA", "HOMEDRIVE", "HOMEPATH", "LOCALAPPDATA", "PATH", "PATHEXT", "PROCESSOR_ARCHITECTURE", "SYSTEMDRIVE"),
    *("SYSTEMROOT", "TEMP", "TMP", "USERNAME", "USERPROFILE", "COMSPEC", "PROGRAMFILES"),
)

_WINDOWS = sys.platform == "win32"


def environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Make the environment of a child: the little it needs of ours, and what the caller adds."""
    names = INHERITED_ON_WINDOWS if _WINDOWS else INHERITED
    own = {name: value for name, value in os.environ.items() if name in names or name.startswith("LC_")}
    # A value that bash would read as a function is code, not a setting.
    return {name: value for name, value in own.items() if not value.startswith("()")} | dict(extra or {})


def own_group() -> dict[str, Any]:
    """Tell `subprocess` to start a child apart from us: our Ctrl-C is not its own."""
    if _WINDOWS:  # pragma: no cover  # only Linux is tested
        return {"creationflags": getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)}
    return {"start_new_session": True}


def terminate_group(pid: int) -> None:
    """Ask the child and all its descendants to end. What is gone already is fine."""
    if _WINDOWS:  # pragma: no cover  # only Linux is tested
        _taskkill(pid)
    else:
        _signal_group(pid, signal.SIGTERM)


def kill_group(pid: int) -> None:
    """End the child and all its descendants."""
    if _WINDOWS:  # pragma: no cover  # only Linux is tested
        _taskkill(pid, "/F")
    else:
        _signal_group(pid, signal.SIGKILL)


def how_it_ended(returncode: int) -> str:
    """Say in words what an exit status means."""
    if returncode >= 0:
        return f"exited with code {returncode}"
    try:
        return f"was killed by {signal.Signals(-returncode).name}"
    except ValueError:
        return f"was killed by signal {-returncode}"


def _signal_group(pid: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)


def _taskkill(pid: int, *options: str) -> None:  # pragma: no cover  # only Linux is tested
    with contextlib.suppress(OSError):
        command = ["taskkill", "/T", *options, "/PID", str(pid)]
        subprocess.run(command, check=False, timeout=5)  # noqa: S603 - the arguments are our own
