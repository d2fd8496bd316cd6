"""The client's life, and everything it offers, over every transport and in both eras."""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import uvicorn

from client.scripted import NEWEST, ScriptedLink, ScriptedTarget, initialize, legacy, modern, until
from splice import Change, Client, Context, Server, StdioServer
from splice.client import client as client_module
from splice.errors import ConnectionClosed, LocalProtocolError, MethodNotFound, RemoteProtocolError, RequestTimeout
from splice.protocol.content import TextContent
from splice.protocol.jsonrpc import Request, Success
from splice.protocol.notifications import LogParams
from splice.protocol.prompts import PromptReference

DONE = {"content": [{"type": "text", "text": "done"}]}


def returning(value: Any) -> Any:
    async def method(message: Any, link: Any) -> Any:
        return value

    return method


async def forever(message: Any, link: Any) -> Any:
    await asyncio.Event().wait()


# Opening and closing.


@pytest.mark.parametrize(
    "use",
    [
        lambda client: client.server,
        lambda client: client.version,
        lambda client: client.capabilities,
        lambda client: client.instructions,
        lambda client: asyncio.run(client.list_tools()),
        lambda client: asyncio.run(client.call_tool("t")),
        lambda client: asyncio.run(client.subscribe("x://a")),
        lambda client: asyncio.run(client.ping()),
    ],
)
def test_a_client_is_opened_first(use: Any) -> None:
    with pytest.raises(LocalProtocolError, match="Open the client first"):
        use(Client(modern()))


def test_options_are_checked_at_once() -> None:
    with pytest.raises(ValueError, match="protocol must be"):
        Client(modern(), protocol="newest")
    with pytest.raises(TypeError, match="a client needs"):
        Client(5)  # type: ignore[arg-type]  # that is the point


async def test_opening_and_closing_twice_and_from_any_task() -> None:
    target = modern()
    client = Client(target)
    await asyncio.gather(asyncio.create_task(client.open()), client.open())
    assert await client.open() is client
    assert len(target.links) == 1
    await asyncio.create_task(client.close())
    await asyncio.gather(client.close(), asyncio.create_task(client.close()))
    assert target.link.closed
    for use in (client.open(), client.call_tool("t"), client.subscribe("x://a")):
        with pytest.raises(ConnectionClosed, match="This client is closed"):
            await use


async def test_closing_what_was_never_opened() -> None:
    client = Client(modern())
    await client.close()
    with pytest.raises(ConnectionClosed):
        await client.open()


async def test_what_failed_to_open_may_be_opened_again() -> None:
    target = ScriptedTarget()
    client = Client(target)
    with pytest.raises(MethodNotFound):
        await client.open()
    assert target.link.closed
    target.methods["initialize"] = initialize
    async with client:
        assert len(target.links) == 2


async def test_closing_while_a_link_is_made() -> None:
    made = asyncio.Event()

    class Slow(ScriptedTarget):
        async def connect(self) -> ScriptedLink:
            await made.wait()
            return await super().connect()

    target = Slow(initialize=initialize)
    client = Client(target)
    opening = asyncio.ensure_future(client.open())
    await asyncio.sleep(0)
    await client.close()
    made.set()
    with pytest.raises(ConnectionClosed):
        await opening
    assert target.link.closed
    assert target.sent == []


async def test_closing_while_coming_to_terms() -> None:
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def slow(message: Any, link: Any) -> Any:
        reached.set()
        await go_on.wait()
        return await initialize(message, link)

    target = ScriptedTarget(initialize=slow)
    client = Client(target, protocol="legacy")
    opening = asyncio.ensure_future(client.open())
    await reached.wait()
    await client.close()
    go_on.set()
    with pytest.raises(ConnectionClosed):
        await opening


async def test_a_cancelled_opening_lets_go_of_the_link() -> None:
    target = ScriptedTarget(initialize=forever)
    client = Client(target, protocol="legacy")
    opening = asyncio.ensure_future(client.open())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    assert target.link.closed


async def test_a_server_may_ask_while_the_session_opens() -> None:
    async def asking(message: Any, link: Any) -> Any:
        assert isinstance(await link.on_request(Request("p", "ping")), Success)
        await link.tell_all("notifications/message", {"level": "info", "data": "early"})
        return await initialize(message, link)

    heard: list[Any] = []
    async with Client(ScriptedTarget(initialize=asking), on_log=lambda params: heard.append(params.data)):
        assert heard == ["early"]


# Lists.


async def test_pages_are_put_together() -> None:
    async def listing(message: Any, link: Any) -> Any:
        number = int(message["params"].get("cursor", "0"))
        more = {"nextCursor": str(number + 1)} if number < 2 else {}
        return {"resources": [{"uri": f"x://{number}", "name": "n"}], **more}

    target = modern(resources__list=listing)
    async with Client(target) as client:
        assert [each.uri for each in await client.list_resources()] == ["x://0", "x://1", "x://2"]
        first = await anext(client.resources())
        assert first.uri == "x://0"
        assert len(target.calls("resources/list")) == 4


