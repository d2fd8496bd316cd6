"""Our client against the official reference servers."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from interop.peer import free_port, node_server, python_server, serving
from splice import Change, Client, RPCError, StdioServer
from splice.types import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ElicitResult,
    LogParams,
    PromptReference,
    ResourceTemplateReference,
    Root,
    TextContent,
)

LATEST = {"legacy": "2025-11-25", "modern": "2026-07-28"}
LIMIT_SECONDS = 20.0


class User:
    """Answers what servers ask, and remembers what it was told."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.logs: list[Any] = []
        self.changes: list[Change] = []
        self.changed = asyncio.Event()

    def on_elicit(self, params: ElicitParams) -> ElicitResult:
        self.asked.append(params.message)
        known: dict[str, Any] = {"name": "Ann", "firstLine": "one", "untitledSingleSelectEnum": "Monica"}
        fields = (params.requested_schema or {}).get("properties", {})
        return ElicitResult(action="accept", content={name: known[name] for name in known if name in fields})

    def on_sample(self, params: CreateMessageParams) -> CreateMessageResult:
        self.asked.append(f"at most {params.max_tokens} tokens")
        content = TextContent(text="a sampled answer")
        return CreateMessageResult(role="assistant", content=content, model="test-model", stop_reason="endTurn")

    def on_log(self, params: LogParams) -> None:
        self.logs.append(params.data)

    def on_change(self, change: Change) -> None:
        self.changes.append(change)
        self.changed.set()

    def client(self, target: Any, protocol: str = "auto") -> Client:
        return Client(
            target,
            on_elicit=self.on_elicit,
            on_sample=self.on_sample,
            on_log=self.on_log,
            on_change=self.on_change,
            roots=[Root(uri="file:///srv/project", name="project")],
            protocol=protocol,
            timeout=LIMIT_SECONDS,
        )


def everything_over_stdio() -> Any:
    return StdioServer(*node_server("server-everything"), "stdio")


@pytest.fixture(scope="module")
def everything_url() -> Iterator[str]:
    port = free_port()
    command = [*node_server("server-everything"), "streamableHttp"]
    with serving(*command, port=port, env={"PORT": str(port)}):
        yield f"http://127.0.0.1:{port}/mcp"


@pytest.fixture(params=["stdio", "http"])
def everything(request: pytest.FixtureRequest, everything_url: str) -> Any:
    return everything_url if request.param == "http" else everything_over_stdio()


async def test_everything_lists(everything: Any) -> None:
    async with User().client(everything) as client:
        assert client.protocol_version == LATEST["legacy"]
        assert client.server_info.name == "mcp-servers/everything"
        assert client.instructions is not None
        assert client.instructions.startswith("# Everything Server")
        assert {"echo", "get-sum", "trigger-elicitation-request"} <= {tool.name for tool in await client.list_tools()}
        assert "architecture.md" in {resource.name for resource in await client.list_resources()}
        assert len(await client.list_resource_templates()) == 2
        assert {"simple-prompt", "args-prompt"} <= {prompt.name for prompt in await client.list_prompts()}


async def test_everything_calls(everything: Any) -> None:
    async with User().client(everything) as client:
        assert (await client.call_tool("echo", {"message": "hi"})).text == "Echo: hi"
        weather = await client.call_tool("get-structured-content", {"location": "Chicago"})
        assert weather.structured_content["conditions"] == "Light rain / drizzle"
        image = await client.call_tool("get-tiny-image")
        assert [block.type for block in image.content] == ["text", "image", "text"]
        failed = await client.call_tool("echo", {})
        assert failed.is_error
        assert "message" in failed.text


async def test_everything_reads_and_prompts(everything: Any) -> None:
    async with User().client(everything) as client:
        contents = (await client.read_resource("demo://resource/dynamic/text/7")).contents
        assert str(contents[0].text).startswith("Resource 7")
        assert (await client.read_resource("demo://resource/dynamic/blob/7")).contents[0].blob
        with pytest.raises(RPCError):
            await client.read_resource("demo://nope")
        prompt = await client.get_prompt("args-prompt", {"city": "Oslo", "state": "NO"})
        assert prompt.messages[0].content == TextContent(text="What's weather in Oslo, NO?")
        department = await client.complete(PromptReference(name="completable-prompt"), "department", "E")
        assert department.values == ["Engineering"]
        known = {"department": "Engineering"}
        name = await client.complete(PromptReference(name="completable-prompt"), "name", "A", known)
        assert name.values == ["Alice"]
        template = ResourceTemplateReference(uri="demo://resource/dynamic/text/{resourceId}")
        assert (await client.complete(template, "resourceId", "1")).values == ["1"]


