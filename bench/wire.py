"""What the drivers send: the messages of both eras as bytes, the id left open."""

from typing import Any

import msgspec

from bench.peers import Wire

LEGACY = "2025-11-25"
MODERN = "2026-07-28"
ME = {"name": "bench", "version": "1"}
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": ME,
    "io.modelcontextprotocol/clientCapabilities": {},
}
TOUCH = "touch"
"""The tool that announces a change."""
PLACE = 10_000_001
"""Ids have eight digits, so that the length of a message does not depend on its id."""

INITIALIZED = b'{"jsonrpc":"2.0","method":"notifications/initialized"}'


def request(method: str, params: dict[str, Any], wire: Wire) -> bytes:
    """Write a request as a template: `template % id` is the message."""
    if wire == "modern":
        params = {**params, "_meta": META}
    text = msgspec.json.encode({"jsonrpc": "2.0", "id": PLACE, "method": method, "params": params})
    return text.replace(b"%", b"%%").replace(b"%d" % PLACE, b"%d", 1)


def opening(wire: Wire) -> bytes:
    """Write the request that opens a conversation."""
    if wire == "modern":
        return request("server/discover", {}, wire)
    return request("initialize", {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": ME}, wire)


def tool_call(name: str, wire: Wire) -> bytes:
    """Write a call of a tool that adds two numbers; the answer is 5. The tool `touch` takes none."""
    arguments = {} if name == TOUCH else {"a": 2, "b": 3}
    return request("tools/call", {"name": name, "arguments": arguments}, wire)


def headers(method: str, wire: Wire, *, name: str = "", session: str = "") -> dict[str, str]:
    """Name the HTTP headers that must accompany a request."""
    fields = {"MCP-Protocol-Version": MODERN if wire == "modern" else LEGACY}
    if wire == "modern":
        fields["Mcp-Method"] = method
        if name:
            fields["Mcp-Name"] = name
    elif method == "initialize":
        fields = {}
    elif session:
        fields["Mcp-Session-Id"] = session
    return fields


def post(body: bytes, fields: dict[str, str], port: int) -> bytes:
    """Write an HTTP request around a message template; the result is a template again."""
    lines = [
        "POST /mcp HTTP/1.1",
        f"Host: 127.0.0.1:{port}",
        "Content-Type: application/json",
        "Accept: application/json, text/event-stream",
        *(f"{key}: {value}" for key, value in fields.items()),
    ]
    length = len(body % PLACE) if b"%d" in body else len(body)
    head = "\r\n".join([*lines, f"Content-Length: {length}", "", ""]).encode()
    return head.replace(b"%", b"%%") + body


def check_answer(answer: dict[str, Any]) -> None:
    """Raise `ValueError` unless a tool answered 5."""
    try:
        text = answer["result"]["content"][0]["text"]
    except (KeyError, IndexError, TypeError):
        raise ValueError(f"not a result: {str(answer)[:160]}") from None
    if text != "5" or answer["result"].get("isError"):
        raise ValueError(f"wrong answer: {str(answer)[:160]}")
