"""What a client and a server say to each other, watched from the link between them.

`Watch` stands in for a target, and passes everything on: only requests are noted, with what came of them.
"""

from time import perf_counter
from typing import Any, cast

from msgspec import Struct

from splice import HTTPServer, Link, MCPError, Outgoing, Receiver, RequestTimeout, StdioServer
from splice.rules.negotiation import classify
from splice.types import Failure, Response

DISCOVER, INITIALIZE = "server/discover", "initialize"


class Asked(Struct):
    """A request, and what came of it."""

    method: str
    outcome: Response | MCPError | None = None
    """None: nothing came until it was given up."""


class Watch:
    """Stands in for a target."""

    def __init__(self, place: HTTPServer | StdioServer) -> None:
        self._place = place
        self.kind, self.name = place.kind, place.name
        self.asked: list[Asked] = []
        """All requests, in the order in which they were sent."""
        self.starts: list[float] = []
        """How many seconds it took to start the program, each time."""
        self.link: Link | None = None
        """The one connected last."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._place, name)

    async def connect(self, receiver: Receiver) -> Link:
        """Make a link that is watched. Raises as the target does."""
        began = perf_counter()
        link = await self._place.connect(receiver)
        self.starts.append(perf_counter() - began)
        self.link = cast("Link", _WatchedLink(link, self.asked))
        return self.link

    def of(self, method: str) -> list[Asked]:
        """Return the requests of one method."""
        return [each for each in self.asked if each.method == method]

    def refused(self, method: str) -> int | None:
        """Return the code of the error that the last request of a method was answered with."""
        outcomes = [each.outcome for each in self.of(method)]
        last = outcomes[-1] if outcomes else None
        return last.error.code if isinstance(last, Failure) else None

    def era(self) -> str:
        """Say how the conversation was opened, and why so."""
        if not self.of(INITIALIZE):
            return "modern: it answered server/discover"
        if not self.of(DISCOVER):
            return "legacy: opened by initialize, without asking"
        outcome = self.of(DISCOVER)[-1].outcome
        verdict: Any = classify(cast("Any", outcome or RequestTimeout("")))
        return f"legacy: opened by initialize, since to server/discover {getattr(verdict, 'why', 'it gave no answer')}"


class _WatchedLink:
    """Stands in for a link."""

    def __init__(self, link: Link, asked: list[Asked]) -> None:
        self._link = link
        self._asked = asked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._link, name)

    async def exchange(self, outgoing: Outgoing) -> Response:
        """Note a request, and what comes of it. Raises as the link does."""
        asked = Asked(outgoing.method)
        self._asked.append(asked)
        try:
            asked.outcome = await self._link.exchange(outgoing)
        except MCPError as error:
            asked.outcome = error
            raise
        return asked.outcome
