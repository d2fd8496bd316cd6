"""The command line as a whole: help, exit codes, and what stays unloaded."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import splice.cli
from cli.conftest import LIMIT_SECONDS, SERVER, Splice, splice_process
from splice import Server
from splice.cli import main
from splice.cli.commands import COMMANDS
from splice.cli.outcomes import FAILED, INTERRUPTED, OK, USAGE
from support.sources import FAILING_LIFESPAN
from support.warm import warm_python

REQUEST = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {
        "name": "add",
        "arguments": {"a": 2},
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    },
}


def test_help_names_every_command(splice: Splice) -> None:
    done = splice("--help")
    assert done.code == OK
    assert done.err == ""
    assert all(f"  {name} " in done.out for name in COMMANDS)


def test_no_command_shows_help_and_is_wrong_usage(splice: Splice) -> None:
    done = splice()
    assert (done.code, done.out) == (USAGE, "")
    assert "Commands:" in done.err


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(splice: Splice, name: str) -> None:
    done = splice(name, "--help")
    assert done.code == OK
    assert done.out.startswith(f"Usage: splice {name}")
    assert "--debug" in done.out


def test_version(splice: Splice) -> None:
    assert splice("--version").out.startswith("splice 0.")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("cal", "there is no command 'cal'. Did you mean 'call'? There are "),
        ("xyz", "there is no command 'xyz'; there are "),
    ],
)
def test_an_unknown_command_is_told_the_known_ones(splice: Splice, name: str, said: str) -> None:
    done = splice(name)
    assert done.code == USAGE
    known = "demo, run, serve, list, call, read, prompt, doctor, host, login, logout, install, auth, completion"
    assert done.err == f"splice: {said}{known}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["list"], "which server?"),
        (["list", "server"], "is not a server"),
        (["list", "nowhere.py"], "there is no file 'nowhere.py'"),
        (["list", SERVER, "more"], "one server at a time"),
        (["list", "--nope"], "No such option"),
        (["list", SERVER, "--protocol", "2020-01-01"], "Invalid value for '--protocol'"),
        (["list", SERVER, "--timeout", "0"], "Invalid value for '--timeout'"),
        (["list", SERVER, "--header", "A: b"], "--header is for URLs"),
        (["list", "--header", "A: b", "--", "true"], "--header is for URLs"),
        (["list", "http://127.0.0.1:9/", "--header", "nonsense"], "not of the form"),
        (["call", SERVER], "which tool?"),
        (["call", SERVER, "add", "a"], "'a' is not of the form key=value"),
        (["call", SERVER, "add", "a=many"], "a: expected integer, got 'many'"),
        (["call", SERVER, "add", "--args", "[1]"], "must be a JSON object"),
        (["call", SERVER, "add", "{a: 1}"], "no JSON"),
        (["read", SERVER], "which resource?"),
        (["prompt", SERVER], "which prompt?"),
        (["prompt", SERVER, "greet", "x"], "not of the form key=value"),
        (["run"], "Missing argument"),
        (["run", "nowhere.py"], "there is no file"),
        (["run", SERVER, "--port", "1"], "--port needs --http"),
        (["run", SERVER, "--http", "--port", "99999"], "Invalid value for '--port'"),
        (["run", SERVER, "--http", "--host", "0.0.0.0"], "--allowed-host"),
        (["run", f"{SERVER}:nope"], "has no 'nope'"),
        (["install", "shop", SERVER], "Choose from: claude, claude-code, cursor, "),
    ],
)
def test_wrong_usage_exits_2_and_says_what_is_wrong(splice: Splice, words: list[str], message: str) -> None:
    done = splice(*words)
    assert (done.code, done.out) == (USAGE, "")
    assert done.err.startswith("splice: ")
    assert message in done.err
    assert done.err.count("\n") == 1


def test_debug_adds_the_traceback(splice: Splice) -> None:
    done = splice("list", "nowhere.py", "--debug")
    assert done.code == USAGE
    assert "Traceback" in done.err
    assert "Traceback" not in splice("list", "--", "false", "--debug").err


def test_a_defect_of_ours_is_told_in_one_line(splice: Splice, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_: list[str]) -> int:
        raise KeyError("\x1b")

    monkeypatch.setattr("splice.cli.entry._dispatch", broken)
    done = splice("list")
    assert (done.code, done.err) == (FAILED, "splice: unexpected KeyError: '\\x1b'; --debug shows where\n")
    assert "Traceback" in splice("list", "--debug").err


def test_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: list[str]) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr("splice.cli.entry._dispatch", interrupted)
    assert main(["list"]) == INTERRUPTED


def test_a_reader_that_leaves_is_no_traceback() -> None:
    command = f"{sys.executable} -m splice.cli list {SERVER} | true"
    done = subprocess.run(["bash", "-c", command], capture_output=True, timeout=LIMIT_SECONDS, check=True)
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("words", ["run", "call"])
def test_streams_that_are_closed_are_no_reason_to_fail(words: str, closed: str) -> None:
    arguments = f"run {SERVER}" if words == "run" else f"call {SERVER} count to=1"
    command = f"{sys.executable} -m splice.cli {arguments} {closed}"
    done = subprocess.run(
        ["bash", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, timeout=LIMIT_SECONDS, check=True
    )
    assert b"Traceback" not in done.stderr


def test_run_answers_on_stdin_and_stdout() -> None:
    done = splice_process("run", SERVER, python=sys.executable, stdin=None, input=json.dumps(REQUEST).encode() + b"\n")
    assert done.returncode == OK
    assert json.loads(done.stdout)["result"]["structuredContent"] == 3
    assert done.stderr == b""


@pytest.mark.parametrize("options", [(), ("--http", "--port", "0")])
def test_a_lifespan_that_fails_is_told_with_its_traceback(tmp_path: Path, options: tuple[str, ...]) -> None:
    path = tmp_path / "broken.py"
    path.write_text(FAILING_LIFESPAN)
    done = splice_process("run", str(path), *options)
    assert done.returncode == FAILED
    first, *trace = done.stderr.decode().splitlines()
    assert first == "splice: The lifespan of shop failed: RuntimeError: DATABASE_URL is not set"
    assert f'  File "{path}", line 7, in lifespan' in trace
    assert trace[-1] == "RuntimeError: DATABASE_URL is not set"


def test_run_works_with_files_too(tmp_path: Path) -> None:
    (tmp_path / "in").write_text(json.dumps(REQUEST) + "\n")
    with (tmp_path / "in").open() as source, (tmp_path / "out").open("w") as target:
        command = [warm_python(), "-m", "splice.cli", "run", SERVER]
        subprocess.run(command, stdin=source, stdout=target, timeout=LIMIT_SECONDS, check=True)
    assert json.loads((tmp_path / "out").read_text())["id"] == 1


def test_run_with_an_option_still_serves_stdio() -> None:
    done = splice_process("run", "--debug", SERVER, stdin=None, input=json.dumps(REQUEST).encode() + b"\n")
    assert json.loads(done.stdout)["id"] == 1


def test_run_tells_who_waits_at_a_terminal() -> None:
    leader, terminal = os.openpty()
    command = [sys.executable, "-m", "splice.cli", "run", SERVER]
    with subprocess.Popen(command, stdin=terminal, stderr=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        os.close(terminal)
        assert process.stderr is not None
        assert process.stdout is not None
        assert b"waits for a client on stdin" in process.stderr.readline()
        os.write(leader, json.dumps(REQUEST).encode() + b"\n")
        assert b'"id":1' in process.stdout.readline()
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT_SECONDS) == OK
    os.close(leader)


def test_run_hands_the_options_to_the_server(splice: Splice, monkeypatch: pytest.MonkeyPatch) -> None:
    runs: list[tuple[object, ...]] = []

    def run(server: Server, transport: str = "stdio", **options: object) -> None:
        runs.append((server.service.home.info.version, transport, options))

    monkeypatch.setattr(Server, "run", run)
    assert splice("run", SERVER).code == OK
    assert splice("run", "--debug", SERVER).code == OK
    assert splice("run", SERVER, "--http", "--port", "1", "--allowed-host", "a.example").code == OK
    options = {"host": "127.0.0.1", "port": 1, "path": "/mcp", "allowed_hosts": ("a.example",)}
    assert runs == [("1.0", "stdio", {}), ("1.0", "stdio", {}), ("1.0", "http", options)]


def test_run_loads_no_parser_no_colours_no_web_server() -> None:
    script = f"""
import sys
from splice import Server
from splice.cli import main
code = main(["run", {SERVER!r}])
heavy = ["click", "rich", "uvicorn", "aiohttp", "starlette", "argparse"]
sys.stderr.write(repr((code, [name for name in heavy if name in sys.modules])))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], input=b"", capture_output=True, timeout=LIMIT_SECONDS, check=True
    )
    assert done.stderr == b"(0, [])"


def test_commands_have_their_own_files() -> None:
    here = Path(splice.cli.__file__).parent
    assert all((here / f"{name}.py").exists() for name in COMMANDS)


def test_http_port_that_is_taken(splice: Splice, url: str) -> None:
    port = url.removesuffix("/mcp").rpartition(":")[2]
    done = splice("run", SERVER, "--http", "--port", port)
    assert done.code == FAILED
    assert done.err.startswith(f"splice: cannot listen on 127.0.0.1:{port}")
