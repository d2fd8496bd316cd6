"""The sealed state between the rounds of a modern request: nobody can forge it, move it or keep it for ever."""

import json
import logging
import time
from typing import Any

import pytest
from msgspec import Raw

from splice import Context, InputRequired, Server
from splice.errors import ToolError
from splice.protocol.jsonrpc import Failure, Request
from splice.protocol.questions import ElicitParams
from splice.server.call import Answer, Call
from support.caller import MODERN, Caller, Hand, accept, text_of
from support.wire import JSON

pytestmark = pytest.mark.parametrize("version", MODERN)

FORM = {"type": "object", "properties": {"x": {"type": "string"}}}
KEYS = [bytes([number]) * 32 for number in range(3)]


def server_with_questions(name: str = "s", **options: Any) -> Server:
    server = Server(name, **options)

    @server.tool
    async def one(ctx: Context, a: int = 0) -> str:
        answer = await ctx.elicit("One?", FORM)
        return f"{a} {answer.content}"

    @server.tool
    async def two(ctx: Context) -> str:
        first = await ctx.elicit("First?", FORM)
        second = await ctx.elicit("Second?", FORM)
        return f"{first.content} {second.content}"

    @server.prompt
    async def prompt(ctx: Context) -> str:
        return f"{(await ctx.elicit('Prompt?', FORM)).content}"

    @server.resource("data://x")
    async def resource(ctx: Context) -> str:
        return f"{(await ctx.elicit('Resource?', FORM)).content}"

    return server


async def asked(caller: Caller, method: str = "tools/call", **params: JSON) -> tuple[dict[str, JSON], JSON]:
    """Send a request that is answered by a question; its params and the result."""
    content = caller.stamped(params or {"name": "one"})
    result = (await caller.send(method, content))["result"]
    assert result["resultType"] == "input_required"
    return content, result


def answered(content: dict[str, JSON], result: JSON, answer: JSON = None) -> dict[str, JSON]:
    answers = {key: answer or accept(x="yes") for key in result.get("inputRequests", {})}
    return {**content, "inputResponses": answers, "requestState": result["requestState"]}


async def opened(version: str, **options: Any) -> Caller:
    return await Caller(server_with_questions(**options), version).open()


async def test_the_state_says_nothing_to_who_carries_it(version: str) -> None:
    caller = await opened(version)
    _, result = await asked(caller)
    assert set(result) == {"resultType", "inputRequests", "requestState", "_meta"}
    ((key, question),) = result["inputRequests"].items()
    assert question == {
        "method": "elicitation/create",
        "params": {"mode": "form", "message": "One?", "requestedSchema": FORM},
    }
    assert key
    for secret in ("One?", "elicitation", key * 3):
        assert secret not in result["requestState"]


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "one"}),
        ("prompts/get", {"name": "prompt"}),
        ("resources/read", {"uri": "data://x"}),
    ],
)
async def test_all_three_methods_may_ask(version: str, method: str, params: JSON) -> None:
    caller = await opened(version)
    content, result = await asked(caller, method, **params)
    final = (await caller.send(method, answered(content, result)))["result"]
    assert final["resultType"] == "complete"
    assert "yes" in json.dumps(final)


def flipped(text: str, at: int) -> str:
    other = "A" if text[at] != "A" else "B"
    return text[:at] + other + text[at + 1 :]


@pytest.mark.requirement(218, 220)
async def test_a_changed_state_is_refused(version: str) -> None:
    caller = await opened(version)
    content, result = await asked(caller)
    state: str = result["requestState"]
    forged = [flipped(state, at) for at in range(len(state))]
    forged += [
        "",
        "x",
        state[:-1],
        state[:20],
        state + "A",
        state + "=",
        " " + state,
        state.swapcase(),
        "\u20ac",
        "\x00",
    ]
    for bad in forged:
        response = await caller.send("tools/call", answered(content, result) | {"requestState": bad})
        assert response["error"]["code"] == -32602, bad
        assert "requestState" in response["error"]["message"]
    assert "result" in await caller.send("tools/call", answered(content, result))


