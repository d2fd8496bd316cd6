"""Clients log in to servers across implementations, each through the other's authorization server or ours."""

import asyncio
import sys
from typing import Any

import pytest

from interop.peer import HERE, NODE, PYTHON, ROOT, free_port, peer_python, run_peer, serving
from splice import Client
from splice.auth import OAuth
from splice.types import TextContent

GUARDED = ROOT / "examples" / "guarded.py"
ISSUER = [sys.executable, "-m", "splice.cli", "auth", "serve", "--memory", "--auto-approve", "anna"]
AGREES = f"{sys.executable} {HERE / 'peers' / 'follow.py'} %s"
"""A browser whose user allows everything. With a `&` behind it, it is not waited for."""

CLIENTS = {
    "mcp": [str(PYTHON), "python_login.py"],
    "fastmcp": [peer_python("fastmcp"), "fastmcp_login.py"],
    "typescript 1": [str(NODE), "typescript_login.mjs", "1"],
    "typescript 2": [str(NODE), "typescript_login.mjs", "2"],
}


@pytest.fixture(autouse=True)
def browser(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", AGREES)


async def called(url: str, tool: str, arguments: dict[str, Any]) -> str:
    """Log in, and call a tool."""
    async with asyncio.timeout(20), Client(url, auth=OAuth()) as client:
        block = (await client.call_tool(tool, arguments)).content[0]
        assert isinstance(block, TextContent)
        return block.text


@pytest.mark.parametrize("name", CLIENTS)
def test_each_client_logs_in_to_our_server_by_our_authorization_server(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROWSER", f"{AGREES} &")  # one of them opens it, and listens only then
    program, script, *more = CLIENTS[name]
    port = free_port()
    with serving(sys.executable, str(GUARDED), "--port", str(port), "--approve", port=port):
        report = run_peer([program, str(HERE / "peers" / script), *more, f"http://127.0.0.1:{port}/mcp"])
    assert report["who"] == "anna"
    assert report["tools"] == ["whoami"]  # the other one takes a scope that was not asked for


async def test_our_client_logs_in_to_the_official_server_by_its_authorization_server() -> None:
    port = free_port()
    with serving(str(PYTHON), str(HERE / "peers" / "python_guarded.py"), str(port), port=port):
        assert await called(f"http://127.0.0.1:{port}/mcp", "add", {"a": 1, "b": 2}) == "3"


async def test_our_client_logs_in_to_a_fastmcp_server_that_verifies_our_tokens() -> None:
    port, issuer = free_port(), free_port()
    script = str(HERE / "peers" / "fastmcp_guarded.py")
    with (
        serving(*ISSUER, "--port", str(issuer), port=issuer),
        serving(peer_python("fastmcp"), script, str(port), f"http://127.0.0.1:{issuer}", port=port),
    ):
        assert await called(f"http://127.0.0.1:{port}/mcp", "whoami", {}) == "anna"


async def test_our_client_asks_for_the_scope_that_a_tool_needs() -> None:
    port = free_port()
    with serving(sys.executable, str(GUARDED), "--port", str(port), "--approve", port=port):
        assert await called(f"http://127.0.0.1:{port}/mcp", "write", {"text": "x"}) == "written: x"
