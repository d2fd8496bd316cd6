"""`splice login`: log in to a server, for all commands that come after."""

import asyncio
import os
from typing import Any

import click

from splice import Client, HTTPServer, MCPError
from splice.auth.errors import AuthorizationFailed
from splice.auth.login.authorizer import authorizer_of
from splice.auth.login.callback import tell
from splice.auth.login.code import OAuth
from splice.auth.login.device import DeviceCode
from splice.auth.login.keeping import FileTokens, MemoryTokens
from splice.auth.login.kept import Grant, Kept
from splice.auth.login.place import Place
from splice.cli.outcomes import FAILED, OK, UNREACHABLE, USAGE, Stop
from splice.cli.reaching import told_of, words_of
from splice.cli.targets import Target, take_target
from splice.errors import ConnectFailed
from splice.host.text import one_line

VARIABLE = "SPLICE_CLIENT_SECRET"
"""The variable of the environment that holds a client secret: others could read it in a command line."""


@click.command(
    epilog="TARGET is a URL, or an entry of a host's configuration (mcp.json#name). With --client-id, the variable "
    f"{VARIABLE} may hold the secret that belongs to it."
)
@words_of("TARGET")
@click.option(
    "--scope", "scopes", multiple=True, metavar="SCOPE", help="Ask for it, and for those of the last login. Repeatable."
)
@click.option("--client-id", metavar="ID", help="What somebody registered for you at the authorization server.")
@click.option("--client-metadata-url", metavar="URL", help="Where a document describes this client.")
@click.option("--redirect-port", type=click.IntRange(0, 65535), default=0, help="Where the browser comes back to.")
@click.option("--device", is_flag=True, help="Log in on another device, with a code.")
@click.option("--no-browser", is_flag=True, help="Open no browser, only say which address to open.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
@click.pass_obj
def command(tail: list[str], /, words: tuple[str, ...], device: bool, no_browser: bool, **options: Any) -> int:
    """Log in to a server with a browser.

    The login is kept in a file that only you can read; every command that connects to this URL uses it, and renews it
    when it ends. `splice logout` forgets it.
    """
    target, place = web_target(words, tail)
    options["scopes"] = [scope for text in options["scopes"] for scope in text.split()]
    given = {name: value for name, value in options.items() if value}
    secret = os.environ.get(VARIABLE)
    if secret and "client_id" in given:
        given["client_secret"] = secret
    if device and (no_browser or given.pop("redirect_port", None)):
        raise Stop(USAGE, "--device needs no browser, so neither --no-browser nor --redirect-port goes with it")
    try:
        policy = DeviceCode(**given) if device else OAuth(**given, browse=_say if no_browser else None)
    except (TypeError, ValueError) as error:
        raise Stop(USAGE, str(error)) from error
    files = FileTokens()
    grant = asyncio.run(_log_in(target, place, policy, files, adds="scopes" in given))
    scopes = f", with the scopes {one_line(' '.join(grant.scopes))}" if grant.scopes else ""
    print(f"Logged in to {target.name}, by {one_line(grant.issuer)}{scopes}.")
    print(f"Kept in {files.file_of(Place(place.url).url)}")
    return OK


def web_target(words: tuple[str, ...], tail: list[str]) -> tuple[Target, HTTPServer]:
    """Find the one target in a command line, which must be behind a URL. Raises `Stop`."""
    target, rest = take_target(words, tail, ())
    if rest:
        raise Stop(USAGE, f"one server at a time, please; what is {rest[0]!r}?")
    if not isinstance(target.place, HTTPServer):
        raise Stop(USAGE, f"{target.name} is a program, which needs no login; name a URL")
    return target, target.place


def _say(url: str) -> None:
    tell(f"To log in, open this address in a browser on this machine:\n  {url}")


async def _log_in(target: Target, place: HTTPServer, policy: OAuth, files: FileTokens, *, adds: bool) -> Grant:
    """Log in anew; what was kept before stays until there is something better. Raises `Stop`.

    With `adds`, scopes come on top of those asked for before: the calls that need those would ask for them in turn.
    """
    server, fresh = Place(place.url).url, MemoryTokens()
    policy.tokens = fresh
    try:
        before = await files.load(server)
        if before is not None:
            await fresh.save(server, Kept(registration=before.registration, asked=before.asked if adds else ()))
        try:
            await _provoke(place, policy)
        finally:
            kept = await fresh.load(server)
            if kept is not None and kept.grant is not None:
                async with files.locked(server):
                    await files.save(server, kept)
    except AuthorizationFailed as error:
        raise Stop(FAILED, f"could not log in to {target.name}: {told_of(target.name, error)}") from error
    except (ConnectFailed, OSError) as error:
        raise Stop(UNREACHABLE, f"could not connect to {target.name}: {told_of(target.name, error)}") from error
    except (MCPError, ValueError) as error:
        raise Stop(FAILED, f"{target.name}: {told_of(target.name, error)}") from error
    if kept is None or kept.grant is None:
        raise Stop(FAILED, f"{target.name} gave no token")
    return kept.grant


async def _provoke(place: HTTPServer, policy: OAuth) -> None:
    """Let the server ask for a login; if it answers without one, log in all the same."""
    async with Client(HTTPServer(place.url, headers=place.headers, auth=policy)):
        pass
    server = Place(place.url).url
    kept = None if policy.tokens is None else await policy.tokens.load(server)
    if kept is None or kept.grant is None:
        authorizer: Any = authorizer_of(policy, place.url)
        try:
            await authorizer.login()
        except AuthorizationFailed as error:
            raise AuthorizationFailed(f"it answers without a login, and offers none ({error})") from error
