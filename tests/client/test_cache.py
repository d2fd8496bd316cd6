"""What a client keeps of what a server said, for how long, and what makes it forget."""

import asyncio
import gc
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from client.scripted import (
    DONE,
    LISTEN,
    HTTPTarget,
    Listenable,
    ListenableHTTP,
    ListenableStdio,
    ScriptedTarget,
    StdioTarget,
    discover,
    forever,
    legacy,
    modern,
    raising,
    returning,
    until,
)
from splice import Client, HTTPServer
from splice.client import cache, subscriptions
from splice.errors import (
    ConnectionClosed,
    HeaderMismatch,
    InternalError,
    InvalidParams,
    RemoteProtocolError,
    RequestTimeout,
    RPCError,
    SessionLost,
)
from splice.protocol.jsonrpc import Request, raw
from splice.protocol.resources import RESOURCES_READ, ReadResourceParams
from splice.protocol.wire import CacheableResult, Result
from splice.rules.extensions import Extension
from splice.types import PromptReference, Tool
from support.tables import rows
from transports.raw_http import Visit, raw_server

MINUTE = {"ttlMs": 60_000, "cacheScope": "public"}
LISTS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "tools/list": ("tools", "list_tools", {"name": "n", "inputSchema": {"type": "object"}}),
    "prompts/list": ("prompts", "list_prompts", {"name": "n"}),
    "resources/list": ("resources", "list_resources", {"name": "n", "uri": "x://a"}),
    "resources/templates/list": (
        "resourceTemplates",
        "list_resource_templates",
        {"name": "n", "uriTemplate": "x://{a}"},
    ),
}
READ = "resources/read"
ALL = (*LISTS, READ)

kinds = pytest.mark.parametrize("kind", [ScriptedTarget, StdioTarget, HTTPTarget])


class Clock:
    """Stands still until it is turned."""

    def __init__(self) -> None:
        self.time = 1000.0

    def __call__(self) -> float:
        return self.time


def turned_by_hand(client: Client) -> Clock:
    clock = client._calls.cache.now = Clock()
    return clock


def answers(**hints: Any) -> dict[str, Any]:
    """Make the methods that may be kept; the content counts how often each was asked for."""
    asked: dict[str, int] = {}

    def listing(name: str) -> Any:
        member, _, item = LISTS[name]

        async def method(message: Any, link: Any) -> Any:
            asked[name] = asked.get(name, 0) + 1
            return {member: [{**item, "description": str(asked[name])}], **hints}

        return method

    async def read(message: Any, link: Any) -> Any:
        asked[READ] = asked.get(READ, 0) + 1
        return {"contents": [{"uri": message["params"]["uri"], "text": str(asked[READ])}], **hints}

    return {**{name.replace("/", "__"): listing(name) for name in LISTS}, "resources__read": read}


async def use(client: Client, method: str, uri: str = "x://a", **options: Any) -> str:
    """Ask for something, and tell how often the server had been asked for it when it said so."""
    if method == READ:
        return str((await client.read_resource(uri, **options)).contents[0].text)
    return str((await getattr(client, LISTS[method][1])(**options))[0].description)


# What is kept, and for how long.


@pytest.mark.parametrize("method", ALL)
@kinds
async def test_what_is_fresh_is_not_asked_for_again(kind: type[ScriptedTarget], method: str) -> None:
    target = modern(kind, **answers(**MINUTE))
    async with Client(target) as client:
        assert [await use(client, method) for _ in range(3)] == ["1"] * 3
        assert len(target.calls(method)) == 1


@rows(
    ("hints", "kept"),
    [
        ({"ttlMs": 1}, True),
        ({"ttlMs": 60_000, "cacheScope": "private"}, True),
        ({"ttlMs": 60_000, "cacheScope": "everybody"}, True),
        ({"ttlMs": 60_000, "resultType": "complete"}, True),
        ({"ttlMs": "60000"}, True),
        ({"ttlMs": 10**400}, True),
        ({}, False),
        ({"ttlMs": None}, False),
        ({"ttlMs": 0, "cacheScope": "public"}, False),
        ({"ttlMs": -5}, False),
        ({"ttlMs": -(10**400)}, False),
        ({"ttlMs": "soon"}, False),
        ({"ttlMs": {}}, False),
        ({"ttlMs": True}, False),
        ({"cacheScope": "public"}, False),
    ],
)
@rows("method", ["tools/list", READ])
@pytest.mark.requirement(332)
async def test_only_a_time_to_live_above_zero_keeps_a_result(method: str, hints: Any, kept: bool) -> None:
    target = modern(**answers(**hints))
    async with Client(target) as client:
        turned_by_hand(client)
        for _ in range(2):
            await use(client, method)
        assert len(target.calls(method)) == (1 if kept else 2)


