"""The seams of a transport: what a subclass leaves out has a default."""

import pytest

from splice import Exchange, Link, LocalProtocolError, Sender, Service
from splice.protocol.jsonrpc import Notification, Request, Response, Success


async def test_an_exchange_drops_notifications_and_cannot_ask() -> None:
    exchange = Exchange(Request(1, "greet"), Sender(kind="fake"))
    await exchange.notify(Notification("dropped"))
    with pytest.raises(LocalProtocolError, match="who cannot be sent"):
        await exchange.ask("who", None)


async def test_a_service_hears_nothing_and_has_nothing_to_end() -> None:
    class Least(Service):
        async def handle(self, exchange: Exchange) -> Response:
            return Success(exchange.request.id, {})

    service = Least()
    await service.hear(Notification("n"), Sender(kind="fake"))
    await service.drain()
    await service.close()


async def test_a_link_agrees_to_every_version_and_has_nothing_to_listen_to() -> None:
    link = Link()
    link.agree(None)
    await link.listen()
