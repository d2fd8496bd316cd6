"""The head of a request: what must be known of it before its params are decoded in full.

Over HTTP that is its era, which the version in its `_meta` decides, and what its headers have to repeat.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from typing import Any

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType, field

from splice.protocol.jsonrpc import Request
from splice.protocol.lifecycle import META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION


class MetaHead(Struct):
    """What of `_meta` decides the era. The version is of any type: a wrong one is an error of the modern era."""

    version: Any = field(default=UNSET, name=META_PROTOCOL_VERSION)
    capabilities: Raw | UnsetType = field(default=UNSET, name=META_CLIENT_CAPABILITIES)


class Head(Struct):
    """What of the params headers repeat. All of any type: what is wrong with them is for the decoder to say."""

    meta: MetaHead = field(default_factory=MetaHead, name="_meta")
    name: Any = UNSET
    uri: Any = UNSET
    arguments: Raw | UnsetType = UNSET

    @property
    def is_modern(self) -> bool:
        """The request speaks for itself."""
        return self.meta.version is not UNSET

    def named(self, field: str | None) -> str | None:
        """Return the text under `field`, if that is what a header repeats."""
        value = self.name if field == "name" else self.uri if field == "uri" else None
        return value if isinstance(value, str) else None


_decoder = msgspec.json.Decoder(Head)


def head_of(request: Request) -> Head:
    """Read the head of a request that arrived; params of an unreadable shape have an empty one."""
    if isinstance(request.params, UnsetType):
        return Head()
    try:
        return _decoder.decode(request.params)
    except (msgspec.DecodeError, RecursionError):
        return Head()
