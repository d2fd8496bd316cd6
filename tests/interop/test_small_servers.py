"""Our client against a small server on SDKs of other ages and other people, and behind a bridge."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from interop.peer import EXAMPLE, HERE, NODE, NODE_HOME, example_over_http, free_port, peer_python, serving
from splice import Client, StdioServer
from splice.protocol.versions import LATEST_HANDSHAKE

SERVER = str(HERE / "peers" / "small_server.py")
SUPERGATEWAY = [str(NODE), str(NODE_HOME / "node_modules" / "supergateway" / "dist" / "index.js")]
LIMIT_SECONDS = 15.0

OVER_STDIO = {
    "mcp-1.6": [peer_python("mcp-1.6"), SERVER, "stdio"],
    "mcp-1.9": [peer_python("mcp-1.9"), SERVER, "stdio"],
    "mcp-1.30": [peer_python("mcp-1.30"), SERVER, "stdio"],
    "fastmcp": [peer_python("fastmcp"), SERVER, "stdio"],
    "typescript-1.0": [str(NODE), str(HERE / "peers" / "first_server.mjs")],
}
VERSIONS = {"mcp-1.6": "2024-11-05", "typescript-1.0": "2024-11-05", "mcp-1.9": "2025-03-26", "mcp-1.30": "2025-11-25"}
"""What is spoken in the end; with FastMCP, the newest version."""


@pytest.mark.parametrize("peer", OVER_STDIO)
async def test_over_stdio(peer: str) -> None:
    command, *arguments = OVER_STDIO[peer]
    target = StdioServer(command, *arguments, env={**os.environ, "PEERS": str(NODE_HOME)})
    async with Client(target, timeout=LIMIT_SECONDS) as client:
        assert client.protocol_version == VERSIONS.get(peer, "2026-07-28")
        await use(client)


@pytest.mark.parametrize("peer", ["mcp-1.30", "fastmcp"])
async def test_over_http(peer: str) -> None:
    port = free_port()
    with serving(peer_python(peer), SERVER, "http", str(port), port=port):
        async with Client(f"http://127.0.0.1:{port}/mcp", timeout=LIMIT_SECONDS) as client:
            assert client.protocol_version == VERSIONS.get(peer, "2026-07-28")
            await use(client)


@pytest.mark.parametrize("peer", OVER_STDIO)
async def test_over_http_and_sse(peer: str) -> None:
    """The transport of the first version, which servers on newer SDKs offer too."""
    port = free_port()
    command = OVER_STDIO[peer] if peer == "typescript-1.0" else OVER_STDIO[peer][:-1]
    with serving(*command, "sse", str(port), port=port, env={"PEERS": str(NODE_HOME)}, leaves=peer != "mcp-1.6"):
        async with Client(f"http://127.0.0.1:{port}/sse", timeout=LIMIT_SECONDS) as client:
            assert client.protocol_version == VERSIONS.get(peer, LATEST_HANDSHAKE)
            await use(client)


async def use(client: Client) -> None:
    """Use everything the small server has."""
    told: list[Any] = []
    assert client.server_info.name == "small"
    assert [tool.name for tool in await client.list_tools()] == ["add", "fail", "count"]
    assert (await client.call_tool("add", {"a": 2, "b": 3})).text == "5"
    failed = await client.call_tool("fail")
    assert failed.is_error
    assert "on purpose" in failed.text
    counted = await client.call_tool("count", {"steps": 3}, progress=lambda *report: told.append(report[:2]))
    assert counted.text == "counted to 3"
    assert told == [(1, 3), (2, 3), (3, 3)]
    assert [each.uri for each in await client.list_resources()] == ["note://motto"]
    assert [each.uri_template for each in await client.list_resource_templates()] == ["note://users/{name}"]
    assert (await client.read_resource("note://motto")).contents[0].text == "Write it once."
    assert (await client.read_resource("note://users/ann")).contents[0].text == "user ann"
    assert [each.name for each in await client.list_prompts()] == ["review"]
    prompt = await client.get_prompt("review", {"code": "1+1"})
    assert prompt.messages[0].content.text == "Review 1+1"  # type: ignore[union-attr]  # it is text


# Behind a bridge: our client, supergateway, our server.


@contextmanager
def bridged_to_http() -> Iterator[Any]:
    """Serve the example, which speaks over stdio, at a URL."""
    port = free_port()
    words = ["--stdio", f"{sys.executable} {EXAMPLE}", "--outputTransport", "streamableHttp", "--port", str(port)]
    with serving(*SUPERGATEWAY, *words, "--logLevel", "none", port=port):
        yield f"http://127.0.0.1:{port}/mcp"


@contextmanager
def bridged_to_sse() -> Iterator[Any]:
    """Serve the example, which speaks over stdio, at the two URLs of HTTP+SSE."""
    port = free_port()
    words = ["--stdio", f"{sys.executable} {EXAMPLE}", "--outputTransport", "sse", "--port", str(port)]
    with serving(*SUPERGATEWAY, *words, "--logLevel", "none", port=port):
        yield f"http://127.0.0.1:{port}/sse"


@contextmanager
def bridged_to_stdio() -> Iterator[Any]:
    """Serve the example, which is at a URL, over stdio."""
    with example_over_http() as url:
        yield StdioServer(*SUPERGATEWAY, "--streamableHttp", url, "--logLevel", "none", env=dict(os.environ))


@pytest.mark.parametrize("bridged", [bridged_to_http, bridged_to_sse, bridged_to_stdio])
async def test_through_supergateway(bridged: Any) -> None:
    with bridged() as target:
        async with Client(target, timeout=LIMIT_SECONDS) as client:
            assert client.server_info.name == "everything"
            assert len(await client.list_tools()) == 11
            assert (await client.call_tool("add", {"a": 2, "b": 3})).text == "5"
            assert (await client.call_tool("fail")).is_error
            motto = await client.read_resource("example://motto")
            assert motto.contents[0].text == "Write it once."
