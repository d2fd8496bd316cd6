"""One request after the other: results good and bad, time running out, sessions lost and found."""

import asyncio
from typing import Any

import pytest
from msgspec import Struct

from client.scripted import NEWEST, ScriptedTarget, forever, legacy, modern, raising, returning, until
from splice import Client
from splice.client import calls
from splice.client.questions import ElicitAnswer
from splice.errors import (
    HTTPRefused,
    InvalidParams,
    LocalProtocolError,
    RemoteProtocolError,
    RequestTimeout,
    ResourceNotFound,
    RPCError,
    Unanswered,
)
from splice.protocol.jsonrpc import ErrorObject, Failure
from splice.protocol.methods import Method
from splice.protocol.tools import TOOLS_CALL, CallToolParams, CallToolResult
from splice.protocol.wire import Params, Result
from splice.rules.extensions import Extension

DONE: dict[str, Any] = {"content": [{"type": "text", "text": "done"}], "contents": [], "messages": []}


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


@pytest.mark.requirement(6)
async def test_ids_are_never_used_twice() -> None:
    target = legacy(tools__call=returning(DONE), ping=returning({}))
    async with Client(target) as client:
        await asyncio.gather(*(client.call_tool("t") for _ in range(5)), client.ping())
    ids = [message["id"] for message in target.sent if "id" in message]
    assert len(set(ids)) == len(ids) == 8


async def test_the_link_is_told_what_a_request_is_about() -> None:
    target = modern(
        tools__list=returning({"tools": []}),
        tools__call=returning(DONE),
        resources__read=returning({"contents": []}),
        prompts__get=returning({"messages": []}),
    )
    async with Client(target) as client:
        await client.list_tools()
        await client.call_tool("my tool")
        await client.read_resource("file:///a b/é")
        await client.get_prompt("p", {"a": "b"})
    assert [message["name"] for message in target.sent[1:]] == [None, "my tool", "file:///a b/é", "p"]


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
        client._calls.timeout = float("inf") if own is None else own
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
        await link.ask("elicitation/create", request)
        return DONE

    async with Client(legacy(tools__call=asking), on_elicit=think, timeout=0.1) as client:
        assert (await client.call_tool("t")).text == "done"


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
        await until(lambda: failures)


# Questions in results, and the requests that are sent again with the answers.

FORM = {
    "mode": "form",
    "message": "?",
    "requestedSchema": {"type": "object", "properties": {"a": {"type": "integer", "default": 1}}},
}
ELICIT = {"method": "elicitation/create", "params": FORM}
SAMPLE = {
    "method": "sampling/createMessage",
    "params": {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 5},
}
ROOTS = {"method": "roots/list"}


def asking(*rounds: Any) -> Any:
    """Answer with each of these, one after the other, then with a complete result."""
    left = list(rounds)

    async def method(message: Any, link: Any) -> Any:
        return {"resultType": "input_required", **left.pop(0)} if left else DONE

    return method


def server(*rounds: Any) -> ScriptedTarget:
    method = asking(*rounds)
    return modern(tools__call=method, resources__read=method, prompts__get=method)


def handlers() -> dict[str, Any]:
    return {"on_elicit": lambda _: "accept", "on_sample": lambda _: "said", "roots": ["file:///r"]}


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "WAIT_SECONDS", 8 * (0.0, 0.001))


@pytest.mark.parametrize(
    ("method", "call"),
    [
        ("tools/call", lambda client: client.call_tool("t", {"x": 1})),
        ("resources/read", lambda client: client.read_resource("x://a")),
        ("prompts/get", lambda client: client.get_prompt("p", {"x": "1"})),
    ],
)
async def test_all_questions_are_answered_and_the_same_request_goes_out_again(method: str, call: Any) -> None:
    target = server({"inputRequests": {"a": ELICIT, "b": SAMPLE, "c": ROOTS}, "requestState": "s\u00e9 =="})
    async with Client(target, **handlers()) as client:
        await call(client)
    first, second = target.calls(method)
    assert first["id"] != second["id"]
    answers = second["params"].pop("inputResponses")
    assert answers["a"] == {"action": "accept", "content": {"a": 1}}
    assert answers["b"]["content"] == {"type": "text", "text": "said"}
    assert answers["c"] == {"roots": [{"uri": "file:///r"}]}
    assert second["params"].pop("requestState") == "s\u00e9 =="
    assert first["params"] == second["params"]


