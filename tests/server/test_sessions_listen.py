"""Who hears of changes: `subscriptions/listen` streams, and legacy sessions."""
# ruff: noqa: ARG005 - what parameters are called is all that counts of them

import asyncio
import json
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from splice import Server
from splice.protocol.capabilities import PromptsCapability, ResourcesCapability, ServerCapabilities, ToolsCapability
from splice.protocol.jsonrpc import Notification, Request, encode
from splice.protocol.lifecycle import META_SUBSCRIPTION_ID
from splice.protocol.notifications import SubscriptionFilter
from splice.rules.sessions import Session
from splice.server.call import END
from splice.server.sessions import LIST_CHANGES, Listener, Sessions, change_note, updated
from splice.transports.base import Exchange, Sender
from support.caller import LEGACY, MODERN, Caller, Hand
from support.waiting import settle, until
from support.wire import JSON, initialize

TOOLS = "notifications/tools/list_changed"
PROMPTS = "notifications/prompts/list_changed"
RESOURCES = "notifications/resources/list_changed"
UPDATED = "notifications/resources/updated"
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

EVERYTHING = {
    "toolsListChanged": True,
    "promptsListChanged": True,
    "resourcesListChanged": True,
    "resourceSubscriptions": ["data://a", "data://b"],
}


def full_server() -> Server:
    server = Server("s")
    server.add_tool(lambda: "", name="t")
    server.add_prompt(lambda: "", name="p")
    server.add_resource(lambda: "", "data://a")
    return server


async def listed(server: Server) -> list[str]:
    return [tool["name"] for tool in (await Caller(server, MODERN[0]).result("tools/list"))["tools"]]


class Listening:
    """A client that listens, by hand. `held` keeps what it is told from being taken."""

    def __init__(self, server: Server, wanted: JSON, version: str = MODERN[0], id: JSON = None) -> None:
        self.caller = Caller(server, version)
        self.told: list[JSON] = []
        self.held: asyncio.Event | None = None
        self.task = asyncio.create_task(self._listen(wanted, id))

    async def _listen(self, wanted: JSON, id: JSON) -> JSON:
        params = self.caller.stamped({"notifications": wanted})
        original = Hand.notify

        async def notify(_: Any, note: Notification) -> None:
            self.told.append(json.loads(encode(note)))
            if self.held is not None:
                await self.held.wait()

        listening = type("Listener", (Hand,), {"notify": notify, "original": original})
        caller = self.caller
        request = await _request(caller, params, id)
        hand = listening(caller, request)
        response = await caller.server.service.handle(hand)
        return json.loads(encode(response))

    async def ready(self) -> "Listening":
        await until(lambda: self.told)
        return self

    @property
    def changes(self) -> list[tuple[str, str | None]]:
        return [(each["method"], each["params"].get("uri")) for each in self.told if each["method"] != ACKNOWLEDGED]

    async def cancel(self) -> None:
        self.task.cancel()
        await asyncio.wait([self.task])


async def _request(caller: Caller, params: JSON, id: JSON) -> Any:
    from msgspec import Raw

    from splice.protocol.jsonrpc import Request

    return Request(1 if id is None else id, "subscriptions/listen", Raw(json.dumps(params).encode()))


@pytest.mark.parametrize("id", [0, 7, "text"])
async def test_the_acknowledgement_comes_first_and_everything_names_the_subscription(id: JSON) -> None:
    server = full_server()
    listener = await Listening(server, EVERYTHING, id=id).ready()
    server.add_tool(lambda: "", name="new")
    server.publish((UPDATED, "data://b"))
    await until(lambda: len(listener.told) == 3)
    assert [each["method"] for each in listener.told] == [ACKNOWLEDGED, TOOLS, UPDATED]
    assert listener.told[0]["params"]["notifications"] == EVERYTHING
    assert all(each["params"]["_meta"][META_SUBSCRIPTION_ID] == id for each in listener.told)
    await server.service.drain()
    response = await listener.task
    assert response["id"] == id
    assert response["result"]["resultType"] == "complete"
    assert response["result"]["_meta"][META_SUBSCRIPTION_ID] == id


