"""One request after the other: results good and bad, time running out, sessions lost and found."""

import asyncio
from typing import Any

import pytest

from client.scripted import NEWEST, HTTPTarget, ScriptedTarget, initialize, legacy, modern
from splice import Client
from splice.client.handlers import ElicitAnswer
from splice.errors import (
    ConnectionClosed,
    InvalidParams,
    RemoteProtocolError,
    RequestTimeout,
    ResourceNotFound,
    RPCError,
)
from splice.protocol.jsonrpc import ErrorObject, Failure, Request, raw
from splice.transports.refusals import HTTPRefused, SessionLost

DONE = {"content": [{"type": "text", "text": "done"}]}


def returning(value: Any) -> Any:
    async def method(message: Any, link: Any) -> Any:
        return value

    return method


def raising(error: BaseException) -> Any:
    async def method(message: Any, link: Any) -> Any:
        raise error

    return method


async def forever(message: Any, link: Any) -> Any:
    await asyncio.Event().wait()


async def test_what_a_request_carries_in_each_era() -> None:
    target = modern(tools__call=returning(DONE))
    async with Client(target) as client:
        await client.call_tool("t", {"a": 1})
    params = target.sent[-1]["params"]
    assert params["name"] == "t"
    assert params["arguments"] == {"a": 1}
    assert params["_meta"]["io.modelcontextprotocol/protocolVersion"] == NEWEST
    assert "progressToken" not in params["_meta"]
    assert "io.modelcontextprotocol/logLevel" not in params["_meta"]
    target = legacy(tools__call=returning(DONE))
    async with Client(target) as client:
        await client.call_tool("t")
    assert target.sent[-1]["params"] == {"name": "t", "arguments": {}}


@pytest.mark.parametrize("make", [modern, legacy])
async def test_the_callers_own_meta_stands_below_the_protocols(make: Any) -> None:
    target = make(tools__call=returning(DONE))
    async with Client(target) as client:
        meta = {"com.example/a": 1, "progressToken": "mine", "io.modelcontextprotocol/protocolVersion": "mine"}
        await client.call_tool("t", meta=meta, progress=lambda *_: None)
    message = target.sent[-1]
    sent = message["params"]["_meta"]
    assert sent["com.example/a"] == 1
    assert sent["progressToken"] == message["id"]
    assert sent["io.modelcontextprotocol/protocolVersion"] == (NEWEST if make is modern else "mine")
    target = legacy(tools__call=returning(DONE))
    async with Client(target) as client:
        await client.call_tool("t", meta={"a": 1})
    assert target.sent[-1]["params"]["_meta"] == {"a": 1}


async def test_ids_are_never_used_twice() -> None:
    target = legacy(tools__call=returning(DONE), ping=returning({}))
    async with Client(target) as client:
        await asyncio.gather(*(client.call_tool("t") for _ in range(5)), client.ping())
    ids = [message["id"] for message in target.sent if "id" in message]
    assert len(set(ids)) == len(ids) == 8


async def test_modern_requests_over_http_repeat_themselves_in_headers() -> None:
    target = modern(
        HTTPTarget,
        tools__list=returning({"tools": []}),
        tools__call=returning(DONE),
        resources__read=returning({"contents": []}),
        prompts__get=returning({"messages": []}),
    )
    async with Client(target) as client:
        await client.call_tool("my tool")
        await client.read_resource("file:///a b/é")
        await client.get_prompt("p", {"a": "b"})
    headers = {message["method"]: message["headers"] for message in target.sent}
    assert headers["tools/list"] == {"MCP-Protocol-Version": NEWEST, "Mcp-Method": "tools/list"}
    assert headers["tools/call"]["Mcp-Name"] == "my tool"
    assert headers["resources/read"]["Mcp-Name"] == "=?base64?ZmlsZTovLy9hIGIvw6k=?="
    assert headers["prompts/get"]["Mcp-Name"] == "p"
    assert headers["prompts/get"]["Mcp-Method"] == "prompts/get"


@pytest.mark.parametrize("over_http", [True, False])
async def test_other_requests_have_no_headers(over_http: bool) -> None:
    target = legacy(HTTPTarget, ping=returning({})) if over_http else modern()
    async with Client(target) as client:
        await client.ping()
    assert target.sent[-1]["headers"] == {}


