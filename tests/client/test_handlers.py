"""What a server asks, and the functions that answer, in the legacy form: requests."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from splice.client.handlers import AnyRoot, ElicitAnswer, Handlers, Roots
from splice.errors import InvalidParams, RPCError
from splice.protocol.content import TextContent
from splice.protocol.input import CreateMessageResult, ElicitParams, ElicitResult, Root
from splice.protocol.jsonrpc import Request, Success, raw
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE

FORM = {
    "message": "?",
    "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"default": 3}}},
}
URL = {"mode": "url", "message": "?", "url": "https://h/", "elicitationId": "1"}
SAMPLE = {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 5}


async def ask(handlers: Handlers, method: str, params: Any = msgspec.UNSET, version: str = LATEST_HANDSHAKE) -> Any:
    sent = params if params is msgspec.UNSET else raw(params)
    response = await handlers.answer(Request("q", method, sent), FACTS[version])
    assert response.id == "q"
    if isinstance(response, Success):
        return msgspec.to_builtins(response.result)
    return response.error.code, response.error.message


def elicit(answer: Any) -> Handlers:
    return Handlers(lambda _: answer, None, None)


def test_what_is_declared_follows_from_the_handlers() -> None:
    def declared(handlers: Handlers) -> Any:
        return msgspec.to_builtins(handlers.capabilities())

    assert declared(Handlers(None, None, None)) == {}
    assert declared(elicit(None)) == {"elicitation": {"form": {}, "url": {}}}
    assert declared(Handlers(None, lambda _: None, None)) == {"sampling": {}}
    assert declared(Handlers(None, None, ())) == {"roots": {"listChanged": True}}


@pytest.mark.parametrize("method", ["elicitation/create", "sampling/createMessage", "roots/list", "tools/list", "x"])
async def test_what_was_not_declared_is_not_found(method: str) -> None:
    assert (await ask(Handlers(None, None, None), method, {}))[0] == -32601


async def test_what_the_version_lacks_is_not_found() -> None:
    assert (await ask(elicit("accept"), "elicitation/create", FORM, "2025-03-26"))[0] == -32601


async def test_ping_is_always_answered() -> None:
    assert await ask(Handlers(None, None, None), "ping") == {}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"name": "Ann"}, {"action": "accept", "content": {"name": "Ann", "age": 3}}),
        ({"age": 5}, {"action": "accept", "content": {"age": 5}}),
        ("accept", {"action": "accept", "content": {"age": 3}}),
        ("decline", {"action": "decline"}),
        ("cancel", {"action": "cancel"}),
        (None, {"action": "decline"}),
        (
            ElicitResult(action="accept", content={"name": "B"}),
            {"action": "accept", "content": {"name": "B", "age": 3}},
        ),
        (ElicitResult(action="decline", content={"name": "B"}), {"action": "decline"}),
        (ElicitResult(action="cancel", meta={"a": 1}), {"action": "cancel", "_meta": {"a": 1}}),
    ],
)
async def test_what_a_form_may_be_answered_with(answer: Any, expected: Any) -> None:
    assert await ask(elicit(answer), "elicitation/create", FORM) == expected


async def test_handlers_may_be_async_and_see_the_question() -> None:
    seen: list[ElicitParams] = []

    async def answer(params: ElicitParams) -> ElicitAnswer:
        seen.append(params)
        return "accept"

    assert await ask(Handlers(answer, None, None), "elicitation/create", URL) == {"action": "accept"}
    assert seen[0].url == "https://h/"


async def test_a_mode_that_was_not_declared() -> None:
    code, message = await ask(elicit("accept"), "elicitation/create", URL, "2025-06-18")
    assert code == -32602
    assert "URL" in message


@pytest.mark.parametrize("params", [msgspec.UNSET, {}, {"message": 5}, {"message": "?"}, [], None])
async def test_malformed_questions(params: Any) -> None:
    assert (await ask(elicit("accept"), "elicitation/create", params))[0] == -32602


@pytest.mark.parametrize("answer", [5, "maybe", [1]])
async def test_an_answer_that_is_none(answer: Any, caplog: pytest.LogCaptureFixture) -> None:
    assert await ask(elicit(answer), "elicitation/create", FORM) == (-32603, "The client's handler failed: TypeError")
    assert "on_elicit returned" in caplog.text


async def test_a_handler_that_fails(caplog: pytest.LogCaptureFixture) -> None:
    def fail(_: Any) -> None:
        raise RuntimeError("secret")

    answer = await ask(Handlers(None, fail, None), "sampling/createMessage", SAMPLE)
    assert answer == (-32603, "The client's handler failed: RuntimeError")
    assert "secret" in caplog.text


async def test_a_handler_that_refuses_in_its_own_words() -> None:
    def refuse(_: Any) -> None:
        raise RPCError("not today", code=-1)

    assert await ask(Handlers(refuse, None, None), "elicitation/create", FORM) == (-1, "not today")


async def test_what_a_model_said() -> None:
    handlers = Handlers(None, lambda params: f"{params.max_tokens} tokens", None)
    assert await ask(handlers, "sampling/createMessage", SAMPLE) == {
        "role": "assistant",
        "content": {"type": "text", "text": "5 tokens"},
        "model": "unknown",
        "stopReason": "endTurn",
    }
    whole = CreateMessageResult(role="assistant", content=TextContent(text="hi"), model="m")
    assert (await ask(Handlers(None, lambda _: whole, None), "sampling/createMessage", SAMPLE))["model"] == "m"


async def test_the_user_does_not_want_a_model_to_be_asked() -> None:
    assert (await ask(Handlers(None, lambda _: None, None), "sampling/createMessage", SAMPLE))[0] == -1


@pytest.mark.parametrize("more", [{"tools": []}, {"toolChoice": {"mode": "auto"}}])
async def test_sampling_with_tools_was_not_declared(more: Any) -> None:
    handlers = Handlers(None, lambda _: "x", None)
    code, message = await ask(handlers, "sampling/createMessage", {**SAMPLE, **more})
    assert code == -32602
    assert "tools" in message


async def test_roots_in_every_form(tmp_path: Path) -> None:
    given: list[AnyRoot] = [Root(uri="file:///a", name="a"), "file:///b", str(tmp_path), tmp_path]
    here = {"uri": tmp_path.as_uri()}
    expected = [{"uri": "file:///a", "name": "a"}, {"uri": "file:///b"}, here, here]

    async def later() -> list[AnyRoot]:
        return given

    forms: list[Roots] = [given, lambda: given, later]
    for roots in forms:
        assert await ask(Handlers(None, None, roots), "roots/list", {}) == {"roots": expected}
    assert await ask(Handlers(None, None, []), "roots/list") == {"roots": []}


async def test_a_question_asked_without_a_handler_in_the_modern_form() -> None:
    with pytest.raises(RPCError, match="no handler"):
        await Handlers(None, None, None).result_for("elicitation/create", raw(FORM), FACTS[LATEST_HANDSHAKE])
    with pytest.raises(InvalidParams):
        await elicit(None).result_for("elicitation/create", raw({}), FACTS[LATEST_HANDSHAKE])
