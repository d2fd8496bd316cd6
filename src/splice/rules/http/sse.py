"""Server-sent events: bytes to events and back.

The decoder follows the WHATWG rules, whatever pieces the bytes arrive in, with one addition: an event larger than
allowed, with its comments, is an error, not a reason to run out of memory.

https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
"""

from collections.abc import Iterator

from msgspec import Struct

from splice.errors import RemoteProtocolError

KEEP_ALIVE = b":\n\n"
"""A comment: says nothing, and keeps proxies from closing a quiet stream."""

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
    """Reads events from a stream that arrives in pieces, none larger than so many bytes."""

    def __init__(self, max_event_bytes: int) -> None:
        self.last_event_id = ""
        """The id after which a resumed stream would begin."""
        self.retry: int | None = None
        """How many milliseconds the server asks to wait before reconnecting."""
        self._max_event_bytes = max_event_bytes
        self._bom = _BOM
        """Is taken off the beginning of the stream; empty when that is over."""
        self._rest = bytearray()
        """The event that is not complete, each of its lines ended by LF."""
        self._after_cr = False

    def feed(self, data: bytes) -> Iterator[Event]:
        """Take what arrived; yield each complete event.

        Raises `RemoteProtocolError` when an event exceeds the limit; the stream cannot be read any further then.
        """
        if not data:
            return
        if self._after_cr:  # a CR ends its line at once; an LF that comes later belongs to it
            data = data.removeprefix(b"\n")
        self._after_cr = data.endswith(b"\r")
        start = max(len(self._rest) - 1, 0)
        self._rest += data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        while (end := self._rest.find(b"\n\n", start)) >= 0:
            self._check_size(end)
            event, start = bytes(self._rest[:end]), 0
            del self._rest[: end + 2]
            yield from self._read(event)
        self._check_size(len(self._rest) - 1)  # the end of a line may be the end of the event: it does not count

    def _check_size(self, size: int) -> None:
        if size > self._max_event_bytes:
            told = f"an event is over the limit of {self._max_event_bytes} bytes"
            raise RemoteProtocolError(f"{told}; Client(..., max_message=) sets it")

    def _read(self, text: bytes) -> Iterator[Event]:
        data, event = list[bytes](), ""
        for line in text.removeprefix(self._bom).split(b"\n"):
            name, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if name == b"data":
                data.append(value)
            elif name == b"event":
                event = value.decode(errors="replace")
            elif name == b"id" and b"\0" not in value and len(value) <= MAX_ID_BYTES:
                self.last_event_id = value.decode(errors="replace")
            elif name == b"retry" and value.isdigit() and len(value) <= _MAX_RETRY_DIGITS:
                self.retry = int(value)
        self._bom = b""
        if data:
            yield Event(b"\n".join(data), event or "message", self.last_event_id)
