"""From the start of a stdio server to its first answer."""

import time
from collections.abc import Iterator
from functools import partial

from bench.peers import BARE_STDIO, SDKS, Peer, Wire
from bench.process import child
from bench.runner import Section, Settings, Step
from bench.samples import Sample
from bench.stdio_driver import Pipes

CPU_MS = "CPU ms"
WALL_MS = "wall ms"
FIRST = {"legacy": "initialize", "modern": "server/discover"}


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Start the server anew for each kind of first request."""
    del settings
    for wire in peer.wires:
        yield FIRST[wire], partial(_first_answer, peer, wire)


def _first_answer(peer: Peer, wire: Wire) -> Sample:
    began = time.perf_counter()
    with child(peer.serve()) as server:
        Pipes(server).open(wire)
        return {CPU_MS: server.cpu() * 1e3, WALL_MS: (time.perf_counter() - began) * 1e3, "RSS MB": server.rss()}


COLD = Section(
    name="cold",
    title="Cold start: from spawn to the first answer, stdio",
    note="",
    peers=(*SDKS, BARE_STDIO),
    columns=(CPU_MS, WALL_MS, "RSS MB"),
    ratio=(CPU_MS,),
    steps=steps,
)
