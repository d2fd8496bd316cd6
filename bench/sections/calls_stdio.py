"""Tool calls over stdio, one at a time and 64 in flight, an async tool and a blocking one."""

from collections.abc import Iterator
from functools import partial

from bench.peers import BARE_STDIO, SDKS, Peer
from bench.process import child
from bench.runner import Section, Settings, Step
from bench.samples import CPU, P50, RATE, RSS
from bench.stdio_driver import Pipes
from bench.wire import tool_call

SHAPES = (
    ("async tool, 64 in flight", "add_async", 64),
    ("def tool, 64 in flight", "add", 64),
    ("async tool, one at a time", "add_async", 1),
    ("def tool, one at a time", "add", 1),
)


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Start the server once per era, warm it up, and measure each shape of load."""
    for wire in peer.wires:
        with child(peer.serve()) as server:
            pipes = Pipes(server)
            pipes.open(wire)
            pipes.drive(tool_call("add_async", wire), in_flight=64, seconds=2 * settings.seconds)
            for words, tool, in_flight in SHAPES:
                call = partial(pipes.drive, tool_call(tool, wire), in_flight=in_flight, seconds=settings.seconds)
                yield f"{wire}, {words}", call


STDIO = Section(
    name="stdio",
    title="Tool calls over stdio",
    note="The CPU and memory of the server process. The driver is the same for all and costs about 8 us per call.",
    peers=(*SDKS, BARE_STDIO),
    columns=(CPU, RATE, P50, RSS),
    ratio=(CPU,),
    steps=steps,
)
