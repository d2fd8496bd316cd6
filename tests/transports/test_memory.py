"""Client and server in one process: a call is a call, but what is said is said in JSON."""

import asyncio
import json
from typing import Any

import pytest

from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import Failure, Notification, Request, Response, Success
from splice.protocol.questions import ListRootsResult, Root
from splice.protocol.wire import PageParams
from splice.rules.sessions import Session
from splice.transports.base import Exchange, Link
from splice.transports.memory import MemoryLink
from support.receivers import Taking, outgoing
from support.services import Scripted, never
from support.waiting import settle


def said(response: Response) -> Any:
    assert isinstance(response, Success)
    return json.loads(bytes(response.result))


async def test_a_request_is_answered_in_json() -> None:
    link = MemoryLink(Scripted(), Taking())
    assert said(await link.exchange(outgoing(1, "echo", PageParams(cursor="c")))) == {"cursor": "c"}
    assert said(await link.exchange(outgoing(1, "echo", {"a": (1, 2)}))) == {"a": [1, 2]}
    await link.close()


async def test_the_sender_is_the_same_all_the_time() -> None:
    senders: list[Any] = []

    async def answer(exchange: Exchange) -> Response:
        senders.append(exchange.sender)
        return Success(exchange.request.id, {})

    link = MemoryLink(Scripted(answer), Taking())
    for _ in range(2):
        await link.exchange(outgoing(1, "echo"))
    assert senders[0].kind == "memory"
    assert senders[0].session is senders[1].session
    await link.close()


async def test_notifications_come_in_order_and_before_the_response() -> None:
    heard: list[Any] = []

    async def hear(note: Notification) -> None:
        await settle(3)
        heard.append(json.loads(bytes(note.params)) if note.method == "n" else note.method)

    async def answer(exchange: Exchange) -> Response:
        for number in range(3):
            await exchange.notify(Notification("n", {"number": number}))
        await exchange.notify(Notification("bare"))
        return Success(exchange.request.id, {})

    link = MemoryLink(Scripted(answer), Taking())
    await link.exchange(outgoing(1, "work", hear=hear))
    assert heard == [{"number": 0}, {"number": 1}, {"number": 2}, "bare"]
    await link.close()


async def test_nothing_is_heard_after_the_response() -> None:
    kept: list[Exchange] = []
    heard: list[Notification] = []

    async def hear(note: Notification) -> None:
        heard.append(note)

    async def answer(exchange: Exchange) -> Response:
        kept.append(exchange)
        return Success(exchange.request.id, {})

    link = MemoryLink(Scripted(answer), Taking())
    await link.exchange(outgoing(1, "work", hear=hear))
    await kept[0].notify(Notification("late"))
    assert heard == []
    await link.close()


async def test_the_server_asks_under_ids_of_its_own() -> None:
    asked: list[Request] = []

    async def roots(request: Request) -> Response:
        asked.append(request)
        return Success(request.id, ListRootsResult(roots=[Root(uri="file:///a")]))

    async def answer(exchange: Exchange) -> Response:
        first = await exchange.ask("roots/list", PageParams())
        await exchange.ask("roots/list", None)
        return Success(exchange.request.id, first.result if isinstance(first, Success) else None)

    link = MemoryLink(Scripted(answer), Taking(roots))
    assert said(await link.exchange(outgoing(1, "work"))) == {"roots": [{"uri": "file:///a"}]}
    assert [request.id for request in asked] == [1, 2]
    await link.close()


async def test_a_client_that_does_not_listen_refuses_every_question() -> None:
    async def answer(exchange: Exchange) -> Response:
        refused = await exchange.ask("roots/list", None)
        assert isinstance(refused, Failure)
        return Success(exchange.request.id, refused.error.code)

    link = MemoryLink(Scripted(answer), Taking())
    assert said(await link.exchange(outgoing(1, "work"))) == -32601
    await link.close()


async def test_cancelling_the_caller_cancels_the_handler() -> None:
    ended: list[str] = []

    async def answer(exchange: Exchange) -> Response:
        try:
            return await never(exchange)
        finally:
            ended.append("cancelled")

    link = MemoryLink(Scripted(answer), Taking())
    calling = asyncio.create_task(link.exchange(outgoing(1, "work")))
    await settle()
    calling.cancel()
    await settle()
    assert calling.cancelled()
    assert ended == ["cancelled"]
    await link.close()


