"""From an entry to a client: where it connects to, and what it declares to the server.

Capabilities follow from what the entry allows: a server that may not ask is not told that it could.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from shlex import quote
from typing import Literal
from urllib.parse import urlsplit

from splice import ConnectionClosed, HTTPRefused, HTTPServer, StdioServer
from splice.auth import AuthorizationFailed, FileTokens, OAuthOptions
from splice.client.questions import AnswerOptions, Can
from splice.host.asking.elicitation import secrets_given
from splice.host.config.entries import Entry
from splice.host.config.variables import MIN_SECRET
from splice.host.connecting.hooks import Hooks
from splice.host.connecting.logins import KeptLogin
from splice.host.places import at_home
from splice.types import ElicitParams, ElicitResult, Root


def place_of(
    entry: Entry, on_stderr: Callable[[bytes], None], on_login: Callable[[], None]
) -> StdioServer | HTTPServer:
    """Make the place that an entry with its variables expanded describes.

    A program sees a little of our environment, and what the entry gives it. A URL gets what `splice login` kept,
    unless the entry has credentials of its own. Raises `TypeError` and `ValueError`.
    """
    if not entry.url:
        program = StdioServer(entry.command, *entry.args, env=entry.env, cwd=entry.works_in, on_stderr=on_stderr)
        program.name = entry.name
        return program
    auth = None if has_credentials(entry) else KeptLogin(command_for(entry), on_login)
    place = HTTPServer(entry.url, headers=entry.headers, auth=auth)
    place.name = entry.name
    return place


def has_credentials(entry: Entry) -> bool:
    """Tell whether an entry brings credentials of its own."""
    return "authorization" in map(str.lower, entry.headers) or "@" in urlsplit(entry.url).netloc


def refusal_of(
    entry: Entry, error: Exception, *, has_worked: bool
) -> tuple[Literal["login", "crashed", "failed"], str]:
    """Tell what an error that came of opening a client means; the word is empty where the error says it best.

    A server that has worked before may work again as it is configured, so it is no more than crashed.
    """
    refused = isinstance(error, HTTPRefused) and error.status == 401
    if refused and not has_credentials(entry):
        return "login", f"it wants a login: log in here, or with `{command_for(entry)}`"
    if refused:
        return "failed", "it refused the credentials of its entry (HTTP 401): look at its headers, or its URL"
    if isinstance(error, AuthorizationFailed):
        return "login", ""
    return ("crashed" if has_worked and isinstance(error, ConnectionClosed) else "failed"), ""


def command_for(entry: Entry) -> str:
    """Return what the user may type to log in to a server of the host."""
    return f"splice host mcp login {quote(entry.name)}"


def questions_of(entry: Entry, hooks: Hooks, hide: Callable[[list[str]], None]) -> AnswerOptions:
    """Make the options of a client that let its server ask; `hide` is told of secrets before they are sent."""

    async def elicit(params: ElicitParams) -> ElicitResult:
        result = await hooks.elicit(entry.name, params)
        hide([each for each in secrets_given(params, result) if len(each) >= MIN_SECRET])
        return result

    own = entry.options.roots
    options = AnswerOptions(roots=partial(hooks.roots, entry.name) if own is None else partial(_roots, entry))
    can: list[Can] = []
    if entry.options.elicitation != "off":
        options["on_elicit"] = elicit
        if entry.options.elicitation == "url":
            can.append("elicitation.url")
    if entry.options.sampling is not False:
        options["on_sample"] = partial(hooks.sample, entry.name)
        can.extend(("sampling.tools", "sampling.context"))
    options["can"] = can
    return options


def login_of(entry: Entry, browse: Callable[[str], object] | None) -> OAuthOptions:
    """Make the options of a login with a browser, which is kept where `splice login` keeps it."""
    facts, options = entry.login, OAuthOptions(tokens=FileTokens(), browse=browse)
    if facts.client_id:
        options["client_id"] = facts.client_id
    if facts.client_secret:
        options["client_secret"] = facts.client_secret
    if facts.scopes:
        options["scopes"] = list(facts.scopes)
    if facts.port:
        options["redirect_port"] = facts.port
    return options


def _roots(entry: Entry) -> list[Root]:
    """List the folders that an entry names; relative ones are its folder's."""
    base = entry.folder or Path.cwd()
    return [Root(uri=(base / at_home(each)).resolve().as_uri()) for each in entry.options.roots or ()]
