"""What goes wrong is told with its cause and a remedy: the messages that puzzled the first users, each provoked."""

import asyncio
import logging
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from splice import Client, Context, MissingClientCapability, Server
from splice.client import connection
from splice.transports.stdio import client as stdio_client
from splice.types import PromptMessage
from support.listening import listening
from support.raw_client import OverHTTP
from support.sources import FAILING_LIFESPAN
from support.warm import warm_python
from support.wire import modern

# The first line of each comment is what a user read before.

BOOM = """
from splice import Server

server = Server("shop")

@server.tool
def boom() -> str:
    return {}["the missing key"]
"""
CLI: dict[str, tuple[str, list[str], list[str]]] = {
    # initialize failed: RuntimeError (reference affcad88) (code -32603)
    "a lifespan that fails": (
        FAILING_LIFESPAN,
        ["list", "server.py"],
        ["The lifespan of shop failed", "in lifespan", "RuntimeError: DATABASE_URL is not set"],
    ),
    # The tool boom failed: KeyError (reference f6c0818d)
    "a tool that crashes": (
        BOOM,
        ["call", "server.py", "boom"],
        ['server.py", line 8, in boom', "KeyError: 'the missing key'"],
    ),
}


@pytest.mark.parametrize("what", CLI)
async def test_the_command_line_shows_why(what: str, tmp_path: Path) -> None:
    text, words, said = CLI[what]
    (tmp_path / "server.py").write_text(text)
    process = await asyncio.create_subprocess_exec(
        *(warm_python(), "-m", "splice.cli", *words), cwd=tmp_path, stderr=asyncio.subprocess.PIPE
    )
    _, errors = await process.communicate()
    assert process.returncode in {1, 3}
    for each in said:
        assert each in errors.decode()


# Where a server is written.


def settings() -> dict[str, tuple[Callable[[], Any], str]]:
    server = Server("s")
    return {
        # (no message at all)
        "a resource without parentheses": (
            lambda: server.resource(lambda: ""),  # type: ignore[arg-type]  # on purpose
            r'a resource needs a URI: @server\.resource\("notes://today"\)',
        ),
        # Strings must be encoded before hashing
        "keys that are text": (
            lambda: Server("s", state_keys=["x" * 32]),  # type: ignore[list-item]  # on purpose
            r"state_keys= of Server takes a list of `bytes`",
        ),
    }


@pytest.mark.parametrize("what", settings())
def test_a_setting_says_what_it_takes(what: str) -> None:
    make, said = settings()[what]
    with pytest.raises(TypeError, match=said):
        make()


async def test_what_was_refused_with_a_riddle_is_served() -> None:
    """They were `'NoneType' object has no attribute 'get'`, `Context cannot be expressed`, `not a callable object`."""
    server = Server("s")
    server.tool(output_schema=None)(plain)

    @server.tool("named")
    async def whoever(ctx: Context | None = None) -> str:
        return "there" if ctx is not None else "nobody"

    async with Client(server) as client:
        assert (await client.call_tool("plain")).structured_content is None
        assert (await client.call_tool("named")).text == "there"


def plain() -> int:
    return 1


# Where a client is written.


class Note(BaseModel):
    """What pydantic users pass."""

    title: str


def talking() -> Server:
    server = Server("s")

    @server.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.elicit("Who?", str)).action

    @server.tool
    def write(note: Note) -> str:
        return note.title

    @server.prompt
    def review(code: str) -> str:
        return code

    @server.prompt
    def broken() -> Any:
        return [PromptMessage(role="user", content="hi")]  # type: ignore[arg-type]  # on purpose

    @server.resource("notes://first")
    def first() -> Note:
        return Note(title="First")

    return server


USES: dict[str, tuple[Callable[[Client], Any], list[str]]] = {
    # Encoding objects of type NoteIn is unsupported
    "an argument that has no JSON": (
        lambda client: client.call_tool("write", {"note": object()}),
        ["argument 'note' cannot be written as JSON", "pass JSON values", "or a pydantic model"],
    ),
    # Invalid params: Expected `str`, got `int` - at `$.arguments[...]`
    "an argument of a prompt that is no text": (
        lambda client: client.get_prompt("review", {"code": 5}),  # type: ignore[dict-item]  # on purpose
        ["Argument 'code' of prompt review must be text, not int: 5"],
    ),
}


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
@pytest.mark.parametrize("what", USES)
async def test_a_use_that_fails_says_what_to_do(what: str, protocol: str) -> None:
    use, said = USES[what]
    async with Client(talking(), protocol=protocol) as client:
        with pytest.raises(Exception) as caught:
            await use(client)
    for each in said:
        assert each in str(caught.value)


async def test_a_question_without_a_handler_names_the_option_or_reaches_the_model() -> None:
    """It was `The client did not declare the capability that elicitation/create needs`."""
    async with Client(talking(), protocol="modern") as client:
        with pytest.raises(MissingClientCapability, match="pass on_elicit= to Client"):
            await client.call_tool("ask")
    async with Client(talking(), protocol="legacy") as client:
        result = await client.call_tool("ask")
    assert (result.is_error, "did not declare" in result.text) == (True, True)


