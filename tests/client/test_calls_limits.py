"""`timeout` is the limit of a call or an opening, with everything that it sets off; the user's time does not count."""

import asyncio
import sys
from typing import Any

import pytest

from client.scripted import (
    NEWEST,
    HTTPTarget,
    ScriptedLink,
    ScriptedTarget,
    discover,
    forever,
    initialize,
    legacy,
    modern,
    returning,
    until,
)
from splice import Client
from splice.client import connection
from splice.client.questions import ElicitAnswer
from splice.errors import RequestTimeout, SessionLost
from splice.protocol.jsonrpc import Notification
from splice.transports.stdio import client as stdio_client

FOR_EVER = 1e6
DONE = {"content": [{"type": "text", "text": "done"}]}
FORM = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}


class Deaf(ScriptedTarget):
    """Never takes the notifications named here, from the link of that number on."""

    def __init__(self, note: str, first: int = 0, **methods: Any) -> None:
        super().__init__(initialize=initialize, **methods)
        self.note = note
        self.first = first

    async def connect(self, receiver: Any) -> ScriptedLink:
        deaf, note = len(self.links) >= self.first, self.note

        class Link(ScriptedLink):
            async def notify(self, message: Notification) -> None:
                await super().notify(message)
                if deaf and message.method == note:
                    await asyncio.Event().wait()

        self.links.append(Link(self, receiver))
        return self.link


@pytest.fixture(autouse=True)
def _nothing_else_ends_a_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what does not keep to its own limit take longer than any test may."""
    monkeypatch.setattr(connection, "PROBE_SECONDS", FOR_EVER)
    monkeypatch.setattr(stdio_client, "GRACE_SECONDS", FOR_EVER)


async def test_an_opening_ends_when_its_last_notification_is_not_taken() -> None:
    target = Deaf("notifications/initialized")
    with pytest.raises(RequestTimeout, match=r"^scripted did not answer within 0\.05 s$"):
        await Client(target, protocol="legacy", timeout=0.05).open()
    assert target.link.closed


async def test_an_opening_ends_when_a_stream_of_changes_is_not_acknowledged() -> None:
    async with Client(modern(subscriptions__listen=forever), on_change=lambda _: None, timeout=0.1):
        pass


async def test_an_opening_ends_when_the_log_level_is_not_taken() -> None:
    with pytest.raises(RequestTimeout, match="scripted did not answer within"):
        await Client(legacy(logging__setLevel=forever), on_log=lambda _: None, timeout=0.05).open()


async def test_a_notification_ends_when_it_is_not_taken() -> None:
    target = Deaf("notifications/roots/list_changed")
    async with Client(target, roots=[], protocol="legacy", timeout=0.05) as client:
        with pytest.raises(RequestTimeout, match=r"notifications/roots/list_changed could not be sent within 0\.05 s"):
            await client.roots_changed()


async def test_a_call_ends_while_its_lost_session_is_opened_again() -> None:
    async def lost(message: Any, link: Any) -> Any:
        raise SessionLost("forgotten")

    target = Deaf("notifications/initialized", first=1, tools__call=lost)
    async with Client(target, protocol="legacy") as client:
        with pytest.raises(RequestTimeout, match=r"No answer to tools/call within 0\.05 s"):
            await client.call_tool("t", timeout=0.05)
        assert [link.closed for link in target.links] == [0, 0]  # the opening goes on, for the next call
    assert [link.closed for link in target.links] == [1, 1]


async def test_what_a_new_session_must_know_is_told_although_the_caller_gave_up() -> None:
    told = asyncio.Event()

    async def call(message: Any, link: Any) -> Any:
        if link is target.links[0]:
            raise SessionLost("forgotten")
        return DONE

    async def level(message: Any, link: Any) -> Any:
        if link is not target.links[0]:
            await told.wait()
        return {}

    async def subscribe(message: Any, link: Any) -> Any:
        return {}

    target = legacy(tools__call=call, logging__setLevel=level, resources__subscribe=subscribe)
    async with Client(target, protocol="legacy", on_log=lambda _: None) as client:
        await client.subscribe("x://a")
        with pytest.raises(RequestTimeout):
            await client.call_tool("t", timeout=0.05)
        told.set()
        assert (await client.call_tool("t")).text == "done"
        await until(lambda: len(target.calls("resources/subscribe")) == 2)


async def test_a_server_that_only_says_later_takes_no_longer_than_the_call_may() -> None:
    target = modern(tools__call=returning({"resultType": "input_required", "requestState": "s"}))
    async with Client(target) as client:
        with pytest.raises(RequestTimeout, match=r"tools/call within 0\.2 s"):
            await client.call_tool("t", timeout=0.2)


async def test_the_hidden_list_takes_no_longer_than_the_call_may() -> None:
    async with Client(modern(HTTPTarget, tools__list=forever)) as client:
        with pytest.raises(RequestTimeout, match=r"tools/call within 0\.05 s"):
            await client.call_tool("t", timeout=0.05)


@pytest.mark.parametrize("kind", [ScriptedTarget, HTTPTarget])
async def test_the_user_may_think_for_longer_than_the_call_may_take(kind: type[ScriptedTarget]) -> None:
    thought = asyncio.Event()

    async def call(message: Any, link: Any) -> Any:
        if "inputResponses" in message["params"]:
            return DONE
        return {
            "resultType": "input_required",
            "inputRequests": {"a": {"method": "elicitation/create", "params": FORM}},
        }

    async def think(_: Any) -> ElicitAnswer:
        await thought.wait()
        return "accept"

    target = modern(kind, tools__call=call, tools__list=returning({"tools": []}))
    async with Client(target, on_elicit=think) as client:
        asked = asyncio.ensure_future(client.call_tool("t", timeout=0.1))
        await asyncio.wait((asked,), timeout=0.2)
        assert not asked.done()
        thought.set()
        assert (await asked).text == "done"


SILENT = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)"]


@pytest.mark.parametrize("protocol", ["auto", "legacy", "modern", NEWEST])
async def test_a_silent_child_costs_no_more_than_the_timeout(protocol: str) -> None:
    with pytest.raises(RequestTimeout, match=r"did not answer within 0\.4 s$"):
        await Client(SILENT, timeout=0.4, protocol=protocol).open()


async def test_a_modern_server_that_starts_slowly_is_waited_for_where_only_modern_will_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connection, "PROBE_SECONDS", 0.0)

    async def late(message: Any, link: Any) -> Any:
        await asyncio.wait((asyncio.ensure_future(asyncio.Event().wait()),), timeout=0.05)
        return await discover(message, link)

    class Pipe(ScriptedTarget):
        kind = "stdio"

    async with Client(Pipe(server__discover=late), protocol="modern") as client:
        assert client.protocol_version == NEWEST
