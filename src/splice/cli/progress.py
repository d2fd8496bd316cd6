"""Progress of a running call, on stderr: one line that changes on a terminal, a line each elsewhere."""

from types import TracebackType
from typing import Self, TextIO

from splice.host.text import one_line

CLEAR = "\r\x1b[2K"


class ProgressLine:
    """Call it with each report. Leaving the block clears the line."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._changes = stream.isatty()
        self._shown = False

    def __call__(self, value: float, total: float | None, message: str | None) -> None:
        """Show a report."""
        amount = f"{value:g}" if not total else f"{value:g}/{total:g} ({value / total:.0%})"
        text = f"{amount} {one_line(message or '')}".rstrip()
        self._stream.write(f"{CLEAR}{text}" if self._changes else f"{text}\n")
        self._stream.flush()
        self._shown = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown and self._changes:
            self._stream.write(CLEAR)
            self._stream.flush()