@pytest.mark.parametrize(
    "change", [{"name": "two"}, {"arguments": {"a": 1}}, {"arguments": None}, {"extra": 1}], ids=str
)
@pytest.mark.requirement(221)
async def test_the_state_of_another_request_is_refused(version: str, change: JSON) -> None:
    caller = await opened(version)
    content, result = await asked(caller, name="one", arguments={"a": 0})
    response = await caller.send("tools/call", answered(content, result) | change)
    assert response["error"]["code"] == -32602


async def test_the_state_of_another_method_is_refused(version: str) -> None:
    caller = await opened(version)
    content, result = await asked(caller, "prompts/get", name="prompt")
    server_tool = answered(content, result)
    response = await caller.send("tools/call", server_tool | {"name": "one"})
    assert response["error"]["code"] == -32602


@pytest.mark.requirement(221, 390, 398)
async def test_the_state_of_another_user_is_refused(version: str) -> None:
    caller = await opened(version)
    caller.principal = "ada"
    content, result = await asked(caller)
    for other in ("eve", None, ""):
        caller.principal = other
        response = await caller.send("tools/call", answered(content, result))
        assert response["error"]["code"] == -32602
    caller.principal = "ada"
    assert "result" in await caller.send("tools/call", answered(content, result))


async def test_the_state_of_another_server_is_refused_though_it_has_the_same_keys(version: str) -> None:
    """Another process of the same server opens it."""
    one = Caller(server_with_questions(state_keys=KEYS[:1]), version)
    content, result = await asked(one)
    for name, opens in (("s", True), ("other", False)):
        server = server_with_questions(name=name, state_keys=KEYS[:1])
        response = await Caller(server, version).send("tools/call", answered(content, result))
        assert ("result" in response) == opens


