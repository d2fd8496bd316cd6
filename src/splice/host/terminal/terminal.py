"""What the terminal tells of itself before the app starts: its background, and what it can draw."""

import asyncio
import os
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
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return ""
    descriptor = sys.stdin.fileno()
    try:
        before = termios.tcgetattr(descriptor)
    except termios.error:
        return ""
    try:
        tty.setcbreak(descriptor)
        sys.stdout.write("\x1b]11;?\x07")
        sys.stdout.flush()
        answer = b""
        while select.select([descriptor], [], [], ANSWER_SECONDS)[0] and len(answer) < 64:
            answer += os.read(descriptor, 64)
            if answer.endswith((b"\x07", b"\x1b\\")):
                break
        return answer.decode(errors="replace").rstrip("\x07\x1b\\")
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
