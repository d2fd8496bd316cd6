"""Everything a client can be pointed at."""

import re
import sys
from pathlib import Path
from typing import Any

import pytest

from splice import Client, HTTPServer, Server, StdioServer
from splice.client.targets import InProcess, resolve
from splice.errors import ConnectFailed, ConnectionClosed

PROGRAM = """
import json
i = json.loads(input())["id"]
caps = {"supportedVersions": ["2026-07-28"], "capabilities": {}}
print(json.dumps({"jsonrpc": "2.0", "id": i, "result": caps}), flush=True)
input()
"""


@pytest.mark.parametrize(
    "target",
    [
        "python -c 'print(1)' --x",
        ["python", "-c", "print(1)", "--x"],
        ("python", "-c", "print(1)", "--x"),
        StdioServer("python", "-c", "print(1)", "--x"),
        {"command": "python", "args": ["-c", "print(1)", "--x"]},
        {"mcpServers": {"one": {"type": "stdio", "command": "python", "args": ["-c", "print(1)", "--x"]}}},
    ],
)
def test_a_command(target: Any) -> None:
    resolved = resolve(target)
    assert isinstance(resolved, StdioServer)
    assert resolved.command == ("python", "-c", "print(1)", "--x")
    assert resolved.name == "python -c 'print(1)' --x"
    assert resolved.kind == "stdio"


def test_an_entry_has_an_environment_and_a_directory() -> None:
    resolved = resolve({"command": "/usr/bin/x", "env": {"A": "1"}, "cwd": "/tmp"})
    assert isinstance(resolved, StdioServer)
    assert resolved.env == {"A": "1"}
    assert resolved.cwd == "/tmp"
    assert resolved.name == "x"


@pytest.mark.parametrize(
    ("target", "headers"),
    [
        ("http://h/mcp", None),
        (HTTPServer("http://h/mcp", headers={"A": "1"}), {"A": "1"}),
        ({"type": "http", "url": "http://h/mcp", "headers": {"A": "1"}}, {"A": "1"}),
    ],
)
def test_a_url(target: Any, headers: Any) -> None:
    resolved = resolve(target)
    assert isinstance(resolved, HTTPServer)
    assert (resolved.url, resolved.headers, resolved.name, resolved.kind) == (
        "http://h/mcp",
        headers,
        "http://h/mcp",
        "http",
    )


def test_a_server_object() -> None:
    resolved = resolve(Server("mine"))
    assert isinstance(resolved, InProcess)
    assert resolved.name == "mine"
    assert resolved.kind == "memory"


@pytest.mark.parametrize("target", [5, None, object()])
def test_what_is_no_target(target: Any) -> None:
    with pytest.raises(TypeError, match="a client needs"):
        resolve(target)


@pytest.mark.parametrize("target", ["", [], {}, {"mcpServers": {}}, {"mcpServers": {"a": {}, "b": {}}}, {"a": 1}])
def test_what_is_no_complete_target(target: Any) -> None:
    with pytest.raises(ValueError, match=r"empty|needs|has \d"):
        resolve(target)


async def test_a_child_process_really_starts() -> None:
    async with Client([sys.executable, "-I", "-c", PROGRAM]) as client:
        assert client.protocol_version == "2026-07-28"


async def test_a_server_object_really_answers() -> None:
    async with Client(Server("mine")) as client:
        assert client.server_info.name == "mine"


SERVER = """
from splice import Server
one, two = Server("first"), Server("second")
"""


async def test_a_python_file_is_run_as_the_command_line_runs_it(tmp_path: Path) -> None:
    one, two = tmp_path / "one.py", tmp_path / "two.py"
    one.write_text("from splice import Server\nserver = Server('only')\n")
    two.write_text(SERVER)
    for target, name in ((one, "only"), (str(one), "only"), (f"{two}:two", "second")):
        async with Client(target) as client:
            assert client.server_info.name == name


def test_code_is_told_from_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "server.py").touch()
    run = (sys.executable, "-m", "splice.cli", "run")
    for target in ("server.py", "server.py:name", "package.module:name", Path("server.py")):
        resolved: Any = resolve(target)
        assert resolved.command == (*run, str(target))
    for target, command in (("python server.py", ("python", "server.py")), (Path("bin/server"), ("bin/server",))):
        resolved = resolve(target)
        assert resolved.command == command


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("127.0.0.1:8799/mcp", "did you mean http://127.0.0.1:8799/mcp?"),
        ("localhost:80", "did you mean http://localhost:80?"),
        ("ftp://h/mcp", "did you mean http://h/mcp?"),
        ("mcp.json", "Client takes an entry: json.load(file)['mcpServers'][name]"),
        ("mcp.json#shop", "'mcp.json#shop' is for `splice call`"),
        ("nowhere.py", "there is no file 'nowhere.py'"),
        ("nowhere.py:server", "there is no file 'nowhere.py'"),
        (Path("nowhere.py"), "there is no file 'nowhere.py'"),
    ],
)
def test_a_target_that_cannot_be_meant_says_what_may_be(target: Any, said: str) -> None:
    with pytest.raises(ValueError, match=re.escape(said)):
        resolve(target)


async def test_a_file_that_is_no_program_says_how_to_run_it(tmp_path: Path) -> None:
    file = tmp_path / "server"
    file.touch()
    with pytest.raises(ConnectFailed, match=f"to run this file, name its program too, as in: python {file}"):
        await Client(file).open()


async def test_a_url_is_really_called() -> None:
    with pytest.raises(ConnectionClosed, match=r"http://127\.0\.0\.1:9/mcp"):
        await Client("http://127.0.0.1:9/mcp").open()


def test_a_target_of_ones_own_has_a_kind_and_a_name() -> None:
    class Nameless:
        async def connect(self, receiver: object) -> None: ...

    nameless: Any = Nameless()
    with pytest.raises(TypeError, match=r"^Nameless has `connect`, but a target needs `kind` and `name` too$"):
        resolve(nameless)


async def test_stderr_is_handed_on_as_it_comes() -> None:
    said: list[bytes] = []
    server = StdioServer(
        sys.executable, "-c", f"import sys\nprint('up', file=sys.stderr)\n{PROGRAM}", on_stderr=said.append
    )
    async with Client(server):
        pass
    assert b"".join(said).startswith(b"up\n")