# Results.


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ResourceNotFound("gone", {"uri": "x"}), ResourceNotFound),
        (InvalidParams("bad"), InvalidParams),
        (RPCError("odd", code=12345), RPCError),
    ],
)
async def test_an_error_response_is_raised_as_the_exception_of_its_code(error: RPCError, kind: type[RPCError]) -> None:
    async with Client(legacy(resources__read=raising(error))) as client:
        with pytest.raises(kind) as caught:
            await client.read_resource("x")
        assert type(caught.value) is kind
        assert (caught.value.code, caught.value.message, caught.value.data) == (error.code, error.message, error.data)


async def test_an_error_response_that_came_with_a_5xx() -> None:
    refused = HTTPRefused("HTTP 500", 500, Failure(ErrorObject(-32602, "m"), 1))
    async with Client(modern(tools__call=raising(refused))) as client:
        with pytest.raises(InvalidParams, match="m"):
            await client.call_tool("t")
    async with Client(modern(tools__call=raising(HTTPRefused("HTTP 502", 502)))) as client:
        with pytest.raises(HTTPRefused, match="502"):
            await client.call_tool("t")


@pytest.mark.parametrize("make", [modern, legacy])
@pytest.mark.parametrize(
    "result",
    [
        {},
        [],
        None,
        {"content": "text"},
        {"content": [{"type": "hologram"}]},
        {"resultType": "complete"},
        {"resultType": 5, "content": []},
    ],
)
async def test_a_malformed_result_names_the_method_and_the_place(make: Any, result: Any) -> None:
    async with Client(make(tools__call=returning(result))) as client:
        with pytest.raises(RemoteProtocolError, match="tools/call is malformed: "):
            await client.call_tool("t")


@pytest.mark.parametrize("result", [{**DONE, "resultType": "complete"}, DONE])
async def test_a_complete_result_need_not_say_so(result: Any) -> None:
    async with Client(modern(tools__call=returning(result))) as client:
        assert (await client.call_tool("t")).text == "done"


@pytest.mark.parametrize("content", [{}, DONE])
async def test_a_result_of_unknown_type(content: Any) -> None:
    async with Client(modern(tools__call=returning({"resultType": "task", **content}))) as client:
        with pytest.raises(RemoteProtocolError, match="type 'task'"):
            await client.call_tool("t")


async def test_questions_where_there_may_be_none() -> None:
    questions = returning({"resultType": "input_required", "requestState": "s"})
    async with Client(modern(tools__list=questions)) as client:
        with pytest.raises(RemoteProtocolError, match="'input_required', which is not allowed"):
            await client.list_tools()
    async with Client(legacy(tools__call=questions)) as client:
        with pytest.raises(RemoteProtocolError, match="'input_required', which is not allowed"):
            await client.call_tool("t")


@pytest.mark.parametrize("more", [{}, {"inputRequests": 5}, {"requestState": 5}])
async def test_malformed_questions(more: Any) -> None:
    async with Client(modern(tools__call=returning({"resultType": "input_required", **more}))) as client:
        with pytest.raises(RemoteProtocolError, match="questions of tools/call are malformed"):
            await client.call_tool("t")


# Time.


async def test_a_call_that_takes_too_long_fails_alone() -> None:
    target = modern(tools__call=forever)
    async with Client(target, timeout=0.02) as client:
        waiting = asyncio.ensure_future(client.call_tool("slow", timeout=5))
        with pytest.raises(RequestTimeout, match=r"No answer to tools/call within 0.02 s"):
            await client.call_tool("t")
        with pytest.raises(RequestTimeout, match=r"within 0.01 s"):
            await client.call_tool("t", timeout=0.01)
        assert not waiting.done()
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await client.ping()


@pytest.mark.parametrize(("own", "per_call"), [(None, None), (0.001, float("inf"))])
async def test_a_call_may_take_for_ever(own: float | None, per_call: float | None) -> None:
    async with Client(modern(tools__call=forever), timeout=30) as client:
        client._conversation.calls._timeout = own
        waiting = asyncio.ensure_future(client.call_tool("t", timeout=per_call))
        await asyncio.wait((waiting,), timeout=0.02)
        assert not waiting.done()
        waiting.cancel()


