"""The exchange table: who owes whom an answer, on one channel, in both directions.

Everything mutable about requests in flight stands here, and each question is asked in one place. The table moves
no bytes and knows no clock; it keeps an opaque handle per request (a task, a future) and gives it back exactly
once. From that follow the rules every transport inherits:

- a request that arrived gets at most one reply, and none after it was cancelled (`finish` says yes once, and only
  to the handle that was entered: a cancelled request cannot answer for a later one with the same id);
- a request we sent gets exactly one outcome (`settle` or `abandon` or `close` hands its handle out once);
- progress only reaches a request that is still running, and only grows.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
"""

from typing import Generic, TypeVar

from splice.protocol.jsonrpc import RequestId

InHandle = TypeVar("InHandle")
OutHandle = TypeVar("OutHandle")


class ExchangeTable(Generic[InHandle, OutHandle]):
    """The requests in flight on one channel."""

    def __init__(self) -> None:
        self._inbound: dict[RequestId, InHandle] = {}
        self._outbound: dict[RequestId, OutHandle] = {}
        self._progress: dict[RequestId, float] = {}
        self._last_id = 0
        self.closed = False
        """No request may begin any more."""

    # What the peer asked of us.

    def accept(self, id: RequestId, handle: InHandle) -> bool:
        """Enter a request that arrived. False when its id is in flight already, or the table is closed."""
        if self.closed or id in self._inbound:
            return False
        self._inbound[id] = handle
        return True

    def finish(self, id: RequestId, handle: InHandle) -> bool:
        """Claim the right to reply. True once, and never after a cancellation."""
        if self._inbound.get(id) is not handle:
            return False
        del self._inbound[id]
        return True

    def cancel(self, id: RequestId) -> InHandle | None:
        """Forget a request that the peer cancelled; the handle is for stopping its work. None: too late, or unknown."""
        return self._inbound.pop(id, None)

    def is_open(self, id: RequestId, handle: InHandle) -> bool:
        """Tell whether a request that arrived still waits for its reply."""
        return self._inbound.get(id) is handle

    @property
    def owed(self) -> int:
        """How many requests wait for our reply."""
        return len(self._inbound)

    # What we asked of the peer.

    def next_id(self) -> int:
        """Make an id that no request of ours had before."""
        self._last_id += 1
        return self._last_id

    def issue(self, id: RequestId, handle: OutHandle) -> bool:
        """Enter a request about to be sent. False when its id is in flight already, or the table is closed."""
        if self.closed or id in self._outbound:
            return False
        self._outbound[id] = handle
        return True

    def settle(self, id: RequestId) -> OutHandle | None:
        """Take the handle that a response belongs to. None: late, repeated or unknown, and to be ignored."""
        self._progress.pop(id, None)
        return self._outbound.pop(id, None)

    def abandon(self, id: RequestId) -> bool:
        """Stop waiting for an answer. True when there was something to cancel."""
        return self.settle(id) is not None

    def progress(self, token: RequestId, value: float) -> OutHandle | None:
        """Take the handle that a progress report belongs to. None when it is stale, unknown or does not grow."""
        handle = self._outbound.get(token)
        if handle is None or not value > self._progress.get(token, float("-inf")):  # NaN does not grow
            return None
        self._progress[token] = value
        return handle

    # Both.

    @property
    def inbound(self) -> list[tuple[RequestId, InHandle]]:
        """The requests that wait for our reply, with their handles."""
        return list(self._inbound.items())

    @property
    def idle(self) -> bool:
        """Nothing is in flight in either direction."""
        return not self._inbound and not self._outbound

    @property
    def waits_for_one(self) -> bool:
        """Of our own requests, a single one is in flight."""
        return len(self._outbound) == 1

    def give_up(self) -> list[OutHandle]:
        """Begin nothing more and wait for no answer: the peer is not heard any more. It may still get replies."""
        self.closed = True
        outbound = list(self._outbound.values())
        self._outbound.clear()
        self._progress.clear()
        return outbound

    def close(self) -> tuple[list[InHandle], list[OutHandle]]:
        """End everything. Hands out, for the last time, what is still in flight: inbound, outbound."""
        outbound = self.give_up()
        inbound = list(self._inbound.values())
        self._inbound.clear()
        return inbound, outbound
