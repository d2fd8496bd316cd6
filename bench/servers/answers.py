"""What the bare responders say: the least a client needs to list and call the tool `add`, in both eras."""

from typing import Any

import msgspec

MODERN = "2026-07-28"
NUMBERS = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
RESULT = {"type": "object", "properties": {"result": {"type": "integer"}}, "required": ["result"]}
ME = {"name": "floor", "version": "1"}
MARKS = {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}


class Call(msgspec.Struct):
    """As much of a message as the responders look at."""

    method: str = ""
    id: int | str | None = None
    params: dict[str, Any] = {}


decode = msgspec.json.Decoder(Call).decode
encode = msgspec.json.Encoder().encode


def answer(message: bytes) -> bytes:
    """Answer one message; a notification is answered with nothing."""
    call = decode(message)
    if call.id is None:
        return b""
    return encode({"jsonrpc": "2.0", "id": call.id, "result": _result(call)})


def _result(call: Call) -> dict[str, Any]:
    if call.method == "tools/call":
        arguments = call.params["arguments"]
        total = arguments["a"] + arguments["b"]
        return {
            "content": [{"type": "text", "text": str(total)}],
            "structuredContent": {"result": total},
            "isError": False,
            **(MARKS if "_meta" in call.params else {}),
        }
    if call.method == "tools/list":
        return {"tools": [{"name": "add", "inputSchema": NUMBERS, "outputSchema": RESULT}], **MARKS}
    if call.method == "server/discover":
        return {"supportedVersions": [MODERN], "capabilities": {"tools": {}}, "serverInfo": ME, **MARKS}
    if call.method == "initialize":
        version = call.params["protocolVersion"]
        return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": ME}
    return dict(MARKS)
