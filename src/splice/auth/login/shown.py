"""A login that nobody asked for by `auth=`: a server demands one, and the client can show its user a page.

The function that answers questions is asked to show the page, as it is for any question by URL. It returns once the
page is shown; the browser comes back to this machine when the user has logged in there.

https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-mode-elicitation-requests
"""

import inspect
import secrets
from collections.abc import Callable
from typing import Any, TypeAlias

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.callback import check_openable
from splice.auth.login.code import OAuth
from splice.protocol.questions import ElicitParams

Shows: TypeAlias = Callable[[ElicitParams], Any]
"""What `Client(on_elicit=)` takes."""

_REFUSALS = (None, "decline", "cancel")


def shown_by(shows: Shows, server: str) -> OAuth:
    """Make the policy of a client with a user. `server` is its name for people."""

    async def browse(url: str) -> None:
        check_openable(url)
        message = f"{server} wants you to log in. The page sends you back to this program."
        answer: Any = shows(ElicitParams(mode="url", message=message, url=url, elicitation_id=secrets.token_hex(8)))
        if inspect.isawaitable(answer):
            answer = await answer
        if getattr(answer, "action", answer) in _REFUSALS:
            raise AuthorizationFailed(f"The user did not want to log in to {server}")

    return OAuth(browse=browse)
