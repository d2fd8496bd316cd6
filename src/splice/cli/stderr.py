"""What a server that we started writes to stderr: kept for when something fails, shown at once with `--debug`."""

import re
import sys

from splice.host.text import safe

KEPT_BYTES = 64 * 1024
SHOWN_LINES = 40

_REFERENCE = re.compile(r"\(reference ([0-9a-f]+)\)")
_COMPLAINT = "splice: "
"""Begins the line in which `splice run` says why it ends."""


class Stderr:
    """The end of what the server wrote. Call it with each part."""

    def __init__(self, *, live: bool = False) -> None:
        self._live = live
        self._kept = bytearray()
        self._unfinished = b""

    def __call__(self, data: bytes) -> None:
        """Take what arrived; print the lines that are complete, if it is to be shown at once."""
        self._kept += data
        del self._kept[:-KEPT_BYTES]
        if self._live:
            *lines, self._unfinished = (self._unfinished + data).split(b"\n")
            for line in lines:
                print(safe(line.decode(errors="replace")), file=sys.stderr, flush=True)

    def about(self, message: str) -> str:
        """Find what it wrote about a failure: from the reference on that the message names, else the last lines.

        Empty if it is shown already, or the message quotes it.
        """
        lines = [line for line in safe(self._kept.decode(errors="replace")).splitlines() if line.strip()]
        if self._live or not lines or lines[-1] in message:
            return ""
        if reference := _REFERENCE.search(message):
            first = next((number for number, line in enumerate(lines) if reference[1] in line), 0)
            return "\n".join(lines[first:][:SHOWN_LINES])
        return "\n".join(lines[-SHOWN_LINES:])

    def complaint(self) -> str | None:
        """Find the line in which a `splice run` said why it ended."""
        lines = self._kept.decode(errors="replace").splitlines()
        found = [line for line in lines if line.startswith(_COMPLAINT)]
        return found[-1].removeprefix(_COMPLAINT) if found else None


def has_reference(message: str) -> bool:
    """Tell whether a message names a place in the server's log."""
    return _REFERENCE.search(message) is not None