@pytest.mark.parametrize("method", ALL)
@pytest.mark.requirement(332, 333, 334, 335)
async def test_what_is_stale_is_asked_for_when_it_is_wanted_and_not_before(method: str) -> None:
    target = modern(**answers(ttlMs=1500))
    async with Client(target) as client:
        clock = turned_by_hand(client)
        await use(client, method)
        clock.time += 1.4999
        assert await use(client, method) == "1"
        clock.time += 0.0001
        sent, timers = len(target.sent), client._calls.clocks.due
        clock.time += 1000
        assert (len(target.sent), client._calls.clocks.due) == (sent, timers)
        assert await use(client, method) == "2"
        clock.time += 1.4999
        assert await use(client, method) == "2"


async def test_nothing_is_fresh_for_ever() -> None:
    target = modern(**answers(ttlMs=2**62))
    async with Client(target) as client:
        clock = turned_by_hand(client)
        await use(client, READ)
        clock.time += cache.MAX_MS / 1000
        assert await use(client, READ) == "2"


@rows(
    ("make", "options", "request_options"),
    [
        (modern, {"cache": False}, {}),
        (modern, {}, {"fresh": True}),
        (modern, {}, {"meta": {"com.example/tenant": "a"}}),
        (legacy, {}, {}),
    ],
    ids=["turned off", "asked anew", "depends on metadata", "a version without hints"],
)
@rows("method", ALL)
async def test_when_everything_is_asked_for(make: Any, options: Any, request_options: Any, method: str) -> None:
    target = make(**answers(**MINUTE))
    async with Client(target, **options) as client:
        assert [await use(client, method, **request_options) for _ in range(3)] == ["1", "2", "3"]


async def test_a_result_of_a_request_with_metadata_takes_nobodys_place() -> None:
    target = modern(**answers(**MINUTE))
    async with Client(target) as client:
        metas: list[Any] = [None, {"com.example/a": 1}, {}, None]
        seen = [await use(client, READ, meta=meta) for meta in metas]
    assert seen == ["1", "2", "1", "1"]


async def test_what_was_asked_for_anew_is_kept() -> None:
    target = modern(**answers(**MINUTE))
    async with Client(target) as client:
        seen = [await use(client, READ, fresh=fresh) for fresh in (False, True, False)]
    assert seen == ["1", "2", "2"]


async def test_what_cannot_be_asked_for_anew_is_not_kept_any_longer() -> None:
    """An answer that is old by now would hide that the server has failed."""
    target = modern(**answers(**MINUTE))
    good = target.methods[READ]
    async with Client(target) as client:
        await use(client, READ)
        target.methods[READ] = raising(InternalError("no"))
        for fresh in (True, False):
            with pytest.raises(InternalError):
                await use(client, READ, fresh=fresh)
        target.methods[READ] = good
        assert await use(client, READ) == "2"


@pytest.mark.requirement(329)
async def test_another_request_is_another_result() -> None:
    target = modern(**answers(**MINUTE))
    async with Client(target) as client:
        assert [await use(client, READ, uri) for uri in ("x://a", "x://b", "X://a", "x://a")] == ["1", "2", "3", "1"]
        for method in LISTS:
            assert await use(client, method) == "1"
        for _ in range(2):
            await client.request(RESOURCES_READ, ReadResourceParams(uri="x://a"))
    assert len(target.calls(READ)) == 5, "a request of the user's own is always sent"


