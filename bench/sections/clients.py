"""What a client costs: tool calls against a fast bare server of ours."""

import json
from collections.abc import Iterator, Sequence
from functools import partial

from bench.peers import BARE_HTTP, BARE_STDIO, ROOT, SDKS, Peer, Wire
from bench.runner import Section, Settings, Step
from bench.samples import CPU, P50, RATE, RSS, Sample
from bench.sections.calls_http import serving
from bench.sections.calls_memory import by_level, called


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Measure both transports in both eras."""
    for wire in peer.wires:
        yield from by_level(f"stdio {wire}", partial(_stdio, peer, wire, settings))
    for wire in peer.wires:
        yield from by_level(f"HTTP {wire}", partial(_http, peer, wire, settings))


def _stdio(peer: Peer, wire: Wire, settings: Settings) -> Sequence[Sample]:
    command = f"--command={json.dumps(BARE_STDIO.serve())}"
    environment = f"--environment={json.dumps({'PYTHONPATH': str(ROOT)})}"
    return called(peer, wire, settings, "--target=stdio", "--tool=add", command, environment)


def _http(peer: Peer, wire: Wire, settings: Settings) -> Sequence[Sample]:
    with serving(BARE_HTTP) as (_, port):
        return called(peer, wire, settings, "--target=http", "--tool=add", f"--port={port}")


CLIENTS = Section(
    name="client",
    title="Clients, against a fast bare server",
    note="The CPU and memory of the client process; the server is the floor of the stdio or of the HTTP table.",
    peers=SDKS,
    columns=(CPU, RATE, P50, RSS),
    ratio=(CPU,),
    steps=steps,
)
