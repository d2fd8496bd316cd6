"""Tool calls over Streamable HTTP: legacy sessions with JSON and event-stream replies, and modern requests."""

from collections.abc import Iterator
from contextlib import contextmanager

from bench.http_driver import drive, run
from bench.peers import BARE_ASGI, BARE_HTTP, SDKS, SPLICE, Peer, Wire
from bench.process import Child, child, free_port, wait_for_port
from bench.runner import Section, Settings, Step
from bench.samples import CPU, P50, RATE, RSS, Sample
from bench.tokens import signed

TOOL = "add_async"


@contextmanager
def serving(peer: Peer, *options: str) -> Iterator[tuple[Child, int]]:
    """Run the peer's HTTP server for the length of the block."""
    port = free_port()
    with child(peer.serve("--transport=http", f"--port={port}", *options)) as server:
        wait_for_port(server, port)
        yield server, port


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Start one server that replies with event streams and one that replies with JSON."""
    bare = peer in (BARE_ASGI, BARE_HTTP)
    with serving(peer) as (server, port):
        if "modern" in peer.wires:
            yield from _shapes("modern", server, port, "modern", settings)
        if not bare:
            yield from _shapes("legacy session, SSE", server, port, "legacy", settings)
    with serving(peer, "--json=yes") as (server, port):
        yield from _shapes("legacy session, JSON", server, port, "legacy", settings)
    if peer is SPLICE:
        with serving(peer, "--guarded=yes") as (server, port):
            yield from _shapes("modern with a verified JWT", server, port, "modern", settings, signed())


def _shapes(words: str, server: Child, port: int, wire: Wire, settings: Settings, token: str = "") -> Iterator[Step]:
    def measure(connections: int) -> Sample:
        seconds = settings.seconds
        return run(drive(server, port, TOOL, wire, connections=connections, seconds=seconds, token=token))

    def warmed() -> Sample:
        measure(32)
        return measure(32)

    yield f"{words}, 32 connections", warmed
    yield f"{words}, 1 connection", lambda: measure(1)


HTTP = Section(
    name="http",
    title="Tool calls over Streamable HTTP",
    note=(
        "The CPU and memory of the server process; an async tool. Every connection is kept alive; "
        "in the legacy era each is a session of its own. Each peer serves with the HTTP stack that its own "
        "installation brings."
    ),
    peers=(*SDKS, BARE_ASGI, BARE_HTTP),
    columns=(CPU, RATE, P50, RSS),
    ratio=(CPU,),
    steps=steps,
)