@pytest.mark.requirement(226, 228)
async def test_the_state_goes_back_only_where_it_came() -> None:
    target = server({"inputRequests": {"a": ELICIT}, "requestState": "one"}, {"inputRequests": {"b": ELICIT}})
    async with Client(target, **handlers()) as client:
        await asyncio.gather(client.call_tool("t"), client.call_tool("t"))
        await client.call_tool("t")
    states = [message["params"].get("requestState") for message in target.calls("tools/call")]
    assert sorted(states, key=str) == [None, None, None, None, "one"]
    target = server({"inputRequests": {"a": ELICIT}, "requestState": "one"}, {"inputRequests": {"b": ELICIT}})
    async with Client(target, **handlers()) as client:
        await client.call_tool("t")
    sent = [message["params"] for message in target.calls("tools/call")]
    assert [each.get("requestState") for each in sent] == [None, "one", None]
    assert [list(each.get("inputResponses", {})) for each in sent] == [[], ["a"], ["b"]]


async def test_a_server_that_only_says_later_is_asked_again() -> None:
    target = server({"requestState": "1"}, {"requestState": "2", "inputRequests": {}}, {"requestState": "3"})
    async with Client(target) as client:
        await client.call_tool("t")
    sent = [message["params"] for message in target.calls("tools/call")]
    assert [each.get("requestState") for each in sent] == [None, "1", "2", "3"]
    assert all("inputResponses" not in each for each in sent)


async def test_questions_without_end() -> None:
    target = server(*({"inputRequests": {"a": ELICIT}} for _ in range(100)))
    async with Client(target, **handlers()) as client:
        with pytest.raises(RemoteProtocolError, match="after 16 rounds"):
            await client.call_tool("t")
    assert len(target.calls("tools/call")) == 16


@pytest.mark.parametrize(("question", "option"), [(ELICIT, "on_elicit"), (SAMPLE, "on_sample"), (ROOTS, "roots")])
async def test_a_question_there_is_no_handler_for(question: Any, option: str) -> None:
    async with Client(server({"inputRequests": {"a": question}})) as client:
        with pytest.raises(LocalProtocolError, match=rf"{question['method']}.*pass {option}= to Client"):
            await client.call_tool("t")


async def test_a_question_nobody_knows() -> None:
    async with Client(server({"inputRequests": {"a": {"method": "x"}}}), **handlers()) as client:
        with pytest.raises(LocalProtocolError, match=r"asks for x, which nothing here answers$"):
            await client.call_tool("t")


async def test_what_a_handler_raises_reaches_the_caller() -> None:
    def fail(_: Any) -> None:
        raise KeyError("mine")

    async with Client(server({"inputRequests": {"a": ELICIT}}), on_elicit=fail) as client:
        with pytest.raises(KeyError, match="mine"):
            await client.call_tool("t")


async def test_the_user_does_not_want_a_model_to_be_asked() -> None:
    target = server({"inputRequests": {"a": SAMPLE}})
    async with Client(target, on_sample=lambda _: None) as client:
        with pytest.raises(Unanswered, match="sampling/createMessage was not answered: The user rejected"):
            await client.call_tool("t")
    assert len(target.calls("tools/call")) == 1


