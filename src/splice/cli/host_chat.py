"""`splice host chat`: a conversation at the terminal, by the app, or line by line where that cannot be."""

import os
import sys
from importlib import import_module
from typing import Any

import click

from splice.cli.host_adding import debug_option
from splice.cli.host_failing import Refused, note
from splice.cli.host_files import config_option, server_option
from splice.cli.host_opening import found_for, model_option, options_of, talk
from splice.cli.outcomes import FAILED
from splice.host.host import Host, HostError
from splice.host.items import Chat, Message
from splice.host.text import one_line

LAST = "last"
"""Stands for the chat that was open last."""

_ID_LENGTH = 4
"""How much of the id of a chat is shown, at least."""


@click.command()
@config_option
@server_option
@model_option
@click.option(
    "--resume", is_flag=False, flag_value=LAST, metavar="[ID]", help="Go on with the last chat, or with this."
)
@click.option("--plain", is_flag=True, help="One line for each event, for screen readers; SPLICE_PLAIN=1 always does.")
@debug_option
def command(
    configs: tuple[str, ...], servers: tuple[str, ...], model: str | None, resume: str | None, plain: bool
) -> int:
    """Talk to a model that uses your servers. It calls nothing that you, or your rules, do not allow."""
    here = found_for(configs, servers)
    face = face_of(plain=plain)

    async def work(host: Host) -> int:
        if resume is not None:
            await host.open_chat(chat_of(host, resume))
        try:
            code: int = await face.run(host)
            return code or 0
        finally:
            if face.__name__.endswith(".plain"):  # the app says it itself
                _say_kept(host)

    return talk(here, work, options_of(model=model))


def face_of(*, plain: bool) -> Any:
    """Load the face of this terminal: the app, or line mode. Raises `Refused`."""
    wants_plain = plain or os.environ.get("SPLICE_PLAIN", "") not in ("", "0") or os.environ.get("TERM") == "dumb"
    if wants_plain or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return import_module("splice.host.terminal.plain")
    try:
        return import_module("splice.host.terminal.full")
    except ModuleNotFoundError as error:
        raise missing("the terminal app", error, "host", "--plain works without it") from error


def missing(what: str, error: ModuleNotFoundError, extra: str, otherwise: str = "") -> Refused:
    """Say which package lacks, and how to install it. Raises the error itself if the package is our own."""
    needed = (error.name or "").partition(".")[0]
    if needed in ("", "splice"):
        raise error
    told = f"pip install 'splice[{extra}]'{f'; {otherwise}' if otherwise else ''}"
    return Refused(FAILED, f"{what} needs {needed}, which is not installed", mend=told)


def chat_of(host: Host, wanted: str) -> str:
    """Find a chat by the beginning of its id, or the last one. Raises `HostError`."""
    chats = sorted((each for each in host.board.all(Chat) if not each.is_open), key=lambda each: each.changed)
    ids = [each.id.removeprefix("chat:") for each in chats]
    fits = ids[-1:] if wanted == LAST else [each for each in ids if each.startswith(wanted)]
    if len(fits) == 1:
        return fits[0]
    if not fits:
        raise HostError("There is no chat yet" if wanted == LAST else f"There is no chat {one_line(wanted)}")
    raise HostError(f"Several chats begin with {one_line(wanted)}: {', '.join(each[:8] for each in fits)}")


def short_id(host: Host, id: str) -> str:
    """Write as much of the id of a chat as tells it from the others."""
    others = [each.id.removeprefix("chat:") for each in host.board.all(Chat) if each.id != f"chat:{id}"]
    length = _ID_LENGTH
    while length < len(id) and any(each.startswith(id[:length]) for each in others):
        length += 1
    return id[:length]


def _say_kept(host: Host) -> None:
    """Say how to go on with the chat, if anything was said in it."""
    chat = host.chat
    if any(each.chat == chat.id for each in host.board.all(Message)):
        note(f'chat "{one_line(chat.title)}" is kept. Go on: splice host chat --resume {short_id(host, chat.id)}')
