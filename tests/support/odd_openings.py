"""Servers that answer the opening in one odd way each, as data; as a program, one of them over stdio.

A peer says for each method what it does when that comes, one step after the other; the last step is repeated. A step is
a response, or one of the words below. It imports nothing of ours.
"""

import json
import sys
from pathlib import Path
from typing import Any, TypeAlias

Step: TypeAlias = dict[str, Any] | str
Peer: TypeAlias = dict[str, list[Step]]

SILENT, LATE, EXIT = "silent", "late", "exit"
"""Never answers. Answers when the next request comes. Ends the process."""

OLD, NEW, LATER = "2025-11-25", "2026-07-28", "2031-01-01"
CAN: dict[str, Any] = {"capabilities": {"tools": {}}}
INITIALIZED: Step = {"result": {**CAN, "protocolVersion": OLD, "serverInfo": {"name": "odd", "version": "1"}}}
NOT_FOUND: Step = {"error": {"code": -32601, "message": "Method not found"}}


def discovered(*versions: str) -> Step:
    return {"result": {**CAN, "supportedVersions": versions, "resultType": "complete"}}


def unsupported(*versions: str) -> Step:
    data = {"supported": versions, "requested": NEW}
    return {"error": {"code": -32022, "message": "Unsupported protocol version", "data": data}}


def refused(code: int) -> Step:
    return {"error": {"code": code, "message": "No"}}


def peer(discover: list[Step], initialize: Step = INITIALIZED) -> Peer:
    return {"server/discover": discover, "initialize": [initialize]}


PEERS: dict[str, Peer] = {
    "knows no probe": peer([NOT_FOUND]),
    "wants initialize first": peer([refused(-32000)]),
    "refuses with an odd code": peer([refused(0)]),
    "answers with another shape": peer([{"result": {"ok": True}}]),
    "discovers old versions only (Go, stateful)": peer([discovered("2024-11-05", OLD)]),
    "refuses with old versions only": peer([unsupported("2024-11-05", OLD)]),
    "refuses without a list": peer([refused(-32022)]),
    "discovers both": peer([discovered(OLD, NEW)]),
    "names the version, then takes it": peer([unsupported(OLD, NEW), discovered(NEW)]),
    "names the version and refuses it": peer([unsupported(NEW)]),
    "discovers later versions only": peer([discovered(LATER)], unsupported(LATER)),
    "refuses with later versions only": peer([unsupported(LATER)], unsupported(LATER)),
    "behind a gateway that changes headers": peer([refused(-32020)]),
    "is silent": peer([SILENT]),
    "exits on the probe": peer([EXIT]),
    "answers the probe late": peer([LATE]),
    "answers the probe late and is modern": peer([SILENT, discovered(NEW)], unsupported(NEW)),
}

RESULTS: dict[str, Any] = {
    "tools/list": {"tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private"},
    "tools/call": {"content": [{"type": "text", "text": "there"}], "resultType": "complete"},
}


class Opened:
    """One run of a peer."""

    def __init__(self, name: str) -> None:
        self._steps = {method: list(steps) for method, steps in PEERS[name].items()}
        self._late: list[dict[str, Any]] = []

    def replies(self, message: dict[str, Any]) -> list[dict[str, Any]] | None:
        """Answer one message. None: it exits."""
        if "id" not in message:
            return []
        steps = self._steps.get(message["method"])
        step: Step = {"result": RESULTS.get(message["method"], {})} if steps is None else steps[0]
        if steps is not None and len(steps) > 1:
            del steps[0]
        if step == EXIT:
            return None
        held, self._late = self._late, []
        if step == SILENT:
            return held
        if step == LATE:
            self._late = [{"jsonrpc": "2.0", "id": message["id"], **dict(discovered(NEW))}]  # type: ignore[arg-type]  # it is one
            return held
        return [*held, {"jsonrpc": "2.0", "id": message["id"], **dict(step)}]  # type: ignore[arg-type]  # no word is left


if __name__ == "__main__":
    opened, log = Opened(sys.argv[1]), Path(sys.argv[2]).open("a", encoding="utf-8")  # noqa: SIM115 - until the end
    log.write("started\n")
    for line in sys.stdin:
        log.write(line)
        log.flush()
        found = opened.replies(json.loads(line))
        if found is None:
            sys.exit(1)
        for each in found:
            sys.stdout.write(json.dumps(each) + "\n")
            sys.stdout.flush()
