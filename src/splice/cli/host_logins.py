"""`splice host mcp login` and `logout`: a server by its name. Logins are kept where `splice login` keeps them."""

import asyncio
from functools import partial

import click

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.callback import tell
from splice.auth.login.place import Place
from splice.cli.host_adding import debug_option
from splice.cli.host_failing import Refused
from splice.cli.host_files import config_option, known
from splice.cli.host_starting import Started
from splice.cli.logout import forgotten
from splice.cli.outcomes import FAILED, OK, USAGE
from splice.host.config.entries import Entry
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.variables import filled
from splice.host.connecting.hooks import Unavailable


@click.command()
@click.argument("name")
@config_option
@click.option("--no-browser", is_flag=True, help="Open no browser, only say which address to open.")
@debug_option
def login(name: str, configs: tuple[str, ...], no_browser: bool) -> int:
    """Log in to a server with a browser. `splice login URL` has more ways, such as a code for another device."""
    here = known(configs)
    entry = here.entry(name)
    _check_url(entry)
    asyncio.run(_logged_in(Started(here), entry, no_browser=no_browser))
    print(f"Logged in to {entry.name}.")
    return OK


@click.command()
@click.argument("name")
@config_option
@debug_option
def logout(name: str, configs: tuple[str, ...]) -> int:
    """Forget the login at a server, on this machine."""
    entry = known(configs).entry(name)
    _check_url(entry)
    try:
        was_there = asyncio.run(forgotten(Place(filled(entry, {}).url).url))
    except (AuthorizationFailed, BadConfiguration) as error:
        raise Refused(FAILED, f"{entry.name}: {error}") from error
    print(f"Forgot the login at {entry.name}." if was_there else f"There was no login at {entry.name}.")
    return OK


def _check_url(entry: Entry) -> None:
    if entry.problem:
        raise Refused(USAGE, f"{entry.name} cannot be used: {entry.problem}")
    if not entry.url:
        raise Refused(USAGE, f"{entry.name} is a program, which needs no login")


async def _logged_in(started: Started, entry: Entry, *, no_browser: bool) -> None:
    """Log in, and see that the server answers. Raises `Refused`."""
    connection = started.add(entry)
    try:
        await connection.log_in(partial(_say, entry.name) if no_browser else None)
    except Unavailable as error:
        if connection.state == "login":
            raise Refused(FAILED, str(error)) from error
        raise started.refused(entry, error) from error
    finally:
        await started.connections.close()


def _say(name: str, url: str) -> None:
    tell(f"To log in to {name}, open this address in a browser on this machine:\n  {url}")
