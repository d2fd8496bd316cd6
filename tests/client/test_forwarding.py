"""Requests passed on as they came: what a proxy sends is what it was sent, but for who it says it is."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from msgspec import Raw

from client.scripted import NEWEST, HTTPTarget, ScriptedTarget, initialize, legacy, modern, until
from splice import Client, Context, Server, StdioServer
from splice.errors import HeaderMismatch, InvalidParams, SessionLost
from splice.protocol.jsonrpc import Failure, Notification, Request, Response, Success, raw
from splice.protocol.wire import Implementation
from splice.transports.base import Exchange, Hear, Service
from support.warm import warm_python

VERSION = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
INFO = "io.modelcontextprotocol/clientInfo"
LEVEL = "io.modelcontextprotocol/logLevel"
THEIRS = {VERSION: "theirs", CAPABILITIES: {"roots": {}}, INFO: {"name": "theirs", "version": "0"}}
OURS = Implementation(name="ours", version="1")


async def unheard(note: Notification) -> None:
    raise AssertionError(note)


def request(method: str = "tools/call", id: Any = "theirs", **params: Any) -> Request:
    return Request(id, method, raw(params))


async def done(message: Any, link: Any) -> Any:
    return {"content": [], "resultType": "complete", "future": {"a": None}}


def result(response: Any) -> Any:
    assert isinstance(response, Success)
    assert isinstance(response.result, Raw)
    return json.loads(bytes(response.result))


async def test_unknown_fields_stay_in_params_and_result() -> None:
    target = modern(tools__call=done)
    async with Client(target) as client:
        response = await client.forward(request(name="t", arguments={"a": 1.50}, future=[None], _meta={}), unheard)
    sent = target.sent[-1]
    assert sent["params"]["future"] == [None]
    assert sent["params"]["arguments"] == {"a": 1.5}
    assert sent["name"] == "t"
    assert response.id == "theirs"
    assert result(response) == {"content": [], "resultType": "complete", "future": {"a": None}}


@pytest.mark.parametrize("make", [modern, legacy])
async def test_in_meta_only_who_speaks_is_replaced(make: Any) -> None:
    target = make(tools__call=done)
    async with Client(target, info=OURS, on_log=lambda _: None) as client:
        meta = {**THEIRS, "com.example/tenant": "acme", "traceparent": "00-1", LEVEL: "error"}
        await client.forward(request(name="t", _meta=meta), unheard)
        await client.forward(request(name="t"), unheard)
    first, second = (message["params"].get("_meta", {}) for message in target.calls("tools/call"))
    ours = {VERSION: NEWEST, CAPABILITIES: {}, INFO: {"name": "ours", "version": "1"}} if make is modern else {}
    assert first == {**ours, "com.example/tenant": "acme", "traceparent": "00-1", LEVEL: "error"}
    assert second == ours


async def test_a_method_nobody_here_knows_and_one_without_params() -> None:
    target = modern(example__x=done)
    async with Client(target) as client:
        assert isinstance(await client.forward(Request(1, "example/x", None), unheard), Success)
        assert isinstance(await client.forward(Request(2, "example/x", {"a": 1}), unheard), Success)
        refused = await client.forward(Request(3, "example/y", None), unheard)
    assert isinstance(refused, Failure)
    assert (refused.id, refused.error.code) == (3, -32601)
    assert [message["params"].get("a") for message in target.calls("example/x")] == [None, 1]


@pytest.mark.parametrize("token", [7, "theirs"])
async def test_progress_comes_back_under_the_token_of_the_request_that_came_in(token: Any) -> None:
    heard: list[Any] = []

    async def hear(note: Notification) -> None:
        heard.append((note.method, None if note.params is None else json.loads(bytes(note.params))))

    async def reporting(message: Any, link: Any) -> Any:
        ours = message["params"]["_meta"]["progressToken"]
        assert ours == message["id"]
        assert ours != token
        await link.tell(message["id"], "notifications/progress", {"progressToken": ours, "progress": 1, "future": 5})
        await link.tell(message["id"], "notifications/progress", {"progressToken": "other", "progress": 2})
        await link.heard[message["id"]](Notification("notifications/progress", raw([])))
        await link.tell(message["id"], "notifications/message", {"level": "info", "data": 1})
        return await done(message, link)

    async with Client(modern(tools__call=reporting)) as client:
        await client.forward(request(name="t", _meta={"progressToken": token}), hear)
    assert heard == [
        ("notifications/progress", {"progressToken": token, "progress": 1, "future": 5}),
        ("notifications/progress", {"progressToken": "other", "progress": 2}),
        ("notifications/progress", []),
        ("notifications/message", {"level": "info", "data": 1}),
    ]


async def test_who_wants_no_progress_gets_no_token() -> None:
    target = modern(tools__call=done)
    async with Client(target) as client:
        await client.forward(request(name="t", _meta={"a": 1}), unheard)
    assert "progressToken" not in target.sent[-1]["params"]["_meta"]


async def test_questions_are_passed_back_as_they_came() -> None:
    questions = {"resultType": "input_required", "inputRequests": {"a": {"method": "x"}}, "requestState": "s"}

    async def asking(message: Any, link: Any) -> Any:
        return questions

    async with Client(modern(tools__call=asking)) as client:
        assert result(await client.forward(request(name="t"), unheard)) == questions


async def test_cancelling_the_caller_cancels_the_request_and_no_clock_does() -> None:
    cancelled = asyncio.Event()

    async def forever(message: Any, link: Any) -> Any:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    target = modern(tools__call=forever)
    async with Client(target, timeout=0.001) as client, asyncio.timeout(5):
        call = asyncio.ensure_future(client.forward(request(name="t"), unheard))
        await until(lambda: target.calls("tools/call"))
        await asyncio.wait((call,), timeout=0.02)
        assert not call.done()
        call.cancel()
        await cancelled.wait()
        with pytest.raises(asyncio.CancelledError):
            await call


@pytest.mark.parametrize("params", [[], {"_meta": 5}, {"_meta": {"progressToken": []}}])
async def test_params_that_have_no_place_for_meta_are_refused(params: Any) -> None:
    target = modern(example__x=done)
    async with Client(target) as client:
        response = await client.forward(Request(1, "example/x", raw(params)), unheard)
    assert isinstance(response, Failure)
    assert response.error.code == InvalidParams.code
    assert target.calls("example/x") == []


async def test_a_lost_session_is_replaced() -> None:
    async def call(message: Any, link: Any) -> Any:
        if len(target.links) == 1:
            raise SessionLost("forgotten")
        return await done(message, link)

    target = ScriptedTarget(initialize=initialize, tools__call=call)
    async with Client(target) as client:
        assert isinstance(await client.forward(request(name="t"), unheard), Success)


async def test_marked_arguments_are_mirrored_over_http() -> None:
    marked = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
    schemas: list[Any] = [{"type": "object"}, marked]

    async def listing(message: Any, link: Any) -> Any:
        return {"tools": [{"name": "t", "inputSchema": schemas.pop(0) if len(schemas) > 1 else schemas[0]}]}

    async def call(message: Any, link: Any) -> Any:
        if message["mirrored"] != {"Mcp-Param-Region": "x"}:
            raise HeaderMismatch("missing")
        return await done(message, link)

    target = modern(HTTPTarget, tools__list=listing, tools__call=call)
    async with Client(target) as client:
        assert isinstance(await client.forward(request(name="t", arguments={"region": "x"}), unheard), Success)
        assert len(target.calls("tools/call")) == 2
        assert isinstance(await client.forward(request(name="t", arguments={}), unheard), Failure)
        malformed = await client.forward(request(name=5), unheard)
        assert isinstance(malformed, Failure)
        assert target.sent[-1]["name"] is None


# As a proxy uses it.


class Proxy(Service):
    """Everything that `Client.forward` leaves to be written."""

    def __init__(self, client: Client) -> None:
        self._client = client

    async def handle(self, exchange: Exchange) -> Response:
        return await self._client.forward(exchange.request, exchange.notify)


def upstream(cancelled: asyncio.Event) -> Server:
    server = Server("upstream")

    @server.tool
    async def report(ctx: Context) -> str:
        for step in (1, 2):
            await ctx.progress(step, 2)
        return str(ctx.meta.get("com.example/tenant"))

    @server.tool
    async def slow(ctx: Context) -> None:
        try:
            await ctx.progress(1)
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    return server


async def test_a_client_does_not_notice_a_proxy() -> None:
    seen: list[Any] = []
    cancelled = asyncio.Event()
    async with asyncio.timeout(5), Client(upstream(cancelled)) as inner, Client(Proxy(inner)) as outer:
        assert outer.server_info.name == "upstream"
        assert [tool.name for tool in await outer.list_tools()] == ["report", "slow"]
        meta = {"com.example/tenant": "acme"}
        result = await outer.call_tool("report", meta=meta, progress=lambda *report: seen.append(report))
        assert (result.text, seen) == ("acme", [(1, 2, None), (2, 2, None)])
        started = asyncio.Event()
        call = asyncio.ensure_future(outer.call_tool("slow", progress=lambda *_: started.set()))
        await started.wait()
        call.cancel()
        await cancelled.wait()


PROGRAM = """
import sys
sys.path[:0] = [{tests!r}]
import asyncio
from client.test_forwarding import upstream
upstream(asyncio.Event()).run()
"""


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_progress_passes_a_proxy_in_front_of_a_child_process(protocol: str) -> None:
    seen: list[Any] = []
    child = StdioServer(warm_python(), "-c", PROGRAM.format(tests=str(Path(__file__).parent.parent)))
    async with asyncio.timeout(20), Client(child, protocol=protocol) as inner:
        exchange = await inner.forward(request(name="report", _meta={"progressToken": "theirs"}), collect(seen))
        assert isinstance(exchange, Success)
    assert [params["progressToken"] for params in seen] == ["theirs", "theirs"]
    assert [params["progress"] for params in seen] == [1, 2]


def collect(seen: list[Any]) -> Hear:
    async def hear(note: Notification) -> None:
        seen.append(json.loads(bytes(note.params)))

    return hear