@pytest.mark.parametrize(
    ("wanted", "heard"),
    [
        ({}, []),
        ({"toolsListChanged": True}, [(TOOLS, None)]),
        ({"toolsListChanged": False, "promptsListChanged": True}, [(PROMPTS, None)]),
        ({"resourcesListChanged": True}, [(RESOURCES, None)]),
        ({"resourceSubscriptions": ["data://b"]}, [(UPDATED, "data://b")]),
        ({"resourceSubscriptions": []}, []),
    ],
    ids=str,
)
async def test_nothing_is_told_that_was_not_asked_for(wanted: JSON, heard: list[Any]) -> None:
    server = full_server()
    listener = await Listening(server, wanted).ready()
    for change in ((TOOLS, None), (PROMPTS, None), (RESOURCES, None), (UPDATED, "data://a"), (UPDATED, "data://b")):
        server.publish(change)
    await settle()
    assert listener.changes == heard
    await listener.cancel()


async def test_what_the_server_does_not_offer_is_not_acknowledged() -> None:
    listener = await Listening(Server("s"), EVERYTHING).ready()
    assert listener.told[0]["params"]["notifications"] == {}
    await listener.cancel()


@pytest.mark.parametrize("wanted", [None, [], {"toolsListChanged": 2}, {"resourceSubscriptions": "data://a"}], ids=str)
async def test_a_filter_of_the_wrong_shape_is_invalid(wanted: JSON) -> None:
    caller = await Caller(full_server(), MODERN[0]).open()
    assert (await caller.error("subscriptions/listen", {"notifications": wanted}))["code"] == -32602


@pytest.mark.parametrize("version", LEGACY)
async def test_sessions_do_not_listen(version: str) -> None:
    caller = await Caller(full_server(), version).open()
    assert (await caller.error("subscriptions/listen", {"notifications": {}}))["code"] == -32601


async def test_a_slow_listener_is_told_each_change_once_and_holds_nobody_up() -> None:
    server = full_server()
    slow, quick = [await Listening(server, EVERYTHING).ready() for _ in range(2)]
    slow.held = asyncio.Event()
    server.publish((TOOLS, None))
    await until(lambda: slow.changes)
    for _ in range(1000):
        server.publish((TOOLS, None))
        server.publish((UPDATED, "data://a"))
        await asyncio.sleep(0)
    await until(lambda: len(quick.changes) > 100)
    assert len(slow.changes) == 1
    slow.held.set()
    await settle()
    assert slow.changes == [(TOOLS, None), (TOOLS, None), (UPDATED, "data://a")]
    await slow.cancel()
    await quick.cancel()


async def test_a_listener_that_leaves_is_forgotten() -> None:
    server = full_server()
    listeners = [await Listening(server, EVERYTHING).ready() for _ in range(3)]
    told = [len(listener.told) for listener in listeners]
    for listener in listeners:
        await listener.cancel()
    server.publish((TOOLS, None))
    await settle()
    assert [len(listener.told) for listener in listeners] == told


async def test_changes_before_the_end_are_told_before_the_end() -> None:
    server = full_server()
    listener = await Listening(server, EVERYTHING).ready()
    server.publish((TOOLS, None))
    await server.service.drain()
    await listener.task
    assert listener.changes == [(TOOLS, None)]


@pytest.mark.parametrize(
    ("change", "method"),
    [
        (lambda server: server.add_tool(lambda: "", name="x"), TOOLS),
        (lambda server: server.remove_tool("t"), TOOLS),
        (lambda server: server.add_prompt(lambda: "", name="x"), PROMPTS),
        (lambda server: server.remove_prompt("p"), PROMPTS),
        (lambda server: server.add_resource(lambda: "", "data://x"), RESOURCES),
        (lambda server: server.add_resource(lambda a: "", "data://x/{a}"), RESOURCES),
        (lambda server: server.remove_resource("data://a"), RESOURCES),
    ],
)
async def test_adding_and_removing_is_told_in_both_eras(change: Any, method: str) -> None:
    server = full_server()
    listener = await Listening(server, EVERYTHING).ready()
    session = await Caller(server, LEGACY[-1]).open()
    stranger = Caller(server, LEGACY[-1])
    change(server)
    await settle()
    assert listener.changes == [(method, None)]
    assert session.pushed == [{"jsonrpc": "2.0", "method": method}]
    assert stranger.pushed == []
    session.session.end()
    server.publish((method, None))
    assert len(session.pushed) == 1
    await listener.cancel()


