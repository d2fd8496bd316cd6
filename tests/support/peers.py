"""The far end of a channel, by hand: `say` sends it messages, `heard` is what came back."""

import asyncio
import json
from collections.abc import Awaitable, Callable

from splice.protocol.jsonrpc import Message, Notification, Response, Success, decode
from splice.transports.base import Sender
from splice.transports.channel import Channel, ChannelExchange, written
from splice.transports.lines import LineChannel
from support.waiting import settle
from support.wire import JSON, line, lines


class Far:
    """What both kinds share: how requests are answered. ``echo`` at once, everything else when the test says."""

    channel: Channel

    def __init__(self, serve: Callable[[ChannelExchange], Awaitable[Response]] | None = None) -> None:
        self.serve = serve
        self.noted: list[Notification] = []
        self.work: dict[JSON, asyncio.Future[JSON]] = {}
        self.cancelled: list[JSON] = []
        self.exchanges: dict[JSON, ChannelExchange] = {}

    async def hear(self, note: Notification) -> None:
        self.noted.append(note)

    async def answer(self, exchange: ChannelExchange) -> Response:
        request = exchange.request
        self.exchanges[request.id] = exchange
        if self.serve is not None:
            return await self.serve(exchange)
        if request.method == "echo":
            return Success(request.id, request.params)
        self.work[request.id] = asyncio.get_running_loop().create_future()
        try:
            return Success(request.id, await self.work[request.id])
        except asyncio.CancelledError:
            self.cancelled.append(request.id)
            raise


class Peer(Far):
    """The far end of a channel of messages."""

    def __init__(self, serve: Callable[[ChannelExchange], Awaitable[Response]] | None = None) -> None:
        super().__init__(serve)
        self.heard: list[JSON] = []
        self.channel = Channel(self._send, self.answer, self.hear, Sender(kind="test"))

    def _send(self, message: Message) -> None:
        self.heard.append(json.loads(written(message)))

    async def say(self, *messages: JSON) -> None:
        for message in messages:
            self.channel.take(decode(json.dumps(message).encode()))
        await settle()


class LinePeer(Far):
    """The far end of a channel of lines."""

    channel: LineChannel

    def __init__(self, serve: Callable[[ChannelExchange], Awaitable[Response]] | None = None) -> None:
        super().__init__(serve)
        self.writes: list[bytes] = []
        self.channel = LineChannel(self.writes.append, self.answer, self.hear, Sender(kind="test"))

    @property
    def heard(self) -> list[JSON]:
        return lines(b"".join(self.writes))

    def flat(self) -> list[JSON]:
        """Return what came back, each message of a batch by itself."""
        return [each for item in self.heard for each in (item if isinstance(item, list) else [item])]

    async def say(self, *messages: JSON) -> None:
        self.channel.feed(line(*messages))
        await settle()
