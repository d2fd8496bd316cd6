"""Runs the scenarios for authorization servers against `splice auth serve`, and is the user whom one of them asks.

    PYTHONPATH=tests python -m conformance.issuer

The suite prints an address and waits for a browser to come back from there. The server approves everything at once, so
following the redirects is all that is to be done.
"""

import json
import re
import subprocess
import sys
import tempfile
import urllib.request
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from conformance.run import NODE, SUITE, await_port, free_port, say

SCENARIOS = ("authorization-server-metadata-endpoint", "authorization-code-grant")
SECONDS = 60
RESOURCE = "http://localhost:3001/mcp"


def main() -> int:
    """Run both scenarios, and tell whether all of their checks passed."""
    if not SUITE.exists():
        sys.exit("the suite is not installed: run tests/interop/setup_peers.py")
    port, back = free_port(), free_port()
    with ExitStack() as stack:
        results = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="conformance-")))
        client = f"demo=http://127.0.0.1:{back}/callback"
        serve = ["auth", "serve", "--memory", "--auto-approve", "anna", "--port", str(port), "--client", client]
        server = stack.enter_context(subprocess.Popen([sys.executable, "-m", "splice.cli", *serve]))
        stack.callback(server.terminate)
        await_port(server, port)
        where = ["--url", f"http://127.0.0.1:{port}", "--client-id", "demo", "--resource", RESOURCE]
        command = [str(NODE), str(SUITE), "authorization", *where, "-p", str(back), "-o", str(results)]
        suite = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        stack.callback(suite.kill)
        _visit(suite)
        exit_code = suite.wait(SECONDS)
        return exit_code or _judged(results)


def _visit(suite: "subprocess.Popen[str]") -> None:
    """Open the address that the suite prints, as a browser does."""
    url = ""
    for line in suite.stdout or ():
        if found := re.match(r"(http\S+/authorize\?\S+)", line):
            url = found[1]
        if url and line.startswith("Callback server started"):
            with urllib.request.urlopen(url, timeout=SECONDS) as page:
                page.read()
            break
    for _ in suite.stdout or ():
        pass


def _judged(results: Path) -> int:
    """Say how each scenario went: 0 if every check of each passed."""
    missed = 0
    for scenario in SCENARIOS:
        found: Counter[str] = Counter()
        for path in results.glob(f"*{scenario}-2*/checks.json"):
            found.update(check["status"] for check in json.loads(path.read_text()))
        is_passed = found["SUCCESS"] > 0 and set(found) <= {"SUCCESS", "INFO"}
        missed += not is_passed
        say(f"{'ok  ' if is_passed else 'MISS'} issuer  {scenario:<50} {dict(found)}")
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main())