async def test_what_a_user_does_to_a_result_harms_nobody_else() -> None:
    schema = {"type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}
    target = modern(**answers(**MINUTE), tools__call=returning({**DONE, "structuredContent": {"n": "five"}}))
    target.methods["tools/list"] = returning({"tools": [{**LISTS["tools/list"][2], "outputSchema": schema}], **MINUTE})
    async with Client(target) as client:
        first = await client.read_resource("x://a")
        first.contents[0].text = "changed"
        first.contents.clear()
        assert await use(client, READ) == "1"
        (tool,) = await client.list_tools()
        assert tool.output_schema
        tool.input_schema["type"] = "changed"
        tool.output_schema.clear()
        with pytest.raises(RemoteProtocolError, match="does not fit"):
            await client.call_tool("n")
        (again,) = await client.list_tools()
        assert (again.input_schema, again.output_schema) == ({"type": "object"}, schema)


async def test_what_has_to_be_mended_is_mended_again(caplog: pytest.LogCaptureFixture) -> None:
    careless = {"prompts": [{"name": "a", "title": 5}, {"name": "b"}], "ttlMs": "60000"}
    target = modern(prompts__list=returning(careless))
    async with Client(target) as client:
        first, second = await client.list_prompts(), await client.list_prompts()
    assert first == second
    assert len(target.calls("prompts/list")) == 1
    assert len(caplog.records) == len({record.getMessage() for record in caplog.records})


# Results that are never kept.


@pytest.mark.parametrize("more", [{"requestState": "s"}, {"inputRequests": {}, "requestState": "s"}, None])
@pytest.mark.requirement(330)
async def test_what_came_of_answers_is_not_kept(more: Any) -> None:
    form = {"message": "?", "requestedSchema": {"type": "object", "properties": {}}}
    more = more or {"inputRequests": {"a": {"method": "elicitation/create", "params": form}}}
    rounds = 0

    async def read(message: Any, link: Any) -> Any:
        nonlocal rounds
        rounds += 1
        if rounds % 2:
            return {"resultType": "input_required", **more, **MINUTE}
        return {"contents": [{"uri": "x://a", "text": str(rounds)}], **MINUTE}

    async with Client(modern(resources__read=read), on_elicit=lambda _: {}) as client:
        assert [await use(client, READ) for _ in range(2)] == ["2", "4"]


class Later(Result, kw_only=True):
    """A kind of result that an extension adds."""

    ttl_ms: int | None = None


class Sooner(CacheableResult, kw_only=True):
    """Another one, which is like those that are kept."""


@pytest.mark.parametrize("kind", [Later, Sooner])
async def test_a_result_of_another_kind_is_not_kept(kind: type[Result]) -> None:
    target = modern(resources__read=returning({"resultType": "com.example/later", **MINUTE}))
    async with Client(target, extensions=[Extension("com.example/x", results={"com.example/later": kind})]) as client:
        for _ in range(2):
            assert type(await client.read_resource("x://a")) is kind
    assert len(target.calls(READ)) == 2


@rows("error", [InternalError("no"), ConnectionClosed("reset"), "malformed"])
@rows("method", ALL)
async def test_a_failure_is_not_kept(method: str, error: Any) -> None:
    good = answers(**MINUTE)
    target = modern(**good)

    async def fail(message: Any, link: Any) -> Any:
        target.methods[method] = good[method.replace("/", "__")]
        if isinstance(error, str):
            return {"contents": 5, "tools": 5, "prompts": 5, "resources": 5, "resourceTemplates": 5, **MINUTE}
        raise error

    target.methods[method] = fail
    async with Client(target) as client:
        with pytest.raises((RPCError, ConnectionClosed, RemoteProtocolError)):
            await use(client, method)
        assert [await use(client, method) for _ in range(2)] == ["1", "1"]


@pytest.mark.parametrize("ends", ["cancelled", "timed out", "closed"])
async def test_who_gives_up_leaves_nothing_behind(ends: str) -> None:
    target = modern(resources__read=forever)
    client = Client(target)
    async with client:
        timeout = 0.01 if ends == "timed out" else None
        reading = asyncio.create_task(client.read_resource("x://a", timeout=timeout))
        await until(lambda: target.calls(READ))
        if ends == "cancelled":
            reading.cancel()
        if ends == "closed":
            reading.cancel()
            await client.close()
        with pytest.raises((asyncio.CancelledError, RequestTimeout, ConnectionClosed)):
            await reading
        kept = client._calls.cache
        assert (kept._kept, kept._size) == ({}, 0)


# Limits.


async def test_the_oldest_results_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_ENTRIES", 3)
    target = modern(**answers(**MINUTE))
    async with Client(target) as client:
        for name in "abca":
            await use(client, READ, f"x://{name}")
        await use(client, READ, "x://d")
        assert [key[2] for key in client._calls.cache._kept] == ["x://b", "x://c", "x://d"]
        await use(client, READ, "x://b", fresh=True)
        await use(client, READ, "x://a")
        assert [key[2] for key in client._calls.cache._kept] == ["x://d", "x://b", "x://a"]


async def test_results_may_be_so_large_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "MAX_BYTES", 1000)
    sizes = {"x://a": 300, "x://b": 300, "x://c": 300, "x://huge": 1000, f"x://{'u' * 990}": 1}

    async def read(message: Any, link: Any) -> Any:
        uri = message["params"]["uri"]
        return {"contents": [{"uri": "x://", "text": "x" * sizes[uri]}], **MINUTE}

    async with Client(modern(resources__read=read)) as client:
        kept = client._calls.cache
        for uri in sizes:
            await client.read_resource(uri)
        assert [key[2] for key in kept._kept] == ["x://b", "x://c"]
        assert 600 < kept._size <= 1000
        kept.clear()
        assert (kept._kept, kept._size) == ({}, 0)


