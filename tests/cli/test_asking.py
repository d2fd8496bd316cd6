"""Questions of servers, answered at a terminal."""

import asyncio
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, Self

import pytest

from cli.conftest import LIMIT_SECONDS, SERVER
from splice.cli import asking
from splice.cli.asking import Left, Terminal
from splice.types import CreateMessageParams, ElicitParams, ElicitResult, SamplingMessage, TextContent
from support.warm import warm_python

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "title": "Name \x1b[1m", "description": "Yours"},
        "age": {"type": "integer", "minimum": 0},
        "size": {"type": "string", "enum": ["small", "large"], "default": "small"},
        "sure": {"type": "boolean"},
        "colours": {"type": "array", "items": {"type": "string", "enum": ["red", "green"]}},
    },
    "required": ["name", "sure"],
}


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Script what the user types, line by line; None ends the input."""
    lines: list[str | None] = []

    async def line(prompt: str) -> str:
        sys.stderr.write(f"{prompt}\n")
        text = lines.pop(0)
        if text is None:
            raise Left
        return text

    monkeypatch.setattr(asking, "line", line)
    monkeypatch.setattr(asking, "has_terminal", lambda: True)
    return lines


async def ask(**fields: Any) -> ElicitResult:
    return await Terminal("shop.py").elicit(ElicitParams(message="Who \x1b[2J are you?", **fields))


async def test_a_form_is_filled_in_field_by_field(typed: list[str | None], capsys: pytest.CaptureFixture[str]) -> None:
    typed += ["", "Ann", "40", "large", "y", "red, green", ""]
    result = await ask(requested_schema=FORM)
    assert result.action == "accept"
    assert result.content == {"name": "Ann", "age": 40, "size": "large", "sure": True, "colours": ["red", "green"]}
    said = capsys.readouterr().err
    assert "shop.py asks: Who \\x1b[2J are you?" in said
    assert "  Name \\x1b[1m (Yours):" in said
    assert "  age (integer; optional):" in said
    assert "  size (small/large; optional) [small]:" in said
    assert "  sure (y/n):" in said


@pytest.mark.parametrize(
    ("field", "prompt"),
    [
        ({"oneOf": [{"const": "#f00", "title": "Red"}, {"const": "b"}]}, "your answer (#f00 = Red/b):"),
        ({"enum": ["r", "g"], "enumNames": ["Red", "g"]}, "your answer (r = Red/g):"),
        (
            {"type": "array", "items": {"anyOf": [{"const": "r", "title": "\x1b[1mRed"}]}},
            "your answer (r = \\x1b[1mRed):",
        ),
    ],
)
async def test_choices_are_shown_with_their_titles(
    typed: list[str | None], capsys: pytest.CaptureFixture[str], field: dict[str, Any], prompt: str
) -> None:
    first = (field.get("items") or field).get("anyOf", field.get("oneOf", [{"const": "r"}]))[0]["const"]
    typed += [first]
    result = await ask(requested_schema={"type": "object", "properties": {"value": field}, "required": ["value"]})
    assert result.content == {"value": [first] if "items" in field else first}
    assert prompt in capsys.readouterr().err


async def test_the_end_of_a_visit_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    Terminal("shop.py").visited(ElicitParams(mode="url", message="Sign \x1b[1min", url="https://a.example"))
    assert capsys.readouterr().err == "shop.py says that this is done: Sign \\x1b[1min\n"


async def test_what_is_left_empty_is_left_out_or_takes_its_default(typed: list[str | None]) -> None:
    typed += ["yes", "Ann", "", "", "no", "", "y"]
    assert (await ask(requested_schema=FORM)).content == {"name": "Ann", "size": "small", "sure": False}


async def test_what_does_not_fit_is_asked_again(typed: list[str | None], capsys: pytest.CaptureFixture[str]) -> None:
    typed += ["y", "", "Ann", "old", "40", "huge", "small", "perhaps", "y", "blue", '["red"]', ""]
    result = await ask(requested_schema=FORM)
    assert result.content == {"name": "Ann", "age": 40, "size": "small", "sure": True, "colours": ["red"]}
    said = capsys.readouterr().err
    assert "This one is needed." in said
    assert "expected integer, got 'old'" in said
    assert "expected one of small, large, got 'huge'" in said
    assert "expected boolean, got 'perhaps'" in said


LIMITS: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 2, "default": "x"},
        "age": {"type": "integer", "maximum": 120},
        "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 1},
    },
    "required": ["name"],
}


async def test_limits_are_checked_field_by_field(typed: list[str | None], capsys: pytest.CaptureFixture[str]) -> None:
    typed += ["y", "", "A", "Ann", "200", "40", "a, b", "a", "y"]
    assert (await ask(requested_schema=LIMITS)).content == {"name": "Ann", "age": 40, "tags": ["a"]}
    said = capsys.readouterr().err
    assert said.count("  it is shorter than 2 characters, got") == 2, said
    assert "  it is greater than the maximum of 120, got 200" in said


@pytest.mark.parametrize(
    ("field", "lines", "content", "prompt"),
    [
        ({"type": "integer"}, ["", "many", "40"], {"value": 40}, "  your answer (integer):"),
        ({"type": "string", "title": "Name"}, ["no"], {"value": "no"}, "  Name:"),
        ({"type": "boolean"}, ["no"], {"value": False}, "  your answer (y/n):"),
        ({"enum": ["yes", "no"]}, ["no"], {"value": "no"}, "  your answer (yes/no):"),
    ],
)
async def test_one_value_takes_one_line(
    typed: list[str | None],
    capsys: pytest.CaptureFixture[str],
    field: dict[str, Any],
    lines: list[str],
    content: dict[str, Any],
    prompt: str,
) -> None:
    typed += lines
    result = await ask(requested_schema={"type": "object", "properties": {"value": field}, "required": ["value"]})
    assert (result.action, result.content, typed) == ("accept", content, [])
    assert prompt in capsys.readouterr().err


@pytest.mark.parametrize(
    ("lines", "fields", "action"),
    [
        (["n"], {"requested_schema": FORM}, "decline"),
        (["maybe", "n"], {"requested_schema": FORM}, "decline"),
        (["cancel"], {"requested_schema": FORM}, "cancel"),
        (["y", "Ann", "", "", "y", "", "no"], {"requested_schema": FORM}, "decline"),
        (["y", "Ann", "", "", "y", "", "c"], {"requested_schema": FORM}, "cancel"),
        (["perhaps", "", "y"], {"requested_schema": {"type": "object", "properties": {}}}, "accept"),
        (["no"], {"requested_schema": {"type": "object"}}, "decline"),
        ([None], {"requested_schema": FORM}, "cancel"),
        (["y", "Ann", None], {"requested_schema": FORM}, "cancel"),
        (["y", "Ann", "no"], {"requested_schema": FORM}, "decline"),
        (["y", "Ann", "40", "Cancel"], {"requested_schema": FORM}, "cancel"),
        ([], {"requested_schema": {"properties": 5}}, "decline"),
        ([], {"requested_schema": {"properties": {"a": {"enum": 5}}}}, "decline"),
        (["a"], {"requested_schema": {"properties": {"a": {"pattern": "("}}}}, "decline"),
        (["no"], {"requested_schema": {"properties": {"a": {"type": "integer"}}}}, "decline"),
        ([None], {"requested_schema": {"properties": {"a": {"type": "string"}}}}, "cancel"),
        (["y"], {"mode": "url", "url": "https://example.com"}, "accept"),
        ([""], {"mode": "url", "url": "https://example.com"}, "decline"),
        ([None], {"mode": "url", "url": "https://example.com"}, "cancel"),
    ],
)
@pytest.mark.requirement(373, 400)
async def test_the_user_may_refuse(
    typed: list[str | None], lines: list[str | None], fields: dict[str, Any], action: str
) -> None:
    typed += lines
    result = await ask(**fields)
    assert result.action == action
    assert not typed


async def test_without_a_terminal_it_is_declined(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(asking, "has_terminal", lambda: False)
    assert (await ask(requested_schema=FORM)).action == "decline"
    assert "Declined" in capsys.readouterr().err


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """Make stdin a terminal; yields what stands for the keyboard."""
    keyboard, screen = pty.openpty()
    with os.fdopen(screen, "r") as stdin, os.fdopen(keyboard, "wb", buffering=0):
        monkeypatch.setattr(sys, "stdin", stdin)
        yield keyboard


async def test_a_line_is_read_while_the_loop_goes_on(terminal: int) -> None:
    reading = asyncio.create_task(asking.line("Name:"))
    await asyncio.sleep(0)
    os.write(terminal, b"Ann\n")
    assert await reading == "Ann"
    reading = asyncio.create_task(asking.line("Name:"))
    await asyncio.sleep(0)
    os.write(terminal, b"\x04")
    with pytest.raises(Left):
        await reading


async def test_reading_a_line_can_be_cancelled(terminal: int) -> None:
    reading = asyncio.create_task(asking.line("Name:"))
    await asyncio.sleep(0)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


HEARS_CTRL_C = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests in the background ignores it
from splice.cli import main
sys.exit(main())
"""


