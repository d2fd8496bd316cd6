"""What servers write: lines, bounded in every direction, and few changes of the board."""

import pytest

from splice.host.board import Board
from splice.host.connecting.output import MAX_BYTES, MAX_LINE_CHARACTERS, MAX_LINES, Output
from splice.host.items import Output as Item
from splice.types import LogParams
from support.waiting import settle, until


async def test_lines_are_put_together_and_found_again() -> None:
    board = Board()
    output = Output("s", board)
    output.stderr(b"one\r\ntw")
    output.stderr(b"o \xff\nthree")
    output.log(LogParams(level="error", logger="db", data={"a": 1}))
    output.log(LogParams(level="info", data="text"))
    assert [(line.number, line.source, line.level, line.text) for line in output.lines()] == [
        (1, "stderr", "", "one"),
        (2, "stderr", "", "two \ufffd"),
        (3, "log", "error", 'db: {"a":1}'),
        (4, "log", "info", "text"),
    ]
    assert [line.number for line in output.lines(after=2)] == [3, 4]
    assert output.last_words() == ["one", "two \ufffd", "three"]
    output.begin()
    assert output.last_words() == []
    output.hide(["sesame"])
    output.stderr(b"open sesame\nsesame")
    assert output.last_words() == ["open ***", "***"]
    output.close()
    assert board.get("output:s", Item) == Item(id="output:s", server="s", lines=5, worst="error")


async def test_it_is_bounded() -> None:
    output = Output("s", Board())
    output.stderr(b"x" * 10 * MAX_LINE_CHARACTERS)  # no end of the line for long
    output.stderr(b"y" * 5_000 + b"\n")
    assert all(len(line.text) <= MAX_LINE_CHARACTERS + 40 for line in output.lines())
    assert output.lines()[0].text.endswith("... (cut; 40,000 in all)")
    output.stderr(b"z\n" * 2 * MAX_LINES)
    assert len(output.lines()) == MAX_LINES
    output.stderr((b"y" * MAX_LINE_CHARACTERS + b"\n") * 600)
    assert sum(len(line.text) for line in output.lines()) <= MAX_BYTES
    output.close()


async def test_a_burst_of_log_messages_changes_the_board_once(monkeypatch: pytest.MonkeyPatch) -> None:
    board = Board()
    output = Output("s", board)
    message = LogParams(level="warning", data="something happened")
    for _ in range(10_000):
        output.log(message)
    assert board.number == 0  # nobody was told yet
    await until(lambda: board.number)
    monkeypatch.setattr("splice.host.connecting.output.PAUSE_SECONDS", 1e6)
    output.log(message)
    await settle()
    assert board.number == 1, "the next change waits for the pause"
    output.close()
    assert board.number == 2
    assert board.get("output:s", Item) == Item(id="output:s", server="s", lines=10_001, worst="warning")
