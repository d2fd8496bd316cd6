"""Requests that are passed on: what `_meta` says about the sender is replaced, every other key stays as it came.

Nothing is decoded into types here, so that no field which this package does not know is lost.

https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
"""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from splice.errors import InvalidParams
from splice.protocol import jsonrpc, lifecycle
from splice.protocol.notifications import ProgressToken

TOKEN = "progressToken"  # noqa: S105 - no secret: the key of `_meta` and the field of the notification

_OF_THE_SENDER = (lifecycle.META_PROTOCOL_VERSION, lifecycle.META_CLIENT_CAPABILITIES, lifecycle.META_CLIENT_INFO)

_members_decoder = msgspec.json.Decoder(dict[str, Raw])


def members_of(json: Raw | None) -> dict[str, Any]:
    """Read the members of an object, which stay unread; null has none. Raises what decoding raises."""
    return {} if json is None or json == jsonrpc.NULL else _members_decoder.decode(json)


def restamp(params: Raw | None, said: Mapping[str, Any], ours: jsonrpc.RequestId) -> tuple[Raw, ProgressToken | None]:
    """Put `said` into `_meta`, in place of the sender's version, capabilities and client info.

    If the sender gave a progress token, `ours` takes its place, and it is returned beside the params.
    Raises `InvalidParams` for params that are not an object, or whose `_meta` or token is malformed.
    """
    try:
        members = members_of(params)
        meta = members_of(members.pop("_meta", None))
        theirs = msgspec.json.decode(meta.pop(TOKEN, jsonrpc.NULL), type=ProgressToken | None)
    except jsonrpc.UNREADABLE as error:
        raise InvalidParams(f"Invalid params: {error}") from None
    meta = {**{key: value for key, value in meta.items() if key not in _OF_THE_SENDER}, **said}
    if theirs is not None:
        meta[TOKEN] = ours
    if meta:
        members["_meta"] = meta
    return jsonrpc.raw(members), theirs


def replace_token(params: Raw | None, ours: jsonrpc.RequestId, theirs: ProgressToken) -> Raw | None:
    """Put the token of the request that came in into a progress notification about the one that was sent.

    Params with another token are returned as they are, malformed ones too.
    """
    try:
        members = members_of(params)
    except jsonrpc.UNREADABLE:
        return params
    return jsonrpc.raw({**members, TOKEN: theirs}) if members.get(TOKEN) == jsonrpc.raw(ours) else params
