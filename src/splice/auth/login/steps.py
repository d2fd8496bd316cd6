"""The seam between the rules of OAuth and all input and output.

A flow is a generator. It yields steps; its driver carries each one out, and sends back the outcome:

    HTTP      a request, not following redirects     -> HTTPReply; `ConnectionClosed` is thrown into the flow
    Browse    let the user decide in a browser       -> `Redirect`: the parameters it comes back with
    Show      tell the user to enter a code elsewhere -> None
    Wait      some seconds                           -> None
    Supply    a text that the user's program has     -> the text; see `supplies.supplied`

It returns what it got. So a flow has no clock, no socket and no file, and a table of replies tests it.
"""

from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from pathlib import Path
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

    def __repr__(self) -> str:
        return f"HTTP({self.method!r}, {self.url!r})"  # headers and body hold secrets


class HTTPReply(Struct):
    """What came back. The body is bounded by the driver."""

    status: int
    headers: Mapping[str, str] = {}
    """Names in lower case."""
    body: bytes = b""

    def __repr__(self) -> str:
        return f"HTTPReply({self.status})"  # likewise

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


Redirect: TypeAlias = Sequence[tuple[str, str]]
"""The query of a redirect, as `urllib.parse.parse_qsl` reads it: in its order, with what is there twice."""


class Show(Struct):
    """The user is to enter `code` at `url`, on any device; `complete_url` has the code in it."""

    url: str
    code: str
    complete_url: str | None = None


class Wait(Struct):
    """Nothing is to happen for some seconds."""

    seconds: float


Source: TypeAlias = str | Path | Callable[[], str | Awaitable[str]]
"""Where a secret text comes from: the text, a file that has it, or a function, async or not, that gives it."""


class Supply(Struct):
    """The program of the user is to supply a secret text, such as an assertion that somebody else signed."""

    source: Source
    what: str
    """What it is, in words, for messages."""

    def __repr__(self) -> str:
        return f"Supply({self.what!r})"  # the source may be the secret


Step: TypeAlias = HTTP | Browse | Show | Wait | Supply
Flow: TypeAlias = Generator[Step, Any, T]
