"""Programs nobody here wrote use each reference server: the official SDKs, and the Inspector's command line."""

import json
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple

import pytest

from interop.peer import HERE, NODE, NODE_HOME, PYTHON, RUN_SECONDS, free_port, run_peer, serving
from servers.recorded import contract, placed

INSPECTOR = NODE_HOME / "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
PYTHON_VISITOR = [str(PYTHON), str(HERE / "peers" / "visitor.py")]
TYPESCRIPT_VISITOR = [str(NODE), str(HERE / "peers" / "visitor.mjs")]
VISITORS = {
    "python-legacy": [*PYTHON_VISITOR, "legacy"],
    "python-modern": [*PYTHON_VISITOR, "modern"],
    "typescript-1": [*TYPESCRIPT_VISITOR, "1", "legacy"],
    "typescript-2-legacy": [*TYPESCRIPT_VISITOR, "2", "legacy"],
    "typescript-2-modern": [*TYPESCRIPT_VISITOR, "2", "modern"],
}


class Visit(NamedTuple):
    """A tool, its arguments, and what its text has in it. {PLACE} is a directory of the test's."""

    tool: str
    arguments: dict[str, Any]
    says: str
    settings: tuple[str, ...] = ()


VISITS = {
    "everything": Visit("get-sum", {"a": 2, "b": 3}, "The sum of 2 and 3 is 5."),
    "fetch": Visit("fetch", {"url": "http://{HOST}/hello.txt"}, "Hello", ("--allow-loopback",)),
    "filesystem": Visit("list_directory", {"path": "{PLACE}"}, "[FILE] hello.txt", ("{PLACE}",)),
    "git": Visit("git_log", {"repo_path": "{PLACE}"}, "First words", ("--repository", "{PLACE}")),
    "memory": Visit("search_nodes", {"query": "Ann"}, "Ann", ("--file", "{PLACE}/memory.jsonl")),
    "sequential-thinking": Visit(
        "sequentialthinking",
        {"thought": "First", "nextThoughtNeeded": False, "thoughtNumber": 1, "totalThoughts": 1},
        "thoughtHistoryLength",
    ),
    "sqlite": Visit("list_tables", {}, "greetings", ("--db-path", "{PLACE}/data.db")),
    "time": Visit("get_current_time", {"timezone": "Europe/Oslo"}, "Europe/Oslo"),
}


class Hello(SimpleHTTPRequestHandler):
    """Serves one directory, and says nothing of it."""

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture(scope="module")
def places(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Make what the servers look at: a repository with a file, a database, a memory, a web server."""
    place = tmp_path_factory.mktemp("place")
    (place / "hello.txt").write_text("Hello\n")
    entity = {"type": "entity", "name": "Ann", "entityType": "person", "observations": ["likes tea"]}
    (place / "memory.jsonl").write_text(json.dumps(entity) + "\n")
    with closing(sqlite3.connect(place / "data.db")) as database:
        database.execute("CREATE TABLE greetings (word TEXT)")
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    for words in (["init", "--quiet"], ["add", "hello.txt"], [*who, "commit", "--quiet", "-m", "First words"]):
        subprocess.run(["git", "-C", place, *words], check=True, capture_output=True)
    web = ThreadingHTTPServer(("127.0.0.1", 0), partial(Hello, directory=str(place)))
    thread = Thread(target=web.serve_forever)
    thread.start()
    yield {"PLACE": str(place), "HOST": f"127.0.0.1:{web.server_port}"}
    web.shutdown()
    web.server_close()
    thread.join()


def command_of(name: str, places: dict[str, str]) -> list[str]:
    return [sys.executable, "-m", "splice.cli", "serve", name, *placed(list(VISITS[name].settings), places)]


def check(name: str, report: dict[str, Any]) -> None:
    ((is_error, text),) = report["answers"]
    assert not is_error, text
    assert VISITS[name].says in text
    known = contract(name)
    assert set(known.get("bare", known["tools"])) <= set(report["tools"])  # visitors can answer no questions
    assert set(known.get("prompts", ())) <= set(report.get("prompts", ()))


@pytest.mark.parametrize("visitor", VISITORS)
@pytest.mark.parametrize("name", VISITS)
def test_official_clients_use_it(name: str, visitor: str, places: dict[str, str]) -> None:
    visit = VISITS[name]
    calls = json.dumps(placed([[visit.tool, visit.arguments]], places))
    check(name, run_peer([*VISITORS[visitor], calls, *command_of(name, places)]))


@pytest.mark.parametrize("era", ["legacy", "modern"])
@pytest.mark.parametrize("name", VISITS)
def test_the_official_client_uses_it_over_http(name: str, era: str, places: dict[str, str]) -> None:
    visit, port = VISITS[name], free_port()
    calls = json.dumps(placed([[visit.tool, visit.arguments]], places))
    with serving(*command_of(name, places), "--http", "--port", str(port), port=port):
        check(name, run_peer([*PYTHON_VISITOR, era, calls, f"http://127.0.0.1:{port}/mcp"]))


@pytest.mark.parametrize("name", VISITS)
def test_the_inspector_uses_it(name: str, places: dict[str, str]) -> None:
    visit = VISITS[name]
    arguments = json.dumps(placed(visit.arguments, places))
    words = ["--method", "tools/call", "--tool-name", visit.tool, "--tool-args-json", arguments]
    done = subprocess.run(
        [NODE, INSPECTOR, "--cli", *command_of(name, places), *words],
        capture_output=True,
        text=True,
        timeout=RUN_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert visit.says in json.loads(done.stdout)["content"][0]["text"]
