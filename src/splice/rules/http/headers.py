"""The headers of the protocol: reading and writing them, and what of a request they repeat.

A request repeats its version, method, name and marked arguments in headers, so that proxies can route on them. The body
counts; a header that contradicts it is refused. Both sides of the rules stand here: what the client writes and what the
server demands cannot drift apart.

https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http
"""

import re
from binascii import Error as NotBase64
from binascii import a2b_base64, b2a_base64
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, TypeAlias, cast

from splice.errors import HeaderMismatch, UnsupportedProtocolVersion
from splice.rules.eras import EVERY_PROTOCOL, Protocols

PROTOCOL_VERSION_HEADER = "MCP-Protocol-Version"
SESSION_HEADER = "Mcp-Session-Id"
METHOD_HEADER = "Mcp-Method"
NAME_HEADER = "Mcp-Name"
PARAM_PREFIX = "Mcp-Param-"
LAST_EVENT_ID_HEADER = "Last-Event-ID"

JSON = "application/json"
EVENT_STREAM = "text/event-stream"

MAX_HEADER_INTEGER = 2**53 - 1
"""The largest integer, either way, that every language reads alike."""

Designations: TypeAlias = Mapping[tuple[str, ...], str]
"""Which arguments headers mirror: path of the argument -> name behind `Mcp-Param-`."""

_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_BLANKS = " \t"
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


class Headers(Mapping[str, str]):
    """Request headers as ASGI gives them, decoded when they are asked for. A repeated one reads as a list."""

    __slots__ = ("_fields", "raw")

    def __init__(self, raw: Sequence[tuple[bytes, bytes]]) -> None:
        self._fields: dict[bytes, bytes] = dict(raw)
        if len(self._fields) != len(raw):
            self._fields = {}
            for name, value in raw:
                self._fields[name] = self._fields[name] + b", " + value if name in self._fields else value
        self.raw: Callable[[bytes], bytes | None] = self._fields.get
        """Returns a value as it came, by its name in lower case."""

    def __getitem__(self, name: str) -> str:
        return self._fields[name.lower().encode("latin-1", "replace")].decode("latin-1")

    def __iter__(self) -> Iterator[str]:
        return (name.decode("latin-1") for name in self._fields)

    def __len__(self) -> int:
        return len(self._fields)


def is_json(content_type: bytes | None) -> bool:
    """Tell whether a Content-Type header announces JSON."""
    return (content_type or b"").decode("latin-1").partition(";")[0].strip().lower() == JSON


@lru_cache(maxsize=64)
def accepts(accept: bytes | None, *media: str) -> bool:
    """Tell whether an Accept header names every one of these media types. No header allows everything."""
    if accept is None:
        return True
    named = {part.partition(";")[0].strip() for part in accept.decode("latin-1").lower().split(",")}
    return all(named & {each, each.partition("/")[0] + "/*", "*/*"} for each in media)


def is_plain(value: str) -> bool:
    """Tell whether a text can be a header value as it is."""
    is_encoded = value[:1] == "=" and _ENCODED.fullmatch(value)
    return value.isascii() and value.isprintable() and value == value.strip() and not is_encoded


def check_header(name: Any, value: Any) -> None:
    """Check a header of the user's own. Raises `ValueError` and `TypeError`, which do not show the value."""
    if not isinstance(name, str) or not isinstance(value, str):
        raise TypeError(f"headers are text: {name!r} is {type(name).__name__}, its value {type(value).__name__}")
    if not _TOKEN.fullmatch(name):
        raise ValueError(f"{name!r} cannot be the name of a header")
    if not value.replace("\t", " ").isprintable() or value != value.strip():
        raise ValueError(f"the value of the header {name} has line breaks, control characters or blanks around it")


def encode_header(value: str) -> str:
    """Write any text as a header value: as it is where that is safe, else as the base64 of its UTF-8."""
    if is_plain(value):
        return value
    return f"=?base64?{b2a_base64(value.encode(), newline=False).decode()}?="


def decode_header(value: str) -> str:
    """Undo `encode_header`. Raises `ValueError` for characters or base64 that no client may send."""
    value = value.strip(_BLANKS)
    if not value.isascii() or not value.replace("\t", " ").isprintable():
        raise ValueError("contains characters that do not belong in a header")
    if (encoded := _ENCODED.fullmatch(value)) is None:
        return value
    try:
        return a2b_base64(encoded[1], strict_mode=True).decode()
    except (NotBase64, UnicodeDecodeError):
        raise ValueError("is not the base64 of UTF-8 text") from None


# What headers repeat of a request.


def standard_headers(version: str, method: str, name: str | None) -> dict[str, str]:
    """Write the headers that every request repeats. `name` is None where none is due. Client."""
    headers = {PROTOCOL_VERSION_HEADER: version, METHOD_HEADER: method}
    if name is not None:
        headers[NAME_HEADER] = encode_header(name)
    return headers


def named_version(headers: Headers, protocols: Protocols = EVERY_PROTOCOL) -> str | None:
    """Read the version that the header of a request names. Server.

    Raises `UnsupportedProtocolVersion` for one that is not served.
    """
    raw = headers.raw(b"mcp-protocol-version")
    version = None if raw is None else raw.decode("latin-1").strip()
    if version is not None and version not in protocols.handshake and version not in protocols.alone:
        why = f"MCP-Protocol-Version {version[:40]!a} is none of the versions served here: {', '.join(protocols.all)}"
        raise UnsupportedProtocolVersion(why, {"supported": list(protocols.all), "requested": version[:40]})
    return version


