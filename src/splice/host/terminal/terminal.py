"""What the terminal tells of itself before the app starts: its background, and what it can draw."""

import asyncio
import os
import re
import select
import sys
import tempfile
import termios
import tty
from pathlib import Path

from textual.app import SuspendNotSupported

from splice.host.terminal.face import Face

ANSWER_SECONDS = 0.1
"""How long the terminal gets to answer."""


def background() -> str:
    """Ask the terminal for its background (OSC 11); return the answer, or nothing."""
    return asked("\x1b]11;?\x07", ("\x07", "\x1b\\")).rstrip("\x07\x1b\\")


def draws_wide() -> bool:
    """Tell whether the terminal draws signs two cells wide that are one here, as East Asian fonts do.

    It writes one, asks where the cursor is then, and takes it away again.
    """
    if (sys.stdout.encoding or "").lower() != "utf-8":
        return False
    answer = asked("\r\u25cf\x1b[6n", ("R",))
    sys.stdout.write("\r\x1b[K" if answer else "")
    sys.stdout.flush()
    found = re.search(r"\x1b\[\d+;(\d+)R", answer)
    return found is not None and int(found[1]) > 2


def asked(question: str, ends: tuple[str, ...]) -> str:
    """Write something that the terminal answers; return the answer up to its end, or nothing where there is none."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return ""
    descriptor = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(descriptor)
    except termios.error:
        return ""
    try:
        tty.setcbreak(descriptor)
        sys.stdout.write(question)
        sys.stdout.flush()
        answer = ""
        while select.select([descriptor], [], [], ANSWER_SECONDS)[0] and len(answer) < 64:
            answer += os.read(descriptor, 64).decode(errors="replace")
            if answer.endswith(ends):
                break
        return answer
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)


async def edit(app: Face, text: str) -> str | None:
    """Let the user write in `$VISUAL` or `$EDITOR`; None: there is none, or it failed."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        app.tell("EDITOR is not set.", "warning")
        return None
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "message.md"
        path.write_text(text, encoding="utf-8")
        try:
            with app.suspend():
                editing = await asyncio.create_subprocess_exec(*editor.split(), str(path))
                code = await editing.wait()
        except (OSError, SuspendNotSupported) as error:
            app.tell(f"{editor} did not start: {error}", "error")
            return None
        return path.read_text(encoding="utf-8", errors="replace").rstrip("\n") if code == 0 else None
