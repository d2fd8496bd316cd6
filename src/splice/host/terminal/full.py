"""The full-screen app at this terminal: made as terminal and settings want it; what stays to be read when it ends."""

import os
import sys
from collections.abc import Mapping

from splice.host.items import Chat, Message, Settings
from splice.host.terminal import glyphs, theme
from splice.host.terminal.app import Splice
from splice.host.terminal.hosted import Hosted
from splice.host.terminal.marks import line
from splice.host.terminal.terminal import background


def app_for(host: Hosted, environ: Mapping[str, str], *, answer: str = "") -> Splice:
    """Make the app as the terminal and the settings want it."""
    values = settings(host)
    name = theme.choose(environ, setting=str(values.get("theme", "")), answer=answer)
    look = glyphs.choose(environ, setting=str(values.get("glyphs", "")), encoding=sys.stdout.encoding or "")
    return Splice(host, look=look, theme_name=name)


def settings(host: Hosted) -> Mapping[str, object]:
    """Return what the user set."""
    found = host.board.get("settings:now", Settings)
    return found.values if found else {}


async def run(host: Hosted, *, first: str = "", is_kept: bool = True) -> int:
    """Show the app until the user leaves; return the exit code.

    `first` waits to be sent when it starts: a prompt, or text. Unless `is_kept`, the chat is gone afterwards.
    """
    app = app_for(host, os.environ, answer=background())
    app.first = first
    try:
        code = await app.run_async()
    finally:
        app.deny_all()
    chat = next((each for each in host.board.all(Chat) if each.is_open), None)
    if chat is not None and is_kept and any(each.chat == chat.id for each in host.board.all(Message)):
        key = chat.id.partition(":")[2]
        sys.stdout.write(f'Chat "{line(chat.title)}" kept.\nGo on: splice host chat --resume {key}\n')
    return code or 0
