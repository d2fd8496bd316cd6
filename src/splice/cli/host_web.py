"""`splice host web`: the same conversation on a web page, for this machine only."""

from typing import Any

import click

from splice.cli.host_adding import debug_option
from splice.cli.host_chat import LAST, chat_of
from splice.cli.host_faces import served, serving
from splice.cli.host_files import config_option, server_option
from splice.cli.host_opening import found_for, model_option, options_of, talk
from splice.host.host import Host


@click.command()
@config_option
@server_option
@model_option
@click.option(
    "--resume", is_flag=False, flag_value=LAST, metavar="[ID]", help="Go on with the last chat, or with this."
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, show_default=True, help="0: any free one.")
@click.option("--no-browser", is_flag=True, help="Open no browser, only say the address.")
@debug_option
def command(configs: tuple[str, ...], servers: tuple[str, ...], model: str | None, **given: Any) -> int:
    """Open the host on a web page, until Ctrl-C. Only the browser that opens the link first gets in."""
    face = serving()
    here = found_for(configs, servers)

    async def work(host: Host) -> int:
        if given["resume"] is not None:
            await host.open_chat(chat_of(host, given["resume"]))
        return await served(face, host, given["port"], opens=not given["no_browser"])

    return talk(here, work, options_of(model=model))
