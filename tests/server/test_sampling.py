"""Sampling in full: the loop of tools, typed answers, and what a client may not answer."""

import asyncio
import json
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypedDict

import msgspec
import pydantic
import pytest

from splice import Context, Image, InputRequired, Server
from splice.errors import RPCError
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE, LATEST_MODERN, VERSIONS
from splice.server import results as results_made
from splice.server.sampling import MAX_RETRIES, MAX_USES
from splice.types import ImageContent, ModelPreferences, SamplingMessage, TextContent, Tool, ToolChoice
from support.caller import ALL, Caller, accept, fixed, said
from support.tables import rows
from support.wire import JSON

Handler = Callable[[Context], Awaitable[Any]]
BOTH = [LATEST_HANDSHAKE, LATEST_MODERN]
OLD = [version for version in VERSIONS if not FACTS[version].sampling_tools]

both = pytest.mark.parametrize("version", BOTH)


@dataclass
class Point:
    x: int
    y: int = 0


class Fields(msgspec.Struct):
    x: int
    y: int = 0


class Typed(TypedDict):
    x: int


class Model(pydantic.BaseModel):
    x: int
    y: int = 0


def use(name: str, id: str = "1", **given: Any) -> JSON:
    return {"type": "tool_use", "id": id, "name": name, "input": given}


def using(*uses: JSON, **more: JSON) -> JSON:
    return {"role": "assistant", "content": list(uses), "model": "m", "stopReason": "toolUse", **more}


def final(**given: Any) -> JSON:
    return using(use("final_answer", **given))


def results(asked: tuple[str, JSON]) -> dict[str, tuple[str, bool]]:
    """Read the results that a question ends with: by id, the text and whether it is an error."""
    last = asked[1]["messages"][-1]
    assert last["role"] == "user"
    assert all(block["type"] == "tool_result" for block in last["content"])
    return {block["toolUseId"]: (block["content"][0]["text"], bool(block.get("isError"))) for block in last["content"]}


def serving(handler: Handler) -> Server:
    server = Server("s")

    @server.tool
    async def run(ctx: Context) -> Any:
        return await handler(ctx)

    @server.tool
    def double(n: int) -> int:
        return 2 * n

    return server


async def calling(handler: Handler, version: str, *answers: JSON, can: JSON = ALL) -> Caller:
    return await Caller(serving(handler), version, can=can, answers=fixed(*answers)).open()


# Tools.


@both
@pytest.mark.requirement(359, 367)
async def test_functions_are_called_and_not_again_when_the_handler_is(version: str) -> None:
    calls: list[str] = []
    threads: set[int] = set()

    async def look(city: str) -> dict[str, int]:
        calls.append(city)
        return {"degrees": len(city)}

    def note(text: str) -> str:
        threads.add(threading.get_ident())
        calls.append(text)
        return text

    async def handler(ctx: Context) -> str:
        return (await ctx.sample("?", tools=[look, note, "double"], tool_choice=ToolChoice(mode="required"))).text

    caller = await calling(
        handler,
        version,
        using(use("look", "a", city="Rome"), use("note", "b", text="x"), use("double", "c", n=4)),
        using(use("look", "a", city="Bonn")),
        using(use("look", "a", city="Rome")),
        said("done"),
    )
    assert await caller.text("run") == "done"
    assert sorted(calls) == ["Bonn", "Rome", "Rome", "x"]
    assert threads.isdisjoint({threading.get_ident()})
    assert results(caller.asked[1]) == {"a": ('{"degrees":4}', False), "b": ("x", False), "c": ("8", False)}
    assert [len(params["messages"]) for _, params in caller.asked] == [1, 3, 5, 7]
    assert [params.get("toolChoice") for _, params in caller.asked] == [{"mode": "required"}, None, None, None]


@both
async def test_the_last_round_may_use_no_tool(version: str) -> None:
    async def handler(ctx: Context) -> str:
        return (await ctx.sample("?", tools=["double"], max_rounds=2)).text

    rounds = [using(use("double", n=1)), using(use("double", n=2))]
    caller = await calling(handler, version, *rounds, said("enough"))
    assert await caller.text("run") == "enough"
    assert [params.get("toolChoice") for _, params in caller.asked] == [None, None, {"mode": "none"}]
    caller = await calling(handler, version, *rounds, using(use("double", n=3)))
    error = await caller.error("tools/call", {"name": "run"})
    assert (error["code"], error["message"].partition(" uses ")[2]) == (-32602, "tools, which it was not to")


