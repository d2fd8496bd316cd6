"""A stdio-like way to a server without a process: two channels in this one, joined by nothing but bytes."""

import asyncio
from collections.abc import Coroutine
from functools import partial
from typing import Any

from splice import Server
from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import Notification, Response
from splice.protocol.versions import Facts
from splice.rules.sessions import Session
from splice.transports.base import Link, Outgoing, Receiver, Sender, Service
from splice.transports.channel import ChannelExchange
from splice.transports.lines import LineChannel


class JoinedLink(Link):
    """The client's end, which holds the server's end too."""

    def __init__(self, service: Service, receiver: Receiver) -> None:
        def answer(exchange: ChannelExchange) -> Coroutine[Any, Any, Response]:
            return receiver.answer(exchange.request)

        self.session = Session()
        sender = Sender(kind="stdio", session=self.session)
        self.near = LineChannel(self._up, answer, receiver.hear, Sender(kind="stdio"))
        self.far = LineChannel(self._down, service.handle, partial(service.hear, sender=sender), sender)
        self.far.batches = lambda: self.session.batches
        self.session.push = self.far.send

    def _up(self, data: bytes) -> None:
        _cut(self.far, data)

    def _down(self, data: bytes) -> None:
        _cut(self.near, data)

    def agree(self, facts: Facts | None) -> None:
        self.near.batches = lambda: facts is not None and facts.batches

    async def exchange(self, outgoing: Outgoing) -> Response:
        return await self.near.request(outgoing)

    async def notify(self, note: Notification) -> None:
        await self.near.notify(note)

    async def close(self) -> None:
        await self.near.lost(ConnectionClosed("The connection was closed"))
        await self.far.lost(ConnectionClosed("The client left"))
        self.session.end()


def _cut(to: LineChannel, data: bytes) -> None:
    """Deliver bytes in two pieces, as a pipe might."""
    middle = len(data) // 2
    asyncio.get_running_loop().call_soon(to.feed, data[:middle])
    asyncio.get_running_loop().call_soon(to.feed, data[middle:])


class Joined:
    """The way to a server, for a client."""

    kind = "stdio"
    name = "joined"

    def __init__(self, server: Server) -> None:
        self.server = server

    async def connect(self, receiver: Receiver) -> Link:
        return JoinedLink(self.server.service, receiver)
