"""`list`, `call`, `read`, `prompt`, against a server of ours: over stdio, HTTP, and as a command."""

import json
import sys
from pathlib import Path

import pytest

from cli.conftest import SERVER, Splice, splice_process
from cli.test_asking import Screen
from splice.cli.outcomes import FAILED, OK, UNREACHABLE

ESCAPE = "\x1b"


def test_list_shows_everything_on_clean_lines(splice: Splice) -> None:
    done = splice("list", SERVER)
    assert done.code == OK
    lines = done.out.splitlines()
    assert lines[0] == "shop \\x1b[31m 1.0, protocol 2026-07-28  The \\x1b[1m shop"
    assert lines[1] == "Look \\x1b[2J around."
    assert "  add(a: integer, b: integer = 1)" in lines
    assert "      Add two numbers." in lines
    assert "      Say \\x1b[31mred\\u202e." in lines
    order = '{name: string, count: integer = 1, size: "small" | "large" = "small", gift: boolean = false, '
    assert [line for line in lines if line.startswith("  find(")] == [
        f'  find(order: {order}colours: ["red" | "green"] | null = null}})  Find \\x1b it [read-only]'
    ]
    assert {"Tools", "Resources", "Resource templates", "Prompts"} <= set(lines)
    assert "  shop://items/{name}" in lines
    assert "  greet(name, tone?)" in lines
    assert "      tone: How \\x1b[1m it sounds" in lines
    assert ESCAPE not in done.out


def test_list_as_json(splice: Splice) -> None:
    listed = splice("list", SERVER, "--json").json
    assert listed["server"] == {"name": "shop \x1b[31m", "version": "1.0", "title": "The \x1b[1m shop"}
    assert listed["version"] == "2026-07-28"
    assert "add" in [tool["name"] for tool in listed["tools"]]
    assert [each["uriTemplate"] for each in listed["resourceTemplates"]] == ["shop://items/{name}"]


def test_a_server_that_offers_nothing(splice: Splice, tmp_path: Path) -> None:
    path = tmp_path / "empty_server.py"
    path.write_text("from splice import Server\nserver = Server('empty')\n")
    assert "It offers nothing" in splice("list", str(path)).out


@pytest.mark.parametrize("protocol", ["legacy", "modern", "2025-06-18"])
def test_the_protocol_can_be_chosen(splice: Splice, protocol: str) -> None:
    version = {"legacy": "2025-11-25", "modern": "2026-07-28"}.get(protocol, protocol)
    assert splice("list", SERVER, "--protocol", protocol, "--json").json["version"] == version


@pytest.mark.parametrize(
    ("words", "out"),
    [
        (["add", "a=2", "b=3"], "5\n"),
        (["add", "a=-2"], "-1\n"),
        (["add", '{"a": 2, "b": 3}'], "5\n"),
        (["add", '{"a": 2}', "b=4"], "6\n"),
        (["add", "--args", '{"a": 2}'], "3\n"),
        (["add", "--args", '{"a": 2}', "b=2"], "4\n"),
        (["kinds", "text=5", "items=[1, 2]", "flag=true", "share=1"], "('5', [1, 2], True, 1.0)\n"),
        (["kinds", "text=a=b", "items=null"], "('a=b', None, False, 0.5)\n"),
        (["evil"], "\\x1b]0;owned\\x07 done \\u202eabc\n"),
        (["picture"], "[image: image/png, 3 bytes]\n"),
    ],
)
def test_call(splice: Splice, words: list[str], out: str) -> None:
    assert splice("call", SERVER, *words)[:2] == (OK, out)


def test_call_over_http(splice: Splice, url: str) -> None:
    for protocol in ("auto", "legacy"):
        assert splice("call", url, "add", "a=2", "--protocol", protocol, "--header", "X-A: b")[:2] == (OK, "3\n")


def test_call_of_a_command(splice: Splice) -> None:
    assert splice("call", "add", "a=2", "--", sys.executable, SERVER)[:2] == (OK, "3\n")


