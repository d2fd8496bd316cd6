"""The exchange table: who owes whom an answer, on one channel, in both directions.

Rules for this file: everything mutable about requests in flight stands in the table; each question about them is
asked in one place; `notifications/cancelled` is written and read here and nowhere else. The table moves no bytes and
knows no clock. It keeps an opaque handle per request (an exchange, a future) and hands it out exactly once. From that
follow the rules every transport inherits:

- a request that arrived gets at most one reply, and none after it was cancelled (`finish` says yes once, and only
  to the handle that was entered: a cancelled request cannot answer for a later one with the same id);
- a request we sent gets exactly one outcome (`settle` or `give_up` hands its handle out once);
- progress reaches only a request that still runs. Its id is its token; that values grow is seen to by who hears them.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
"""

from typing import Generic, TypeVar

from splice.errors import InternalError, InvalidParams, InvalidRequest, RPCError
from splice.protocol import lifecycle, notifications
from splice.protocol.jsonrpc import Notification, RequestId

MAX_IN_FLIGHT = 10_000
"""How many requests of one peer may run at once. More are refused, not queued: answers to questions must get in."""

_LISTS = ("prompts/list", "resources/list", "resources/templates/list", "tools/list")
REPEATABLE = frozenset({*_LISTS, "completion/complete", "ping", "prompts/get", "resources/read", "server/discover"})
"""The methods that change nothing, so that it does no harm if a server should see a request twice."""

InHandle = TypeVar("InHandle")
OutHandle = TypeVar("OutHandle")


class ExchangeTable(Generic[InHandle, OutHandle]):
    """The requests in flight on one channel."""

    __slots__ = ("_last_id", "closed", "inbound", "outbound")

    def __init__(self) -> None:
        self.inbound: dict[RequestId, InHandle] = {}
        """The requests that wait for our reply, oldest first. Only the table changes it."""
        self.outbound: dict[RequestId, OutHandle] = {}
        """Our own requests in flight, likewise."""
        self._last_id = 0
        self.closed = False
        """No request may begin any more."""

    # What the peer asked of us.

    def accept(self, id: RequestId, handle: InHandle) -> RPCError | None:
        """Enter a request that arrived; None: it may run. The error is the answer to one that may not."""
        if self.closed:
            return InvalidRequest("Invalid request: the connection is being closed")
        if id in self.inbound:
            return InvalidRequest("Invalid request: a request with this id is still in flight")
        if len(self.inbound) >= MAX_IN_FLIGHT:
            return InternalError(f"{MAX_IN_FLIGHT} requests are in flight already; wait for some of them")
        self.inbound[id] = handle
        return None

    def finish(self, id: RequestId, handle: InHandle) -> bool:
        """Claim the right to reply. True once, and never after a cancellation."""
        if self.inbound.get(id) is not handle:
            return False
        del self.inbound[id]
        return True

    def cancel(self, id: RequestId) -> InHandle | None:
        """Forget a request; the handle is for stopping its work. None: too late, or unknown."""
        return self.inbound.pop(id, None)

    def take_cancelled(self, note: Notification) -> InHandle | None:
        """Forget the request that `notifications/cancelled` names. None: it names none that waits for our reply."""
        try:
            id = notifications.CANCELLED.read_params(note.params).request_id
        except InvalidParams:
            return None
        return None if id is None else self.cancel(id)

    def is_open(self, id: RequestId, handle: InHandle) -> bool:
        """Tell whether a request that arrived still waits for its reply."""
        return self.inbound.get(id) is handle

    # What we asked of the peer.

    def next_id(self) -> int:
        """Make an id that no request of ours had before."""
        self._last_id += 1
        return self._last_id

    def issue(self, id: RequestId, handle: OutHandle) -> bool:
        """Enter a request about to be sent. False when its id is in flight already, or the table is closed."""
        if self.closed or id in self.outbound:
            return False
        self.outbound[id] = handle
        return True

    def settle(self, id: RequestId) -> OutHandle | None:
        """Take the handle of a request that has its outcome. None: late, repeated or unknown, and to be ignored."""
        return self.outbound.pop(id, None)

    def take_progress(self, note: Notification) -> OutHandle | None:
        """Find whom `notifications/progress` concerns. None when it is malformed, or concerns none that runs."""
        try:
            return self.outbound.get(notifications.PROGRESS.read_params(note.params).progress_token)
        except InvalidParams:
            return None

    # The end.

    def give_up(self) -> list[OutHandle]:
        """Begin nothing more and wait for no answer: the peer is not heard any more. It may still get replies.

        Hands out, for the last time, our own requests in flight.
        """
        self.closed = True
        outbound, self.outbound = list(self.outbound.values()), {}
        return outbound

    def close(self) -> tuple[list[InHandle], list[OutHandle]]:
        """End everything. Hands out, for the last time, what is still in flight: inbound, outbound."""
        outbound = self.give_up()
        inbound, self.inbound = list(self.inbound.values()), {}
        return inbound, outbound


def cancellation(id: RequestId, method: str, reason: str) -> Notification | None:
    """Write the notification that nobody waits for a request any more. None: `initialize` may not be cancelled."""
    if method == lifecycle.INITIALIZE.name:
        return None
    return Notification(notifications.CANCELLED.name, notifications.CancelledParams(request_id=id, reason=reason))
