"""Questions of servers, answered at a terminal."""

import asyncio
import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from cli.conftest import LIMIT_SECONDS, SERVER
from splice.cli import asking
from splice.cli.asking import Left, answer
from splice.types import ElicitParams, ElicitResult

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
    return await answer(ElicitParams(message="Who \x1b[2J are you?", **fields))


async def test_a_form_is_filled_in_field_by_field(typed: list[str | None], capsys: pytest.CaptureFixture[str]) -> None:
    typed += ["", "Ann", "40", "large", "y", "red, green"]
    result = await ask(requested_schema=FORM)
    assert result.action == "accept"
    assert result.content == {"name": "Ann", "age": 40, "size": "large", "sure": True, "colours": ["red", "green"]}
    said = capsys.readouterr().err
    assert "The server asks: Who \\x1b[2J are you?" in said
    assert "  Name \\x1b[1m (Yours):" in said
    assert "  age (integer; optional):" in said
    assert "  size (small/large; optional) [small]:" in said
    assert "  sure (y/n):" in said


async def test_what_is_left_empty_is_left_out_or_takes_its_default(typed: list[str | None]) -> None:
    typed += ["yes", "Ann", "", "", "no", ""]
    assert (await ask(requested_schema=FORM)).content == {"name": "Ann", "size": "small", "sure": False}


async def test_what_does_not_fit_is_asked_again(typed: list[str | None], capsys: pytest.CaptureFixture[str]) -> None:
    typed += ["y", "", "Ann", "old", "40", "huge", "small", "perhaps", "y", "blue", '["red"]']
    result = await ask(requested_schema=FORM)
    assert result.content == {"name": "Ann", "age": 40, "size": "small", "sure": True, "colours": ["red"]}
    said = capsys.readouterr().err
    assert "This one is needed." in said
    assert "expected integer, got 'old'" in said
    assert "expected one of small, large, got 'huge'" in said
    assert "expected boolean, got 'perhaps'" in said


@pytest.mark.parametrize(
    ("lines", "fields", "action"),
    [
        (["n"], {"requested_schema": FORM}, "decline"),
        ([None], {"requested_schema": FORM}, "cancel"),
        (["y", "Ann", None], {"requested_schema": FORM}, "cancel"),
        (["y"], {"mode": "url", "url": "https://example.com"}, "accept"),
        ([""], {"mode": "url", "url": "https://example.com"}, "decline"),
        ([None], {"mode": "url", "url": "https://example.com"}, "cancel"),
    ],
)
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


class Screen:
    """A terminal with `splice` in it."""

    def __init__(self, *words: str) -> None:
        self.keyboard, side = pty.openpty()
        command = [sys.executable, "-m", "splice.cli", *words]
        self.process = subprocess.Popen(
            command, stdin=side, stdout=side, stderr=side, close_fds=True, start_new_session=True
        )
        os.close(side)
        self.shown = ""

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
    screen = Screen("call", SERVER, "order", "--protocol", protocol)
    for question, text in (
        ("Answer\\?", ""),
        ("name ", "Ann"),
        ("count ", "2"),
        ("size ", ""),
        ("gift ", "y"),
        ("colours ", "red"),
    ):
        screen.until(question)
        screen.type(f"{text}\n")
    assert screen.end() == 0
    assert "Order(name='Ann', count=2, size='small', gift=True, colours=['red'])" in screen.shown


def test_ctrl_c_at_a_question_ends_the_command() -> None:
    screen = Screen("call", SERVER, "sign_in")
    screen.until("did you open it")
    os.killpg(screen.process.pid, 2)
    assert screen.end() == 130
    assert "Traceback" not in screen.shown
    assert "Sign in, \\x1b[1mplease." in screen.shown
    assert "https://example.com/sign-in" in screen.shown