def check_standard_headers(headers: Headers, version: str, method: str, name: str | None) -> None:
    """Compare those headers with the body. `name` is None where none is due. Server.

    Raises `HeaderMismatch`.
    """
    raw = headers.raw
    is_alike = raw(b"mcp-protocol-version") == version.encode() and raw(b"mcp-method") == method.encode()
    if is_alike and (name is None or (raw(b"mcp-name") == name.encode() and is_plain(name))):
        return
    for header, expected in standard_headers(version, method, name).items():
        value = None if (given := headers.get(header)) is None else given.strip(_BLANKS)
        if value != expected and (value is None or header != NAME_HEADER or _decoded(header, value) != name):
            raise _mismatch(header, value, expected)


def _decoded(header: str, value: str) -> str:
    try:
        return decode_header(value)
    except ValueError as error:
        raise HeaderMismatch(f"Header mismatch: {header} {error}") from None


def _mismatch(header: str, value: str | None, expected: str | None) -> HeaderMismatch:
    shown, said = ("missing" if each is None else ascii(each[:100]) for each in (value, expected))
    return HeaderMismatch(f"Header mismatch: {header} is {shown}, but what it repeats of the body is {said}")


# Arguments that headers mirror.

_MARK = "x-mcp-header"
_TYPES = ("string", "integer", "boolean")
_WHOLE_NUMBER = re.compile(r"(-?[0-9]{1,16})(\.0*)?")
_DATA = ("default", "examples", "enum", "const")
"""Keywords that hold values, not schemas. Any other may, if only for a `$ref` to lead there."""


def header_parameters(schema: Mapping[str, Any]) -> dict[tuple[str, ...], str]:
    """Find the properties of an input schema that are marked with `x-mcp-header`: path -> name of the header.

    Raises `ValueError` naming the broken rule, for which the whole tool is to be left out.
    """
    found: dict[tuple[str, ...], str] = {}
    used: set[str] = set()
    for path, marked, direct in _marked(schema, (), True):
        name, where = marked[_MARK], "/".join(path) or "the schema itself"
        if not direct or not path:
            raise ValueError(f"{_MARK} at {where}: only chains of `properties` may lead to it")
        if not isinstance(name, str) or not _TOKEN.fullmatch(name):
            raise ValueError(f"{_MARK} at {where}: {name!r} is empty, or has characters that no header name may have")
        if marked.get("type") not in _TYPES:
            raise ValueError(f"{_MARK} at {where}: the type must be one of {', '.join(_TYPES)}")
        if name.lower() in used:
            raise ValueError(f"{_MARK} {name!r} is used twice (the case of letters does not count)")
        used.add(name.lower())
        found[path] = name
    return found


def _marked(schema: Any, path: tuple[str, ...], direct: bool) -> Iterator[tuple[tuple[str, ...], dict[str, Any], bool]]:
    """Walk a schema: every object with the mark, with its place, and whether `properties` alone lead there.

    What sits under other keywords is walked whatever it is: lists, maps of schemas, keywords that nobody knows.
    """
    if isinstance(schema, list):
        for each in cast("Sequence[Any]", schema):
            yield from _marked(each, path, False)
    keywords = _object(schema)
    if _MARK in keywords:
        yield path, keywords, direct
    for keyword, value in keywords.items():
        if keyword == "properties":
            for name, each in _object(value).items():
                yield from _marked(each, (*path, name), direct)
        elif keyword not in _DATA:
            yield from _marked(value, (*path, keyword), False)


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def param_headers(designations: Designations, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Write the headers that mirror these arguments; what is absent or null has none. Client.

    Raises `ValueError` for an integer that not every reader would read alike.
    """
    texts = {PARAM_PREFIX + name: _as_text(_at(arguments, path)) for path, name in designations.items()}
    return {header: encode_header(text) for header, text in texts.items() if text is not None}


def check_param_headers(designations: Designations, arguments: Any, headers: Mapping[str, str]) -> None:
    """Compare the headers that mirror arguments with the arguments; names in lower case. Server.

    What is of a type that no header can mirror is left to the check of the arguments. Raises `HeaderMismatch`.
    """
    for path, name in designations.items():
        header, value = PARAM_PREFIX + name, _at(arguments, path)
        given = headers.get(header.lower())
        try:
            expected = _as_text(value)
        except ValueError as error:
            raise HeaderMismatch(f"Header mismatch: {header} cannot be: {error}") from None
        text = None if given is None else _decoded(header, given)
        is_no_text = expected is None and value is not None
        if not is_no_text and text != expected and not _is_number(text or "", value):
            raise _mismatch(header, text, expected)


def _is_number(text: str, value: Any) -> bool:
    """Compare as numbers: 42.0 is 42. Only plain decimal notation is read."""
    found = _WHOLE_NUMBER.fullmatch(text)
    return found is not None and not isinstance(value, bool) and int(found[1]) == value


def _at(arguments: Any, path: tuple[str, ...]) -> Any:
    for step in path:
        arguments = _object(arguments).get(step)
    return arguments


def _as_text(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and abs(value) > MAX_HEADER_INTEGER:
        raise ValueError(f"{value} is too large for a header: the limit is {MAX_HEADER_INTEGER} either way")
    return str(value) if isinstance(value, str | int | float) else None
