"""What a soak counts, and what it looks at when all is quiet again."""

import asyncio
import contextlib
import ctypes
import gc
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.process import PAGE

ANSWER_SECONDS = 20.0
"""A call that is longer under way has no answer."""

SETTLE_SECONDS = 10.0
"""How long after the last call everything may take to be let go of."""

MEMORY_FACTOR, MEMORY_MB = 1.1, 8.0
"""Memory grows when the last round ends with more than this factor, and so many MB, above the first, which warms up."""

POOL, POOL_THREADS = "splice.server.threads", 24
"""Threads for `def` handlers are started when needed and kept: so many more than before are no leak."""

MADE_ONCE = 3
"""So many instances of a class may be made when first needed, and kept."""

QUIET_KINDS = ("unanswered", "crossed", "repeated", "wrong")
"""What must not happen even once."""


@dataclass
class Vitals:
    """What a process holds."""

    rss: float
    fds: int
    threads: int
    tasks: int
    children: int
    objects: dict[str, int]
    """How many instances of each class of Splice's are alive."""

    @classmethod
    def now(cls) -> "Vitals":
        """Look at this process, on its event loop."""
        gc.collect()
        with contextlib.suppress(OSError, AttributeError):
            ctypes.CDLL(None).malloc_trim(0)
        names = ((str(getattr(type(each), "__module__", "")), type(each).__name__) for each in gc.get_objects())
        found = Counter(name for module, name in names if module.startswith("splice.") and module != POOL)
        proc = Path("/proc/self")
        return cls(
            rss=int((proc / "statm").read_text().split()[1]) * PAGE / 1e6,
            fds=len(os.listdir(proc / "fd")) - 1,  # noqa: PTH208 - the folder's own descriptor is one
            threads=len(list((proc / "task").iterdir())),
            tasks=len(asyncio.all_tasks()),
            children=sum(len(each.read_text().split()) for each in proc.glob("task/*/children")),
            objects=dict(found),
        )

    def exceeding(self, before: "Vitals") -> Iterator[str]:
        """Say what is left over beside what was there before."""
        for name in ("fds", "tasks", "children"):
            if (ours := getattr(self, name)) > (theirs := getattr(before, name)):
                yield f"{ours - theirs} {name} left over"
        if self.threads > before.threads + POOL_THREADS:
            yield f"{self.threads - before.threads} threads left over"
        for name, count in self.objects.items():
            if (more := count - before.objects.get(name, 0)) > MADE_ONCE:
                yield f"{more} objects of {name} left over"


@dataclass
class Round:
    """One round: how calls ended, and what was left when all was quiet."""

    seconds: float = 0.0
    ended: Counter[str] = field(default_factory=Counter)
    examples: dict[str, str] = field(default_factory=dict)
    """One description of each kind of ending that must not be."""
    vitals: Vitals | None = None

    def count(self, kind: str, example: object = "") -> None:
        """Count an ending."""
        self.ended[kind] += 1
        if example:
            self.examples.setdefault(kind, f"{type(example).__name__}: {example}"[:300])

    @contextlib.contextmanager
    def judged(self) -> Iterator[None]:
        """Count what the block raises: no answer, a crossed one, or anything else that was not expected."""
        try:
            yield
        except TimeoutError as error:
            self.count("unanswered", error)
        except Crossed as error:
            self.count("crossed", error)
        except Exception as error:  # noqa: BLE001 - every kind is a finding
            self.count("wrong", error)


class Crossed(Exception):
    """An answer, or what came before it, that belongs to another call."""


def expect(wanted: object, got: object) -> None:
    """Raise `Crossed` unless an answer is the one that belongs to its call."""
    if wanted != got:
        raise Crossed(f"wanted {str(wanted)[:80]!r}, got {str(got)[:80]!r}")


def schedule(shares: dict[str, float], calls: int, seed: int) -> list[str]:
    """Shuffle so many acts, each at least once, the same in every run."""
    acts = [act for act, share in shares.items() for _ in range(max(1, round(share * calls / 100)))]
    random.Random(seed).shuffle(acts)
    return acts


async def perform(acts: Iterable[str], workers: int, do: Callable[[str, int], Awaitable[None]]) -> None:
    """Let so many workers do the acts, each the next that nobody has begun; an act is told its number."""
    left = iter(list(enumerate(acts)))

    async def work() -> None:
        for number, act in left:
            await do(act, number)

    await asyncio.gather(*(work() for _ in range(workers)))


@asynccontextmanager
async def timed() -> AsyncIterator[Round]:
    """Measure one round."""
    began = time.monotonic()
    one = Round()
    yield one
    one.seconds = time.monotonic() - began


async def settled(look: Callable[[], Awaitable[Vitals]], before: Vitals) -> Vitals:
    """Look until nothing is left over, or it has taken too long."""
    ends = time.monotonic() + SETTLE_SECONDS
    while True:
        vitals = await look()
        if not list(vitals.exceeding(before)) or time.monotonic() > ends:
            return vitals
        await asyncio.sleep(0.05)


async def until(condition: Callable[[], object]) -> None:
    """Wait for a condition that nothing tells of. Raises `TimeoutError`."""
    async with asyncio.timeout(ANSWER_SECONDS):
        while not condition():  # noqa: ASYNC110 - see above
            await asyncio.sleep(0.01)


def complaints(start: Vitals, rounds: list[Round]) -> list[str]:
    """Name everything that must not be."""
    found: list[str] = []
    for number, each in enumerate(rounds, 1):
        assert each.vitals is not None
        bad = [f"{each.ended[kind]} {kind}: {each.examples.get(kind, '')}" for kind in QUIET_KINDS if each.ended[kind]]
        found += [f"round {number}: {what}" for what in (*bad, *each.vitals.exceeding(start))]
    first, last = rounds[0].vitals, rounds[-1].vitals
    assert first is not None
    assert last is not None
    if last.rss > first.rss * MEMORY_FACTOR + MEMORY_MB:
        found.append(f"memory grows: {first.rss:.1f} MB after the first round, {last.rss:.1f} MB after the last")
    return found


def rows(start: Vitals, rounds: list[Round]) -> list[list[Any]]:
    """Lay out a soak as a table, a column per round."""
    kinds = sorted({kind for each in rounds for kind in each.ended} | set(QUIET_KINDS), key=_place)
    table: list[list[Any]] = [["seconds", "", *(f"{each.seconds:.1f}" for each in rounds)]]
    table += [[kind, "", *(each.ended[kind] for each in rounds)] for kind in kinds]
    for name in ("rss", "fds", "threads", "tasks", "children"):
        values = [getattr(each, name) for each in (start, *(one.vitals for one in rounds))]
        table.append([name, *(f"{value:.1f}" if isinstance(value, float) else value for value in values)])
    return table


def _place(kind: str) -> tuple[bool, bool, str]:
    return kind in QUIET_KINDS, kind != "right", kind
