"""A server that wraps its answer to a call in an array. As a program: `python batching_server.py SHAPE VERSION`.

In a shape, R is the response, N a notification, X the response to something else. It imports nothing of ours.
"""

import json
import sys
from typing import Any

INFO = {"capabilities": {"tools": {}}, "serverInfo": {"name": "batching", "version": "1"}}
OTHERS = {
    "N": {"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "noted"}},
    "X": {"jsonrpc": "2.0", "id": 12345, "result": {}},
}


def replies(message: dict[str, Any], shape: str, version: str) -> str:
    """Write the response to a request; to a call, in this shape."""
    results: dict[str, Any] = {
        "server/discover": {**INFO, "supportedVersions": [version], "resultType": "complete"},
        "initialize": {**INFO, "protocolVersion": version},
        "tools/list": {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
        "tools/call": {"content": [{"type": "text", "text": "there"}], "resultType": "complete"},
    }
    response = {"jsonrpc": "2.0", "id": message["id"], "result": results[message["method"]]}
    if message["method"] != "tools/call":
        return json.dumps(response)
    texts = {letter: json.dumps(each) for letter, each in {**OTHERS, "R": response}.items()}
    return "".join(texts.get(letter, letter) for letter in shape)


if __name__ == "__main__":
    for line in sys.stdin:
        received = json.loads(line)
        if "id" in received:
            sys.stdout.write(replies(received, *sys.argv[1:]) + "\n")
            sys.stdout.flush()