async def test_what_is_kept_holds_on_to_nothing_else() -> None:
    """Not to the message around it, nor to the client that is gone."""
    target = modern(**answers(**MINUTE))
    async with Client(target) as client:
        await use(client, READ)
        ((text, _),) = client._calls.cache._kept.values()
        assert type(text) is bytes
    gc.collect()
    assert not [each for each in gc.get_objects() if type(each) is cache.Cache and each._kept]


# News of a change.

TOLD: list[tuple[str, Any, tuple[str, ...]]] = [
    ("notifications/tools/list_changed", {}, ("tools/list",)),
    ("notifications/prompts/list_changed", {}, ("prompts/list",)),
    ("notifications/resources/list_changed", {}, ("resources/list", "resources/templates/list")),
    ("notifications/resources/updated", {"uri": "x://a"}, (READ,)),
    ("notifications/resources/updated", {"uri": "x://a/part"}, (READ,)),
    ("notifications/resources/updated", {"uri": "x://"}, (READ,)),
    ("notifications/resources/updated", {"uri": 5}, (READ,)),
    ("notifications/resources/updated", {}, (READ,)),
    ("notifications/resources/updated", {"uri": "x://b"}, ()),
    ("notifications/roots/list_changed", {}, ()),
    ("notifications/message", {"level": "info", "data": "x"}, ()),
]
told = pytest.mark.parametrize(("note", "params", "dropped"), TOLD, ids=str)


@told
@kinds
async def test_news_of_a_change_drops_what_it_is_about(
    kind: type[ScriptedTarget], note: str, params: Any, dropped: tuple[str, ...]
) -> None:
    """Whoever it is told, and whatever subscription it belongs to: to ask once more harms nobody."""
    target = modern(kind, **answers(**MINUTE))
    async with Client(target) as client:
        for method in ALL:
            await use(client, method)
        await target.link.tell_all(note, params)
        assert {method for method in ALL if await use(client, method) == "2"} == set(dropped)


@told
async def test_news_that_comes_while_the_answer_is_on_its_way(note: str, params: Any, dropped: tuple[str, ...]) -> None:
    good = answers(**MINUTE)
    target = modern(**good)

    def overtaken(method: str) -> Any:
        async def late(message: Any, link: Any) -> Any:
            result = await good[method.replace("/", "__")](message, link)
            target.methods[method] = good[method.replace("/", "__")]
            await link.tell_all(note, params)
            return result

        return late

    async with Client(target) as client:
        for method in ALL:
            target.methods[method] = overtaken(method)
        for method in ALL:
            assert await use(client, method) == "1"
            again = await use(client, method)
            if method in dropped:
                assert again == "2"
            elif method != READ:  # whatever is updated, a read that runs meanwhile is not kept
                assert again == "1"


async def test_an_earlier_request_does_not_overwrite_what_was_asked_for_anew() -> None:
    answered = asyncio.Event()
    good = answers(**MINUTE)["resources__read"]

    async def slow(message: Any, link: Any) -> Any:
        result = await good(message, link)
        if len(target.calls(READ)) == 1:
            await answered.wait()
        return result

    target = modern(resources__read=slow)
    async with Client(target) as client:
        early = asyncio.create_task(use(client, READ))
        await until(lambda: target.calls(READ))
        assert await use(client, READ, fresh=True) == "2"
        answered.set()
        assert await early == "1"
        assert await use(client, READ) != "1"


