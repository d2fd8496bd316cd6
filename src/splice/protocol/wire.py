"""The base of every Struct on the wire, and what all requests, results and notifications share.

A field that is absent is `None`; what is `None` is not written. A JSON null that arrives reads as absent. A field says
since and until when it exists; a type that does not exist in every version says so in its class variable `span`.

https://modelcontextprotocol.io/specification/2026-07-28/basic
"""

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import Raw, Struct, field

from splice.protocol.jsonrpc import NULL, MaybeRaw
from splice.protocol.versions import V2025_06_18, V2025_11_25, V2026_07_28, Since, Until

Span: TypeAlias = tuple[Since | Until, ...]
"""The marks of a type: since and until when it exists."""

CacheScope = Literal["public", "private"]

_LABEL, _NAME = "[A-Za-z](?:[A-Za-z0-9-]*[A-Za-z0-9])?", "[A-Za-z0-9](?:[A-Za-z0-9_.-]*[A-Za-z0-9])?"
_META_KEY = re.compile(rf"(?:{_LABEL}(?:\.{_LABEL})*/)?(?:{_NAME})?")
_TOKEN, _OCTETS = "[!#$%&'*+.^_`|~0-9A-Za-z-]+", r"[!#-+\--:<-\[\]-~]*"
_STATE = r"[a-z0-9][a-z0-9_*/@-]{0,255}=[ -+\--<>-~]{0,255}[!-+\--<>-~]"
_BAGGAGE = rf"{_TOKEN}[ \t]*=[ \t]*{_OCTETS}(?:[ \t]*;[ \t]*{_TOKEN}(?:[ \t]*=[ \t]*{_OCTETS})?)*+"
_LIST = r"[ \t]*(?:{0})?[ \t]*(?:,[ \t]*(?:{0})?[ \t]*)*+"
_TRACE = {
    "traceparent": "(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?",
    "tracestate": _LIST.replace("{0}", _STATE),
    "baggage": _LIST.replace("{0}", _BAGGAGE),
}
"""What the W3C says of trace contexts and baggage. Compiled when there are any."""

META_RULE = f"_meta: keys are `name` or `example.com/name`; {', '.join(_TRACE)} are texts as the W3C has them"


def is_meta(meta: Mapping[str, Any]) -> bool:
    """Tell whether keys that a person writes into `_meta` are legal, and the values of trace contexts too."""
    if not all(map(_META_KEY.fullmatch, meta)):
        return False
    traces = {key: meta[key] for key in _TRACE.keys() & meta.keys() if not isinstance(meta[key], Raw)}
    return all(isinstance(text, str) and re.fullmatch(_TRACE[key], text) for key, text in traces.items())


class Wire(Struct, rename="camel", omit_defaults=True):
    """A JSON object of the specification. Subclasses add `kw_only=True`, which is not inherited."""

    assumed: ClassVar[dict[str, Raw]] = {}
    """Members that must be there, but are taken to have these values where a peer leaves them out."""


class Hints(Wire):
    """An object nobody depends on: members that cannot be used are left out when it is read."""


class Meta(Wire, kw_only=True):
    """An object with `_meta` in every version."""

    meta: dict[str, Any] | None = field(default=None, name="_meta")
    """Metadata. Keys with a reserved prefix belong to the specification."""


class LaterMeta(Wire, kw_only=True):
    """An object with `_meta` since 2025-06-18."""

    meta: Annotated[dict[str, Any] | None, Since(V2025_06_18)] = field(default=None, name="_meta")
    """Metadata. Keys with a reserved prefix belong to the specification."""


class Icon(Hints, kw_only=True):
    """A picture for people. Only `https:` and `data:` sources should ever be fetched."""

    span: ClassVar[Span] = (Since(V2025_11_25),)

    src: str
    """The URI of the picture."""

    mime_type: str | None = None
    """Overrides what the source says about itself."""

    sizes: list[str] | None = None
    """Such as ``48x48``, or ``any`` for a picture that scales."""

    theme: Literal["light", "dark"] | None = None
    """The background it was drawn for; any when absent."""


class Named(LaterMeta, kw_only=True):
    """Something a server offers, as far as tools, prompts and resources are described alike."""

    name: str
    """Its name for programs."""

    title: Annotated[str | None, Since(V2025_06_18)] = None
    """Its name for people. `name` is shown when it is absent."""

    description: str | None = None
    """Its purpose, for the model."""

    icons: Annotated[list[Icon] | None, Since(V2025_11_25)] = None
    """The same picture in several sizes and themes."""


class Implementation(Wire, kw_only=True):
    """The program that speaks, for display and for logs: never a ground for trust."""

    assumed: ClassVar[dict[str, Raw]] = {"name": Raw(b'""'), "version": Raw(b'""')}

    name: str
    """Its name for programs."""

    version: str
    """Its own version, in any scheme."""

    title: Annotated[str | None, Since(V2025_06_18)] = None
    """Its name for people. `name` is shown when it is absent."""

    description: Annotated[str | None, Since(V2025_11_25)] = None
    """Its purpose, for people."""

    website_url: Annotated[str | None, Since(V2025_11_25)] = None
    """Where to read about it."""

    icons: Annotated[list[Icon] | None, Since(V2025_11_25)] = None
    """The same picture in several sizes and themes."""


class Params(Wire, kw_only=True):
    """The params of any request."""

    meta: MaybeRaw = field(default=None, name="_meta")
    """Metadata, not yet read or already written: `RequestMeta` and any key of others."""

    def __post_init__(self) -> None:
        """Read null as absent."""
        if self.meta is not None and self.meta == NULL:
            self.meta = None


class RetryParams(Params, kw_only=True):
    """Params of a request whose result may ask for input first. It is sent again with the answers."""

    input_responses: Annotated[dict[str, Raw] | None, Since(V2026_07_28)] = None
    """The answers to the questions of the last result, by the same keys."""

    request_state: Annotated[str | None, Since(V2026_07_28)] = None
    """The `requestState` of the last result, byte for byte."""


class NoParams(Params, kw_only=True):
    """Params of a request that takes none."""


class PageParams(Params, kw_only=True):
    """Params of a request for one page of a list."""

    cursor: str | None = None
    """The `next_cursor` of the page before; the first page when absent."""


class NoteParams(Meta, kw_only=True):
    """The params of any notification."""


class Result(Meta, kw_only=True):
    """The result of any request."""

    result_type: Annotated[str | None, Since(V2026_07_28)] = None
    """``complete``, or why this is not a full answer. Absent means ``complete``."""


class EmptyResult(Result, kw_only=True):
    """A result that says: done."""


class CacheableResult(Result, kw_only=True):
    """A result that may be kept for a while."""

    ttl_ms: Annotated[int | None, Since(V2026_07_28)] = None
    """For how many milliseconds; absent and negative both mean: not at all."""

    cache_scope: Annotated[CacheScope | None, Since(V2026_07_28)] = None
    """Whether others may be served from it. Absent means ``private``."""


class PageResult(CacheableResult, kw_only=True):
    """One page of a list."""

    next_cursor: str | None = None
    """Asks for the next page. This one is the last when it is absent."""
