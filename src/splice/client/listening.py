"""One open `subscriptions/listen` request, restored when its stream breaks. Modern only.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

import asyncio
import logging

from msgspec import UnsetType

from splice.client.calls import Calls
from splice.client.failures import error_of
from splice.client.notices import read
from splice.errors import ConnectionClosed, MCPError, RPCError
from splice.protocol.jsonrpc import Failure, Notification
from splice.protocol.lifecycle import META_SUBSCRIPTION_ID
from splice.protocol.methods import ACKNOWLEDGED, SUBSCRIPTIONS_LISTEN
from splice.protocol.notifications import ListenParams, SubscriptionFilter
from splice.transports.base import Heard

ACKNOWLEDGE_SECONDS = 10.0
"""How long to wait for the server's word that it listens."""

RECONNECT_SECONDS = (0.5, 1.0, 2.0, 5.0, 10.0, 30.0)
"""How long to wait before each attempt to restore a stream; the last one counts for all further attempts."""

log = logging.getLogger("splice.client")


class Listening:
    """A stream of changes. It begins at once, in a task of its own."""

    def __init__(self, calls: Calls, wanted: SubscriptionFilter, heard: Heard, *, reconnects: bool) -> None:
        self._calls = calls
        self._wanted = wanted
        self._heard = heard
        self._reconnects = reconnects
        self._id = 0
        self._failures = 0
        loop = asyncio.get_running_loop()
        self._first_word: asyncio.Future[SubscriptionFilter | None] = loop.create_future()
        self._task = loop.create_task(self._run())

    async def begun(self) -> SubscriptionFilter | None:
        """Wait until the server listens, and return what it honours; None if it does not say.

        Raises `RPCError` when it refuses, and `ConnectionClosed`.
        """
        try:
            async with asyncio.timeout(ACKNOWLEDGE_SECONDS):
                return await self._first_word
        except TimeoutError:
            return None

    def acknowledge(self, note: Notification) -> None:
        """Take an acknowledgment, if it is for this stream."""
        params = read(ACKNOWLEDGED, note)
        if params is None or isinstance(params.meta, UnsetType) or params.meta.get(META_SUBSCRIPTION_ID) != self._id:
            return
        self._failures = 0
        if not self._first_word.done():
            self._first_word.set_result(params.notifications)

    async def stop(self) -> None:
        """End it."""
        self._refuse(ConnectionClosed("Nobody listens any more"))
        self._task.cancel()
        await asyncio.wait((self._task,))

    async def _run(self) -> None:
        while True:
            error = await self._listen()
            if self._refuse(error) or not self._reconnects or isinstance(error, RPCError):
                log.info("hearing of changes has ended: %s", error)
                return
            await asyncio.sleep(RECONNECT_SECONDS[min(self._failures, len(RECONNECT_SECONDS) - 1)])
            self._failures += 1

    async def _listen(self) -> MCPError:
        """Listen until the stream ends, and tell why it did."""
        self._id = self._calls.next_id()
        params = ListenParams(notifications=self._wanted)
        try:
            response = await self._calls.exchange(self._id, SUBSCRIPTIONS_LISTEN, params, self._heard)
        except MCPError as error:
            return error
        if isinstance(response, Failure):
            return error_of(response)
        return ConnectionClosed("The server has ended the stream of changes")

    def _refuse(self, error: MCPError) -> bool:
        """Fail who waits for the beginning, if anybody still does."""
        if self._first_word.done():
            return False
        self._first_word.set_exception(error)
        self._first_word.exception()  # nobody may be there to see it
        return True
