"""The loop every Python client runs, and how it reports: one JSON line with a sample per level of concurrency."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from bench.samples import Sample, sample

WARM_UP_SECONDS = 0.2


def options() -> dict[str, str]:
    """Read `--name=value` options: target (memory, stdio, http), wire, seconds, at-once, port, command."""
    return dict(option.removeprefix("--").split("=", 1) for option in sys.argv[1:])


async def report(call: Callable[[], Awaitable[str]], given: dict[str, str]) -> None:
    """Call for a while at each level of concurrency, and print the samples."""
    text = await call()
    if text != "5":
        raise ValueError(f"wrong answer: {text}")
    await _measure(call, 8, WARM_UP_SECONDS)
    levels = [int(level) for level in given["at-once"].split(",")]
    print(json.dumps([await _measure(call, level, float(given["seconds"])) for level in levels]), flush=True)


async def _measure(call: Callable[[], Awaitable[str]], at_once: int, seconds: float) -> Sample:
    took: list[float] = []
    cpu, began = time.process_time(), time.perf_counter()

    async def worker() -> None:
        now = time.perf_counter()
        while now < began + seconds:
            await call()
            before, now = now, time.perf_counter()
            took.append(now - before)

    await asyncio.gather(*(worker() for _ in range(at_once)))
    return sample(took, time.perf_counter() - began, time.process_time() - cpu, _rss())


def _rss() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6
