"""What code does beside returning a value, as the interpreter tells of it: files, programs, connections, databases.

Audit hooks hear of every such act, whichever library it is done with. Reading is not an effect, nor is what libraries
do for themselves: bytecode, log files, the messages of this server.

https://docs.python.org/3/library/audit_events.html
"""

import os
import re
import site
import sysconfig
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import splice

Arguments = tuple[Any, ...]

DATABASE = "sqlite3.connect/handle"
"""Tells of a new connection to a database."""

_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_READS = (b"GET ", b"HEAD ", b"OPTIONS ")
"""How requests of HTTP begin that change nothing."""

_CHANGES = re.compile(r"\s*(?:WITH\b.*\b)?(INSERT|UPDATE|DELETE|REPLACE|ALTER|DROP)\b", re.IGNORECASE | re.DOTALL)
"""Statements that change a database when they are run twice."""

_OURS = str(Path(splice.__file__).parent) + os.sep
_PATHS = (*map(sysconfig.get_path, ("stdlib", "platstdlib", "purelib", "platlib")), *site.getsitepackages())
_LIBRARIES = ("<", *(path + os.sep for path in (*_PATHS, site.getusersitepackages())))

_FOR_THEMSELVES = (_OURS, "<frozen importlib", str(Path(sysconfig.get_path("stdlib"), "logging")))
"""Code whose effects nobody has to think of."""

_SPEAK_HTTP = (f"{os.sep}http{os.sep}client.py", f"{os.sep}urllib3{os.sep}")
"""Part of the names of files that tell what they send, so that it does not matter that they connect."""


class Line(NamedTuple):
    """A line of the user's code."""

    file: str
    number: int
    function: str


NOWHERE = Line("", 0, "")
"""The effect is the user's, but no frame is: a thread was given a library's function to call."""


def line_of(frames: Iterable[FrameType], event: str) -> Line | None:
    """Find the innermost line of the user's; None where a library acts for itself. Innermost frames come first."""
    for frame in frames:
        file = frame.f_code.co_filename
        if file.startswith(_FOR_THEMSELVES) or (
            event == "socket.connect" and any(each in file for each in _SPEAK_HTTP)
        ):
            return None
        if not file.startswith(_LIBRARIES):
            return Line(file, frame.f_lineno, frame.f_code.co_name)
    return NOWHERE


def outwards(frame: FrameType | None) -> Iterator[FrameType]:
    """Yield the frames that a frame was called from, the innermost first."""
    while frame is not None and (frame := frame.f_back) is not None:
        yield frame


def waiting(coroutine: Any) -> Iterator[FrameType]:
    """Yield the frames of what a task waits in, the innermost first."""
    frames: list[FrameType] = []
    while (frame := getattr(coroutine, "cr_frame", None)) is not None:
        frames.append(frame)
        coroutine = coroutine.cr_await
    yield from reversed(frames)


def effect_of(event: str, arguments: Arguments) -> str | None:
    """Tell the effect in words; None for what is not an effect."""
    tell = _EFFECTS.get(event)
    if tell is None:
        return None
    return tell.format(*arguments) if isinstance(tell, str) else tell(*arguments)


def statement_of(sql: str) -> str | None:
    """Tell the effect of an SQL statement. Its values stay untold: they may be secret."""
    found = _CHANGES.match(sql)
    return None if found is None else f"changes a database ({found[1].upper()})"


def _opened(path: Any, mode: Any, flags: Any) -> str | None:
    del mode
    is_file = isinstance(path, (str, bytes)) and path != os.devnull
    return f"opens {path!r} for writing" if is_file and flags & _WRITING else None


def _sent(connection: Any, data: Any) -> str | None:
    is_read = isinstance(data, (bytes, bytearray)) and data.startswith(_READS)
    return None if is_read else f"sends to {connection.host}"


_EFFECTS: dict[str, str | Callable[..., str | None]] = {
    "open": _opened,
    "http.client.send": _sent,
    "os.remove": "removes {0!r}",
    "os.rename": "renames {0!r}",
    "os.mkdir": "makes the directory {0!r}",
    "os.rmdir": "removes the directory {0!r}",
    "os.link": "makes the link {1!r}",
    "os.symlink": "makes the link {1!r}",
    "os.truncate": "cuts {0!r}",
    "os.chmod": "changes {0!r}",
    "os.chown": "changes {0!r}",
    "os.setxattr": "changes {0!r}",
    "os.removexattr": "changes {0!r}",
    "os.system": "runs {0!r}",
    "os.exec": "runs {0!r}",
    "os.posix_spawn": "starts {0!r}",
    "os.spawn": "starts {1!r}",
    "os.startfile": "opens {0!r}",
    "os.kill": "sends a signal to process {0}",
    "os.killpg": "sends a signal to process group {0}",
    "pty.spawn": "starts {0!r}",
    "subprocess.Popen": "starts {0!r}",
    "webbrowser.open": "opens {0!r} in a browser",
    "socket.connect": "connects to {1}",
    "socket.sendto": "sends to {1}",
    "socket.sendmsg": "sends to {1}",
    "smtplib.send": "sends mail",
    "ftplib.sendcmd": "sends {1!r} by FTP",
    "imaplib.send": "sends to a mail server",
    "syslog.syslog": "writes to the system log",
}
"""Event -> what it is told as. What `shutil` does is seen in the events below it."""
