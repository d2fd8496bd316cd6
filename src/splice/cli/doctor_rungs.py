"""The rungs of `splice doctor`: one for each thing looked at, shown as it is found out, or kept for one JSON document.

What the library logs as a warning meanwhile belongs to the rung that it came up on.
"""

import logging
import re
import textwrap
from collections.abc import Generator
from contextlib import contextmanager
from time import perf_counter
from typing import Literal, TypeAlias

from msgspec import Struct, field
from rich.text import Text

from splice import MCPError
from splice.cli.colours import console
from splice.cli.reaching import told
from splice.host.text import one_line, safe

Status: TypeAlias = Literal["ok", "warning", "broken"]

MAX_DETAILS = 20
"""How many lines are shown below a rung."""

MAX_TEXT = 400
"""How many characters of one text are told; a peer may have written it."""

_JUNK = re.compile(r"wrote to stdout what is not a message, skipped: (.*)\. A server's stdout", re.DOTALL)
_JUNK_GOES_ON = "further lines like that are skipped silently"
"""How the link tells of what is no message."""

_COLOURS: dict[Status, str] = {"ok": "green", "warning": "yellow", "broken": "bold red"}
_NAME_COLUMN, _TIME_COLUMN, _TEXT_COLUMN = 9, 22, 33


class Broken(Exception):
    """Here the ladder breaks: what depends on this cannot be looked at."""

    def __init__(self, why: str, advice: str) -> None:
        super().__init__(why)
        self.advice = advice
        """What to do."""


class Rung(Struct):
    """One thing that was looked at."""

    name: str
    status: Status = "ok"
    text: str = ""
    """What was found, in one line."""
    seconds: float | None = None
    """How long it took; None: nothing had to be waited for."""
    details: list[str] = field(default_factory=list)
    """More about it, line by line."""
    advice: str | None = None
    """What to do about it."""

    def warn(self, *details: str, advice: str | None = None) -> None:
        """Add lines, if there are any, about what is not as it should be, though it works."""
        if details:
            self.status = "warning" if self.status == "ok" else self.status
            self.details += details
            self.advice = self.advice or advice

    def break_(self, error: Broken) -> None:
        """Say that, and why, this does not work."""
        self.status, self.advice = "broken", error.advice or None
        first, *rest = str(error).splitlines() or [""]
        self.text, self.details = first, [*rest, *self.details]


class _Noticed(logging.Handler):
    """Keeps the warnings that are logged; apart from the others, what a child wrote to stdout that is no message."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.texts: list[str] = []
        self.junk: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = record.getMessage()
        junk = _JUNK.search(text)
        kept, text = (self.junk, f"it wrote {junk[1]}") if junk else (self.texts, text)
        if len(kept) <= MAX_DETAILS and text not in kept and not text.endswith(_JUNK_GOES_ON):
            kept.append(text)

    def take(self) -> list[str]:
        """Return what was noticed since the last time."""
        texts, self.texts = self.texts, []
        return texts


class Ladder:
    """All rungs, from the first to the one that breaks. With `shows` each is printed when it is done."""

    def __init__(self, *, shows: bool) -> None:
        self.rungs: list[Rung] = []
        self._shows = shows
        self._out = console()
        self._noticed = _Noticed()

    @contextmanager
    def listening(self) -> Generator[None]:
        """Take the warnings of the library, which nobody else is to print meanwhile."""
        log = logging.getLogger("splice")
        log.addHandler(self._noticed)
        try:
            yield
        finally:
            log.removeHandler(self._noticed)

    @property
    def junk(self) -> list[str]:
        """What a child wrote to stdout that is no message: the first lines."""
        return self._noticed.junk

    @property
    def broken(self) -> list[Rung]:
        """The rungs that do not hold."""
        return [rung for rung in self.rungs if rung.status == "broken"]

    @contextmanager
    def rung(self, name: str, advice: str = "") -> Generator[Rung]:
        """Look at one thing. Raises `Broken` after it was shown; `advice` is for errors of others, which bring none."""
        rung, began = Rung(name), perf_counter()
        try:
            yield rung
        except Broken as broken:
            rung.break_(broken)
            raise
        except (MCPError, OSError, ValueError) as error:
            why = "no answer in time; --timeout allows more" if type(error) is TimeoutError else told(error)
            failed = Broken(why, advice)
            rung.break_(failed)
            raise failed from error
        finally:
            rung.seconds = perf_counter() - began
            self.put(rung)

    def put(self, rung: Rung) -> None:
        """Add a rung, with what was noticed meanwhile, and show it."""
        rung.warn(*self._noticed.take())
        if len(rung.details) > MAX_DETAILS:
            rung.details[MAX_DETAILS:] = [f"... and {len(rung.details) - MAX_DETAILS} more"]
        rung.text, *rung.details = (_cut(text) for text in (rung.text, *rung.details))
        self.rungs.append(rung)
        if self._shows:
            self._show(rung)

    def _show(self, rung: Rung) -> None:
        time = "" if rung.seconds is None else duration(rung.seconds)
        head = f"{rung.name:<{_TIME_COLUMN - _NAME_COLUMN}}{time:>9}"
        below = [*rung.details, *([f"> {rung.advice}"] if rung.advice else [])]
        first, *rest = self._wrapped(rung.text, _TEXT_COLUMN) or [""]
        self._out.print(Text.assemble((f"{rung.status:<{_NAME_COLUMN}}", _COLOURS[rung.status]), f"{head}  {first}"))
        for line in rest:
            self._out.print(Text(" " * _TEXT_COLUMN + line))
        for line in (line for text in below for line in self._wrapped(text, _NAME_COLUMN + 2)):
            self._out.print(Text(" " * (_NAME_COLUMN + 2) + line))

    def _wrapped(self, text: str, column: int) -> list[str]:
        """Cut text into lines that fit between a column and the right edge, those after the first further in."""
        width = max(self._out.width - column, 20)
        return textwrap.wrap(one_line(safe(text)), width, subsequent_indent="  ", break_on_hyphens=False)


def _cut(text: str) -> str:
    return text if len(text) <= MAX_TEXT else f"{text[:MAX_TEXT]}..."


def duration(seconds: float) -> str:
    """Write how long something took."""
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"


def counted(count: int, noun: str) -> str:
    """Write a number of things."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"