class Screen:
    """A terminal with `splice` in it."""

    def __init__(self, *words: str) -> None:
        self.keyboard, side = pty.openpty()
        command = [warm_python(), "-c", HEARS_CTRL_C, *words]
        self.process = subprocess.Popen(
            command, stdin=side, stdout=side, stderr=side, close_fds=True, start_new_session=True
        )
        os.close(side)
        self.shown = ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()  # nothing, if it has ended
        self.process.wait(LIMIT_SECONDS)

    def until(self, pattern: str) -> None:
        """Read until something is shown."""
        deadline = time.monotonic() + LIMIT_SECONDS
        while not re.search(pattern, self.shown):
            assert time.monotonic() < deadline, self.shown
            try:
                self.shown += os.read(self.keyboard, 65536).decode()
            except OSError:
                assert re.search(pattern, self.shown), self.shown

    def type(self, text: str) -> None:
        os.write(self.keyboard, text.encode())

    def end(self) -> int:
        """Wait for the end of the program, reading what it still shows."""
        try:
            while data := os.read(self.keyboard, 65536):
                self.shown += data.decode()
        except OSError:
            pass
        os.close(self.keyboard)
        return self.process.wait(LIMIT_SECONDS)


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
def test_a_real_terminal_is_asked(protocol: str) -> None:
    with Screen("call", SERVER, "order", "--protocol", protocol) as screen:
        for question, text in (
            ("Fill in the form\\?", ""),
            ("name ", "Ann"),
            ("count ", "2"),
            ("size ", ""),
            ("gift ", "y"),
            ("colours ", "red"),
            ("Send it\\?", "y"),
        ):
            screen.until(question)
            screen.type(f"{text}\n")
        assert screen.end() == 0
    assert "Order(name='Ann', count=2, size='small', gift=True, colours=['red'])" in screen.shown