async def test_a_cancelled_call_is_cancelled_and_no_more() -> None:
    async with Client(modern(tools__call=forever)) as client:
        call = asyncio.ensure_future(client.call_tool("t"))
        await asyncio.sleep(0)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call


async def test_time_stands_still_while_the_user_thinks() -> None:
    answered = asyncio.Event()

    async def think(_: Any) -> ElicitAnswer:
        await asyncio.wait((asyncio.ensure_future(answered.wait()),), timeout=0.2)
        return "decline"

    async def asking(message: Any, link: Any) -> Any:
        request = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
        await link.on_request(Request(1, "elicitation/create", raw(request)))
        return DONE

    async with Client(legacy(tools__call=asking), on_elicit=think, timeout=0.1) as client:
        assert (await client.call_tool("t")).text == "done"


# Sessions that the server forgets.


class Forgetful(ScriptedTarget):
    """Forgets the session before the calls numbered here."""

    def __init__(self, *forgets: int, **methods: Any) -> None:
        super().__init__(
            initialize=initialize, tools__call=self.call, logging__setLevel=self.level, resources__subscribe=self.level
        )
        self.methods.update({name.replace("__", "/"): method for name, method in methods.items()})
        self.forgets = set(forgets)
        self.asked = 0

    async def call(self, *_: Any) -> Any:
        self.asked += 1
        forgets = self.asked in self.forgets
        await asyncio.sleep(0)
        if forgets:
            raise SessionLost("forgotten")
        return DONE

    async def level(self, *_: Any) -> Any:
        return {}


async def test_a_forgotten_session_is_opened_again_and_the_call_repeated() -> None:
    target = Forgetful(2)
    async with Client(target, on_log=lambda _: None, protocol="legacy") as client:
        await client.subscribe("x://a")
        await client.call_tool("t")
        assert (await client.call_tool("t")).text == "done"
    assert [message["method"] for message in target.sent] == [
        "initialize",
        "notifications/initialized",
        "logging/setLevel",
        "resources/subscribe",
        "tools/call",
        "tools/call",
        "initialize",
        "notifications/initialized",
        "logging/setLevel",
        "resources/subscribe",
        "tools/call",
    ]


async def test_calls_that_lose_the_session_together_open_one_new_one() -> None:
    target = Forgetful(1, 2, 3)
    async with Client(target) as client:
        results = await asyncio.gather(*(client.call_tool("t") for _ in range(3)))
        assert [result.text for result in results] == ["done"] * 3
    assert len(target.calls("initialize")) == 2


async def test_a_session_that_is_lost_again_at_once_is_given_up() -> None:
    target = Forgetful(1, 2)
    async with Client(target) as client:
        with pytest.raises(SessionLost):
            await client.call_tool("t")
        assert (await client.call_tool("t")).text == "done"


async def test_trouble_with_what_a_new_session_must_know_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    target = Forgetful(1)

    async def once(message: Any, link: Any) -> Any:
        if len(target.calls(message["method"])) > 1:
            raise SessionLost("again")
        return {}

    target.methods["logging/setLevel"] = target.methods["resources/subscribe"] = once
    async with Client(target, on_log=lambda _: None) as client:
        await client.subscribe("x://a")
        assert (await client.call_tool("t")).text == "done"
    assert "could not set the log level" in caplog.text
    assert "could not subscribe again" in caplog.text


async def test_a_new_session_that_cannot_be_opened() -> None:
    target = Forgetful(1)
    async with Client(target) as client:
        target.methods["initialize"] = raising(ConnectionClosed("gone"))
        with pytest.raises(ConnectionClosed, match="gone"):
            await client.call_tool("t")


async def test_other_timeouts_are_not_ours() -> None:
    async with Client(modern(tools__call=raising(TimeoutError("theirs")))) as client:
        with pytest.raises(TimeoutError, match="theirs"):
            await client.call_tool("t")


async def test_a_client_is_used_within_a_task() -> None:
    async with Client(modern(tools__call=returning(DONE))) as client:
        call = client.call_tool("t")
        failures: list[BaseException] = []

        def step() -> None:
            try:
                call.send(None)
            except RuntimeError as error:
                failures.append(error)

        asyncio.get_running_loop().call_soon(step)
        await asyncio.sleep(0.01)
        assert failures