async def test_progress_and_meta_go_with_every_round() -> None:
    target = server({"inputRequests": {"a": ELICIT}})
    async with Client(target, **handlers()) as client:
        await client.call_tool("t", progress=lambda *_: None, meta={"k": "v"})
    for message in target.calls("tools/call"):
        assert message["params"]["_meta"]["progressToken"] == message["id"]
        assert message["params"]["_meta"]["k"] == "v"


# Results of every kind, told apart by `resultType`.


class TaskResult(Result, kw_only=True):
    task_id: str


TASKS = Extension[Any]("com.example/tasks", results={"task": TaskResult})


class Bare(Struct):
    """A result that does not know of result types."""

    value: int = 0


BARE = Method(name="example/bare", params=Params, result=Bare)


@pytest.mark.parametrize("make", [modern, legacy])
@pytest.mark.parametrize("content", [{}, {"content": []}])
@pytest.mark.requirement(10)
async def test_a_result_of_an_extension(make: Any, content: Any) -> None:
    target = make(tools__call=returning({"resultType": "task", "taskId": "7", **content}))
    async with Client(target, extensions=[TASKS]) as client:
        result: object = await client.request(TOOLS_CALL, CallToolParams(name="t"))
        assert isinstance(result, TaskResult)
        assert result.task_id == "7"
        other: object = await client.call_tool("t")
        assert isinstance(other, TaskResult)


async def test_a_malformed_result_of_an_extension() -> None:
    async with Client(modern(tools__call=returning({"resultType": "task"})), extensions=[TASKS]) as client:
        with pytest.raises(RemoteProtocolError, match=r"result of tools/call is malformed: .*taskId"):
            await client.call_tool("t")


async def test_the_result_type_counts_where_the_row_does_not_know_of_any() -> None:
    target = modern(example__bare=returning({"resultType": "task", "taskId": "7"}))
    async with Client(target, extensions=[TASKS]) as client:
        result: object = await client.request(BARE, Params())
        assert isinstance(result, TaskResult)
    async with Client(modern(example__bare=returning({"value": 5}))) as client:
        assert (await client.request(BARE, Params())).value == 5


async def test_a_complete_result_is_read_by_the_row() -> None:
    for more in ({}, {"resultType": "complete"}, {"resultType": None}):
        async with Client(modern(tools__call=returning({"content": [], **more})), extensions=[TASKS]) as client:
            assert isinstance(await client.call_tool("t"), CallToolResult)


@pytest.mark.parametrize("make", [modern, legacy])
@pytest.mark.parametrize(
    "result",
    [
        [],
        None,
        {"content": "text"},
        {"content": [{"type": "text"}]},
        {"resultType": 5, "content": []},
    ],
)
async def test_a_malformed_result_names_the_method_and_the_place(make: Any, result: Any) -> None:
    async with Client(make(tools__call=returning(result))) as client:
        with pytest.raises(RemoteProtocolError, match="tools/call is malformed: "):
            await client.call_tool("t")


@pytest.mark.parametrize("result", [{**DONE, "resultType": "complete"}, DONE])
@pytest.mark.requirement(12)
async def test_a_complete_result_need_not_say_so(result: Any) -> None:
    async with Client(modern(tools__call=returning(result))) as client:
        assert (await client.call_tool("t")).text == "done"


@pytest.mark.parametrize("content", [{}, DONE])
@pytest.mark.requirement(11)
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
        with pytest.raises(RemoteProtocolError, match="result of tools/call is malformed"):
            await client.call_tool("t")


@pytest.mark.parametrize("meta", [{"-bad-/ -": 1}, {"a b": 1}, {"traceparent": 5}])
@pytest.mark.requirement(33, 35)
async def test_meta_that_nobody_may_send_is_refused_where_it_is_given(meta: Any) -> None:
    target = modern(tools__call=returning(DONE))
    async with Client(target) as client:
        with pytest.raises(ValueError, match=r"meta= of a request takes _meta: keys are `name` or `example.com/name`"):
            await client.call_tool("t", meta=meta)
    assert target.calls("tools/call") == []