@both
async def test_what_goes_wrong_in_a_tool_is_told_to_the_model(version: str, caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise KeyError("a secret")

    async def refuse() -> None:
        raise RPCError("not today", code=7)

    def leave() -> None:
        raise SystemExit(3)

    async def by_hand(ctx: Context) -> InputRequired:
        return InputRequired({"k": None})

    async def handler(ctx: Context) -> str:
        return (await ctx.sample("?", tools=[fail, refuse, leave, by_hand, "double"])).text

    uses = [
        use("fail", "a"),
        use("refuse", "b"),
        use("leave", "c"),
        use("by_hand", "d"),
        use("double", "e", n="many"),
        use("double", "f", n="4"),
        use("duble", "g", n=1),
        use("run", "h"),
    ]
    caller = await calling(handler, version, using(*uses), said("so what"))
    assert await caller.text("run") == "so what"
    told = results(caller.asked[1])
    assert [is_error for _, is_error in told.values()] == [True, True, True, True, True, False, True, True]
    assert told["a"][0].startswith("The tool fail failed: KeyError (reference ")
    assert told["b"][0] == "not today"
    assert told["c"][0].startswith("The tool leave failed: SystemExit")
    assert told["d"][0].startswith("by_hand asks")
    assert told["e"][0] == 'Invalid arguments for double: n: expected integer, got "many"'
    assert told["g"][0] == "Unknown tool: 'duble'. Did you mean 'double'?"
    assert told["h"][0] == "Unknown tool: 'run'"  # one that was not lent
    assert "a secret" not in str(told)


HOSTILE: dict[str, JSON] = {
    "gives two tool uses one id": using(use("double", n=1), use("double", n=2)),
    f"uses more than {MAX_USES} tools": using(*(use("double", str(n), n=n) for n in range(MAX_USES + 1))),
    "has results of tools": using({"type": "tool_result", "toolUseId": "1", "content": []}),
}


@both
@pytest.mark.parametrize("fault", HOSTILE)
async def test_an_answer_that_breaks_the_protocol_ends_the_call(fault: str, version: str) -> None:
    caller = await calling(lambda ctx: ctx.sample("?", tools=["double"]), version, HOSTILE[fault])
    error = await caller.error("tools/call", {"name": "run"})
    assert error == {"code": -32602, "message": f"The client's answer to sampling/createMessage {fault}"}


@both
async def test_uses_of_one_answer_run_at_once(version: str) -> None:
    meeting = asyncio.Barrier(3)

    async def meet() -> str:
        async with asyncio.timeout(5):
            await meeting.wait()
        return "met"

    caller = await calling(
        lambda ctx: ctx.sample("?", tools=[meet]), version, using(*(use("meet", id) for id in "abc")), said("x")
    )
    await caller.call("run")
    assert results(caller.asked[1]) == dict.fromkeys("abc", ("met", False))


@both
async def test_a_tool_may_ask_the_client_itself_and_others_are_still_called_once(version: str) -> None:
    calls: list[str] = []
    progress: list[float] = []

    async def greet(ctx: Context) -> str:
        first = (await ctx.elicit("First name?", str)).data
        second = (await ctx.elicit("Second name?", str)).data
        await ctx.once(calls.append, f"greeted {first}")
        await ctx.progress(1000)
        return f"Hello {first} {second}"

    async def count() -> int:
        calls.append("counted")
        return 1

    async def handler(ctx: Context) -> str:
        reply = await ctx.sample("?", tools=[greet, count])
        await ctx.progress(1)
        sure = await ctx.elicit("Sure?")
        return f"{reply.text} {sure.accepted}"

    caller = await calling(
        handler,
        version,
        using(use("greet", "a"), use("count", "b")),
        accept(value="Ada"),
        accept(value="Lovelace"),
        said("done"),
        accept(),
    )
    assert await caller.text("run", token="t") == "done True"
    assert sorted(calls) == ["counted", "greeted Ada"]
    assert results(caller.asked[3]) == {"a": ("Hello Ada Lovelace", False), "b": ("1", False)}
    progress.extend(caller.progress())
    assert progress == [1]


async def test_questions_of_tools_that_run_at_once_are_asked_at_once() -> None:
    async def ask(what: str, ctx: Context) -> str:
        return (await ctx.elicit(what, str)).data

    uses = using(use("ask", "a", what="A"), use("ask", "b", what="B"))
    answers = uses, accept(value="1"), accept(value="2"), said("x")
    caller = await calling(lambda ctx: ctx.sample("?", tools=[ask]), LATEST_MODERN, *answers)
    await caller.call("run")
    assert results(caller.asked[3]) == {"a": ("1", False), "b": ("2", False)}
    assert caller.rounds == 4


async def test_another_answer_under_an_old_key_is_not_given_the_old_results() -> None:
    """A client that changes its mind about an answer has the function called that it names now."""
    caller = await calling(lambda ctx: ctx.sample("?", tools=["double"]), LATEST_MODERN)
    params: JSON = {"name": "run"}
    first = (await caller.send("tools/call", caller.stamped(params)))["result"]
    (key,) = first["inputRequests"]
    for n in (1, 2):
        answers = {key: using(use("double", n=n))}
        retry = {**params, "inputResponses": answers, "requestState": first["requestState"]}
        second = (await caller.send("tools/call", caller.stamped(retry)))["result"]
        (asked,) = second["inputRequests"].values()
        assert results(("", asked["params"])) == {"1": (str(2 * n), False)}


@both
async def test_a_cancelled_call_stops_its_tools(version: str) -> None:
    begun, stopped = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    caller = await calling(lambda ctx: ctx.sample("?", tools=[wait]), version, using(use("wait")))
    async with asyncio.timeout(5):
        running = asyncio.create_task(caller.request("tools/call", {"name": "run"}))
        await begun.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        assert stopped.is_set()


@pytest.mark.requirement(355)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("kind", [None, Point])
async def test_a_client_without_tools_is_not_asked_to_use_some(version: str, kind: Any) -> None:
    caller = await calling(
        lambda ctx: ctx.sample("?", tools=["double"], result_type=kind), version, can={"sampling": {}}
    )
    response = await caller.request("tools/call", {"name": "run"})
    told = "The client did not declare sampling.tools, the capability that sampling/createMessage needs"
    assert caller.asked == []
    if version in OLD or version == LATEST_HANDSHAKE:
        assert response["result"]["content"][0]["text"] == told
    else:
        assert response["error"]["message"] == told
        assert response["error"]["data"] == {"requiredCapabilities": {"sampling": {"tools": {}}}}


# Typed answers.


@both
@pytest.mark.parametrize("kind", [Point, Fields, Typed, Model])
async def test_an_answer_has_the_type_that_was_wanted(kind: Any, version: str) -> None:
    found: list[Any] = []

    async def handler(ctx: Context) -> None:
        found.append(await ctx.sample("?", result_type=kind))
        await ctx.elicit("Sure?")

    for can, answer in ((ALL, final(x="3")), ({**ALL, "sampling": {}}, said('{"x": 3}'))):
        found.clear()
        caller = await calling(handler, version, answer, accept(), can=can)
        assert not (await caller.call("run")).get("isError")
        assert found == [{"x": 3} if kind is Typed else kind(x=3)] * len(found)
        assert len(found) == caller.rounds - 1 if caller.modern else 1


@both
@pytest.mark.parametrize(
    ("kind", "json", "value"),
    [
        (int, "3", 3),
        (str, '"a"', "a"),
        (Literal["a", "b"], '"b"', "b"),
        (list[Point], '[{"x": 1}]', [Point(1)]),
        (Point | None, "null", None),
        (dict[str, int], '{"answer": 1}', {"answer": 1}),
    ],
    ids=str,
)
async def test_types_that_are_no_objects_are_answered_too(kind: Any, json: str, value: Any, version: str) -> None:
    found: list[Any] = []

    async def handler(ctx: Context) -> None:
        found.append(await ctx.sample("?", result_type=kind))

    given = msgspec.json.decode(json)
    input_ = given if isinstance(given, dict) else {"answer": given}
    for can, answer in ((ALL, final(**input_)), ({"sampling": {}}, said(json))):
        caller = await calling(handler, version, answer, can=can)
        assert not (await caller.call("run")).get("isError")
    assert found == [value, value]


@both
async def test_a_model_is_told_what_does_not_fit_and_tries_again(version: str) -> None:
    async def handler(ctx: Context) -> int:
        return (await ctx.sample("?", result_type=Point)).x

    wrong = final(x="?"), said("I think 3"), final(x=3)
    caller = await calling(handler, version, *wrong)
    assert await caller.text("run") == "3"
    told, is_error = results(caller.asked[1])["1"]
    assert is_error
    assert "x: expected integer" in told
    assert "expected object" in caller.asked[2][1]["messages"][-1]["content"]["text"]
    assert all(params["toolChoice"] == {"mode": "required"} for _, params in caller.asked)


@both
@pytest.mark.parametrize("can", [ALL, {"sampling": {}}], ids=["tools", "words"])
async def test_a_model_that_never_fits_is_an_error_of_the_tool(can: JSON, version: str) -> None:
    caller = await calling(
        lambda ctx: ctx.sample("?", result_type=Point), version, *[said("no")] * (MAX_RETRIES + 1), can=can
    )
    result = await caller.call("run")
    assert result["isError"]
    assert result["content"][0]["text"].startswith("The client's model gave no Point: ")
    assert len(caller.asked) == MAX_RETRIES + 1


class Choosy(pydantic.BaseModel):
    x: int

    @pydantic.field_validator("x")
    @classmethod
    def look(cls, value: int) -> int:
        return {1: 1}[value]


@both
async def test_an_answer_that_makes_the_type_fail_is_asked_for_again_once(version: str) -> None:
    caller = await calling(lambda ctx: ctx.sample("?", result_type=Choosy), version, final(x=2), final(x=3), final(x=1))
    assert (await caller.call("run"))["structuredContent"] == {"x": 1}
    assert [len(params["messages"]) for _, params in caller.asked] == [1, 3, 5]


@both
async def test_an_answer_in_words_that_nests_too_deeply_is_only_wrong(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    deep = '{"x":' + "[" * 400 + "]" * 400 + "}"
    caller = await calling(
        lambda ctx: ctx.sample("?", result_type=Point), version, said(deep), said('{"x": 1}'), can={"sampling": {}}
    )
    assert (await caller.call("run"))["structuredContent"]["x"] == 1
    assert "Invalid arguments for final_answer: " in caller.asked[1][1]["messages"][-1]["content"]["text"]
    assert not [each for each in caplog.records if each.levelname == "ERROR"]


@both
async def test_tools_come_before_a_typed_answer(version: str) -> None:
    calls: list[int] = []

    async def look(n: int) -> int:
        calls.append(n)
        return n

    async def handler(ctx: Context) -> int:
        return (await ctx.sample("?", tools=[look], result_type=Point, max_rounds=2)).x

    caller = await calling(handler, version, using(use("look", n=1)), using(use("look", n=2)), using(use("look", n=3)))
    assert "gave no Point: Unknown tool: 'look'" in (await caller.call("run"))["content"][0]["text"]
    assert calls == [1, 2]
    offered = [[tool["name"] for tool in params["tools"]] for _, params in caller.asked]
    assert offered == [["look", "final_answer"], ["look", "final_answer"], ["final_answer"]]
    caller = await calling(handler, version, using(use("look", n=1)), final(x=7))
    assert await caller.text("run") == "7"


@both
async def test_a_client_without_tools_may_not_use_the_one_that_answers(version: str) -> None:
    caller = await calling(lambda ctx: ctx.sample("?", result_type=Point), version, final(x=1), can={"sampling": {}})
    assert (await caller.error("tools/call", {"name": "run"}))["code"] == -32602


# What an author says.


@both
async def test_messages_are_texts_images_and_turns(version: str, tmp_path: Path) -> None:
    picture = tmp_path / "p.png"
    picture.write_bytes(b"png")
    turns: list[Any] = [
        Image(picture),
        ImageContent(data="", mime_type="image/gif"),
        "What is it?",
        SamplingMessage(role="assistant", content=TextContent(text="A cat")),
        "Sure?",
    ]
    caller = await calling(lambda ctx: ctx.sample(turns), version, said("x"))
    await caller.call("run")
    messages = caller.asked[0][1]["messages"]
    assert [each["role"] for each in messages] == ["user", "user", "user", "assistant", "user"]
    assert messages[0]["content"] == {"type": "image", "data": "cG5n", "mimeType": "image/png"}
    assert messages[2]["content"]["text"] == "What is it?"


async def test_questions_count_in_the_order_they_were_put_not_in_that_of_their_files(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    runs = 0

    async def handler(ctx: Context) -> list[str]:
        nonlocal runs
        runs += 1
        slow, gates = runs % 2, [asyncio.Event(), asyncio.Event()]

        async def run(_: Any, prompt: str) -> Any:
            place = int(prompt[-1])
            if place == slow:
                await gates[1 - place].wait()
            gates[place].set()
            return [SamplingMessage(role="user", content=TextContent(text=prompt))]

        monkeypatch.setattr(results_made, "names_files", lambda _: True)
        monkeypatch.setattr(ctx._call.home.threads, "run", run)
        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(ctx.sample(f"picture {place}")) for place in range(2)]
        return [each.result().text for each in asked]

    caller = Caller(
        serving(handler), LATEST_MODERN, answers=lambda _, params: said(params["messages"][0]["content"]["text"])
    )
    assert json.loads(await caller.text("run")) == ["picture 0", "picture 1"]
    assert sorted(params["messages"][0]["content"]["text"] for _, params in caller.asked) == ["picture 0", "picture 1"]


def final_answer() -> None: ...


WRONG: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no messages": ([], {}, "sample takes text"),
    "a dict": ([{"role": "user", "content": "x"}], {}, "sample takes text"),
    "content that is no block": (SamplingMessage(role="user", content="x"), {}, "sample takes text"),  # type: ignore[arg-type]
    "a role": (SamplingMessage(role="system", content=TextContent(text="x")), {}, "sample takes text"),  # type: ignore[arg-type]
    "priority": ("x", {"model_preferences": ModelPreferences(cost_priority=2)}, "priorities from 0 to 1"),
    "tokens": ("x", {"max_tokens": 0}, "max_tokens= of sample takes a number, at least 1"),
    "temperature": ("x", {"temperature": float("nan")}, "temperature= of sample"),
    "temperature without end": ("x", {"temperature": float("inf")}, "temperature= of sample"),
    "a priority in words": ("x", {"model_preferences": ModelPreferences(speed_priority="high")}, "from 0 to 1"),  # type: ignore[arg-type]
    "stop text": ("x", {"stop_sequences": "END"}, "stop_sequences= of sample takes a list"),
    "stop empty": ("x", {"stop_sequences": [""]}, "stop_sequences= of sample takes a list"),
    "context": ("x", {"include_context": "all"}, "'thisServer'"),
    "rounds": ("x", {"max_rounds": 0, "tools": ["double"]}, "max_rounds= of sample"),
    "tools": ("x", {"tools": "double"}, "tools= of sample takes a list"),
    "an unknown tool": ("x", {"tools": ["duble"]}, "this server has no tool 'duble'"),
    "two of one name": ("x", {"tools": ["double", "double"]}, "two tools of sample"),
    "the name that is ours": ("x", {"tools": [final_answer], "result_type": int}, "two tools of sample"),
    "functions and definitions": ("x", {"tools": ["double", Tool(name="t", input_schema={})]}, "Tool"),
    "what is no function": ("x", {"tools": [5]}, "5 is not a callable"),
    "a type without JSON": ("x", {"result_type": threading.Thread}, "Thread"),
}


@pytest.mark.requirement(361)
@rows("case", WRONG)
async def test_what_makes_no_sense_is_not_sent(case: str) -> None:
    messages, options, told = WRONG[case]
    raised: list[Exception] = []

    async def handler(ctx: Context) -> None:
        try:
            await ctx.sample(messages, **options)
        except Exception as error:
            raised.append(error)
            raise

    caller = await calling(handler, LATEST_MODERN)
    assert (await caller.call("run"))["isError"]
    assert caller.asked == []
    assert isinstance(raised[0], (TypeError, ValueError))
    assert told in str(raised[0])