@pytest.mark.parametrize("kind", [Listenable, ListenableStdio, ListenableHTTP])
async def test_the_user_who_hears_of_a_change_reads_what_is_new(kind: type[Listenable]) -> None:
    read: asyncio.Queue[str] = asyncio.Queue()
    target = kind()
    target.methods |= {name.replace("__", "/"): method for name, method in answers(**MINUTE).items()}
    target.by_pipe = kind is ListenableStdio

    async def on_change(change: Any) -> None:
        read.put_nowait(await use(client, READ if change.uri else "tools/list"))

    async with Client(target, on_change=on_change) as client, asyncio.timeout(5):
        await use(client, "tools/list")
        await use(client, READ)
        await client.subscribe("x://a")
        assert await use(client, READ) == "2", "it may have changed before anybody told"
        await target.tell_change("notifications/tools/list_changed")
        assert await read.get() == "2"
        await target.tell_change("notifications/resources/updated", {"uri": "x://a"})
        assert await read.get() == "3"


async def test_when_the_stream_of_changes_breaks_nothing_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subscriptions, "RECONNECT_SECONDS", (0.001,))
    target = ListenableHTTP()
    target.methods |= {name.replace("__", "/"): method for name, method in answers(**MINUTE).items()}
    async with Client(target, on_change=lambda _: None) as client:
        assert [await use(client, method) for method in ALL] == ["1"] * 5
        (stream,) = target.open.values()
        stream.set_exception(ConnectionClosed("reset"))
        await until(lambda: len(target.calls(LISTEN)) == 2)
        assert [await use(client, method) for method in ALL] == ["2"] * 5


async def test_a_proxy_that_hears_of_a_change_drops_what_it_keeps_itself() -> None:
    heard: list[str] = []
    target = Listenable()
    target.methods |= {name.replace("__", "/"): method for name, method in answers(**MINUTE).items()}

    async def hear(note: Any) -> None:
        heard.append(note.method)

    async with Client(target) as client:
        assert await use(client, "tools/list") == "1"
        params = raw({"notifications": {"toolsListChanged": True}})
        listening = asyncio.create_task(client.forward(Request("theirs", LISTEN, params), hear))
        await until(lambda: heard)
        await target.tell_change("notifications/tools/list_changed")
        assert heard[1:] == ["notifications/tools/list_changed"]
        assert await use(client, "tools/list") == "2"
        listening.cancel()


# Another connection, another server, another user.


async def test_a_client_that_is_opened_again_begins_with_nothing() -> None:
    target = modern(**answers(**MINUTE))
    client = Client(target)
    for count in ("1", "2"):
        async with client:
            assert await use(client, READ) == count


@pytest.mark.parametrize("late", [False, True])
async def test_a_connection_that_is_replaced_takes_its_results_with_it(late: bool) -> None:
    good, lost = answers(**MINUTE), asyncio.Event()

    async def slow(message: Any, link: Any) -> Any:
        result = await good["resources__read"](message, link)
        if late and len(target.calls(READ)) == 1:
            await lost.wait()
        return result

    async def forget(message: Any, link: Any) -> Any:
        if link is target.links[0]:
            raise SessionLost("forgotten")
        return DONE

    target = modern(resources__read=slow, tools__call=forget)
    async with Client(target) as client:
        reading = asyncio.create_task(use(client, READ))
        await until(lambda: target.calls(READ))
        if not late:
            await reading
        await client.call_tool("t")
        assert len(target.links) == 2
        lost.set()
        assert await reading == "1"
        assert await use(client, READ) == "2"


@pytest.mark.requirement(336)
async def test_what_one_user_may_see_another_is_not_shown() -> None:
    """Over HTTP. A result that is public is not shared either: nobody loses by it."""

    async def serve(visit: Visit) -> None:
        message = visit.message
        if message["method"] == "server/discover":
            await visit.result(await discover(message, None))  # type: ignore[arg-type]  # it looks at no link
        else:
            contents = [{"uri": "x://a", "text": visit.headers["authorization"]}]
            await visit.result({"contents": contents, **MINUTE})

    async with raw_server(serve) as server:
        ann, bob = (HTTPServer(server.url, headers={"Authorization": name}) for name in ("ann", "bob"))
        async with Client(ann) as first, Client(bob) as second, Client(ann) as third:
            for _ in range(2):
                assert [await use(each, READ) for each in (first, second, third)] == ["ann", "bob", "ann"]
            assert len(server.seen(READ)) == 3
            assert isinstance(ann.headers, dict)
            ann.headers["Authorization"] = "eve"
            assert await use(first, READ) == "ann", "what a connection was opened with goes out with its requests"
            await first.close()
            await first.open()
            assert await use(first, READ) == "eve"