@pytest.mark.parametrize("version", LEGACY)
async def test_a_session_is_told_nothing_before_it_is_ready(version: str) -> None:
    server = full_server()
    caller = Caller(server, version)
    await caller.send("initialize", initialize(version)["params"])
    server.publish((TOOLS, None))
    await caller.send("ping")
    server.publish((TOOLS, None))
    assert caller.pushed == []
    await server.service.hear(Notification("notifications/initialized"), caller.sender)
    server.publish((TOOLS, None))
    assert len(caller.pushed) == 1


async def test_a_session_that_forgot_to_say_so_is_ready_when_it_asks_for_something() -> None:
    server = full_server()
    caller = Caller(server)
    await caller.send("initialize", initialize()["params"])
    await caller.send("tools/list")
    server.publish((TOOLS, None))
    assert len(caller.pushed) == 1


async def test_a_tool_on_a_thread_may_change_the_server() -> None:
    """Everything that waits on the event loop is told there, not on the thread."""
    server = full_server()
    told_on: list[int] = []

    @server.tool
    def grow() -> str:
        server.add_tool(lambda: "", name="grown")
        return "grown"

    listener = await Listening(server, EVERYTHING).ready()
    session = await Caller(server, LEGACY[-1]).open()
    push = session.session.push

    def pushed(note: Notification) -> None:
        told_on.append(threading.get_ident())
        push(note)

    session.session.push = pushed
    assert await session.text("grow") == "grown"
    await until(lambda: listener.changes and session.pushed)
    assert told_on == [threading.get_ident()]
    assert listener.changes == [(TOOLS, None)]
    await listener.cancel()


async def test_a_change_from_a_thread_after_the_end_harms_nobody() -> None:
    server = full_server()
    listener = await Listening(server, EVERYTHING).ready()
    await listener.cancel()
    thread = threading.Thread(target=lambda: server.add_tool(lambda: "", name="late"))
    thread.start()
    await asyncio.get_running_loop().run_in_executor(None, thread.join)
    assert "late" in await listed(server)


def test_a_server_may_change_before_any_loop_runs_and_after_it_ended() -> None:
    server = full_server()

    async def serve() -> None:
        await (await Listening(server, EVERYTHING).ready()).cancel()

    asyncio.run(serve())
    server.add_tool(lambda: "", name="between")
    thread = threading.Thread(target=lambda: server.add_tool(lambda: "", name="late"))
    thread.start()
    thread.join()
    asyncio.run(serve())


