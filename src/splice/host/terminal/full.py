"""The full-screen app at this terminal: made as terminal and settings want it; what stays to be read when it ends."""

import os
import sys
from collections.abc import Mapping

from splice.host.board import Board
from splice.host.items import Chat, Message, Settings
from splice.host.places import places
from splice.host.terminal import glyphs, keyfile, leaving, theme
from splice.host.terminal.app import Splice
from splice.host.terminal.hosted import Hosted, Page
from splice.host.terminal.marks import line
from splice.host.terminal.terminal import background, draws_wide

SHORTEST = 4
"""How much of the id of a chat is shown, at least."""


def app_for(host: Hosted, environ: Mapping[str, str], *, answer: str = "", is_wide: bool = False) -> Splice:
    """Make the app as the terminal and the settings want it; in ASCII if other signs would be two cells wide."""
    values = settings(host)
    name = theme.choose(environ, setting=str(values.get("theme", "")), answer=answer)
    wanted = "ascii" if is_wide else str(values.get("glyphs", ""))
    look = glyphs.choose(environ, setting=wanted, encoding=sys.stdout.encoding or "")
    return Splice(host, look=look, theme_name=name)


def settings(host: Hosted) -> Mapping[str, object]:
    """Return what the user set."""
    found = host.board.get("settings:now", Settings)
    return found.values if found else {}


async def run(
    host: Hosted, *, first: str = "", is_kept: bool = True, page: Page | None = None, address: str = ""
) -> int:
    """Show the app until the user leaves; return the exit code.

    `first` waits to be sent when it starts: a prompt, or text. Unless `is_kept`, the chat is gone afterwards. `page`
    opens the same on a web page, which is at `address` if it is open already.
    """
    app = app_for(host, os.environ, answer=background(), is_wide=draws_wide())
    app.first, app.page, app.address = first, page, address
    app.change_keys(keyfile.read(places().config / "keys.toml"))
    try:
        code = await app.run_async()
    finally:
        leaving.deny_all(app)
    if is_kept:
        sys.stdout.write(goodbye(host.board))
    return code or 0


def goodbye(board: Board) -> str:
    """Say how to go on with the open chat, if anything was said in it."""
    keys = {each.id.partition(":")[2]: each for each in board.all(Chat)}
    for key, chat in keys.items():
        if chat.is_open and any(each.chat == key for each in board.all(Message)):
            sizes = range(SHORTEST, len(key))
            short = next((key[:size] for size in sizes if sum(each.startswith(key[:size]) for each in keys) == 1), key)
            return f'Chat "{line(chat.title)}" kept.\nGo on: splice host chat --resume {short}\n'
    return ""
