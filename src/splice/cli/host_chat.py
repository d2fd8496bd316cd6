"""`splice host chat`: a conversation at the terminal, by the app, or line by line where that cannot be."""

from typing import Any

import click

from splice.cli.host_adding import debug_option
from splice.cli.host_faces import Beside, face_of
from splice.cli.host_failing import note
from splice.cli.host_files import config_option, server_option
from splice.cli.host_opening import found_for, model_option, options_of, record_option, talk
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
@record_option
@click.option(
    "--resume", is_flag=False, flag_value=LAST, metavar="[ID]", help="Go on with the last chat, or with this."
)
@click.option("--plain", is_flag=True, help="One line for each event, for screen readers; SPLICE_PLAIN=1 always does.")
@click.option("--web", is_flag=True, help="Open it on a web page too: what one shows and answers, the other does.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="Of the page; 0: any free one."
)
@debug_option
def command(configs: tuple[str, ...], servers: tuple[str, ...], model: str | None, **given: Any) -> int:
    """Talk to a model that uses your servers. It calls nothing that you, or your rules, do not allow."""
    here = found_for(configs, servers)
    face = face_of(plain=given["plain"])

    async def work(host: Host) -> int:
        if given["resume"] is not None:
            await host.open_chat(chat_of(host, given["resume"]))
        page, address = Beside(host, given["port"]), ""
        try:
            if given["web"]:
                address = await page.open()
                note(f"the same is at {address}, which opens one browser, once")  # the app covers it, and says it too
            code: int = await face.run(host, page=page.open, address=address)
            return code or 0
        finally:
            await page.close()
            if face.__name__.endswith(".plain"):  # the app says it itself
                _say_kept(host)

    return talk(here, work, options_of(model=model, record=given["record"]))


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