def test_a_program_sees_the_environment(splice: Splice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "environment_server.py"
    path.write_text(
        "import os\nfrom splice import Server\nserver = Server('e')\n"
        "@server.tool\ndef secret() -> str:\n    return os.environ['SECRET']\n"
    )
    monkeypatch.setenv("SECRET", "of mine")
    assert splice("call", str(path), "secret").out == "of mine\n"


def test_arguments_from_stdin() -> None:
    done = splice_process("call", SERVER, "add", "--args", "-", stdin=None, input=b'{"a": 41}')
    assert done.stdout == b"42\n"


def test_call_as_json(splice: Splice) -> None:
    assert splice("call", SERVER, "add", "a=1", "--json").json["structuredContent"] == 2
    assert splice("call", SERVER, "add", "--json", '{"a": 1}').json["structuredContent"] == 2
    done = splice("call", SERVER, "evil", "--json")
    assert done.json["content"][0]["text"] == "\x1b]0;owned\x07 done \u202eabc"
    assert ESCAPE not in done.out


def test_progress_and_log_go_to_stderr(splice: Splice) -> None:
    done = splice("call", SERVER, "count", "to=2")
    assert done.out == "counted\n"
    assert done.err.splitlines() == [
        "[info] counting \\x1b[0m",
        '[info] { "from": 1 }',
        "1/2 (50%) step \\x1b[1m",
        "2/2 (100%) step \\x1b[1m",
    ]


def test_a_tool_that_fails_exits_1(splice: Splice) -> None:
    done = splice("call", SERVER, "fail")
    assert (done.code, done.out) == (FAILED, "")
    assert done.err == "no \\x1b[31mpaper\nsplice: the tool fail failed\n"
    done = splice("call", SERVER, "fail", "--json")
    assert done.code == FAILED
    assert done.json["isError"] is True


def test_bad_arguments_exit_1(splice: Splice) -> None:
    done = splice("call", SERVER, "add", "c=1")
    assert done.code == FAILED
    assert "a: " in done.err


def test_an_unknown_tool_is_told_the_known_ones(splice: Splice) -> None:
    done = splice("call", SERVER, "subtract")
    assert (done.code, done.out) == (FAILED, "")
    assert done.err.startswith(
        f"splice: {SERVER} answered with an error: Unknown tool: 'subtract'; there are add, kinds,"
    )
    assert splice("call", SERVER, "subtract", "--json").json["error"]["code"] == -32602
    assert "Unknown tool: 'ad'. Did you mean 'add'? There are add, kinds," in splice("call", SERVER, "ad").err


def test_a_call_that_takes_too_long(splice: Splice) -> None:
    done = splice("call", SERVER, "nap", "seconds=20", "--timeout", "3", "--protocol", "modern")
    assert done.code == FAILED
    assert "--timeout allows more" in done.err


@pytest.mark.parametrize(
    ("protocol", "told"),
    [("legacy", b"capability that sampling/createMessage needs"), ("modern", b"stdin and stderr are a terminal")],
)
def test_sampling_without_a_terminal_says_what_it_needs(protocol: str, told: bytes) -> None:
    done = splice_process("call", SERVER, "guess", "--protocol", protocol)
    assert done.returncode == FAILED
    assert told in done.stderr
    assert b"on_sample" not in done.stderr


def test_a_question_without_a_terminal_is_declined() -> None:
    done = splice_process("call", SERVER, "order")
    assert done.stdout == b"decline\n"
    assert b" asks: What shall it be?\nDeclined, as this is not a terminal.\n" in done.stderr


def test_read(splice: Splice) -> None:
    assert splice("read", SERVER, "shop://evil")[:2] == (OK, "a\x1b[31mb\n")
    assert splice("read", SERVER, "shop://items/tea").out == "tea"
    assert splice("read", SERVER, "shop://evil", "--json").json["contents"][0]["text"] == "a\x1b[31mb\n"


def test_read_at_a_terminal_describes_bytes() -> None:
    with Screen("read", SERVER, "shop://bytes") as screen:
        assert screen.end() == OK
    assert screen.shown.splitlines() == ["[shop://bytes: image/png, 3 bytes]"]
    with Screen("read", SERVER, "shop://evil") as screen:
        assert screen.end() == OK
    assert screen.shown.splitlines()[0] == "a\\x1b[31mb"


def test_read_bytes_into_a_pipe() -> None:
    assert splice_process("read", SERVER, "shop://bytes").stdout == b"\x00\xff\x1b"


def test_read_what_is_not_there(splice: Splice) -> None:
    done = splice("read", SERVER, "shop://nope/nope")
    assert done.code == FAILED
    assert "code -32602" in done.err
    assert "code -32002" in splice("read", SERVER, "shop://nope/nope", "--protocol", "legacy").err


def test_prompt(splice: Splice) -> None:
    done = splice("prompt", SERVER, "greet", "name=Ann", "tone=5")
    assert done.out == "# Greet \\x1b[31msomebody.\n\nuser: Greet Ann, 5.\\x1b[0m\n"
    assert splice("prompt", SERVER, "greet", "name=Ann", "--json").json["messages"][0]["role"] == "user"
    assert splice("prompt", SERVER, "greet").code == FAILED


@pytest.mark.parametrize(
    "words",
    [
        ["http://127.0.0.1:9/mcp"],
        ["http://no-such-host.invalid/mcp"],
        ["--", "no-such-program"],
        ["--", "false"],
        ["--", sys.executable, "-c", "import sys; sys.exit('\x1b[31mno luck')"],
    ],
)
def test_a_server_that_cannot_be_reached_exits_3(splice: Splice, words: list[str]) -> None:
    done = splice("list", "--timeout", "10", *words)
    assert (done.code, done.out) == (UNREACHABLE, "")
    assert done.err.startswith("splice: could not connect to ")
    assert "Traceback" not in done.err
    assert ESCAPE not in done.err


def test_a_file_that_does_not_load_says_why(splice: Splice, tmp_path: Path) -> None:
    path = tmp_path / "broken_server.py"
    path.write_text("1 / 0\n")
    done = splice("list", str(path))
    assert done.code == UNREACHABLE
    assert "ZeroDivisionError" in done.err


def test_output_in_a_poor_encoding() -> None:
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"}
    done = splice_process("call", SERVER, "kinds", "text=\u00e9", python=sys.executable, env=environment)
    assert done.returncode == OK
    assert done.stdout == b"('\\xe9', None, False, 0.5)\n"


def test_help_needs_no_server(splice: Splice) -> None:
    assert "TARGET" in splice("call", "--help").out
    assert json.dumps({"a": 1}) in splice("call", "--help").out


KIT = """import asyncio
from splice import Server
server = Server("kit")
@server.tool
def add(a: int, b: int) -> int:
    return a + b
"""


@pytest.mark.parametrize("last", ["server.run()", "asyncio.run(server.run_async())", "server.run('http', port=0)"])
@pytest.mark.parametrize(("words", "code"), [(("call",), UNREACHABLE), (("run",), FAILED), (("run", "--dev"), FAILED)])
def test_a_file_that_serves_while_it_is_loaded_ends_at_once_and_says_what_to_do(
    tmp_path: Path, last: str, words: tuple[str, ...], code: int
) -> None:
    kit = tmp_path / "kit.py"
    kit.write_text(f"{KIT}{last}\n")
    done = splice_process(*words, str(kit), *(["add", "a=1", "b=2"] if words == ("call",) else []))
    assert (done.returncode, done.stdout) == (code, b"")
    said = done.stderr.decode()
    assert "kit.py does not load: RuntimeError: it serves while it is loaded" in said
    assert "put that under `if __name__ == '__main__':` (line 7;" in said
    assert "jsonrpc" not in said


def test_a_file_that_serves_works_as_a_program(splice: Splice, tmp_path: Path) -> None:
    kit = tmp_path / "kit.py"
    kit.write_text(f"{KIT}server.run()\n")
    assert splice("list", "--json", "--", sys.executable, str(kit)).json["server"]["name"] == "kit"
