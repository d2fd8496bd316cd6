"""`splice auth`: an authorization server of one's own, its users and its clients.

`splice auth serve` runs it; the other commands write to the same file, also while it runs. A password comes from the
terminal, unseen, or from stdin: what stands in a command line can be read by others.
"""

import asyncio
import secrets
import sys
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import click

from splice.auth.issuer.local import LocalAuthorizationServer
from splice.cli.outcomes import FAILED, OK, USAGE, Stop
from splice.host.text import one_line
from splice.rules.http.origins import is_loopback
from splice.stores.base import StoreError
from splice.transports.http.listener import bound, serve_app

T = TypeVar("T")

PLACE = "http://127.0.0.1"
"""Stands for the issuer where a command only writes to the file: what is in there does not depend on it."""

_file = click.option(
    "--file", default="splice-auth.db", show_default=True, metavar="PATH", help="The SQLite file that keeps everything."
)
_debug = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")


@click.group()
@_debug
def command() -> None:
    """Run an authorization server of your own, and say who may sign in.

    It is for development, tests and small installations.
    """


@command.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=9000, show_default=True, type=click.IntRange(0, 65535), help="0: any free one.")
@click.option("--issuer", metavar="URL", help="The https URL by which others know it, behind a reverse proxy.")
@_file
@click.option("--memory", is_flag=True, help="Keep everything in this process only.")
@click.option("--client", "clients", multiple=True, metavar="ID=URI", help="A public client to add. Repeatable.")
@click.option("--scope", "scopes", multiple=True, help="A scope there is; default: any. Repeatable.")
@click.option("--resource", "resources", multiple=True, metavar="URL", help="A server to make tokens for. Repeatable.")
@click.option("--registration/--no-registration", default=None, help="Let clients register; default: on loopback only.")
@click.option("--auto-approve", metavar="USER", help="For tests on this machine: USER allows everything, unasked.")
@_debug
def serve(host: str, port: int, issuer: str | None, file: str, memory: bool, **given: Any) -> int:
    """Run an authorization server until Ctrl-C."""
    if not is_loopback(host) and not (issuer or "").startswith("https://"):
        told = "listening beyond this machine needs --issuer, an https URL at a reverse proxy that leads here"
        raise Stop(USAGE, told)
    clients = _pairs(given.pop("clients"))
    options = {name: value for name, value in given.items() if value not in (None, ())}
    with _bound(host, port) as listening:
        name = f"[{host}]" if ":" in host else host
        url = issuer or f"http://{name}:{listening.getsockname()[1]}"
        server = _opened(url, ":memory:" if memory else file, **options)
        asyncio.run(_serve(server, listening, clients))
    return OK


async def _serve(server: LocalAuthorizationServer, listening: Any, clients: dict[str, list[str]]) -> None:
    for client_id, uris in clients.items():
        await _told(server.add_client(client_id, redirect_uris=uris))
    print(f"Authorization server at {server.issuer}", file=sys.stderr)
    await serve_app(server, listening)


@command.command("add-user")
@click.argument("name")
@click.option("--scope", "scopes", multiple=True, help="What may be granted to them; default: all. Repeatable.")
@_file
@_debug
def add_user(name: str, scopes: tuple[str, ...], file: str) -> int:
    """Add a user, or give them another password.

    The password is asked for, or is the first line of stdin. Who is there already keeps their scopes, unless others are
    named.
    """
    if sys.stdin.isatty():
        password: str = click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True)
    else:
        password = sys.stdin.readline().rstrip("\r\n")
    _with(file, lambda server: server.add_user(name, password, scopes or None), makes=True)
    limit = f", and be granted {', '.join(scopes)} only" if scopes else ""
    print(f"{one_line(name)} may sign in{limit}.")
    return OK


@command.command("remove-user")
@click.argument("name")
@_file
@_debug
def remove_user(name: str, file: str) -> int:
    """Remove a user, who is signed out at once."""
    if not _with(file, lambda server: server.remove_user(name)):
        raise Stop(FAILED, f"there is no user {name!a} in {file}")
    print(f"{one_line(name)} may not sign in any more. Access tokens still live, an hour at most.")
    return OK


@command.command("add-client")
@click.argument("client_id", metavar="ID")
@click.option("--redirect-uri", "uris", multiple=True, metavar="URI", help="Where users come back to. Repeatable.")
@click.option("--secret", "has_secret", is_flag=True, help="Make a secret for it, and print that.")
@click.option(
    "--public-key",
    "key",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Its public key, as PEM, JWK or JWK set, in place of a secret.",
)
@click.option("--scope", "scopes", multiple=True, help="What it may ask for; default: all. Repeatable.")
@click.option("--replace", is_flag=True, help="Put it in the place of the client with this id.")
@_file
@_debug
def add_client(
    client_id: str,
    uris: tuple[str, ...],
    has_secret: bool,
    key: Path | None,
    scopes: tuple[str, ...],
    replace: bool,
    file: str,
) -> int:
    """Add a client: a program that sends users here, or gets tokens for itself by a secret or a key."""
    if has_secret and key is not None:
        raise Stop(USAGE, "a client has a secret or a key: --secret or --public-key, not both")
    secret = secrets.token_urlsafe(32) if has_secret else None

    jwks = None if key is None else key.read_bytes()

    async def add(server: LocalAuthorizationServer) -> None:
        await server.add_client(
            client_id, redirect_uris=uris, secret=secret, jwks=jwks, scopes=scopes or None, replace=replace
        )

    _with(file, add, makes=True)
    print(f"{one_line(client_id)} is known." if secret is None else secret)
    return OK


def _with(file: str, act: Callable[[LocalAuthorizationServer], Awaitable[T]], *, makes: bool = False) -> T:
    """Do something with what is in a file, which is made if `makes` says so. Raises `Stop`."""
    is_new = not Path(file).exists()
    if is_new and not makes:
        raise Stop(FAILED, f"there is no file {file!a}: --file names the one that `splice auth serve` uses")

    async def done() -> T:
        server = _opened(PLACE, file)
        if is_new:
            print(f"Made a new file: {one_line(file)}", file=sys.stderr)
        try:
            return await _told(act(server))
        finally:
            await server.close()

    return asyncio.run(done())


async def _told(doing: Awaitable[T]) -> T:
    try:
        return await doing
    except ValueError as error:
        raise Stop(USAGE, str(error)) from error
    except StoreError as error:
        raise Stop(FAILED, str(error)) from error


def _opened(issuer: str, path: str, **options: Any) -> LocalAuthorizationServer:
    try:
        return LocalAuthorizationServer(issuer, path, **options)
    except (ValueError, TypeError) as error:
        raise Stop(USAGE, str(error)) from error
    except StoreError as error:
        raise Stop(FAILED, str(error)) from error


def _bound(host: str, port: int) -> Any:
    try:
        return bound(host, port)
    except OSError as error:
        raise Stop(FAILED, error.strerror or str(error)) from error


def _pairs(words: Iterable[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in words:
        client_id, equals, uri = word.partition("=")
        if not equals:
            raise Stop(
                USAGE, f"--client takes an id and a redirect URI, such as demo=http://127.0.0.1/back, not {word!a}"
            )
        found.setdefault(client_id, []).append(uri)
    return found
