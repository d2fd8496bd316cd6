"""A stdio-like way to a server without a process: two duplexes in this one, joined by nothing but bytes."""

import asyncio
from collections.abc import Mapping
from typing import ClassVar

from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import Notification, Request, Response
from splice.protocol.versions import FACTS
from splice.rules.eras import Session
from splice.transports.base import Answer, Heard, Link, Sender, Service, TransportKind, no_notice, no_request
from splice.transports.duplex import Duplex, DuplexExchange


class JoinedLink:
    """The client's end, which holds the server's end too."""

    def __init__(self, service: Service) -> None:
        self.on_request: Answer = no_request
        self.on_notice: Heard = no_notice
        self._service = service
        self._loop = asyncio.get_running_loop()
        self._session = Session()
        sender = Sender(kind="stdio", session=self._session)

        async def answer(exchange: DuplexExchange) -> Response:
            return await self.on_request(exchange.request)

        async def notice(note: Notification) -> None:
            await self.on_notice(note)

        async def hear(note: Notification) -> None:
            await service.hear(note, sender)

        def batches() -> bool:
            return self._session.version is not None and FACTS[self._session.version].batches

        self.near = Duplex(self._up, answer, notice, sender=Sender(kind="stdio"))
        self.far = Duplex(self._down, service.handle, hear, sender=sender, batches=batches)
        self._session.push = self.far.push

    def _up(self, data: bytes) -> None:
        self._cut(self.far, data)

    def _down(self, data: bytes) -> None:
        self._cut(self.near, data)

    def _cut(self, to: Duplex, data: bytes) -> None:
        """Deliver bytes in two pieces, as a pipe might."""
        middle = len(data) // 2
        self._loop.call_soon(to.feed, data[:middle])
        self._loop.call_soon(to.feed, data[middle:])

    async def open(self) -> None:
        await self._service.open(self._session)

    async def exchange(self, request: Request, heard: Heard, headers: Mapping[str, str]) -> Response:  # noqa: ARG002 - there are none
        return await self.near.request(request, heard)

    async def notify(self, note: Notification) -> None:
        await self.near.notify(note)

    async def close(self) -> None:
        await self.near.lost(ConnectionClosed("The connection was closed"))
        await self.far.lost(ConnectionClosed("The client left"))
        await self._service.close(self._session)


class Joined:
    """The way there, for a client."""

    kind: ClassVar[TransportKind] = "stdio"

    def __init__(self, service: Service) -> None:
        self.service = service

    @property
    def name(self) -> str:
        return "joined"

    async def connect(self) -> Link:
        link = JoinedLink(self.service)
        await link.open()
        return link