async def test_a_process_that_seals_alone_says_so_once_when_there_are_others(
    version: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("multiprocessing.process.parent_process", lambda: "uvicorn")
    shared = Caller(server_with_questions(state_keys=KEYS[:1]), version)
    await asked(shared)
    assert "SPLICE_SECRET" not in caplog.text
    alone = Caller(server_with_questions(), version)
    await asked(alone)
    await asked(alone)
    assert caplog.text.count("SPLICE_SECRET") == 1


async def test_state_of_another_process_is_explained_in_the_log_and_not_to_the_client(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    """However the processes were started: that state comes which was not sealed here says enough."""
    content, result = await asked(Caller(server_with_questions(), version))
    other = Caller(server_with_questions(), version)
    for _ in range(2):
        error = (await other.send("tools/call", answered(content, result)))["error"]
        assert error["code"] == -32602
        assert error["message"].endswith("send the request without it")
    assert caplog.text.count("SPLICE_SECRET") == 1


async def test_how_arguments_are_written_makes_no_difference(version: str) -> None:
    caller = await opened(version)
    content, result = await asked(caller, name="one", arguments={"a": 7})
    again = dict(reversed(answered(content, result).items()))
    assert text_of((await caller.send("tools/call", again))["result"]).startswith("7")


@pytest.mark.requirement(221)
async def test_an_old_state_is_refused(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    caller = await opened(version)
    content, result = await asked(caller)
    now = time.time()
    monkeypatch.setattr(time, "time", lambda: now + 599)
    assert "result" in await caller.send("tools/call", answered(content, result))
    monkeypatch.setattr(time, "time", lambda: now + 601)
    response = await caller.send("tools/call", answered(content, result))
    assert response["error"]["code"] == -32602


async def test_another_server_refuses_the_state_unless_it_has_the_key(version: str) -> None:
    caller = await opened(version)
    content, result = await asked(caller)
    stranger = await opened(version)
    assert "error" in await stranger.send("tools/call", answered(content, result))
    replicas = [await opened(version, state_keys=KEYS[:1]) for _ in range(2)]
    content, result = await asked(replicas[0])
    assert "result" in await replicas[1].send("tools/call", answered(content, result))


async def test_keys_can_be_exchanged_while_requests_are_under_way(version: str) -> None:
    before, during, after = (
        await opened(version, state_keys=[KEYS[0]]),
        await opened(version, state_keys=[KEYS[1], KEYS[0]]),
        await opened(version, state_keys=[KEYS[1]]),
    )
    content, result = await asked(before)
    assert "result" in await during.send("tools/call", answered(content, result))
    assert "error" in await after.send("tools/call", answered(content, result))
    content, result = await asked(during)
    assert "result" in await after.send("tools/call", answered(content, result))


def test_a_short_key_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="32"):
        Server("s", state_keys=[b"short"])


@pytest.mark.requirement(231)
async def test_answers_nobody_asked_for_are_ignored(version: str) -> None:
    caller = await opened(version)
    content, result = await asked(caller, name="two")
    retry = answered(content, result)
    retry["inputResponses"]["bogus"] = {"action": "accept", "content": {}}
    second = (await caller.send("tools/call", retry))["result"]
    assert second["resultType"] == "input_required"
    assert len(second["inputRequests"]) == 1


async def test_a_missing_answer_is_asked_for_again(version: str) -> None:
    caller = await opened(version)
    content, result = await asked(caller)
    for responses in ({}, {"other": accept(x="1")}):
        retry = {**content, "inputResponses": responses, "requestState": result["requestState"]}
        again = (await caller.send("tools/call", retry))["result"]
        assert again["resultType"] == "input_required"
        assert again["inputRequests"] == result["inputRequests"]
    retry = {**content, "requestState": result["requestState"]}
    assert (await caller.send("tools/call", retry))["result"]["inputRequests"] == result["inputRequests"]


@pytest.mark.parametrize("responses", [[], "x", 1, {"q1": 1}, {"q1": {}}, {"q1": {"action": 1}}, {"q1": None}], ids=str)
@pytest.mark.requirement(229, 230)
async def test_malformed_answers_are_an_error(version: str, responses: JSON) -> None:
    caller = await opened(version)
    content, result = await asked(caller)
    ((key, _),) = result["inputRequests"].items()
    if isinstance(responses, dict):
        responses = {key: responses["q1"]}
    retry = {**content, "inputResponses": responses, "requestState": result["requestState"]}
    assert (await caller.send("tools/call", retry))["error"]["code"] == -32602


@pytest.mark.parametrize("state", [1, [], {}])
async def test_a_state_that_is_no_text_is_invalid(version: str, state: JSON) -> None:
    caller = await opened(version)
    content = caller.stamped({"name": "one", "requestState": state})
    assert (await caller.send("tools/call", content))["error"]["code"] == -32602


async def test_a_changed_question_is_asked_anew_and_later_answers_are_dropped_and_named(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    server, wording = Server("s"), ["old"]

    @server.tool
    async def tool(ctx: Context) -> str:
        answers = [await ctx.elicit("Same?", FORM), await ctx.elicit(f"{wording[0]}?", FORM)]
        answers.append(await ctx.elicit("After?", FORM))
        return " ".join(str(answer.content) for answer in answers)

    caller = await Caller(server, version).open()
    content, result = await asked(caller, name="tool")
    for _ in range(2):
        result = (await caller.send("tools/call", answered(content, result, accept(x="before"))))["result"]
    assert [question["params"]["message"] for question in result["inputRequests"].values()] == ["After?"]
    wording[0] = "new"
    caplog.set_level(logging.WARNING, "splice.server")
    result = (await caller.send("tools/call", answered(content, result, accept(x="lost"))))["result"]
    assert [question["params"]["message"] for question in result["inputRequests"].values()] == ["new?"]
    assert "'q2'" in caplog.text
    assert "'q3'" in caplog.text
    result = (await caller.send("tools/call", answered(content, result, accept(x="2"))))["result"]
    assert [question["params"]["message"] for question in result["inputRequests"].values()] == ["After?"]
    result = (await caller.send("tools/call", answered(content, result, accept(x="3"))))["result"]
    assert text_of(result) == "{'x': 'before'} {'x': '2'} {'x': '3'}"


async def test_a_state_may_be_used_twice_and_each_time_gives_the_same(version: str) -> None:
    caller = await opened(version)
    content, result = await asked(caller)
    first = await caller.send("tools/call", answered(content, result))
    second = await caller.send("tools/call", answered(content, result))
    assert first["result"] == second["result"]


@pytest.mark.requirement(29)
async def test_answers_and_side_effects_travel_to_another_replica(version: str) -> None:
    done: list[str] = []

    def pay() -> int:
        done.append("paid")
        return len(done)

    def build() -> Server:
        server = Server("s", state_keys=KEYS[:1])

        @server.tool
        async def tool(ctx: Context) -> str:
            await ctx.elicit("Sure?", FORM)
            receipt = await ctx.once(pay)
            await ctx.elicit("Print?", FORM)
            return f"receipt {receipt}"

        return server

    callers = [await Caller(build(), version).open() for _ in range(3)]
    content, result = await asked(callers[0], name="tool")
    result = (await callers[1].send("tools/call", answered(content, result)))["result"]
    result = (await callers[2].send("tools/call", answered(content, result)))["result"]
    assert text_of(result) == "receipt 1"
    assert done == ["paid"]


async def test_a_tool_without_a_context_cannot_find_answers_so_it_cannot_ask(version: str) -> None:
    server, runs = Server("s"), []

    @server.tool
    async def tool() -> InputRequired:
        runs.append(1)
        return InputRequired({"q": ElicitParams(message="?", requested_schema=FORM)})

    caller = await Caller(server, version).open()
    error = await caller.error("tools/call", {"name": "tool"})
    assert "Context" in error["message"]
    assert len(runs) == 1


async def test_state_alone_is_enough_to_come_back(version: str) -> None:
    server = Server("s")

    @server.tool
    async def tool(ctx: Context) -> Any:
        return "done" if ctx.state else InputRequired(state="waiting for the night shift")

    caller = await Caller(server, version).open()
    _, result = await asked(caller, name="tool")
    assert not result.get("inputRequests")
    assert "night" not in result["requestState"]
    assert await caller.text("tool") == "done"
    assert caller.rounds == 2


async def test_middleware_sees_each_round(version: str) -> None:
    seen: list[str] = []

    async def middleware(call: Call, proceed: Answer) -> Any:
        try:
            result = await proceed(call)
        except BaseException as error:
            seen.append(type(error).__name__)
            raise
        seen.append(type(result).__name__)
        return result

    caller = await opened(version, middleware=[middleware])
    content, result = await asked(caller)
    await caller.send("tools/call", answered(content, result))
    assert seen == ["Suspend", "CallToolResult"]


async def test_middleware_may_ask_as_well(version: str) -> None:
    async def middleware(call: Call, proceed: Answer) -> Any:
        if call.row.name == "tools/call":
            allowed = await Context(call).elicit("Allowed?", FORM, key="allowed")
            if not allowed.accepted:
                raise ToolError("not allowed")
        return await proceed(call)

    caller = await opened(version, middleware=[middleware])
    content, result = await asked(caller)
    assert list(result["inputRequests"]) == ["allowed"]
    result = (await caller.send("tools/call", answered(content, result)))["result"]
    assert [question["params"]["message"] for question in result["inputRequests"].values()] == ["One?"]
    result = (await caller.send("tools/call", answered(content, result)))["result"]
    assert text_of(result) == "0 {'x': 'yes'}"


async def test_a_question_where_none_may_be_asked_is_an_error_and_no_hang(version: str) -> None:
    """Only three methods may end with a question; middleware around another one cannot ask."""

    async def middleware(call: Call, proceed: Answer) -> Any:
        if call.row.name == "tools/list":
            await Context(call).elicit("Allowed?", FORM)
        return await proceed(call)

    caller = await opened(version, middleware=[middleware])
    assert (await caller.error("tools/list"))["code"] == -32603


async def test_a_question_that_cannot_be_sealed_is_an_error_like_any_other(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The number is beyond all bounds, in a part of the params that nobody else reads."""
    caller = await opened(version)
    content = json.dumps(caller.stamped({"name": "one", "extra": 0})).replace('"extra": 0', '"extra": 1e999')
    response = await caller.server.service.handle(Hand(caller, Request(1, "tools/call", Raw(content.encode()))))
    assert isinstance(response, Failure)
    assert response.error.code == -32603
    assert "tools/call failed" in caplog.text