async def test_models_go_both_ways() -> None:
    """Both were `Encoding objects of type NoteIn is unsupported`."""
    async with Client(talking()) as client:
        assert (await client.call_tool("write", {"note": Note(title="Mine")})).text == "Mine"
        assert (await client.read_resource("notes://first")).contents[0].text == '{"title":"First"}'


async def test_a_message_that_is_none_is_the_servers_mistake(caplog: pytest.LogCaptureFixture) -> None:
    """It was ``The result of prompts/get is malformed: Expected `object`, got `str``` at the client."""
    async with Client(talking()) as client:
        with pytest.raises(Exception, match="prompts/get failed: TypeError") as caught:
            await client.get_prompt("broken")
    said = "its content a block such as TextContent: PromptMessage(role='user', content='hi')"
    assert said in str(caught.value.__cause__)
    assert said in caplog.text


TARGETS: dict[str, tuple[Any, list[str]]] = {
    # Cannot start '127.0.0.1:8799/mcp': [Errno 2] No such file or directory
    "an address without a scheme": (
        "127.0.0.1:8799/mcp",
        ["'127.0.0.1:8799/mcp' is no http or https URL", "did you mean http://127.0.0.1:8799/mcp?"],
    ),
    # Cannot start 'server.py'
    "a file that is not there": ("no-such-server.py", ["there is no file 'no-such-server.py'"]),
    # 1 lines of its output were no messages
    "a program that greets": (
        [sys.executable, "-c", "print('Welcome!')"],
        ["exited with code 0", "1 lines of its output were not JSON-RPC messages"],
    ),
}


@pytest.mark.parametrize("what", TARGETS)
async def test_a_target_that_cannot_be_used(what: str, caplog: pytest.LogCaptureFixture) -> None:
    target, said = TARGETS[what]
    with pytest.raises(Exception) as caught:
        await Client(target, timeout=5.0).open()
    for each in said:
        assert each in str(caught.value)
    # wrote a line to stdout that is no message, skipped: JSON is malformed: invalid character (byte 0)
    if what == "a program that greets":
        assert "skipped: 'Welcome!'" in caplog.text
        assert "its logs belong on stderr" in caplog.text


async def test_a_url_of_the_wrong_kind() -> None:
    """It was `received corrupt message of type InvalidContentType`."""
    async with listening(Server("s").http_app()) as url:
        with pytest.raises(Exception, match=r"no TLS at .*; a URL of a server without TLS begins with http://"):
            await Client(url.replace("http:", "https:"), timeout=5.0).open()


async def test_a_silent_program_costs_no_more_than_the_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """It was `Cannot come to terms with sleep 100: the server was silent`, 13 seconds after timeout=1."""
    monkeypatch.setattr(connection, "PROBE_SECONDS", 1e6)
    monkeypatch.setattr(stdio_client, "GRACE_SECONDS", 1e6)
    with pytest.raises(Exception, match="sleep 100 did not answer within 1 s"):
        await Client("sleep 100", timeout=1.0).open()


# Several workers.


async def test_state_of_another_worker_is_explained_to_the_operator(caplog: pytest.LogCaptureFixture) -> None:
    """It was `requestState was not issued for this request, or is too old`, and nothing in the log."""
    retry: dict[str, Any] = {"name": "ask"}
    can: dict[str, Any] = {"capabilities": {"elicitation": {"form": {}}}}
    async with AsyncExitStack() as stack:
        first, second = [OverHTTP(await stack.enter_async_context(listening(talking().http_app()))) for _ in range(2)]
        result = (await first.ask(modern(1, "tools/call", retry, **can)))["result"]
        (key,) = result["inputRequests"]
        retry |= {"requestState": result["requestState"]}
        retry |= {"inputResponses": {key: {"action": "accept", "content": {"value": "Ann"}}}}
        error = (await second.ask(modern(2, "tools/call", retry, **can)))["error"]
    assert "send the request without it" in error["message"]
    warned = [each.getMessage() for each in caplog.records if each.levelno == logging.WARNING]
    assert any("SPLICE_SECRET" in each for each in warned)


async def test_a_session_of_another_worker_names_the_remedy() -> None:
    """It was `http://... does not know the session any more`."""
    opening, other = talking().http_app(), talking().http_app()
    workers = iter([opening] + [other, opening] * 50)

    async def spread(scope: Any, receive: Any, send: Any) -> None:
        await next(workers)(scope, receive, send)

    async def talk(url: str) -> None:
        async with Client(url, protocol="legacy", timeout=5.0) as client:
            for _ in range(5):
                await client.list_tools()

    async with listening(spread) as url:
        with pytest.raises(Exception, match="session") as caught:
            await talk(url)
    assert "stateless=True" in str(caught.value)


async def test_a_server_that_keeps_no_sessions_does_not_blame_the_client() -> None:
    """It was `The client did not declare the capability that elicitation/create needs`, though it had."""
    async with (
        listening(talking().http_app(stateless=True)) as url,
        Client(url, protocol="legacy", on_elicit=lambda _: None, timeout=5.0) as client,
    ):
        with pytest.raises(Exception, match=r"keeps no sessions \(stateless=True\) and cannot ask"):
            await client.call_tool("ask")