@pytest.mark.requirement(407, 408)
def test_ctrl_c_at_a_question_ends_the_command() -> None:
    with Screen("call", SERVER, "sign_in") as screen:
        screen.until("did you open it")
        os.killpg(screen.process.pid, 2)
        assert screen.end() == 130
    assert "Traceback" not in screen.shown
    assert "Sign in, \\x1b[1mplease." in screen.shown
    assert "https://example.com/sign-in" in screen.shown
    assert "which is on \x1b[1mexample.com\x1b[0m" in screen.shown


@pytest.mark.requirement(373, 400)
async def test_a_form_is_reviewed_and_may_be_changed(
    typed: list[str | None], capsys: pytest.CaptureFixture[str]
) -> None:
    typed += ["y", "Ann\x1b", "", "", "y", "", "edit", "Bob", "", "", "", "", "y"]
    result = await ask(requested_schema=FORM)
    assert result.content == {"name": "Bob", "size": "small", "sure": True}
    said = capsys.readouterr().err
    assert "This would be sent:\n  name: Ann\\x1b\n  size: small\n  sure: true\n" in said
    assert "Name \\x1b[1m (Yours) [Ann\\x1b]:" in said


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://example.com/a", "which is on example.com\n"),
        ("https://bank.com.evil.example/a", "which is on bank.com.evil.example\n"),
        ("https://xn--pple-43d.com/", "WARNING: the host is written in Punycode, and would be shown as \u0430pple.com"),
        (
            "https://\u0430pple.com/",
            "WARNING: the host has letters that may look like others; it is really xn--pple-43d",
        ),
        (
            "https://bank.com@evil.example/",
            "WARNING: what stands before the @ is not the host; this address leads to evil",
        ),
        ("http://example.com/", "WARNING: it is not https (http)"),
        ("https://example.com/\x1b[2J", "WARNING: it has characters that browsers read in different ways"),
        ("nowhere", "WARNING: no host"),
        ("https://[broken", "WARNING: no host"),
        ("https://xn--\u0430-.com/", "WARNING"),
    ],
)
@pytest.mark.requirement(373, 405, 408)
async def test_what_may_deceive_about_an_address_is_told(
    typed: list[str | None], capsys: pytest.CaptureFixture[str], url: str, said: str
) -> None:
    typed += ["n"]
    await ask(mode="url", url=url)
    shown = capsys.readouterr().err
    assert said in shown
    assert ("WARNING" in shown) == ("WARNING" in said)


@pytest.mark.requirement(373, 399)
async def test_who_asks_is_named(typed: list[str | None], capsys: pytest.CaptureFixture[str]) -> None:
    terminal = Terminal("shop.py")
    terminal.server = "Your bank \x1b[1m"
    typed += ["n"]
    await terminal.elicit(ElicitParams(message="PIN?", requested_schema=FORM))
    assert "\nYour bank \\x1b[1m (shop.py) asks: PIN?\n" in capsys.readouterr().err


SAMPLE = CreateMessageParams(
    messages=[SamplingMessage(role="user", content=TextContent(text="Say \x1b[2J hi"))],
    max_tokens=9,
    system_prompt="Be \u202e kind",
)


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["", "Hello", "there", ""], "Hello\nthere"),
        (["n"], None),
        (["y", ""], None),
        ([None], None),
        (["y", "Hello", None], None),
    ],
)
async def test_the_user_answers_for_a_model(
    typed: list[str | None], capsys: pytest.CaptureFixture[str], lines: list[str | None], text: str | None
) -> None:
    typed += lines
    result = await Terminal("shop.py").sample(SAMPLE)
    assert (result and result.text) == text
    said = capsys.readouterr().err
    assert "shop.py wants a language model to go on with this (at most 9 tokens):" in said
    assert "  system: Be \\u202e kind\n  user: Say \\x1b[2J hi\n" in said


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
def test_sampling_is_answered_at_a_real_terminal(protocol: str) -> None:
    with Screen("call", SERVER, "guess", "--protocol", protocol) as screen:
        screen.until("Write its answer\\?")
        screen.type("y\n")
        screen.until("\n>")
        screen.type("Blue.\n\n")
        assert screen.end() == 0
    assert "It said: Blue." in screen.shown
