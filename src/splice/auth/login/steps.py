"""The seam between the rules of OAuth and all input and output.

A flow is a generator. It yields steps; its driver carries each one out, and sends back the outcome:

    HTTP      a request, not following redirects     -> HTTPReply; `ConnectionClosed` is thrown into the flow
    Browse    let the user decide in a browser       -> the parameters of the redirect that comes back
    Show      tell the user to enter a code elsewhere -> None
    Wait      some seconds                           -> None

It returns what it got. So a flow has no clock, no socket and no file, and a table of replies tests it.
"""

from collections.abc import Generator, Mapping
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import Struct

T = TypeVar("T")


class HTTP(Struct, kw_only=True):
    """One HTTP request to a URL that a peer may have chosen: the driver checks where it leads."""

    method: str = "GET"
    url: str
    headers: Mapping[str, str] = {}
    body: bytes = b""


class HTTPReply(Struct):
    """What came back. The body is bounded by the driver."""

    status: int
    headers: Mapping[str, str] = {}
    """Names in lower case."""
    body: bytes = b""

    def members(self) -> dict[str, Any]:
        """Read the body as a JSON object; empty if it is anything else."""
        try:
            return msgspec.json.decode(self.body, type=dict[str, Any])
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            return {}


class Browse(Struct):
    """The user is to open a URL, and comes back to `redirect_uri` with these parameters in its query."""

    url: str
    redirect_uri: str


class Show(Struct):
    """The user is to enter `code` at `url`, on any device; `complete_url` has the code in it."""

    url: str
    code: str
    complete_url: str | None = None


class Wait(Struct):
    """Nothing is to happen for some seconds."""

    seconds: float


Step: TypeAlias = HTTP | Browse | Show | Wait
Flow: TypeAlias = Generator[Step, Any, T]
