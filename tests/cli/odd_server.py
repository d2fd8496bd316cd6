"""A stdio server that does what its one argument says: JSON with `answers` by method, and lines to write before.

It imports nothing of ours. A method without an answer gets an error; one whose answer is null gets none.
"""

import json
import signal
import sys
from typing import Any

TOOL: dict[str, Any] = {"name": "t", "inputSchema": {"type": "object"}}
OPENED = {
    "protocolVersion": "2025-06-18",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "odd \x1b[31m", "version": "1"},
}


def case(*, say: str = "", stays: bool = False, **answers: Any) -> str:
    """Write the argument: answers by method, with `_` for the slash in its name."""
    known = {"initialize": OPENED, "ping": {}, "tools/list": {"tools": [TOOL]}}
    told = {name.replace("_", "/"): answer for name, answer in answers.items()}
    return json.dumps({"answers": known | told, "say": say, "stays": stays})


def main() -> None:
    script = json.loads(sys.argv[1])
    sys.stdout.write(script["say"])
    sys.stdout.flush()
    for line in sys.stdin:
        message = json.loads(line)
        answer = script["answers"].get(message["method"], {"code": -32601, "message": "no \x1b[1m"})
        if "id" in message and answer is not None:
            kind = "error" if "code" in answer else "result"
            sys.stdout.write(json.dumps({"jsonrpc": "2.0", "id": message["id"], kind: answer}) + "\n")
            sys.stdout.flush()
    while script["stays"]:
        signal.pause()


if __name__ == "__main__":
    main()
