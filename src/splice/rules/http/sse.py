"""Server-sent events: bytes to events and back.

The decoder follows the WHATWG rules to the letter, whatever pieces the bytes arrive in, with one addition: an event
larger than allowed is an error, not a reason to run out of memory.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from collections.abc import Iterator

from msgspec import Struct

from splice.errors import RemoteProtocolError

KEEP_ALIVE = b":\n\n"
"""A comment: says nothing, and keeps proxies from closing a quiet stream."""

MAX_EVENT_BYTES = 16 * 1024 * 1024
"""The largest event read from a stream."""

_BOM = b"\xef\xbb\xbf"
MAX_ID_BYTES = 1024
"""The longest event id that is kept: it is sent back in a header."""

_MAX_RETRY_DIGITS = 9


class Event(Struct):
    """One event. `data` is what the stream said, not checked for being UTF-8."""

    data: bytes
    event: str = "message"
    id: str = ""
    """The last event id the stream has set, by this event or an earlier one."""


def encode_event(data: bytes, *, id: str | None = None) -> bytes:
    """Write one event. `id` is one line of our own making; line ends at the end of `data` go."""
    head = b"" if id is None else b"id: " + id.encode() + b"\n"
    return head + b"".join(b"data: " + line + b"\n" for line in data.splitlines() or [b""]) + b"\n"


class Decoder:
    """Reads events from a stream that arrives in pieces."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self.last_event_id = ""
        """The id after which a resumed stream would begin."""
        self.retry: int | None = None
        """How many milliseconds the server asks to wait before reconnecting."""
        self._max_event_bytes = max_event_bytes
        self._line: list[bytes] = []
        self._data: list[bytes] = []
        self._event = ""
        self._id = ""
        self._size = 0
        self._after_cr = False
        self._at_start = True

    def feed(self, data: bytes) -> Iterator[Event]:
        """Take what arrived; yield each complete event.

        Raises `RemoteProtocolError` when an event exceeds the limit; the stream cannot be read any further then.
        """
        if self._after_cr and data:  # a CR ends its line at once; an LF that comes later belongs to it
            self._after_cr = False
            data = data.removeprefix(b"\n")
        for piece in data.splitlines(keepends=True):
            line = piece.rstrip(b"\r\n")
            self._after_cr = piece.endswith(b"\r")
            self._hold(line)
            if len(line) < len(piece):
                yield from self._take()

    def _hold(self, part: bytes) -> None:
        self._size += len(part)
        if self._size > self._max_event_bytes:
            raise RemoteProtocolError(f"an event is over the limit of {self._max_event_bytes} bytes")
        if part:
            self._line.append(part)

    def _take(self) -> Iterator[Event]:
        line = b"".join(self._line)
        self._line.clear()
        if self._at_start:
            self._at_start, line = False, line.removeprefix(_BOM)
        if line:
            self._field(line)
            return
        self.last_event_id = self._id
        if self._data:
            yield Event(b"\n".join(self._data), self._event or "message", self._id)
        self._data, self._event, self._size = [], "", 0

    def _field(self, line: bytes) -> None:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if name == b"data":
            self._data.append(value)
            return
        self._size -= len(line)
        if name == b"event":
            self._event = value.decode(errors="replace")
        elif name == b"id" and b"\0" not in value and len(value) <= MAX_ID_BYTES:
            self._id = value.decode(errors="replace")
        elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
            self.retry = int(value)
