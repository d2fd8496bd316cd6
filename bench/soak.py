"""Long runs, full of faults: `python bench/soak.py [http|stdio|memory|proxied|all] [--calls N] [--rounds N]`.

Prints a table per transport, and exits with 1 if a call was not answered, or answered with what belongs to another
call, if a task, thread, descriptor, child or session was left over, or if memory grew from round to round.
`soaking/ledger.py` has the tolerances.

http     raw sockets against a server process: disconnects in the middle of a call and of a stream, half of them by
         RST, cancellations, bodies and heads half sent, streams that nobody reads, malformed bodies, publications to
         sessions and listeners, ids that collide; and clients under whom the server is killed and restarted
stdio    clients of children that are killed (some clients start them again) and stopped, timeouts, cancellations,
         messages of 10 MB in both directions
memory   the same in one process
proxied  clients of HTTP servers that are killed, behind a proxy that waits, sends byte by byte, half closes and
         resets in every phase; no call may run twice
"""

import argparse
import asyncio
import sys
from pathlib import Path

if not __package__:
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from bench.soaking.clients import memory, stdio
from bench.soaking.http import http
from bench.soaking.ledger import complaints, rows
from bench.soaking.proxied import proxied

SOAKS = {"http": http, "stdio": stdio, "memory": memory, "proxied": proxied}


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="soak.py", description="Soak Splice in calls and faults.")
    parser.add_argument("transport", nargs="?", default="all", choices=[*SOAKS, "all"])
    parser.add_argument("--calls", type=int, default=10_000, help="per round and transport (10000)")
    parser.add_argument("--rounds", type=int, default=3, help="memory may grow in the first only (3)")
    options = parser.parse_args()
    found = [
        f"{name}: {what}"
        for name in SOAKS
        if options.transport in (name, "all")
        for what in _soak(name, options.calls, options.rounds)
    ]
    print("\n".join(["", *found, f"{len(found)} complaints" if found else "nothing left over, all answered"]))
    return 1 if found else 0


def _soak(name: str, calls: int, rounds: int) -> list[str]:
    start, done = asyncio.run(SOAKS[name](calls, rounds))
    table = [[f"{name}, {calls} calls a round", "start", *(f"round {number}" for number in range(1, rounds + 1))]]
    for row in table + rows(start, done):
        print(f"{row[0]:<32}" + "".join(f"{cell:>12}" for cell in row[1:]))
    print(flush=True)
    return complaints(start, done)


if __name__ == "__main__":
    sys.exit(main())
