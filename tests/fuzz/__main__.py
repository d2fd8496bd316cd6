"""The long form of the fuzz targets: `python -m tests.fuzz [target ...] [--seconds 60] [--jobs 2] [--seed N]`.

Prints how many examples each target tried, and exits with 1 if one of them failed, with the example. The examples
follow from the seed alone, so a run can be repeated; how far it gets in the time is up to the machine. Without
`--seed` it takes a new one, and prints it.
"""

import argparse
import importlib
import itertools
import logging
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from hypothesis import seed
from hypothesis.stateful import RuleBasedStateMachine

HERE = Path(__file__).resolve().parent
TARGETS = sorted(each.stem.removeprefix("test_") for each in HERE.glob("test_*.py"))
EXAMPLES_PER_TURN = "200"
HASHES, FIXED = "PYTHONHASHSEED", "0"
"""The order of sets is no part of an example."""


def main() -> int:
    """Run the command and return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzz what reads what peers send.")
    parser.add_argument("targets", nargs="*", metavar="target", help=f"of {', '.join(TARGETS)}; all, unless told")
    parser.add_argument("--seconds", type=float, default=60.0, help="per target (60)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets at once (one per core)")
    parser.add_argument("--seed", type=int, default=secrets.randbelow(10**9), help="what examples follow from (random)")
    options = parser.parse_args()
    targets: list[str] = options.targets or TARGETS
    if unknown := set(targets) - set(TARGETS):
        parser.error(f"no such target: {', '.join(sorted(unknown))}; there are {', '.join(TARGETS)}")
    if len(targets) == 1 and os.environ.get(HASHES) == FIXED:
        return fuzz(targets[0], options.seconds, options.seed)
    _say(f"seed {options.seed}")
    with ThreadPoolExecutor(options.jobs) as pool:
        codes = list(pool.map(lambda name: _apart(name, options.seconds, options.seed), targets))
    failed = [name for name, code in zip(targets, codes, strict=True) if code]
    _say(f"failed: {', '.join(failed)}" if failed else f"{len(targets)} targets, nothing found")
    return 1 if failed else 0


def _apart(name: str, seconds: float, number: int) -> int:
    """Fuzz one target in a process of its own, and print what it printed when it is over."""
    command = [sys.executable, "-m", "tests.fuzz", name, "--seconds", str(seconds), "--seed", str(number)]
    done = subprocess.run(
        command, cwd=HERE.parents[1], capture_output=True, text=True, check=False, env={**os.environ, HASHES: FIXED}
    )
    _say((done.stdout + done.stderr).rstrip())
    return done.returncode


def fuzz(name: str, seconds: float, number: int) -> int:
    """Take the tests of a target in turn, each at least once, until the time is up. Raises what they raise."""
    os.environ["FUZZ_EXAMPLES"] = EXAMPLES_PER_TURN
    sys.path.insert(0, str(HERE.parent))
    logging.disable()  # what a target provokes is logged thousands of times
    from fuzz.fuzzing import tried  # reads how many examples a turn has when it is imported

    module = importlib.import_module(f"fuzz.test_{name}")
    machines = [each for each in vars(module).values() if isinstance(each, type(RuleBasedStateMachine))]
    tests: list[Callable[[], None]] = [each for key, each in vars(module).items() if key.startswith("test_")]
    began = time.monotonic()
    for turn, test in enumerate(itertools.cycle(tests), 1):
        for each in (test, *machines):
            seed(f"{number} {turn}")(each)
        test()
        if turn >= len(tests) and time.monotonic() - began > seconds:
            break
    _say(f"{name:<12} {tried.total():>9,} examples in {time.monotonic() - began:.0f} s, seed {number}")
    return 0


def _say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