# Pages.


class Paged:
    """A list of prompts, a page per name. The key of its cursors may change."""

    def __init__(self, *names: str, ttls: tuple[int, ...] = (60_000,) * 9) -> None:
        self.names = names
        self.ttls = ttls
        self.key = "k"
        self.target = modern(HTTPTarget, prompts__list=self.listing)

    async def listing(self, message: Any, _: Any) -> Any:
        key, _, number = message["params"].get("cursor", f"{self.key}-0").partition("-")
        if key != self.key:
            raise InvalidParams("Invalid cursor")
        place = int(number)
        more = {"nextCursor": f"{key}-{place + 1}"} if place + 1 < len(self.names) else {}
        return {"prompts": [{"name": self.names[place]}], "ttlMs": self.ttls[place], **more}

    def asked(self) -> list[str | None]:
        """List the cursors that came, and forget them."""
        cursors = [message["params"].get("cursor") for message in self.target.calls("prompts/list")]
        self.target.sent.clear()
        return cursors


async def names(client: Client, **options: Any) -> str:
    listed = [prompt.name for prompt in await client.list_prompts(**options)]
    assert listed == [prompt.name async for prompt in client.prompts()]
    return "".join(listed)


@pytest.mark.requirement(337)
async def test_each_page_is_kept_for_its_own_time() -> None:
    paged = Paged(*"abc", ttls=(3000, 1000, 2000))
    async with Client(paged.target) as client:
        clock = turned_by_hand(client)
        assert await names(client) == "abc"
        assert paged.asked() == [None, "k-1", "k-2"]
        clock.time += 1
        assert await names(client) == "abc"
        assert paged.asked() == ["k-1"]
        clock.time += 1
        assert await names(client) == "abc"
        assert paged.asked() == ["k-1", "k-2"]
        assert await names(client, fresh=True) == "abc"
        assert paged.asked() == [None, "k-1", "k-2"]


@pytest.mark.requirement(337)
@pytest.mark.parametrize("lists", [True, False])
async def test_a_list_whose_kept_cursor_is_refused_is_read_from_its_beginning(lists: bool) -> None:
    paged = Paged(*"abc", ttls=(60_000, 60_000, 0))
    async with Client(paged.target) as client:
        assert await names(client) == "abc"
        paged.key, paged.names = "new", tuple("xbcd")
        paged.asked()
        paged.ttls = (60_000,) * 4
        found = await client.list_prompts() if lists else [each async for each in client.prompts()]
        assert [each.name for each in found] == ["x", "b", "c", "d"]
        assert paged.asked() == ["k-2", None, "new-1", "new-2", "new-3"]
        assert await names(client) == "xbcd"
        assert paged.asked() == []


async def test_what_was_handed_out_is_not_handed_out_again() -> None:
    """The first page has just come from the server; the cursor that ends the kept second one is refused."""
    paged = Paged(*"abc", ttls=(1000, 60_000, 1000))
    refused = 0

    async def listing(message: Any, link: Any) -> Any:
        nonlocal refused
        if message["params"].get("cursor") == "k-2" and clock.time > 1000 and not refused:
            refused += 1
            raise InvalidParams("Invalid cursor")
        return await paged.listing(message, link)

    paged.target.methods["prompts/list"] = listing
    async with Client(paged.target) as client:
        clock = turned_by_hand(client)
        assert [each.name for each in await client.list_prompts()] == ["a", "b", "c"]
        paged.asked()
        clock.time += 1
        assert [each.name for each in await client.list_prompts()] == ["a", "b", "c"]
        assert paged.asked() == [None, "k-2", "k-1", "k-2"]


async def test_a_cursor_that_the_server_has_just_given_and_refuses() -> None:
    paged = Paged(*"abc")

    async def listing(message: Any, link: Any) -> Any:
        if message["params"].get("cursor") is not None:
            raise InvalidParams("Invalid cursor")
        return await paged.listing(message, link)

    paged.target.methods["prompts/list"] = listing
    async with Client(paged.target) as client:
        for _ in range(2):
            with pytest.raises(InvalidParams):
                await client.list_prompts()
            assert paged.asked() == [None, "k-1"]


