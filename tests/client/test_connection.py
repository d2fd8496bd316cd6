"""Sessions that the server forgets: another connection takes the place of the one that is lost."""

import asyncio
from typing import Any

import pytest

from client.scripted import ScriptedLink, ScriptedTarget, initialize, raising, until
from splice import Client
from splice.client import conversation
from splice.errors import ConnectionClosed, MethodNotFound, SessionLost
from splice.protocol.jsonrpc import Notification
from splice.protocol.questions import ROOTS_CHANGED

DONE = {"content": [{"type": "text", "text": "done"}]}


class Forgetful(ScriptedTarget):
    """Forgets the session of every link but the latest, as soon as it is told to."""

    def __init__(self) -> None:
        super().__init__(initialize=self.initialize, tools__call=self.call, ping=self.ping)
        self.forgotten: list[ScriptedLink] = []
        self.go_on = asyncio.Event()
        self.opens = asyncio.Event()
        self.opens.set()

    async def initialize(self, message: Any, link: Any) -> Any:
        await self.opens.wait()
        return await initialize(message, link)

    async def call(self, message: Any, link: ScriptedLink) -> Any:
        if message["params"]["name"] == "slow":
            await self.go_on.wait()
        elif link in self.forgotten:
            raise SessionLost("forgotten")
        return DONE

    async def ping(self, _: Any, link: ScriptedLink) -> Any:
        if link in self.forgotten:
            raise SessionLost("forgotten")
        return {}

    def forget(self) -> None:
        self.forgotten.append(self.link)


async def test_one_new_connection_serves_all_requests_that_lost_theirs() -> None:
    target = Forgetful()
    async with Client(target, protocol="legacy") as client, asyncio.timeout(5):
        target.forget()
        results = await asyncio.gather(*(client.call_tool("t") for _ in range(20)))
        assert [result.text for result in results] == ["done"] * 20
        assert len(target.links) == 2
        assert target.link.story[:4] == ["agree None", "initialize", "agree 2025-11-25", "notifications/initialized"]
    assert [link.closed for link in target.links] == [1, 1]


async def test_requests_on_an_old_link_are_given_time_to_end() -> None:
    target = Forgetful()
    async with Client(target, protocol="legacy") as client, asyncio.timeout(5):
        slow = asyncio.ensure_future(client.call_tool("slow"))
        await until(lambda: target.calls("tools/call"))
        target.forget()
        await client.call_tool("t")
        first, second = target.links
        assert not first.closed
        target.go_on.set()
        assert (await slow).text == "done"
        assert not second.closed


async def test_an_old_link_is_closed_in_the_end_whatever_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversation, "RETIRE_SECONDS", 0.01)
    target = Forgetful()
    async with Client(target, protocol="legacy") as client, asyncio.timeout(5):
        slow = asyncio.ensure_future(client.call_tool("slow"))
        await until(lambda: target.calls("tools/call"))
        target.forget()
        await client.ping()
        await until(lambda: target.links[0].closed)
        target.go_on.set()
        await slow


async def test_closing_the_client_closes_old_links_too() -> None:
    target = Forgetful()
    client = Client(target, protocol="legacy")
    await client.open()
    slow = asyncio.ensure_future(client.call_tool("slow"))
    await until(lambda: target.calls("tools/call"))
    target.forget()
    await client.ping()
    async with asyncio.timeout(5):
        await client.close()
    assert all(link.closed for link in target.links)
    slow.cancel()


async def test_a_caller_that_gives_up_leaves_the_new_session_to_the_others() -> None:
    target = Forgetful()
    async with Client(target, protocol="legacy") as client, asyncio.timeout(5):
        target.forget()
        target.opens.clear()
        first, second = (asyncio.ensure_future(client.ping()) for _ in range(2))
        await until(lambda: len(target.links) == 2)
        first.cancel()
        await asyncio.wait((first,))
        target.opens.set()
        await second
        assert first.cancelled()
        assert [bool(link.closed) for link in target.links[1:]] == [False]


async def test_closing_while_a_new_session_is_opened() -> None:
    target = Forgetful()
    async with Client(target, protocol="legacy") as client, asyncio.timeout(5):
        target.forget()
        target.opens.clear()
        calls = [asyncio.ensure_future(client.ping()) for _ in range(2)]
        await until(lambda: len(target.links) == 2)
        await client.close()
        for call in calls:
            with pytest.raises(ConnectionClosed, match="This client is closed"):
                await call
    assert all(link.closed for link in target.links)


async def test_closing_from_within_the_opening_itself() -> None:
    async def closing(message: Any, link: Any) -> Any:
        await client.close()
        return await initialize(message, link)

    target = ScriptedTarget(initialize=closing)
    client = Client(target, protocol="legacy")
    with pytest.raises(ConnectionClosed, match="This client is closed"):
        await client.open()
    assert target.link.closed


async def test_a_failed_opening_leaves_nothing_that_a_later_close_could_end() -> None:
    client = Client(ScriptedTarget())

    async def use() -> str:
        with pytest.raises(MethodNotFound):
            await client.open()
        await asyncio.create_task(client.close())
        return "not cancelled"

    assert await asyncio.create_task(use()) == "not cancelled"


async def test_a_notification_that_finds_no_session_is_sent_in_another() -> None:
    class Link(ScriptedLink):
        async def notify(self, note: Notification) -> None:
            if self in target.forgotten:
                raise SessionLost("forgotten")
            await super().notify(note)

    class Target(Forgetful):
        async def connect(self, receiver: Any) -> ScriptedLink:
            self.links.append(Link(self, receiver))
            return self.link

    target = Target()
    async with Client(target, protocol="legacy") as client:
        target.forget()
        await client.notify(ROOTS_CHANGED)
        assert target.link.story[-1] == ROOTS_CHANGED.name
        assert len(target.links) == 2


# Told by the number of the call.


class Counting(ScriptedTarget):
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
    target = Counting(2)
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
    target = Counting(1, 2, 3)
    async with Client(target) as client:
        results = await asyncio.gather(*(client.call_tool("t") for _ in range(3)))
        assert [result.text for result in results] == ["done"] * 3
    assert len(target.calls("initialize")) == 2


async def test_a_session_that_is_lost_again_at_once_is_given_up() -> None:
    target = Counting(1, 2)
    async with Client(target) as client:
        with pytest.raises(SessionLost):
            await client.call_tool("t")
        assert (await client.call_tool("t")).text == "done"


async def test_trouble_with_what_a_new_session_must_know_is_only_logged(caplog: pytest.LogCaptureFixture) -> None:
    target = Counting(1)

    async def once(message: Any, link: Any) -> Any:
        if len(target.calls(message["method"])) > 1:
            raise SessionLost("again")
        return {}

    target.methods["logging/setLevel"] = target.methods["resources/subscribe"] = once
    async with Client(target, on_log=lambda _: None) as client:
        await client.subscribe("x://a")
        assert (await client.call_tool("t")).text == "done"
    assert "could not set the log level" in caplog.text
    assert "cannot hear of changes" in caplog.text


async def test_a_new_session_that_cannot_be_opened() -> None:
    target = Counting(1)
    async with Client(target) as client:
        target.methods["initialize"] = raising(ConnectionClosed("gone"))
        with pytest.raises(ConnectionClosed, match="gone"):
            await client.call_tool("t")
