"""Requests that are passed on: what `_meta` says about the sender is replaced, every other key stays as it came.

Nothing is decoded into types here, so that no field which this package does not know is lost.

https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
"""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from splice.errors import InvalidParams
from splice.protocol.jsonrpc import NULL, RequestId, raw
from splice.protocol.lifecycle import META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_PROTOCOL_VERSION
from splice.protocol.methods import UNREADABLE
from splice.protocol.notifications import ProgressToken

T = TypeVar("T")

TOKEN = "progressToken"  # noqa: S105 - no secret: the key of `_meta` and the field of the notification

_OF_THE_SENDER = (META_PROTOCOL_VERSION, META_CLIENT_CAPABILITIES, META_CLIENT_INFO)


_members_decoder = msgspec.json.Decoder(dict[str, Raw])
_token_decoder = msgspec.json.Decoder(ProgressToken | None)


def restamp(params: Raw | None, said: Mapping[str, Any], ours: RequestId) -> tuple[Raw, ProgressToken | None]:
    """Put `said` into `_meta`, in place of the sender's version, capabilities and client info.

    If the sender gave a progress token, `ours` takes its place, and it is returned beside the params.
    Raises `InvalidParams` for params that are not an object, or whose `_meta` or token is malformed.
    """
    members: dict[str, Any] = _decoded(_members_decoder, params) or {}
    meta: dict[str, Any] = _decoded(_members_decoder, members.pop("_meta", None)) or {}
    theirs: ProgressToken | None = _decoded(_token_decoder, meta.pop(TOKEN, None))
    meta = {**{key: value for key, value in meta.items() if key not in _OF_THE_SENDER}, **said}
    if theirs is not None:
        meta[TOKEN] = ours
    if meta:
        members["_meta"] = meta
    return raw(members), theirs


def replace_token(params: Raw | None, ours: RequestId, theirs: ProgressToken) -> Raw | None:
    """Put the token of the request that came in into a progress notification about the one that was sent.

    Params with another token are returned as they are, malformed ones too.
    """
    try:
        members: dict[str, Any] = _decoded(_members_decoder, params) or {}
    except InvalidParams:
        return params
    if bytes(members.get(TOKEN, b"")) != bytes(raw(ours)):
        return params
    return raw({**members, TOKEN: theirs})


def _decoded(decoder: "msgspec.json.Decoder[T]", json: Raw | None) -> T | None:
    try:
        return None if json is None or json == NULL else decoder.decode(json)
    except UNREADABLE as error:
        raise InvalidParams(f"Invalid params: {error}") from None