async def test_everything_reports_progress(everything: Any) -> None:
    seen: list[tuple[float, float | None]] = []

    def on_progress(progress: float, total: float | None, _message: str | None) -> None:
        seen.append((progress, total))

    async with User().client(everything) as client:
        arguments = {"duration": 0.3, "steps": 3}
        result = await client.call_tool("trigger-long-running-operation", arguments, progress=on_progress)
        assert "completed" in result.text
        assert seen == [(1, 3), (2, 3), (3, 3)]


async def test_everything_asks_the_user_the_model_and_for_roots(everything: Any) -> None:
    user = User()
    async with user.client(everything) as client:
        assert "Ann" in (await client.call_tool("trigger-elicitation-request")).text
        sampled = await client.call_tool("trigger-sampling-request", {"prompt": "p", "maxTokens": 10})
        assert "a sampled answer" in sampled.text
        assert "file:///srv/project" in (await client.call_tool("get-roots-list")).text
    assert user.asked[1] == "at most 10 tokens"


async def test_everything_is_cancelled_and_answers_on(everything: Any) -> None:
    started = asyncio.Event()
    async with User().client(everything) as client:
        arguments = {"duration": 30, "steps": 300}
        call = asyncio.ensure_future(
            client.call_tool("trigger-long-running-operation", arguments, progress=lambda *_: started.set())
        )
        async with asyncio.timeout(LIMIT_SECONDS):
            await started.wait()
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert (await client.call_tool("echo", {"message": "on"})).text == "Echo: on"


async def test_everything_tells_of_changes(everything: Any) -> None:
    user = User()
    async with user.client(everything) as client, asyncio.timeout(LIMIT_SECONDS):
        await client.subscribe("demo://resource/dynamic/text/1")
        await client.unsubscribe("demo://resource/dynamic/text/1")
        user.changed.clear()
        await client.call_tool("gzip-file-as-resource", {"name": "a.gz", "data": "data:text/plain,hello"})
        await user.changed.wait()
        assert Change("resources", None) in user.changes
        await client.set_log_level("debug")
        await client.ping()


async def test_filesystem(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    async with Client(StdioServer(*node_server("server-filesystem"), str(tmp_path))) as client:
        assert client.server_info.name == "secure-filesystem-server"
        assert "write_file" in {tool.name for tool in await client.list_tools()}
        read = await client.call_tool("read_text_file", {"path": str(tmp_path / "a.txt"), "head": 1})
        assert read.text == "one"
        await client.call_tool("write_file", {"path": str(tmp_path / "b.txt"), "content": "three"})
        assert (tmp_path / "b.txt").read_text() == "three"
        outside = await client.call_tool("read_text_file", {"path": "/etc/hostname"})
        assert outside.is_error


@pytest.mark.parametrize("era", LATEST)
async def test_time(era: str) -> None:
    target = StdioServer(*python_server("mcp_server_time"), "--local-timezone", "UTC")
    async with Client(target, protocol=era) as client:
        assert client.protocol_version == LATEST[era]
        assert {tool.name for tool in await client.list_tools()} == {"get_current_time", "convert_time"}
        arguments = {"source_timezone": "UTC", "time": "16:30", "target_timezone": "Asia/Kathmandu"}
        result = await client.call_tool("convert_time", arguments)
        assert "22:15" in result.text
        assert (await client.call_tool("get_current_time", {"timezone": "Mars/X"})).is_error


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for command in (["init", "--quiet"], ["config", "user.name", "Ann"], ["config", "user.email", "ann@example.com"]):
        subprocess.run(["git", *command], cwd=tmp_path, check=True)
    (tmp_path / "f.txt").write_text("one\n")
    return tmp_path


@pytest.mark.parametrize("era", LATEST)
async def test_git(era: str, repository: Path) -> None:
    target = StdioServer(*python_server("mcp_server_git"), "--repository", str(repository))
    async with Client(target, protocol=era) as client:
        assert client.protocol_version == LATEST[era]
        assert "git_status" in {tool.name for tool in await client.list_tools()}
        repo = {"repo_path": str(repository)}
        assert "f.txt" in (await client.call_tool("git_status", repo)).text
        await client.call_tool("git_add", {**repo, "files": ["f.txt"]})
        await client.call_tool("git_commit", {**repo, "message": "first"})
        assert "first" in (await client.call_tool("git_log", repo)).text
