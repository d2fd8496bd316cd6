"""The notice that the user is done at a link: to the client that was sent there, and to nobody else."""

import asyncio
import gc
import weakref
from typing import Any

import pytest

from splice import Ask, Context, InputRequired, Server
from splice.protocol.questions import ELICITATION_COMPLETE
from splice.protocol.versions import FACTS, VERSIONS
from splice.server import sessions
from splice.types import ElicitParams
from support.caller import LEGACY, Caller
from support.waiting import settle
from support.wire import JSON

URL = [version for version in VERSIONS if FACTS[version].url_elicitation]
TELLS = [version for version in VERSIONS if ELICITATION_COMPLETE.exists(version)]

urls = pytest.mark.parametrize("version", URL)
tells = pytest.mark.parametrize("version", TELLS)


def told(id: str) -> JSON:
    return {"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": {"elicitationId": id}}


def build() -> Server:
    server = Server("s")

    @server.tool
    async def connect(id: str, ctx: Context) -> str:
        return (await ctx.elicit_url("Sign in", f"https://example.com/connect?id={id}", id=id)).action

    @server.tool
    async def by_hand(id: str, ctx: Context) -> Any:
        link = ElicitParams(mode="url", message="Go", url="https://example.com", elicitation_id=id)
        return "done" if ctx.state else InputRequired({"link": link}, state="asked")

    @server.tool
    async def connect_and_wait(ctx: Context) -> str:
        both = await ctx.ask(Ask.link("Go", "https://example.com", id="mine"), Ask.link("Go", "https://example.com/2"))
        await ctx.elicitation_complete("mine")
        return " ".join(each.action for each in both)

    @server.tool
    async def finish(id: str, ctx: Context) -> str:
        await ctx.elicitation_complete(id)
        return "told"

    return server


async def opened(server: Server, version: str, **options: Any) -> Caller:
    return await Caller(server, version, answers=lambda _m, _p: {"action": "accept"}, **options).open()


@urls
@pytest.mark.requirement(384)
@pytest.mark.parametrize("tool", ["connect", "by_hand"])
async def test_only_the_client_that_was_sent_there_hears_of_it(version: str, tool: str) -> None:
    server = build()
    ours, other = await opened(server, version), await opened(server, version)
    await ours.text(tool, {"id": "a1"})
    await other.text(tool, {"id": "b2"})
    assert ours.asked[0][1].get("elicitationId") == ("a1" if version in TELLS else None)
    for id in ("a1", "unknown", ""):
        server.publish((ELICITATION_COMPLETE.name, id))
    assert ours.pushed == ([told("a1")] if version in TELLS else [])
    assert (other.pushed, other.notes) == ([], [])
    await ours.text("finish", {"id": "b2"})
    assert other.pushed == ([told("b2")] if version in TELLS else [])
    assert ours.notes == []


@urls
async def test_the_handler_that_asked_tells_on_the_stream_of_its_call(version: str) -> None:
    caller = await opened(build(), version)
    assert await caller.text("connect_and_wait") == "accept accept"
    assert caller.notes == ([told("mine")] if version in TELLS else [])
    assert caller.pushed == []
    assert len({params.get("elicitationId") for _, params in caller.asked}) == (2 if version in TELLS else 1)


@pytest.mark.parametrize("version", VERSIONS)
async def test_nothing_is_told_where_the_version_lacks_it(version: str) -> None:
    caller = await opened(build(), version)
    await caller.text("finish", {"id": "a1"})
    await caller.call("connect", {"id": "a1"})
    await caller.text("finish", {"id": "a1"})
    assert caller.notes == ([told("a1")] if version in TELLS else [])
    assert caller.pushed == []


@tells
@pytest.mark.requirement(384)
async def test_the_id_of_another_clients_link_is_the_authors_mistake(
    version: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = build()
    ours, other = await opened(server, version), await opened(server, version)
    await ours.text("connect", {"id": "sign-in"})
    await ours.text("connect", {"id": "sign-in"})
    assert (await other.call("connect", {"id": "sign-in"}))["isError"]
    assert other.asked == []
    assert "'sign-in' is that of another client's elicitation: give each one of its own" in caplog.text
    server.publish((ELICITATION_COMPLETE.name, "sign-in"))
    assert (ours.pushed, other.pushed) == ([told("sign-in")], [])


@tells
async def test_it_may_be_told_from_any_thread(version: str) -> None:
    server = build()
    caller = await opened(server, version)
    await caller.text("connect", {"id": "a1"})
    await asyncio.to_thread(server.publish, (ELICITATION_COMPLETE.name, "a1"))
    await settle()
    assert caller.pushed == [told("a1")]


@tells
async def test_a_session_that_ended_is_forgotten_with_its_links(version: str) -> None:
    server = build()
    caller = await opened(server, version)
    await caller.text("connect", {"id": "a1"})
    caller.session.end()
    server.publish((ELICITATION_COMPLETE.name, "a1"))
    assert caller.pushed == []
    gone = weakref.ref(caller)
    del caller
    gc.collect()
    assert gone() is None
    later = await opened(server, version)
    await later.text("connect", {"id": "a1"})
    server.publish((ELICITATION_COMPLETE.name, "a1"))
    assert later.pushed == [told("a1")]


@tells
async def test_a_client_cannot_make_the_server_remember_without_bounds(
    version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "MAX_SUBSCRIPTIONS", 2)
    caller = await opened(build(), version)
    for number in range(4):
        assert await caller.text("connect", {"id": f"n{number}"}) == "accept"
    assert caller.session.elicitations == {"n0", "n1"}


@pytest.mark.parametrize("version", [each for each in LEGACY if each in URL])
async def test_a_link_without_an_id_gets_one_that_nobody_guesses(version: str) -> None:
    server = Server("s")

    @server.tool
    async def go(ctx: Context) -> str:
        return (await ctx.elicit_url("Go", "https://example.com")).action

    caller = await opened(server, version)
    for _ in range(3):
        await caller.text("go")
    ids = {params["elicitationId"] for _, params in caller.asked}
    assert [len(each) for each in ids] == [32] * 3
    assert caller.session.elicitations == set()


@tells
@pytest.mark.parametrize("by", ["publish", "finish"])
async def test_what_is_complete_is_forgotten(by: str, version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MAX_SUBSCRIPTIONS", 2)
    server = build()
    caller = await opened(server, version)
    for number in range(4):
        await caller.text("connect", {"id": f"n{number}"})
        if by == "publish":
            server.publish((ELICITATION_COMPLETE.name, f"n{number}"))
        else:
            await caller.text("finish", {"id": f"n{number}"})
    assert [*caller.pushed, *caller.notes] == [told(f"n{number}") for number in range(4)]
    assert caller.session.elicitations == set()
