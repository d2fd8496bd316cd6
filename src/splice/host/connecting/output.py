"""What a server writes: lines of its stderr, its log messages, and all other messages to and from it.

The last of them are kept, as many as fit. The board is told how many there are, a few times a second however many
come; a face asks for the lines and messages.
"""

import asyncio
import json
import re
import time
from collections import deque
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, get_args
from urllib.parse import quote

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from splice.host.board import Board
from splice.host.connecting.wire import Wire
from splice.host.items import Output as OutputItem
from splice.types import LoggingLevel, LogParams

MAX_LINES = 5_000
MAX_BYTES = 2 * 2**20
"""Of all lines that are kept of one server."""

MAX_LINE_CHARACTERS = 4_000
"""A longer line is cut, and says so."""

PAUSE_SECONDS = 0.1
"""How often the board changes at most."""

LAST_LINES = 20
"""How many lines of stderr are the last words of a server that crashed."""

_ESCAPE = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\[\"\\/bfnrt]")
"""A character as JSON may write it. Which of them it writes so is up to the server's own library."""

_RANKS: dict[str, int] = {level: rank for rank, level in enumerate(get_args(LoggingLevel))}


class Line(Struct, frozen=True):
    """One line."""

    number: int
    """Counts all lines of the server, from 1."""
    at: float
    source: Literal["stderr", "log"]
    level: str
    """Of a log message; empty for stderr."""
    text: str


class Output:
    """The lines of one server. It belongs to one event loop."""

    def __init__(self, server: str, board: Board) -> None:
        self._server, self._board = server, board
        self._lines: deque[Line] = deque()
        self._bytes = 0
        self._count = 0
        self._worst = ""
        self._unfinished = b""
        self._hidden: list[str] = []
        self._began = 0
        self._shown = 0.0
        self._timer: asyncio.TimerHandle | None = None
        self.wire = Wire(self._changed, self.blotted)
        """The messages."""

    def stderr(self, data: bytes) -> None:
        """Take what arrived on stderr: the lines that are complete."""
        *lines, self._unfinished = (self._unfinished + data).split(b"\n")
        for line in lines:
            self._add("stderr", "", line[: 4 * MAX_LINE_CHARACTERS].decode(errors="replace").rstrip("\r"), len(line))
        if len(self._unfinished) > 4 * MAX_LINE_CHARACTERS:
            rest, self._unfinished = self._unfinished, b""
            self._add("stderr", "", rest.decode(errors="replace"), len(rest))

    def log(self, params: LogParams) -> None:
        """Take a log message."""
        data = params.data
        text = data if isinstance(data, str) else msgspec.json.encode(data).decode(errors="replace")
        named = f"{params.logger}: " if params.logger else ""
        self._add("log", params.level, f"{named[:200]}{text}", len(text))
        if _RANKS.get(params.level, 0) > _RANKS.get(self._worst, -1):
            self._worst = params.level

    def note(self, text: str, level: LoggingLevel = "warning") -> None:
        """Add a line of the host's own about this server."""
        self._add("log", level, text, len(text))

    def hide(self, secrets: list[str]) -> None:
        """Blot these texts out of all lines that come, besides those before: messages of earlier lives are kept."""
        forms = {form for secret in secrets for form in _forms(secret)}
        self._hidden = sorted({*self._hidden, *forms}, key=len, reverse=True)

    def blotted(self, text: str) -> str:
        """Return a text without the secrets."""
        for secret in self._hidden:
            text = text.replace(secret, "***")
        if self._hidden and "\\" in text:
            plain = _ESCAPE.sub(lambda found: _unescaped(found[0]), text)
            if any(secret in plain for secret in self._hidden):
                return self.blotted(plain)
        return text

    def lines(self, after: int = 0) -> list[Line]:
        """List the lines that are kept and came after the one of this number."""
        first = self._lines[0].number if self._lines else 0
        skip = max(0, after + 1 - first)
        return [line for at, line in enumerate(self._lines) if at >= skip]

    def begin(self) -> None:
        """Take note that the server is started: last words are of this life only."""
        self._began, self._unfinished = self._count, b""

    def last_words(self) -> list[str]:
        """Return the end of its stderr since it was started, with a line that it did not finish."""
        found = [line.text for line in self._lines if line.number > self._began and line.source == "stderr"]
        rest = self.blotted(self._unfinished.decode(errors="replace"))
        return [text for text in (*found[-LAST_LINES:], rest) if text.strip()][-LAST_LINES:]

    def close(self) -> None:
        """Tell the board now what it does not know yet."""
        if self._timer is not None:
            self._timer.cancel()
            self._show()

    def _add(self, source: Literal["stderr", "log"], level: str, text: str, size: int) -> None:
        if len(text) > MAX_LINE_CHARACTERS:
            text = f"{text[:MAX_LINE_CHARACTERS]}... (cut; {size:,} in all)"
        text = self.blotted(text)
        self._count += 1
        self._bytes += len(text)
        self._lines.append(Line(self._count, time.time(), source, level, text))
        while len(self._lines) > MAX_LINES or self._bytes > MAX_BYTES:
            self._bytes -= len(self._lines.popleft().text)
        self._changed()

    def _changed(self) -> None:
        if self._timer is None:
            loop = asyncio.get_running_loop()
            pause = max(0.0, self._shown + PAUSE_SECONDS - loop.time())
            self._timer = loop.call_later(pause, self._show)

    def _show(self) -> None:
        self._timer = None
        self._shown = asyncio.get_running_loop().time()
        item = OutputItem(id=f"output:{self._server}", server=self._server, lines=self._count, worst=self._worst)
        self._board.put(replace(item, messages=self.wire.count))


def _forms(secret: str) -> Iterator[str]:
    """Yield a secret as it is, and as it is written in JSON and in a URL."""
    yield from (secret, quote(secret, safe=""))
    for written in (msgspec.json.encode(secret).decode(), json.dumps(secret)):
        yield written[1:-1]
        yield written[1:-1].replace("/", r"\/")


@lru_cache(maxsize=4_096)
def _unescaped(escape: str) -> str:
    """Write a character as we do: escaped only where it must be."""
    try:
        return msgspec.json.encode(json.loads(f'"{escape}"')).decode()[1:-1]
    except ValueError:  # half of a pair
        return escape
