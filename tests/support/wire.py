"""What tests write on a wire by hand, and what they read from it."""

import json
from typing import Any, TypeAlias

from splice.protocol.lifecycle import META_CLIENT_CAPABILITIES, META_CLIENT_INFO, META_LOG_LEVEL, META_PROTOCOL_VERSION
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN

JSON: TypeAlias = Any
"""A JSON value, however deep."""

CLIENT = {"name": "tests", "version": "1"}


def ask(id: JSON, method: str, params: JSON = None) -> dict[str, JSON]:
    """Write a request."""
    message = {"jsonrpc": "2.0", "id": id, "method": method}
    return message if params is None else {**message, "params": params}


def note(method: str, params: JSON = None) -> dict[str, JSON]:
    """Write a notification."""
    message: dict[str, JSON] = {"jsonrpc": "2.0", "method": method}
    return message if params is None else {**message, "params": params}


def answer(id: JSON, result: JSON) -> dict[str, JSON]:
    """Write a response."""
    return {"jsonrpc": "2.0", "id": id, "result": result}


def cancel(id: JSON, **more: JSON) -> dict[str, JSON]:
    return note("notifications/cancelled", {"requestId": id, **more})


def initialize(version: str = LATEST_HANDSHAKE, *, id: JSON = 0, capabilities: JSON = None) -> dict[str, JSON]:
    params = {"protocolVersion": version, "capabilities": capabilities or {}, "clientInfo": CLIENT}
    return ask(id, "initialize", params)


def meta(*, capabilities: JSON = None, level: str | None = None, token: JSON = None) -> dict[str, JSON]:
    """Write the `_meta` of a modern request."""
    fields: dict[str, JSON] = {
        META_PROTOCOL_VERSION: LATEST_MODERN,
        META_CLIENT_CAPABILITIES: capabilities or {},
        META_CLIENT_INFO: CLIENT,
    }
    if level is not None:
        fields[META_LOG_LEVEL] = level
    if token is not None:
        fields["progressToken"] = token
    return fields


def modern(id: JSON, method: str, params: JSON = None, **said: JSON) -> dict[str, JSON]:
    """Write a modern request."""
    return ask(id, method, {**(params or {}), "_meta": meta(**said)})


def call(id: JSON, tool: str, arguments: JSON = None, **params: JSON) -> dict[str, JSON]:
    """Write a tool call."""
    return ask(id, "tools/call", {"name": tool, "arguments": arguments or {}, **params})


def line(*messages: JSON) -> bytes:
    """Messages as they go over a line channel; bytes go as they are."""
    return b"".join(each if isinstance(each, bytes) else json.dumps(each).encode() + b"\n" for each in messages)


def lines(data: bytes) -> list[JSON]:
    """Read what a line channel carried."""
    return [json.loads(each) for each in data.splitlines() if each.strip()]


def code_of(message: JSON) -> int | None:
    """Read the error code of a response."""
    code: int | None = message.get("error", {}).get("code")
    return code
