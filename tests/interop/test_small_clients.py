"""Clients of other ages and other people against our server."""

import sys
from typing import Any

import pytest

from interop.peer import EXAMPLE, HERE, NODE, example_over_http, example_over_sse, peer_python, run_peer
from interop.test_our_server import TOOLS

PEERS = HERE / "peers"
CLIENTS = {
    "mcp-1.30": [peer_python("mcp-1.30"), str(PEERS / "mcp1_client.py")],
    "fastmcp": [peer_python("fastmcp"), str(PEERS / "fastmcp_client.py")],
    "ai-sdk": [str(NODE), str(PEERS / "small_client.mjs"), "ai-sdk"],
    "typescript-1.0": [str(NODE), str(PEERS / "small_client.mjs"), "sdk-1.0"],
}
MISSING = {"fastmcp": -32602, "ai-sdk": -32602}
"""The code for a resource that is not there, for those that speak the newest version."""
SILENT = {"ai-sdk", "typescript-1.0"}
"""They do not ask for progress."""


@pytest.mark.parametrize("client", CLIENTS)
def test_over_stdio(client: str) -> None:
    check(client, run_peer([*CLIENTS[client], "stdio", sys.executable, str(EXAMPLE)]))


@pytest.mark.parametrize("client", [name for name in CLIENTS if name != "typescript-1.0"])
def test_over_http(client: str) -> None:
    with example_over_http() as url:
        check(client, run_peer([*CLIENTS[client], "http", url]))


def test_over_http_and_sse() -> None:
    with example_over_sse() as url:
        check("mcp-1.30", run_peer([*CLIENTS["mcp-1.30"], "sse", url]))


def check(client: str, report: dict[str, Any]) -> None:
    """Compare what the peer saw with what the example does."""
    assert report["server"] == "everything"
    assert set(report["tools"]) == TOOLS
    assert report["add"] == "5"
    assert report["count"] == "counted to 3"
    assert report["fail"] == [True, "This tool always fails. That is all it does."]
    assert report["motto"] == "Write it once."
    assert report["review"] == "Please review this python code:\n\nx = 1"
    assert report["missing"] == MISSING.get(client, -32002)
    if client not in SILENT:
        assert report["progress"] == [[step, 3, f"counted to {step}"] for step in (1, 2, 3)]
