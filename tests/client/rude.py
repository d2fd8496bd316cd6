"""A child process that is rude: at each step it does as planned."""

import json
import sys
from typing import Any

from splice import Client

PROGRAM = r"""
import json, os, sys, time
plan, count = json.loads(sys.argv[1]), sys.argv[2]
sys.stderr.write("began\n")
RESULTS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}, "resources": {}}},
    "initialize": {
        "protocolVersion": "2025-11-25",
        "capabilities": {"tools": {}, "resources": {}},
        "serverInfo": {"name": "s", "version": "1"},
    },
    "tools/call": {"content": [{"type": "text", "text": "done"}]},
    "tools/list": {"tools": []},
    "resources/read": {"contents": []},
}
again = os.path.exists(count)
with open(count, "a") as file:
    file.write("x")
if plan.get("") == "die" or (again and plan.get("again") == "die"):
    sys.exit("cannot begin")
for line in sys.stdin:
    message = json.loads(line)
    do = plan.get(message["method"], "answer")
    if do == "die":
        sys.stderr.write("died of " + message["method"] + "\n")
        sys.exit(7)
    if do == "corpse":  # as `mcp` up to 1.9 does of an unknown method: silent, and dead at the next line
        sys.stdin.readline()
        sys.exit(1)
    if "id" not in message or do == "silence":
        continue
    if do in ("junk", "babble"):
        print("Hello, I am a server!")
        sys.stdout.flush()
    if do == "babble":
        continue
    if do == "refuse":
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}))
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": RESULTS[message["method"]]}))
    sys.stdout.flush()
"""


class Rude:
    """A command line for a child that does as planned, and a count of how often it was started."""

    def __init__(self, directory: Any, **plan: str) -> None:
        self._count = directory / "count"
        methods = {name.replace("__", "/"): do for name, do in plan.items()}
        names = {"begin": "", "initialized": "notifications/initialized"}
        self._plan = {names.get(name, name): do for name, do in methods.items()}

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-I", "-S", "-c", PROGRAM, json.dumps(self._plan), str(self._count)]

    @property
    def starts(self) -> int:
        return len(self._count.read_text())


def process_of(client: Client) -> int:
    """Tell the process id of a client's child."""
    link: Any = client._conversation.connection().link
    return int(link.pid)
