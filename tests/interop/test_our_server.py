"""Official clients against our server: every feature, over every transport, in every era the client speaks."""

import sys
from typing import Any

import pytest

from interop.peer import EXAMPLE, HERE, NODE, PYTHON, example_over_http, run_peer

LATEST = {"legacy": "2025-11-25", "modern": "2026-07-28"}
MISSING = {"legacy": {-32002, -32602}, "modern": {-32602}}
"""The code for a resource that is not there; the second TypeScript client shows its users the modern one always."""

PYTHON_CLIENT = [str(PYTHON), str(HERE / "peers" / "python_client.py")]
TYPESCRIPT_CLIENT = [str(NODE), str(HERE / "peers" / "typescript_client.mjs")]

CLIENTS = {
    "python-legacy": ([*PYTHON_CLIENT, "legacy"], "legacy"),
    "python-modern": ([*PYTHON_CLIENT, "modern"], "modern"),
    "typescript-1-legacy": ([*TYPESCRIPT_CLIENT, "1", "legacy"], "legacy"),
    "typescript-2-legacy": ([*TYPESCRIPT_CLIENT, "2", "legacy"], "legacy"),
    "typescript-2-modern": ([*TYPESCRIPT_CLIENT, "2", "modern"], "modern"),
}

TOOLS = {
    "add",
    "weather",
    "picture",
    "count",
    "introduce",
    "summarize",
    "workspace",
    "chatter",
    "wait",
    "touch",
    "fail",
}


@pytest.mark.parametrize("client", CLIENTS)
def test_over_stdio(client: str) -> None:
    command, era = CLIENTS[client]
    check(run_peer([*command, "stdio", sys.executable, str(EXAMPLE)]), era)


@pytest.mark.parametrize("client", CLIENTS)
def test_over_http(client: str) -> None:
    command, era = CLIENTS[client]
    with example_over_http() as url:
        check(run_peer([*command, "http", url]), era)


def check(report: dict[str, Any], era: str) -> None:
    """Compare what the peer saw with what the example does."""
    assert report["version"] == LATEST[era]
    assert report["server"] == "everything"
    check_tools(report)
    check_questions(report)
    check_resources_and_prompts(report, era)
    assert report["journal"] == ["wait: started", "wait: cancelled"]
    assert report["changes"] == ["resource", "tools"]


def check_tools(report: dict[str, Any]) -> None:
    assert set(report["tools"]) == TOOLS
    assert report["add"] == "5"
    assert report["weather"] == {"city": "Oslo", "celsius": 21.5, "sky": "clear"}
    assert report["picture"] == "image/png"
    assert report["count"] == "counted to 3"
    assert report["progress"] == [[1, 3, "counted to 1"], [2, 3, "counted to 2"], [3, 3, "counted to 3"]]
    assert report["fail"] == [True, "This tool always fails. That is all it does."]
    assert report["wrong"] == [True, True]


def check_questions(report: dict[str, Any]) -> None:
    assert report["asked"] == "Who are you?"
    assert report["introduce"] == "Hello Ann, 7!"
    assert report["sampled"] == 100
    assert report["summarize"] == "In short: all is well"
    assert report["workspace"] == "file:///srv/project"
    assert report["chatter"] == "done"
    assert report["log"] == [["debug", "looking around"], ["info", "found something"], ["warning", "it moves"]]


def check_resources_and_prompts(report: dict[str, Any], era: str) -> None:
    assert report["resources"] == ["example://motto", "example://pixel", "example://journal"]
    assert report["templates"] == ["example://users/{name}"]
    assert report["motto"] == "Write it once."
    assert report["pixel"] == "iVBORw0K"
    assert report["user"] == {"name": "ann", "home": "/home/ann"}
    assert report["prompts"] == ["review"]
    assert report["review"] == "Please review this python code:\n\nx = 1"
    assert report["completion"] == ["python", "pascal"]
    assert report["missing"] in MISSING[era]
