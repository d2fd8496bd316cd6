"""Tool calls with client and server in one process."""

import json
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial

from bench.peers import BARE_CALL, SDKS, Peer, Wire
from bench.process import run_json
from bench.runner import Section, Settings, Step
from bench.samples import CPU, P50, RATE, RSS, Sample

LIMIT_SECONDS = 20.0
LEVELS = (1, 32)


def called(peer: Peer, wire: Wire, settings: Settings, *options: str) -> Sequence[Sample]:
    """Run the peer's client to its end: a sample for each level of concurrency."""
    given = (f"--wire={wire}", f"--seconds={settings.seconds}", "--at-once=" + ",".join(map(str, LEVELS)), *options)
    answer = run_json(peer.call(*given), LIMIT_SECONDS)
    samples: list[Sample] = json.loads(answer.strip().splitlines()[-1])
    return samples


def by_level(words: str, run: Callable[[], Sequence[Sample]]) -> Iterator[Step]:
    """Make a row of each level of concurrency; the client runs once, unless it fails."""
    once = cache(run)
    for index, level in enumerate(LEVELS):
        yield f"{words}, {level} at a time", partial(_pick, once, index)


def _pick(run: Callable[[], Sequence[Sample]], index: int) -> Sample:
    return run()[index]


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Measure both eras."""
    for wire in peer.wires:
        yield from by_level(wire, partial(called, peer, wire, settings, "--target=memory", "--tool=add_async"))


MEMORY = Section(
    name="memory",
    title="Tool calls within one process",
    note="The CPU of client and server together, over each peer's own in-memory transport; an async tool.",
    peers=(*SDKS, BARE_CALL),
    columns=(CPU, RATE, P50, RSS),
    ratio=(CPU,),
    steps=steps,
)
