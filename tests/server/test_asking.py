"""Several questions at once: one round where the client comes back with the answers, side by side where it is asked."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from splice import Ask, Context, Image, InputRequired, Server
from splice.errors import RPCError
from splice.protocol.jsonrpc import Request, Response, raw
from splice.protocol.questions import CreateMessageParams, ModelHint, ModelPreferences
from splice.protocol.tools import Tool
from support.caller import ASKING, DECLINE, LEGACY, MODERN, Caller, Hand, accept, said, text_of
from support.waiting import until
from support.wire import JSON

Handler = Callable[[Context], Awaitable[Any]]

legacy = pytest.mark.parametrize("version", [version for version in ASKING if version in LEGACY])
modern = pytest.mark.parametrize("version", MODERN)
either = pytest.mark.parametrize("version", ASKING)


@dataclass
class Person:
    name: str


ANSWERS: dict[str, JSON] = {"Who?": accept(name="Ada"), "Sure?": DECLINE, "Count?": accept(value=3)}


def answer(method: str, params: JSON) -> JSON:
    """Answer as a client that can do everything."""
    if method == "roots/list":
        return {"roots": [{"uri": "file:///a"}]}
    return said("hello") if method == "sampling/createMessage" else ANSWERS[params["message"]]


def serving(handler: Handler) -> Server:
    server = Server("s")

    async def run(ctx: Context) -> Any:
        return await handler(ctx)

    server.add_tool(run)
    return server


async def calling(handler: Handler, version: str, **options: Any) -> Caller:
    return await Caller(serving(handler), version, **({"answers": answer} | options)).open()


async def everything(ctx: Context) -> str:
    who, sure, word, places = await ctx.ask(
        Ask.form("Who?", Person), Ask.form("Sure?"), Ask.sample("Speak."), Ask.roots(key="places")
    )
    return f"{who.data.name} {sure.action} {word.text} {places[0].uri}"


@either
async def test_the_answers_come_in_the_order_of_the_questions(version: str) -> None:
    caller = await calling(everything, version)
    assert await caller.text("run") == "Ada decline hello file:///a"
    assert len(caller.asked) == 4
    assert caller.rounds == (2 if caller.modern else 1)


@either
@pytest.mark.parametrize("count", range(4))
async def test_one_answer_comes_alone_and_others_as_a_tuple(version: str, count: int) -> None:
    found: list[Any] = []

    async def handler(ctx: Context) -> str:
        found.append(await ctx.ask(*[Ask.form("Count?", int) for _ in range(count)]))
        return "done"

    await (await calling(handler, version)).text("run")
    numbers = [each.data for each in (found[-1] if isinstance(found[-1], tuple) else [found[-1]])]
    assert numbers == [3] * count
    assert isinstance(found[-1], tuple) == (count != 1)


@modern
@pytest.mark.requirement(214, 217, 232)
async def test_a_client_that_answers_some_is_asked_for_the_rest(version: str) -> None:
    """Many rounds, one answer in each; those that are there are neither asked for again nor forgotten."""
    caller = await calling(everything, version)
    params = caller.stamped({"name": "run"})
    left = ["q1", "q2", "q3", "places"]
    retry: JSON = {}
    for key in ("q3", "q1", "places", "q2"):
        result = (await caller.send("tools/call", params | retry))["result"]
        assert list(result["inputRequests"]) == left
        left.remove(key)
        question = result["inputRequests"][key]
        answers = {key: answer(question["method"], question.get("params"))}
        retry = {"requestState": result["requestState"], "inputResponses": answers}
    assert text_of((await caller.send("tools/call", params | retry))["result"]) == "Ada decline hello file:///a"


@modern
@pytest.mark.requirement(229, 230)
@pytest.mark.parametrize("bad", [accept(name=1), accept(), {"action": "perhaps"}, {}], ids=str)
async def test_an_answer_that_does_not_fit_is_refused_before_others_are_asked_for(bad: JSON, version: str) -> None:
    """It is never sealed: the same state takes a better answer."""
    caller = await calling(everything, version)
    params = caller.stamped({"name": "run"})
    result = (await caller.send("tools/call", params))["result"]
    params |= {"requestState": result["requestState"]}
    error = (await caller.send("tools/call", params | {"inputResponses": {"q1": bad}}))["error"]
    assert error["code"] == -32602
    better = {"q1": ANSWERS["Who?"]}
    result = (await caller.send("tools/call", params | {"inputResponses": better}))["result"]
    assert list(result["inputRequests"]) == ["q2", "q3", "places"]


@modern
@pytest.mark.requirement(231)
async def test_the_first_answer_counts_whatever_comes_later(version: str) -> None:
    async def handler(ctx: Context) -> str:
        who = await ctx.elicit("Who?", Person)
        await ctx.elicit("Sure?")
        return who.data.name

    caller = await calling(handler, version)
    params = caller.stamped({"name": "run"})
    result = (await caller.send("tools/call", params))["result"]
    params |= {"requestState": result["requestState"], "inputResponses": {"q1": accept(name="Ada")}}
    result = (await caller.send("tools/call", params))["result"]
    replayed = {"q1": accept(name="Eve"), "q2": DECLINE}
    params |= {"requestState": result["requestState"], "inputResponses": replayed}
    assert text_of((await caller.send("tools/call", params))["result"]) == "Ada"


@modern
@pytest.mark.requirement(231)
async def test_answers_may_come_with_the_first_request_and_extra_ones_are_ignored(version: str) -> None:
    async def by_name(ctx: Context) -> str:
        return (await ctx.elicit("Who?", Person, key="who")).data.name

    async def by_hand(ctx: Context) -> Any:
        return InputRequired({"who": None}) if "who" not in ctx.answers else ctx.answers["who"]["content"]["name"]

    for handler in (by_name, by_hand):
        caller = await calling(handler, version)
        early = caller.stamped({"name": "run", "inputResponses": {"who": accept(name="Eve"), "bogus": DECLINE}})
        assert text_of((await caller.send("tools/call", early))["result"]) == "Eve"


@modern
async def test_the_answers_of_one_call_are_nothing_to_another(version: str) -> None:
    """Both are under way at once, with the same keys."""

    async def greet(ctx: Context, greeting: str) -> str:
        who, sure = await ctx.ask(Ask.form(f"Whom shall I tell {greeting}?", Person), Ask.form("Sure?"))
        return f"{greeting} {who.data.name} {sure.action}"

    server = Server("s")
    server.add_tool(greet)
    caller = await Caller(server, version).open()
    first, second = (caller.stamped({"name": "greet", "arguments": {"greeting": word}}) for word in ("hi", "bye"))
    states = [(await caller.send("tools/call", each))["result"]["requestState"] for each in (first, second)]
    answers: JSON = {"inputResponses": {"q1": accept(name="Ada"), "q2": DECLINE}}
    for params, state, expected in (
        (first, states[1], None),
        (second, states[0], None),
        (first, states[0], "hi Ada decline"),
        (second, states[1], "bye Ada decline"),
    ):
        response = await caller.send("tools/call", params | answers | {"requestState": state})
        if expected is None:
            assert response["error"]["code"] == -32602
        else:
            assert text_of(response["result"]) == expected


@either
@pytest.mark.requirement(216)
async def test_what_the_client_cannot_answer_keeps_the_others_from_being_asked(version: str) -> None:
    caller = await calling(everything, version, can={"elicitation": {}, "sampling": {}})
    response = await caller.request("tools/call", {"name": "run"})
    assert "error" in response or response["result"]["isError"]
    assert caller.asked == []


@either
async def test_two_of_one_key_are_a_mistake_unless_they_are_the_same(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def same(ctx: Context) -> str:
        both = await ctx.ask(Ask.form("Count?", int, key="k"), Ask.form("Count?", int, key="k"))
        return str([each.data for each in both])

    async def two(ctx: Context) -> str:
        await ctx.ask(Ask.form("Count?", int, key="k"), Ask.form("Who?", Person, key="k"))
        raise AssertionError

    caller = await calling(same, version)
    assert await caller.text("run") == "[3, 3]"
    assert len(caller.asked) == 1
    caller = await calling(two, version)
    assert (await caller.call("run"))["isError"]
    assert "two questions have the key 'k'" in caplog.text
    assert caller.asked == []


# Side by side.


class Slow(Hand):
    """Keeps every question, until the test answers it."""

    def __init__(self, caller: Caller) -> None:
        super().__init__(caller, Request(5, "tools/call", raw({"name": "run"})))
        self.asked: dict[str, asyncio.Future[Response]] = {}
        self.cancelled: list[str] = []

    async def ask(self, method: str, params: JSON) -> Response:
        await super().ask(method, params)
        future: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self.asked[method] = future
        try:
            return await future
        except asyncio.CancelledError:
            self.cancelled.append(method)
            raise


async def all_kinds(ctx: Context) -> str:
    await ctx.ask(Ask.form("Who?", Person), Ask.sample("Speak."), Ask.roots())
    raise AssertionError


KINDS = ["elicitation/create", "sampling/createMessage", "roots/list"]


@legacy
@pytest.mark.parametrize("failing", KINDS)
async def test_one_that_fails_ends_the_others_and_its_error_is_raised(failing: str, version: str) -> None:
    errors: list[RPCError] = []

    async def handler(ctx: Context) -> str:
        try:
            return await all_kinds(ctx)
        except RPCError as error:
            errors.append(error)
            return "handled"

    hand = Slow(await calling(handler, version))
    async with asyncio.timeout(5):
        call = asyncio.create_task(hand._caller.server.service.handle(hand))
        await until(lambda: len(hand.asked) == 3)
        hand.asked[failing].set_exception(RPCError("no", {"a": 1}, code=-1))
        await call
    assert [(each.code, each.message, each.data) for each in errors] == [(-1, "no", {"a": 1})]
    assert (errors[0].__cause__, errors[0].__suppress_context__) == (None, True)
    assert sorted(hand.cancelled) == sorted({*KINDS} - {failing})


@legacy
async def test_a_call_that_is_cancelled_lets_go_of_all_its_questions(version: str) -> None:
    hand = Slow(await calling(all_kinds, version))
    async with asyncio.timeout(5):
        call = asyncio.create_task(hand._caller.server.service.handle(hand))
        await until(lambda: len(hand.asked) == 3)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert sorted(hand.cancelled) == sorted(KINDS)


@legacy
async def test_questions_returned_are_asked_side_by_side_too(version: str) -> None:
    async def handler(ctx: Context) -> Any:
        return "done" if ctx.state else InputRequired({"a": None, "b": None}, state="asked")

    caller = await calling(handler, version)
    waiting: list[asyncio.Future[None]] = []

    class Both(Hand):
        async def ask(self, method: str, params: JSON) -> Response:
            waiting.append(asyncio.get_running_loop().create_future())
            if len(waiting) == 2:
                for each in waiting:
                    each.set_result(None)
            await waiting[-1] if len(waiting) == 1 else None
            return await super().ask(method, params)

    async with asyncio.timeout(5):
        await caller.server.service.handle(Both(caller, Request(5, "tools/call", raw({"name": "run"}))))
    assert [method for method, _ in caller.asked] == ["roots/list"] * 2


# Progress.


@modern
@pytest.mark.requirement(254)
async def test_progress_only_grows_over_many_rounds_and_processes(version: str) -> None:
    def build() -> Server:
        server = Server("s", state_keys=[b"k" * 32])

        @server.tool
        async def run(ctx: Context) -> str:
            for number in range(4):
                await ctx.progress(number)
                await ctx.elicit(f"{number}?")
                await ctx.progress(number + 0.5)
            return "done"

        return server

    told: list[float] = []
    params: JSON = {"name": "run"}
    result: JSON = {}
    while result.get("resultType") != "complete":
        caller = await Caller(build(), version, answers=lambda _m, _p: DECLINE).open()
        result = (await caller.send("tools/call", caller.stamped(params, token=f"t{len(told)}")))["result"]
        told += caller.progress()
        params |= caller.retry(result) if "inputRequests" in result else {}
    assert told == [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5]


def test_a_request_for_a_model_has_the_options_of_sample_but_calls_nothing() -> None:
    tool = Tool(name="add", input_schema={"type": "object"})
    params = Ask.sample(["Hello", Image(b"png")], model_preferences="small", tools=[tool], key="k").params
    assert isinstance(params, CreateMessageParams)
    assert [each.role for each in params.messages] == ["user", "user"]
    assert params.max_tokens == 1000
    assert params.model_preferences == ModelPreferences(hints=[ModelHint(name="small")])
    with pytest.raises(TypeError, match=r"tools= of sample takes a list of `Tool`; .* ctx\.sample"):
        Ask.sample("Hello", tools=[len])  # type: ignore[list-item]  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="sample has no option max_rounds"):
        Ask.sample("Hello", max_rounds=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