@pytest.mark.parametrize(("peer", "names"), [(legacy, ["a"]), (modern, ["a", "b"])])
async def test_an_empty_cursor_is_the_end_of_a_legacy_list_and_a_cursor_since(peer: Any, names: list[str]) -> None:
    async def listing(message: Any, link: Any) -> Any:
        if message["params"].get("cursor") == "":
            return {"prompts": [{"name": "b"}]}
        return {"prompts": [{"name": "a"}], "nextCursor": ""}

    async with Client(peer(prompts__list=listing)) as client:
        assert [each.name for each in await client.list_prompts()] == names


async def test_pages_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    endless = returning({"prompts": [], "nextCursor": "again"})
    async with Client(modern(prompts__list=endless)) as client:
        with pytest.raises(RemoteProtocolError, match="pages of prompts/list never end"):
            await client.list_prompts()

    async def counting(message: Any, link: Any) -> Any:
        return {"prompts": [], "nextCursor": message["params"].get("cursor", "") + "x"}

    monkeypatch.setattr(client_module, "MAX_PAGES", 5)
    target = modern(prompts__list=counting)
    async with Client(target) as client:
        with pytest.raises(RemoteProtocolError, match="never end"):
            await client.list_prompts()
    assert len(target.calls("prompts/list")) == 5


# Odds and ends.


async def test_the_log_level_is_set_the_way_the_version_has_it() -> None:
    target = modern(tools__call=returning(DONE))
    async with Client(target, on_log=lambda _: None) as client:
        await client.call_tool("t")
        await client.set_log_level("error")
        await client.call_tool("t")
    levels = [each["params"]["_meta"]["io.modelcontextprotocol/logLevel"] for each in target.calls("tools/call")]
    assert levels == ["info", "error"]
    target = legacy(logging__setLevel=returning({}))
    async with Client(target, on_log=lambda _: None) as client:
        await client.set_log_level("error")
        with pytest.raises(ValueError, match="level must be one of debug"):
            await client.set_log_level("loud")  # type: ignore[arg-type]  # that is the point
    assert [each["params"]["level"] for each in target.calls("logging/setLevel")] == ["info", "error"]


async def test_a_server_that_does_not_log_is_not_asked_to() -> None:
    async def quiet(message: Any, link: Any) -> Any:
        return {**await initialize(message, link), "capabilities": {}}

    target = ScriptedTarget(initialize=quiet)
    async with Client(target, on_log=lambda _: None):
        assert target.calls("logging/setLevel") == []


async def test_changed_roots_are_told_where_the_version_has_it() -> None:
    for target, told in ((legacy(), 1), (modern(), 0)):
        async with Client(target, roots=[]) as client:
            await client.roots_changed()
        assert len(target.calls("notifications/roots/list_changed")) == told


async def test_completion_leaves_out_what_the_version_lacks() -> None:
    target = legacy(completion__complete=returning({"completion": {"values": ["a"]}}))
    async with Client(target, protocol="2025-03-26") as client:
        await client.complete(PromptReference(name="p", title="t"), "n", "v", {"x": "y"})
    assert target.sent[-1]["params"] == {
        "ref": {"type": "ref/prompt", "name": "p"},
        "argument": {"name": "n", "value": "v"},
    }


# The real thing.

PROGRAM = """
import sys
sys.path[:0] = {paths!r}
from client.test_client import everything
everything().run()
"""


def everything() -> Server:
    """Build a server with one of each."""
    server = Server("everything", instructions="Use it.")

    @server.tool
    async def add(a: int, b: int) -> dict[str, int]:
        """Add two numbers."""
        return {"sum": a + b}

    @server.tool
    async def ask(ctx: Context) -> str:
        answer = await ctx.elicit("Who?", {"type": "object", "properties": {"name": {"type": "string"}}})
        said = await ctx.sample("Say it", max_tokens=5)
        roots = await ctx.roots()
        return f"{answer.data} {said.text} {roots[0].uri}"

    @server.tool
    async def report(ctx: Context) -> str:
        for step in (1, 2, 3):
            await ctx.progress(step, 3, f"step {step}")
        await ctx.warning("careful")
        return "reported"

    @server.tool
    async def slow(ctx: Context) -> None:
        await ctx.progress(1)
        await asyncio.Event().wait()

    @server.tool
    async def grow(ctx: Context) -> str:
        server.add_tool(lambda: "new", name="new")
        await ctx.notify_tools_changed()
        await ctx.notify_resource_updated("note://one")
        return "grown"

    @server.resource("note://one")
    def one() -> str:
        return "first note"

    @server.resource("note://{name}")
    def named(name: str) -> str:
        return f"note {name}"

    @server.prompt
    def greet(name: str) -> str:
        return f"Greet {name}"

    return server