@pytest.mark.parametrize("result", [object, "\ud800"], ids=repr)
async def test_a_result_that_is_not_json_becomes_an_error(result: Any) -> None:
    async def answer(exchange: Exchange) -> Response:
        return Success(exchange.request.id, result)

    link = MemoryLink(Scripted(answer), Taking())
    response = await link.exchange(outgoing(1, "work"))
    assert isinstance(response, Failure)
    assert response.error.code == -32603
    await link.close()


async def test_a_failure_passes() -> None:
    async def answer(exchange: Exchange) -> Response:
        refused = await exchange.ask("x", None)
        assert isinstance(refused, Failure)
        return refused

    link = MemoryLink(Scripted(answer), Taking())
    assert isinstance(await link.exchange(outgoing(1, "work")), Failure)
    await link.close()


async def test_the_server_hears_notifications_but_cancellations() -> None:
    service = Scripted()
    link = MemoryLink(service, Taking())
    await link.notify(Notification("notifications/initialized"))
    await link.notify(Notification("notifications/cancelled", {"requestId": 1}))
    assert [note.method for note, _ in service.noted] == ["notifications/initialized"]
    await link.close()


async def test_what_the_server_pushes_is_noticed_until_the_end() -> None:
    receiver, ended = Taking(), list[str]()

    async def answer(exchange: Exchange) -> Response:
        session = exchange.sender.session
        assert session is not None
        session.ended = lambda _: ended.append("ended")
        session.push(Notification("one"))
        kept.append(session)
        return Success(exchange.request.id, {})

    kept: list[Session] = []
    link = MemoryLink(Scripted(answer), receiver)
    await link.exchange(outgoing(1, "work"))
    await settle()
    await link.close()
    kept[0].push(Notification("two"))
    await settle()
    assert [note.method for note in receiver.heard] == ["one"]
    assert ended == ["ended"]


async def test_a_closed_link_carries_nothing() -> None:
    service = Scripted()
    link = MemoryLink(service, Taking())
    await link.close()
    await link.close()
    with pytest.raises(ConnectionClosed):
        await link.exchange(outgoing(1, "echo"))
    with pytest.raises(ConnectionClosed):
        await link.notify(Notification("n"))
    assert service.told == []


async def test_closing_fails_what_is_pending_and_stops_its_work() -> None:
    ended: list[str] = []

    async def answer(exchange: Exchange) -> Response:
        try:
            return await never(exchange)
        finally:
            await settle(3)
            ended.append("cancelled")

    link = MemoryLink(Scripted(answer), Taking())
    calling = [asyncio.create_task(link.exchange(outgoing(id, "work"))) for id in (1, 2)]
    await settle()
    await link.close()
    for call in calling:
        with pytest.raises(ConnectionClosed):
            await call
    assert ended == ["cancelled", "cancelled"]


async def test_a_caller_cancelled_while_the_link_closes_is_cancelled() -> None:
    link = MemoryLink(Scripted(never), Taking())
    calling = asyncio.create_task(link.exchange(outgoing(1, "work")))
    await settle()
    calling.cancel()
    await link.close()
    await settle()
    assert calling.cancelled()


async def test_a_handler_may_close_the_link_it_is_called_by() -> None:
    async def answer(exchange: Exchange) -> Response:
        await link.close()
        return Success(exchange.request.id, "closed")

    link = MemoryLink(Scripted(answer), Taking())
    assert said(await link.exchange(outgoing(1, "work"))) == "closed"


async def test_a_call_within_a_call_is_ended_too() -> None:
    """While the server asks, the client's handler calls the server from the same task."""

    async def answer(exchange: Exchange) -> Response:
        if exchange.request.method == "inner":
            return Success(exchange.request.id, {})
        await exchange.ask("ask", None)
        return await never(exchange)

    async def on_request(request: Request) -> Response:
        return await link.exchange(outgoing(2, "inner"))

    link: Link = MemoryLink(Scripted(answer), Taking(on_request))
    calling = asyncio.create_task(link.exchange(outgoing(1, "work")))
    await settle()
    await link.close()
    with pytest.raises(ConnectionClosed):
        await calling
