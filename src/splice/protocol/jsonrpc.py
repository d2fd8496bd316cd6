"""JSON-RPC messages, and the door every byte comes through.

`decode` turns one JSON text into one message or raises `BadMessage`, which already is the error to answer with:
it knows the code, says what is wrong, and names the id when one could be read. `Lines` cuts a byte stream into
such texts. Both hold limits: nothing larger or deeper than allowed is ever turned into objects.

What the decoder refuses beyond bad JSON: bytes that are not UTF-8, a byte order mark, NaN, ids that are null,
fractions or booleans. An error whose id is null counts as one without an id, as plain JSON-RPC writes it. Of a key
that occurs twice, the last one counts. A message that is refused is read a second time, with more patience: an id may
be written as 1.0, and in a response NaN and lone surrogates are put right.

https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
"""

import json
import re
from collections.abc import Callable, Iterator
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

import msgspec
from msgspec import Raw, Struct

from splice.errors import INVALID_REQUEST, PARSE_ERROR, RPCError

RequestId: TypeAlias = int | str

MAX_MESSAGE_BYTES = 16 * 1024 * 1024
"""The largest message that a server reads from a stream, and a client from an HTTP response, in bytes."""

MAX_ANSWER_BYTES = 64 * 1024 * 1024
"""The largest message that a client reads from its own server process, unless told otherwise, and that is written."""

_SHOWN_BYTES = 120

_MEMBER = rb'\s*+"\w++"\s*+:\s*+(?:"(?:[^"\\]|\\.)*+"|[-+.\w]++(?=.))\s*+'
_FIRST = re.compile(rb"(?:\xef\xbb\xbf)?\s*+(?:\[\s*+)?\{((?:" + _MEMBER + rb",?+)*+)", re.DOTALL)
_LAST = re.compile(rb"((?:," + _MEMBER + rb")++)\}\s*+\Z")

ENDS_BYTES = 1024
"""How much is kept of either end of a text that is too long."""

MAX_BATCH = 100
"""The largest batch taken."""

MAX_DEPTH = 128
"""How deep arrays and objects of one message may nest."""


if TYPE_CHECKING:
    MaybeRaw: TypeAlias = Raw | None
else:
    MaybeRaw = Raw
# The type of a field of JSON that is not read yet, or absent. msgspec takes `Raw | None` for null alone, so it sees
# `Raw`; the Struct with the field turns `NULL` into None, in `__post_init__`.

NULL = Raw(b"null")


Remark: TypeAlias = Callable[[str], None]
"""Is told what had to be changed in something a peer sent."""


class ErrorObject(Struct, omit_defaults=True):
    """The `error` member of a failed response."""

    code: int
    message: str
    data: Any = None


class Request(Struct, tag_field="jsonrpc", tag="2.0", omit_defaults=True):
    """A call that must be answered once. `params` is `Raw` when it arrived, a Struct or `Raw` when it leaves."""

    id: RequestId
    method: str
    params: Any = None


class Notification(Struct, tag_field="jsonrpc", tag="2.0", omit_defaults=True):
    """A message that is never answered. `params` as in `Request`."""

    method: str
    params: Any = None


class Success(Struct, tag_field="jsonrpc", tag="2.0", omit_defaults=True):
    """The response to a request that succeeded. `result` is `Raw` when it arrived, a Struct or `Raw` when it leaves."""

    id: RequestId
    result: Any


class Failure(Struct, tag_field="jsonrpc", tag="2.0", omit_defaults=True, dict=True):
    """The response to a request that failed. It has no id when the request's own could not be read."""

    error: ErrorObject
    id: RequestId | None = None

    cause = cast("BaseException | None", None)
    """The exception behind it, for a client in the same process. Without an annotation it is no field: never sent."""


Response: TypeAlias = Success | Failure
Message: TypeAlias = Request | Notification | Success | Failure


class BadMessage(RPCError, code=INVALID_REQUEST):
    """The text that arrived is not a message. Carries the id that a reply must repeat, when there is one."""

    answers = False
    """It is a response, to the request `id` of ours; else that id is of a request, or of none."""
    text = b""
    """The text, or its beginning."""

    def __init__(self, message: str, *, code: int = INVALID_REQUEST, id: RequestId | None = None) -> None:
        super().__init__(message, code=code)
        self.id = id

    def response(self) -> Failure:
        """Build the reply."""
        return failure(self.id, self)

    def shown(self) -> str:
        """Show the beginning of the text, with everything but plain characters written out."""
        return ascii(self.text[:_SHOWN_BYTES].decode(errors="replace"))


