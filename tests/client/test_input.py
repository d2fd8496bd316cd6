"""The questions of a modern server, and the requests that are sent again with the answers."""

import asyncio
from typing import Any

import pytest

from client.scripted import ScriptedTarget, modern
from splice import Client
from splice.client import input as conversing
from splice.errors import LocalProtocolError, RemoteProtocolError, RPCError

DONE: dict[str, Any] = {"content": [{"type": "text", "text": "done"}], "contents": [], "messages": []}
FORM = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {"a": {"default": 1}}}}
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
    monkeypatch.setattr(conversing, "WAIT_SECONDS", (0.0, 0.001))


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
    assert len(target.calls("tools/call")) == 17


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
        with pytest.raises(RPCError, match="rejected"):
            await client.call_tool("t")
    assert len(target.calls("tools/call")) == 1


async def test_progress_and_headers_go_with_every_round() -> None:
    target = server({"inputRequests": {"a": ELICIT}})
    async with Client(target, **handlers()) as client:
        await client.call_tool("t", progress=lambda *_: None, meta={"k": "v"})
    for message in target.calls("tools/call"):
        assert message["params"]["_meta"]["progressToken"] == message["id"]
        assert message["params"]["_meta"]["k"] == "v"