async def test_a_change_between_two_pages_drops_both() -> None:
    paged = Paged(*"ab")
    async with Client(paged.target) as client:
        listed = client.prompts()
        assert (await anext(listed)).name == "a"
        await paged.target.link.tell_all("notifications/prompts/list_changed")
        assert [each.name async for each in listed] == ["b"]
        paged.asked()
        assert await names(client) == "ab"
        assert paged.asked() == [None]


# The one that knows the tools.

MARKED = {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}
COUNT = {"type": "object", "properties": {"count": {"type": "integer"}}, "required": ["count"]}


def tool(**more: Any) -> Any:
    return {"tools": [{"name": "t", "inputSchema": {"type": "object"}, **more}], **MINUTE}


def tools_of(*listings: Any, **result: Any) -> ScriptedTarget:
    """Offer a tool that is described anew with each listing."""
    left = list(listings)

    async def listing(message: Any, link: Any) -> Any:
        return left.pop(0) if len(left) > 1 else left[0]

    async def call(message: Any, link: Any) -> Any:
        return {**DONE, **result, "_meta": {"com.example/mirrored": message["mirrored"]}}

    return modern(HTTPTarget, tools__list=listing, tools__call=call)


async def test_kept_lists_teach_as_new_ones_do() -> None:
    target = tools_of(tool(inputSchema=MARKED))
    async with Client(target) as client:
        await client.list_tools()
        assert isinstance((await client.list_tools())[0], Tool)
        result = await client.call_tool("t", {"region": "x"})
        assert result.meta == {"com.example/mirrored": {"Mcp-Param-Region": "x"}}
        assert len(target.calls("tools/list")) == 1


async def test_marks_that_have_changed_are_read_anew_though_the_list_is_fresh() -> None:
    target = tools_of(tool(), tool(inputSchema=MARKED))
    answer = target.methods["tools/call"]

    async def strict(message: Any, link: Any) -> Any:
        if not message["mirrored"]:
            raise HeaderMismatch("Mcp-Param-Region is missing")
        return await answer(message, link)

    target.methods["tools/call"] = strict
    async with Client(target) as client:
        assert (await client.list_tools())[0].input_schema == {"type": "object"}
        assert (await client.call_tool("t", {"region": "x"})).text == "done"
        assert len(target.calls("tools/list")) == 2
        assert (await client.list_tools())[0].input_schema == MARKED
        assert len(target.calls("tools/list")) == 2


async def test_a_result_that_does_not_fit_makes_the_tools_stale_and_is_refused_all_the_same() -> None:
    target = tools_of(tool(outputSchema=COUNT), tool(), structuredContent={"count": "many"})
    async with Client(target) as client:
        await client.list_tools()
        for _ in range(2):
            with pytest.raises(RemoteProtocolError, match="does not fit"):
                await client.call_tool("t")
        assert len(target.calls("tools/list")) == 1
        await client.list_tools()
        assert (await client.call_tool("t")).structured_content == {"count": "many"}


UNKNOWN: dict[str, Callable[[Client], Awaitable[object]]] = {
    "tools/call": lambda client: client.call_tool("gone"),
    "prompts/get": lambda client: client.get_prompt("gone"),
    READ: lambda client: client.read_resource("x://gone"),
    "completion/complete": lambda client: client.complete(PromptReference(name="gone"), "a", ""),
}


@pytest.mark.parametrize(
    ("refused", "dropped"),
    [
        ("tools/call", {"tools/list"}),
        ("prompts/get", {"prompts/list"}),
        (READ, {"resources/list", "resources/templates/list"}),
        ("completion/complete", set()),
    ],
)
async def test_a_name_that_the_server_does_not_know_makes_its_list_stale(refused: str, dropped: set[str]) -> None:
    target = modern(**answers(**MINUTE))

    async def unknown(message: Any, link: Any) -> Any:
        raise InvalidParams("Unknown")

    target.methods[refused] = unknown
    async with Client(target) as client:
        for method in LISTS:
            await use(client, method)
        with pytest.raises(InvalidParams):
            await UNKNOWN[refused](client)
        assert {method for method in LISTS if await use(client, method) == "2"} == dropped


def test_the_options_are_true_or_false() -> None:
    options: Any = {"cache": 5}
    with pytest.raises(TypeError, match="cache= of Client takes True or False, not 5"):
        Client(modern(), **options)
    options = {"fresh": "yes"}
    with pytest.raises(TypeError, match="fresh= of a request takes True or False, not 'yes'"):
        Client(modern()).tools(**options)