_NO_ID: Any = object()
_NO_RESULT = Raw()
# The two fields in which null and absent differ: an id of null is an error where an absent one is a notification, and
# a result of null is a result.


class _Envelope(Struct):
    """Any message at all, its contents untouched."""

    jsonrpc: Literal["2.0"]
    id: RequestId | float | None = _NO_ID
    method: str | None = None
    params: MaybeRaw = None
    result: Raw = _NO_RESULT
    error: ErrorObject | None = None


_decoder = msgspec.json.Decoder(_Envelope)
_head_decoder = msgspec.json.Decoder(dict[str, Any])
_encoder = msgspec.json.Encoder()
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""Raised for JSON that does not fit a type, or is not JSON."""
_NOT_STRUCTURE = bytes(set(range(256)) - set(b'"[]{}'))
_STEP = {ord("["): 1, ord("{"): 1, ord("]"): -1, ord("}"): -1}


encode = _encoder.encode
"""Writes a message, or a list of messages, as JSON text without newlines."""


def raw(value: Any) -> Raw:
    """Write any wire value now, to be sent later as it is."""
    return Raw(_encoder.encode(value))


def failure(id: RequestId | None, error: RPCError) -> Failure:
    """Build the response that reports `error`."""
    return Failure(ErrorObject(error.code, error.message, error.data), id)


def error_of(failure: Failure) -> RPCError:
    """Build the exception that stands for an error response."""
    error = RPCError.received(failure.error.code, failure.error.message, failure.error.data)
    error.__cause__ = failure.cause
    return error


def decode(data: bytes, *, remark: Remark | None = None) -> Message:
    """Read one message. With `remark`, which is told of it, a response that is not quite JSON is put right.

    Raises `BadMessage`: -32700 for what is not JSON in UTF-8, -32600 for JSON that is not a message.
    """
    try:
        check_text(data)
        return _classify(_decoder.decode(data), data)
    except UNREADABLE as error:
        bad = refusal(f"Invalid request: {error}", data)
    text = _mended(data) if bad.answers and bad.code == PARSE_ERROR and remark is not None else None
    if text is None or remark is None:
        raise bad
    remark("not quite JSON: NaN is read as null, a lone surrogate as U+FFFD")
    return decode(text)


def check_text(data: bytes) -> None:
    """Refuse what is not UTF-8 or nests deeper than `MAX_DEPTH`, before any object is built.

    Raises `BadMessage` with code -32700.
    """
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError as error:
            raise refusal(f"Parse error: not UTF-8 at byte {error.start}", data, PARSE_ERROR) from None
    if data.count(b"[") + data.count(b"{") > MAX_DEPTH and depth(data) > MAX_DEPTH:
        raise refusal(f"Parse error: nested deeper than {MAX_DEPTH} levels", data, PARSE_ERROR)


def depth(data: bytes) -> int:
    """Tell how deep the arrays and objects of a JSON text nest, without parsing it."""
    unescaped = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    brackets = b"".join(unescaped.translate(None, _NOT_STRUCTURE).split(b'"')[::2])
    return max(accumulate(map(_STEP.__getitem__, brackets)), default=0)


def is_batch(data: bytes) -> bool:
    """Tell whether a JSON text is an array."""
    return data[:1] != b"{" and data.lstrip()[:1] == b"["


def split_batch(data: bytes) -> list[bytes]:
    """Cut a batch into the texts of its messages.

    Raises `BadMessage` for what is not a JSON array, for an empty one, and for more than `MAX_BATCH` messages.
    """
    check_text(data)
    try:
        items = msgspec.json.decode(data, type=list[Raw])
    except msgspec.DecodeError as error:
        raise BadMessage(f"Parse error: {error}", code=PARSE_ERROR) from None
    if not 0 < len(items) <= MAX_BATCH:
        raise BadMessage(f"Invalid request: a batch has 1 to {MAX_BATCH} messages, not {len(items)}")
    return [bytes(item) for item in items]


def _classify(envelope: _Envelope, data: bytes) -> Message:
    given = envelope.id
    id: RequestId = given  # type: ignore[assignment]  # 1.0 is answered as it came, and found as 1 where 1 was sent
    has_id = isinstance(given, (int, str)) or (isinstance(given, float) and given.is_integer())
    if envelope.method is not None:
        params = None if envelope.params == NULL else envelope.params
        if has_id:
            return Request(id, envelope.method, params)
        if given is _NO_ID:
            return Notification(envelope.method, params)
    elif envelope.error is not None and (has_id or given in (None, _NO_ID)):
        return Failure(envelope.error, id if has_id else None)
    elif envelope.result is not _NO_RESULT and has_id:
        return Success(id, envelope.result)
    lacks = "neither a method, a result nor an error" if has_id or given is _NO_ID else f"the id is {given!r}"
    raise refusal(f"Invalid request: {lacks}", data)


def refusal(why: str, text: bytes, code: int | None = None) -> BadMessage:
    """Say why a text is not a message, with its id if that much can be read.

    Without a `code` it is an invalid request, or a parse error: it may fail to be a message before it fails to be JSON.
    """
    try:
        head = _head_decoder.decode(text)
    except UNREADABLE as error:
        head = ends(text, text)
        if code is None and not isinstance(error, msgspec.ValidationError):
            why, code = f"Parse error: {error}", PARSE_ERROR
    id = head.get("id")
    known = id if isinstance(id, int | str) and not isinstance(id, bool) else None
    if isinstance(known, str) and known.encode(errors="ignore") != known.encode(errors="surrogatepass"):
        known = None  # with a lone surrogate in it, which `json` takes, it cannot be repeated
    bad = BadMessage(why, code=code or INVALID_REQUEST, id=known)
    bad.answers, bad.text = head.get("method") is None, text
    return bad


# What can still be read of a text that is not JSON, or was too long to be kept. A request in it can be refused: its
# sender is told. Nobody can be told of a response that cannot be used; the call it answers would wait until its time is
# up. So its id is looked for, and what other parsers take is put right.


def ends(first: bytes, last: bytes) -> dict[str, Any]:
    """Read the members of a message that stand before and behind its contents, such as the id.

    `first` and `last` are the beginning and the end of its text. Of a batch, they are members of its first message.
    """
    before, behind = _FIRST.match(first[:ENDS_BYTES]), _LAST.search(last[-ENDS_BYTES:])
    members = (before[1] if before else b"") + b"," + (behind[1][1:] if behind else b"")
    listed = re.sub(rb",\s*,", b",", members).strip(b", \t\r\n")
    try:
        return cast("dict[str, Any]", json.loads("{" + listed.decode(errors="replace") + "}", strict=False))
    except ValueError:
        return {}


def _mended(text: bytes) -> bytes | None:
    """Write anew what Python and JavaScript take for JSON: NaN as null, a lone surrogate as U+FFFD. None: it is not."""
    try:
        value = json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    whole = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return whole.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace").encode()


class Lines:
    """Cuts a byte stream into lines; one that is too long is dropped and reported, the next one counts again."""

    def __init__(self, max_bytes: int = MAX_MESSAGE_BYTES) -> None:
        self.max_bytes = max_bytes
        self.remedy = ""
        """Told with the refusal of a line that is too long."""
        self._held = bytearray()
        """The line so far; its two ends when it is too long."""
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes | BadMessage]:
        """Take what arrived; yield each complete line without its end, or the reason why it was dropped."""
        *complete, rest = data.split(b"\n")
        for part in complete:
            line: bytes | BadMessage = part  # as a rule a line arrives whole
            if self._size or len(part) > self.max_bytes:
                self._hold(part)
                line = self._take()
            if isinstance(line, BadMessage) or (line and not line.isspace()):
                yield line
        if rest:
            self._hold(rest)

    def _hold(self, part: bytes) -> None:
        self._held += part
        self._size += len(part)
        if self._size > self.max_bytes:
            del self._held[ENDS_BYTES:-ENDS_BYTES]

    def _take(self) -> bytes | BadMessage:
        text, size = bytes(self._held), self._size
        self._held, self._size = bytearray(), 0
        if size <= self.max_bytes:
            return text
        why = f"Invalid request: a message of {size} bytes is over the limit of {self.max_bytes}{self.remedy}"
        return refusal(why, text, INVALID_REQUEST)
