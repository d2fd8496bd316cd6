"""`splice logout`: forget a login."""

import asyncio

import click

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.keeping import FileTokens
from splice.auth.login.place import Place
from splice.cli.login import web_target
from splice.cli.outcomes import FAILED, OK, Stop
from splice.cli.reaching import words_of


@click.command(epilog="TARGET is a URL, or an entry of a host's configuration (mcp.json#name).")
@words_of("TARGET")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
@click.pass_obj
def command(tail: list[str], words: tuple[str, ...]) -> int:
    """Forget the login at a server, on this machine.

    A file that is damaged goes too. The authorization server is not told: what it granted ends there when it ends.
    """
    target, place = web_target(words, tail)
    try:
        known = asyncio.run(forgotten(Place(place.url).url))
    except AuthorizationFailed as error:
        raise Stop(FAILED, str(error)) from error
    print(f"Forgot the login at {target.name}." if known else f"There was no login at {target.name}.")
    return OK


async def forgotten(server: str) -> bool:
    """Forget what is kept for a server, if there is something. Raises `AuthorizationFailed`."""
    files = FileTokens()
    if not files.file_of(server).exists():
        return False
    async with files.locked(server):
        await files.save(server, None)
    return True
