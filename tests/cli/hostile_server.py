"""A server of another make, that misbehaves as its arguments say: a JSON-RPC loop without Splice."""

import json
import sys

MODE = sys.argv[1]
INFO = {"name": "hostile \x1b[2J", "version": ""}
CAPABILITIES: dict[str, object] = {"resources": {}, "tools": {}, "prompts": {}}
LISTS: dict[str, object] = {
    "tools/list": {"tools": [{"name": "a", "inputSchema": {"type": "object"}}]},
    "resources/list": {"resources": [{"uri": "a://b", "name": "b"}]},
    "resources/read": {"contents": [{"uri": "a://b", "blob": "M"}]},
}
METHOD_NOT_FOUND = {"code": -32601, "message": "Method not found"}
BROKEN = {"code": -32000, "message": "out of \x1b[31mpaper"}


def send(**message: object) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(method: str, id: int) -> None:
    if method == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": CAPABILITIES, "serverInfo": INFO}
        send(id=id, result=result)
    elif method in LISTS:
        send(id=id, result=LISTS[method])
    elif method == "prompts/list" and MODE == "broken":
        send(id=id, error=BROKEN)
    elif method == "tools/call":
        sys.stderr.write("stderr \x1b[31mred\n")
        sys.stderr.flush()
        sys.stdout.write("junk \x1b]0;owned\x07\n")
        send(method="notifications/message", params={"level": "info\x1b[1m", "data": 1})
        send(method="notifications/progress", params={"progressToken": "\x1b[2J", "progress": "\x1b[2J"})
        send(id="\x1b[2J", method="evil/\x1b]0;owned\x07\u202e", params={})
        send(id="q", method="elicitation/create", params={"message": 5, "requestedSchema": "\x1b"})
        send(id=id, error={"code": -32603, "message": "broken \x1b[31m\u202e", "data": "\x1b"})
    else:
        send(id=id, error=METHOD_NOT_FOUND)


for line in sys.stdin:
    said = json.loads(line)
    if "method" in said and "id" in said:
        answer(said["method"], said["id"])