@pytest.mark.parametrize("version", LEGACY)
async def test_subscriptions_have_a_limit(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splice.server.sessions.MAX_SUBSCRIPTIONS", 2)
    server = Server("s")
    server.add_resource(lambda: "", "data://x")
    caller = await Caller(server, version).open()
    for uri in ("data://x", "data://y"):
        await caller.result("resources/subscribe", {"uri": uri})
    await caller.result("resources/subscribe", {"uri": "data://x"})
    assert (await caller.error("resources/subscribe", {"uri": "data://z"}))["code"] == -32600
    await caller.result("resources/unsubscribe", {"uri": "data://y"})
    await caller.result("resources/subscribe", {"uri": "data://z"})


# Who hears of a change is looked up, never searched.

TOOLS_CHANGE = (TOOLS, None)


class Stream(Exchange):
    """An exchange that keeps what it is told."""

    def __init__(self) -> None:
        super().__init__(Request(1, "subscriptions/listen"), Sender(kind="memory"))
        self.told: list[Notification] = []

    async def notify(self, note: Notification) -> None:
        self.told.append(note)


def a_call(**parts: Any) -> Any:
    """Make as much of a call as the chapter looks at."""
    everything = ServerCapabilities(tools=ToolsCapability(), resources=ResourcesCapability())
    return SimpleNamespace(home=SimpleNamespace(capabilities=lambda: everything), **parts)


def asking(session: Session, uri: str) -> Any:
    return a_call(session=session, params=SimpleNamespace(uri=uri))


def listening(stream: Stream, **wanted: Any) -> Any:
    return a_call(exchange=stream, params=SimpleNamespace(notifications=SubscriptionFilter(**wanted)))


LISTING = ServerCapabilities(
    tools=ToolsCapability(), prompts=PromptsCapability(), resources=ResourcesCapability(list_changed=True)
)


@pytest.mark.requirement(88, 308)
def test_a_session_hears_of_no_list_that_it_was_not_told_of() -> None:
    """Requirements 88 and 308."""
    told: list[str] = []

    async def tell() -> None:
        hub, session = Sessions(), Session(push=lambda note: told.append(note.method), ready=True)
        hub.join(session, ServerCapabilities(prompts=PromptsCapability()))
        for change in LIST_CHANGES:
            hub.publish(change)
        session.end()
        hub.publish(LIST_CHANGES[0])

    asyncio.run(tell())
    assert told == [PROMPTS]


def joined(hub: Sessions) -> tuple[Session, list[str]]:
    told: list[str] = []
    session = Session(push=lambda note: told.append(note.method), ready=True)
    hub.join(session, LISTING)
    return session, told


async def test_a_session_hears_of_lists_and_of_what_it_subscribed_to_until_it_ends() -> None:
    hub = Sessions()
    session, told = joined(hub)
    await hub.subscribe(asking(session, "data://a"))
    for change in (*LIST_CHANGES, updated("data://a"), updated("data://b")):
        hub.publish(change)
    assert told == [*(method for method, _ in LIST_CHANGES), "notifications/resources/updated"]
    await hub.unsubscribe(asking(session, "data://a"))
    hub.publish(updated("data://a"))
    session.end()
    hub.publish(TOOLS_CHANGE)
    assert len(told) == 4


async def test_nobody_is_asked_who_did_not_want_to_know(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many sessions and streams stand by; a change touches only those it is for."""
    hub, asked = Sessions(), []
    for number in range(100):
        session, _ = joined(hub)
        await hub.subscribe(asking(session, f"data://{number}"))
    streams = [
        asyncio.create_task(hub.listen(listening(Stream(), resource_subscriptions=[f"data://{number}"])))
        for number in range(100)
    ]
    await settle()
    with monkeypatch.context() as patch:
        patch.setattr(Listener, "tell", lambda _, change: asked.append(change))
        hub.publish(updated("data://7"))
    assert asked == [updated("data://7")]
    ((audience),) = hub._audiences.values()
    assert len(audience[updated("data://7")]) == 2, "a stream and a session"
    hub.publish(END)
    await asyncio.gather(*streams)
    assert not any(isinstance(who, Listener) for found in audience.values() for who in found)


async def test_a_session_may_end_while_it_is_told() -> None:
    hub, told = Sessions(), list[str]()
    for _ in range(3):
        session = Session(ready=True)

        def push(note: Notification, session: Session = session) -> None:
            told.append(note.method)
            session.end()

        session.push = push
        hub.join(session, LISTING)
    hub.publish(TOOLS_CHANGE)
    hub.publish(TOOLS_CHANGE)
    assert len(told) == 3


def test_streams_of_several_loops_are_told_and_closed_on_their_own() -> None:
    hub, stream = Sessions(), Stream()

    async def listen() -> None:
        task = asyncio.create_task(hub.listen(listening(stream, tools_list_changed=True)))
        await until(lambda: stream.told)
        await asyncio.to_thread(asyncio.run, elsewhere())
        async with asyncio.timeout(5):
            await task

    async def elsewhere() -> None:
        hub.publish(TOOLS_CHANGE)
        hub.publish(END)

    asyncio.run(listen())
    assert [note.method for note in stream.told][1:] == [TOOLS_CHANGE[0]]
    hub.publish(TOOLS_CHANGE)  # its loop is closed
    assert hub._audiences == {}


def test_a_change_of_a_list_needs_no_params() -> None:
    assert change_note(TOOLS_CHANGE).params is None
    assert change_note(updated("data://a")).params.uri == "data://a"