@asynccontextmanager
async def reachable(transport: str) -> AsyncIterator[Any]:
    """Make the server above reachable in one of three ways."""
    if transport == "memory":
        yield everything()
    elif transport == "stdio":
        tests = str(Path(__file__).parent.parent)
        yield StdioServer(sys.executable, "-c", PROGRAM.format(paths=[tests]))
    else:
        config = uvicorn.Config(everything().http_app(), port=0, log_level="warning", lifespan="off")
        listener = uvicorn.Server(config)
        serving = asyncio.create_task(listener.serve())
        await until(lambda: listener.started)
        port = listener.servers[0].sockets[0].getsockname()[1]
        try:
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            listener.should_exit = True
            await serving


class User:
    """Answers everything, and remembers what it was told."""

    def __init__(self) -> None:
        self.logs: list[Any] = []
        self.changes: list[Change] = []
        self.progress: list[Any] = []

    def on_log(self, params: LogParams) -> None:
        self.logs.append((params.level, params.data))

    def client(self, target: Any, protocol: str) -> Client:
        return Client(
            target,
            on_elicit=lambda _: {"name": "Ann"},
            on_sample=lambda _: "hello",
            roots=["file:///srv"],
            on_log=self.on_log,
            on_change=self.changes.append,
            protocol=protocol,
            timeout=10,
        )


TRANSPORTS = pytest.mark.parametrize("transport", ["memory", "stdio", "http"])
ERAS = pytest.mark.parametrize("protocol", ["legacy", "modern"])


@TRANSPORTS
@pytest.mark.parametrize("protocol", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", NEWEST, "auto"])
async def test_everything_in_every_version(transport: str, protocol: str) -> None:
    async with reachable(transport) as target, User().client(target, protocol) as client:
        assert client.version == (NEWEST if protocol == "auto" else protocol)
        assert client.server.name == "everything"
        assert client.instructions == "Use it."
        assert [tool.name for tool in await client.list_tools()] == ["add", "ask", "report", "slow", "grow"]
        assert "3" in (await client.call_tool("add", {"a": 1, "b": 2})).text
        assert [each.uri for each in await client.list_resources()] == ["note://one"]
        assert [each.uri_template for each in await client.list_resource_templates()] == ["note://{name}"]
        assert (await client.read_resource("note://two")).contents[0].text == "note two"
        assert [each.name for each in await client.list_prompts()] == ["greet"]
        (message,) = (await client.get_prompt("greet", {"name": "Ann"})).messages
        assert message.content == TextContent(text="Greet Ann")
        await client.ping()


@TRANSPORTS
@pytest.mark.parametrize("protocol", ["2025-06-18", "2025-11-25", NEWEST])
async def test_questions_progress_logs_and_changes(transport: str, protocol: str) -> None:
    user = User()
    async with reachable(transport) as target, user.client(target, protocol) as client:
        assert (await client.call_tool("ask")).text == "{'name': 'Ann'} hello file:///srv"
        await client.call_tool("report", progress=lambda *report: user.progress.append(report))
        assert user.progress == [(1, 3, "step 1"), (2, 3, "step 2"), (3, 3, "step 3")]
        assert ("warning", "careful") in user.logs
        await client.subscribe("note://one")
        await client.call_tool("grow")
        await until(lambda: {Change("tools"), Change("resource", "note://one")} <= set(user.changes))
        assert "new" in [tool.name for tool in await client.list_tools()]
        await client.unsubscribe("note://one")


@TRANSPORTS
@ERAS
async def test_a_cancelled_call_leaves_the_others_alone(transport: str, protocol: str) -> None:
    started = asyncio.Event()
    async with reachable(transport) as target, User().client(target, protocol) as client:
        call = asyncio.ensure_future(client.call_tool("slow", progress=lambda *_: started.set()))
        await started.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await client.call_tool("report")).text == "reported"


@TRANSPORTS
@ERAS
async def test_a_call_that_takes_too_long_leaves_the_others_alone(transport: str, protocol: str) -> None:
    async with reachable(transport) as target, User().client(target, protocol) as client:
        with pytest.raises(RequestTimeout):
            await client.call_tool("slow", timeout=0.1, progress=lambda *_: None)
        assert (await client.call_tool("report")).text == "reported"


@TRANSPORTS
@ERAS
async def test_closing_fails_what_is_running(transport: str, protocol: str) -> None:
    started = asyncio.Event()
    async with reachable(transport) as target, User().client(target, protocol) as client:
        call = asyncio.ensure_future(client.call_tool("slow", progress=lambda *_: started.set()))
        await started.wait()
        await asyncio.create_task(client.close())
        with pytest.raises(ConnectionClosed):
            await call
