"""How failures are told: escaped, with their cause, as JSON where that is wanted."""

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import SERVER, Splice, splice_process
from splice import InvalidParams
from splice.cli.failures import described, escape_logs, trace
from splice.cli.outcomes import FAILED, OK, UNREACHABLE, USAGE, Stop
from support.sources import FAILING_LIFESPAN
from support.warm import warm_python

HOSTILE = [warm_python(), str(Path(__file__).with_name("hostile_server.py"))]
UNSAFE = ("\x1b", "\x07", "\u202e")


@pytest.mark.parametrize("options", [[], ["--debug"], ["--json"], ["--debug", "--json"]])
def test_a_hostile_server_does_not_write_on_the_terminal(options: list[str]) -> None:
    done = splice_process("call", "a", *options, "--", *HOSTILE, "evil")
    assert done.returncode == FAILED
    shown = (done.stdout + done.stderr).decode()
    assert all(each not in shown for each in UNSAFE)
    assert "broken \\x1b[31m" in shown
    assert ("Traceback" in shown) == ("--debug" in options)


def test_logs_and_tracebacks_are_escaped(capsys: pytest.CaptureFixture[str]) -> None:
    escape_logs()
    assert logging.lastResort is not None
    error = ValueError("\x1b[2J")
    assert trace(error) == "ValueError: \\x1b[2J\n"
    record = logging.LogRecord("a", logging.ERROR, "f", 1, "said %s", ("\x1b",), (ValueError, error, None))
    logging.lastResort.handle(record)
    assert capsys.readouterr().err == "said \\x1b\nValueError: \\x1b[2J\n"


def test_lists_that_the_server_does_not_have_are_empty(splice: Splice) -> None:
    done = splice("list", "--", *HOSTILE, "plain")
    assert (done.code, done.err) == (OK, "")
    assert done.out.splitlines()[0] == "hostile \\x1b[2J, protocol 2025-06-18"
    assert "  a()" in done.out
    assert "  a://b" in done.out


def test_a_list_that_fails_hides_nothing(splice: Splice) -> None:
    done = splice("list", "--", *HOSTILE, "broken")
    assert done.code == FAILED
    assert "  a()" in done.out
    assert done.err == "splice: the server did not list its prompts: out of \\x1b[31mpaper (code -32000)\n"
    done = splice("list", "--json", "--", *HOSTILE, "broken")
    assert done.code == FAILED
    assert done.json["errors"]["prompts"]["code"] == -32000
    assert [tool["name"] for tool in done.json["tools"]] == ["a"]


@pytest.mark.parametrize(
    ("words", "code", "kind"),
    [
        (["list", "http://127.0.0.1:9/mcp"], UNREACHABLE, "ConnectFailed or ConnectionClosed"),
        (["list", "nowhere.py"], USAGE, "UsageError"),
        (["list", "--timeout", "never"], USAGE, "BadParameter"),
        (["call", SERVER, "subtract"], FAILED, "InvalidParams"),
        (["read", SERVER, "shop://nope/nope"], FAILED, "InvalidParams"),
        (["prompt", SERVER, "nope"], FAILED, "InvalidParams"),
    ],
)
def test_errors_as_json(splice: Splice, words: list[str], code: int, kind: str) -> None:
    done = splice(*words, "--json")
    assert done.code == code
    error = done.json["error"]
    assert error["type"] in kind.split(" or ")
    assert error["message"]
    assert ("code" in error) == (kind == "InvalidParams")
    assert done.err.startswith("splice: ")


def test_a_call_that_takes_too_long_is_an_error_as_json(splice: Splice, url: str) -> None:
    done = splice("call", url, "nap", "seconds=20", "--timeout", "1", "--json")
    assert (done.code, done.json["error"]["type"]) == (FAILED, "RequestTimeout")


def test_a_failed_result_is_the_only_json(splice: Splice) -> None:
    assert splice("call", SERVER, "fail", "--json").json["isError"] is True


def test_an_error_is_described_with_what_its_kind_has() -> None:
    stop = Stop(FAILED, "it failed")
    stop.__cause__ = InvalidParams("no", {"a": 1})
    assert described(stop) == {"type": "InvalidParams", "message": "no", "code": -32602, "data": {"a": 1}}
    assert described(Stop(FAILED, "so")) == {"type": "Error", "message": "so"}
    assert described(KeyError("a")) == {"type": "KeyError", "message": "'a'"}


def test_the_cause_of_an_unexpected_failure_is_shown(splice: Splice) -> None:
    done = splice("call", SERVER, "boom")
    assert done.code == FAILED
    assert "splice: the tool boom failed\n" in done.err
    assert 'raise KeyError("the \\x1b[31mcause")' in done.err
    assert "KeyError: 'the \\x1b[31mcause'" in done.err
    assert splice("call", SERVER, "fail").err.count("\n") == 2


def test_debug_shows_the_frames_of_the_tool_once_and_not_those_of_the_parser(splice: Splice) -> None:
    done = splice("call", SERVER, "boom", "--debug")
    assert done.err.count('raise KeyError("the') == 1
    assert "click" not in done.err


@pytest.mark.parametrize("words", [["list"], ["call", "f"], ["list", "--debug"]])
def test_the_cause_of_a_failed_start_is_shown(splice: Splice, tmp_path: Path, words: list[str]) -> None:
    path = tmp_path / "life.py"
    path.write_text(FAILING_LIFESPAN)
    done = splice(words[0], str(path), *words[1:])
    assert done.code in (FAILED, UNREACHABLE)
    assert "RuntimeError: DATABASE_URL is not set" in done.err


FILES: dict[str, tuple[str, str, int, str]] = {
    "no server": ("x = 1\n", "", USAGE, "has no splice.Server at its top level"),
    "two servers": (
        "from splice import Server\na = Server('a')\nb = Server('b')\n",
        "",
        USAGE,
        "several servers: a, b",
    ),
    "no such name": ("from splice import Server\na = Server('a')\n", ":nope", USAGE, "has no 'nope'; there is a"),
    "does not load": ("def f():\n    1 / 0\nf()\n", "", UNREACHABLE, "ZeroDivisionError: division by zero (line 2"),
}


@pytest.mark.parametrize(("text", "suffix", "code", "message"), FILES.values(), ids=FILES)
def test_a_file_that_is_no_server(
    splice: Splice, tmp_path: Path, text: str, suffix: str, code: int, message: str
) -> None:
    path = tmp_path / "no.py"
    path.write_text(text)
    done = splice("list", f"{path}{suffix}")
    assert done.code == code
    assert message in done.err
    ran: Any = splice_process("run", f"{path}{suffix}", "--debug")
    assert ran.returncode == (USAGE if code == USAGE else FAILED)
    assert message.encode() in ran.stderr


def test_debug_shows_the_line_of_a_file_that_does_not_load(splice: Splice, tmp_path: Path) -> None:
    path = tmp_path / "no.py"
    path.write_text(FILES["does not load"][0])
    done = splice("list", str(path), "--debug")
    assert "in f\n    1 / 0" in done.err


def test_a_defect_is_json_too(monkeypatch: pytest.MonkeyPatch, splice: Splice) -> None:
    def broken(_: list[str]) -> int:
        raise KeyError("a")

    monkeypatch.setattr("splice.cli.entry._dispatch", broken)
    assert json.loads(splice("list", "--json").out) == {"error": {"type": "KeyError", "message": "'a'"}}
