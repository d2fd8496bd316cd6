"""The everything server over each transport: all that it asks is answered, in both eras, and its command starts it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from splice import Client, StdioServer
from splice.cli.serve import SERVERS
from splice.servers.everything.__main__ import COMMAND
from splice.servers.everything.server import make
from splice.types import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ResourceLink,
    Root,
    TextContent,
    ToolUseContent,
)
from support.listening import listening
from support.warm import warm_python

FORM = {"name": "Ann"}


def on_elicit(question: ElicitParams) -> Any:
    """Answer as a user would who agrees to everything."""
    fields = (question.requested_schema or {}).get("properties", {})
    if question.mode == "url" or not fields:
        return "accept"
    if "value" not in fields:
        return FORM
    return {"value": True if fields["value"]["type"] == "boolean" else fields["value"]["enum"][0]}


def on_sample(question: CreateMessageParams) -> CreateMessageResult:
    """Use a tool where there are any, and say what came of it."""
    last = question.messages[-1].blocks[-1]
    if question.tools and isinstance(last, TextContent):
        use = ToolUseContent(id="1", name="echo", input={"message": "hi"})
        return CreateMessageResult(role="assistant", model="m", content=use)
    return CreateMessageResult(role="assistant", model="m", content=TextContent(text="done"))


@asynccontextmanager
async def connected(transport: str, **options: Any) -> AsyncIterator[Client]:
    if transport == "http":
        async with listening(make().http_app()) as url, Client(url, **options) as client:
            yield client
        return
    program = StdioServer(warm_python(), "-m", "splice.servers.everything")
    async with Client(program if transport == "stdio" else make(), **options) as client:
        yield client


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("transport", ["memory", "stdio", "http"])
async def test_everything_that_is_asked_is_answered(transport: str, era: str) -> None:
    options: dict[str, Any] = {"on_elicit": on_elicit, "on_sample": on_sample, "roots": [Root(uri="file:///srv")]}
    can = ["elicitation.url", "sampling.tools"]
    async with connected(transport, protocol=era, can=can, timeout=10.0, **options) as client:
        assert client.server_info.name == "everything"
        for tool, arguments, words in (
            ("echo", {"message": "hi"}, "Echo: hi"),
            ("get-roots-list", {}, "URI: file:///srv"),
            ("trigger-elicitation-request", {}, "- Name: Ann"),
            ("trigger-url-elicitation", {"url": "https://a.example/"}, "completed the URL elicitation flow"),
            ("trigger-sampling-request", {"prompt": "p"}, '"text": "done"'),
            ("trigger-sampling-with-tools", {"prompt": "p"}, "The model said: done"),
            ("trigger-questions-in-rounds", {}, "one tea, confirmed."),
            ("trigger-questions-at-once", {}, "Size: small. Colour: red. Roots: 1."),
        ):
            assert words in (await client.call_tool(tool, arguments)).text
        made = await client.call_tool("gzip-file-as-resource", {"data": "data:,x"})
        (link,) = made.content
        assert isinstance(link, ResourceLink)
        read = await client.read_resource(link.uri)
        assert (read.contents[0].blob or "").startswith("H4sI")


def test_its_command_has_the_names_of_the_originals_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GZIP_MAX_FETCH_SIZE", "7")
    monkeypatch.setenv("GZIP_MAX_FETCH_TIME_MILLIS", "9")
    monkeypatch.setenv("GZIP_ALLOWED_DOMAINS", "a.example,b.example")
    monkeypatch.setenv("SPLICE_EVERYTHING_SHOW_ENV", "1")
    assert COMMAND._environment({}) == {
        "gzip_max_fetch_size": 7,
        "gzip_max_fetch_time_millis": 9,
        "gzip_allowed_domains": "a.example,b.example",
        "show_env": True,
    }
    assert SERVERS["everything"] == COMMAND.summary


async def test_it_starts_by_the_command_line() -> None:
    words = "from splice.cli import main; main()", "serve", "everything", "--show-env"
    server = StdioServer(warm_python(), "-c", *words, env={"TOLD": "yes"})
    async with Client(server) as client:
        assert '"TOLD": "yes"' in (await client.call_tool("get-env")).text
