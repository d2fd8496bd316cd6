"""The client's life, and everything it offers, over every transport and in both eras."""

import asyncio
import json
import traceback
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any

import pytest
import uvicorn
from msgspec import Raw

from client.scripted import NEWEST, legacy, modern, returning, until
from splice import Change, Client, Context, Server, StdioServer
from splice.client.questions import Question
from splice.errors import ConnectionClosed, LocalProtocolError, RequestTimeout
from splice.protocol.completion import PromptReference
from splice.protocol.content import TextContent
from splice.protocol.jsonrpc import raw
from splice.protocol.lifecycle import DISCOVER
from splice.protocol.methods import Method, Note
from splice.protocol.notifications import LogParams
from splice.protocol.versions import LATEST_MODERN, Since
from splice.protocol.wire import NoParams, NoteParams, Params, Result
from splice.rules.extensions import Extension, Heard, Served
from support.warm import warm_python

DONE = {"content": [{"type": "text", "text": "done"}]}


# Opening and closing.


@pytest.mark.parametrize(
    "use",
    [
        lambda client: client.server_info,
        lambda client: client.protocol_version,
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
    with pytest.raises(TypeError, match="Client has no option on_ellicit"):
        Client(modern(), on_ellicit=None)  # type: ignore[call-arg]  # that is the point


# Requests and notifications of one's own.


class EchoParams(Params, kw_only=True):
    text: str
    later: Annotated[str | None, Since(LATEST_MODERN)] = None
    input_responses: dict[str, Raw] | None = None
    request_state: str | None = None


class EchoResult(Result, kw_only=True):
    text: str


class TickParams(NoteParams, kw_only=True):
    count: int


ECHO = Method(name="example/echo", params=EchoParams, result=EchoResult, may_ask=True)
TICK = Note(name="notifications/example/tick", params=TickParams)
YOUNG = Note(name="notifications/example/young", params=TickParams, since=LATEST_MODERN)


async def echo(message: Any, link: Any) -> Any:
    return {"text": message["params"]["text"]}


@pytest.mark.parametrize(("peer", "later"), [(legacy, None), (modern, "x")])
async def test_a_request_of_ones_own(peer: Any, later: Any) -> None:
    target = peer(example__echo=echo)
    params = EchoParams(text="hi", later="x", meta=raw({"a": 1, "b": 1}))
    async with Client(target) as client:
        assert (await client.request(ECHO, params, meta={"b": 2})).text == "hi"
        await client.request(ECHO, params, progress=lambda *_: None, timeout=5)
    first, second = (message["params"] for message in target.calls("example/echo"))
    assert first.get("later") == later
    assert {key: first["_meta"][key] for key in ("a", "b")} == {"a": 1, "b": 2}
    assert {key: second["_meta"][key] for key in ("a", "b")} == {"a": 1, "b": 1}
    assert "progressToken" in second["_meta"]
    assert params == EchoParams(text="hi", later="x", meta=raw({"a": 1, "b": 1}))


async def test_a_request_of_ones_own_may_come_back_with_questions() -> None:
    async def asking(message: Any, link: Any) -> Any:
        if "requestState" not in message["params"]:
            asked = {"a": {"method": "example/echo", "params": {"text": "?"}}}
            return {"resultType": "input_required", "inputRequests": asked, "requestState": "s"}
        return {"text": message["params"]["inputResponses"]["a"]["text"]}

    async def answer(question: Question) -> EchoResult:
        return EchoResult(text=question.params.text + "!")

    params = EchoParams(text="hi")
    extension = Extension[Question]("com.example/echo", methods=[Served(ECHO, answer)])
    async with Client(modern(example__echo=asking), extensions=[extension]) as client:
        for _ in range(2):
            assert (await client.request(ECHO, params)).text == "?!"
    assert params == EchoParams(text="hi")


async def test_notifications_of_ones_own() -> None:
    target = legacy()
    async with Client(target, protocol="2025-06-18") as client:
        await client.notify(TICK, TickParams(count=1))
        await client.notify(TICK)
        sent = target.sent[-2:]
        with pytest.raises(LocalProtocolError, match=f"{YOUNG.name} does not exist in protocol version 2025-06-18"):
            await client.notify(YOUNG)
        with pytest.raises(LocalProtocolError, match="server/discover does not exist"):
            await client.request(DISCOVER, NoParams())
    assert [message.get("params") for message in sent] == [{"count": 1}, None]
    assert target.sent[-1] == sent[-1]


@pytest.mark.parametrize("peer", [legacy, modern])
async def test_an_extension_is_told_of_notifications_and_asked_questions(peer: Any) -> None:
    async def call(message: Any, link: Any) -> Any:
        await link.tell(message["id"], TICK.name, {"count": 1})
        await link.tell_all(TICK.name, {"count": 2})
        response = await link.ask(ECHO.name, {"text": "?"})
        return {"content": [{"type": "text", "text": json.loads(bytes(response.result))["text"]}]}

    async def answer(question: Question) -> EchoResult:
        return EchoResult(text=question.params.text + "!")

    ticks: list[int] = []
    extension = Extension[Question](
        "com.example/echo",
        methods=[Served(ECHO, answer)],
        notes=[Heard(TICK, lambda params: ticks.append(params.count))],
    )
    async with Client(peer(tools__call=call), extensions=[extension]) as client:
        assert (await client.call_tool("t")).text == "?!"
    assert ticks == [1, 2]


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_meta_reaches_the_handler(protocol: str) -> None:
    server = Server("s")

    @server.tool
    async def tenant(ctx: Context) -> str:
        return str(ctx.meta.get("com.example/tenant"))

    async with Client(server, protocol=protocol) as client:
        assert (await client.call_tool("tenant", meta={"com.example/tenant": "acme"})).text == "acme"


async def test_the_way_from_a_call_to_the_link_is_short(capsys: pytest.CaptureFixture[str]) -> None:
    frames: list[str] = []

    async def call(message: Any, link: Any) -> Any:
        stack = [frame.name for frame in traceback.extract_stack() if "client" in frame.filename]
        frames.extend(stack[stack.index("call_tool") : stack.index("exchange") + 1])
        return DONE

    async with Client(modern(tools__call=call)) as client:
        await client.call_tool("t")
    with capsys.disabled():
        print("\n" + " > ".join(frames))  # noqa: T201 - to be seen
    assert frames == ["call_tool", "request", "send", "exchange"]


# Odds and ends.


@pytest.mark.requirement(344)
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
        yield StdioServer(warm_python(), "-c", PROGRAM.format(paths=[tests]))
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
        assert client.protocol_version == (NEWEST if protocol == "auto" else protocol)
        assert client.server_info.name == "everything"
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
