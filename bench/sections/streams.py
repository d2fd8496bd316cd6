"""What waits: the memory of idle sessions and open streams, and a change told to 500 listeners."""

import asyncio
import time
from collections.abc import Iterator
from statistics import median

from bench.http_driver import REFUSED, Connection, connected, run
from bench.listeners import Listener, listening
from bench.peers import BARE_ASGI, SDKS, Peer
from bench.process import Child, Failed
from bench.runner import Section, Settings, Step
from bench.samples import Sample
from bench.sections.calls_http import serving
from bench.wire import PLACE, TOUCH

SESSIONS = 400
LISTENERS = 500
WARM_UP = 40
CHANGES = 5
LIMIT_SECONDS = 20.0
KB = "KB each"
CPU_MS = "CPU ms"
WALL_MS = "wall ms"


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Open sessions on one server; listen to changes on another. The floor has streams only, and no changes."""
    if peer is BARE_ASGI:
        with serving(peer) as (server, port):
            yield "open modern listen stream", lambda: run(_streams(server, port, settings.count(LISTENERS)))
        return
    with serving(peer) as (server, port):
        yield "idle legacy session", lambda: run(_sessions(server, port, settings.count(SESSIONS)))
    if "modern" not in peer.wires:
        return
    with serving(peer) as (server, port):
        changes = _Changes(server, port, settings.count(LISTENERS))
        yield "open modern listen stream", changes.opened
        yield "a change told to all listeners", changes.told


async def _sessions(server: Child, port: int, count: int) -> Sample:
    async with connected(port, 1) as (connection,):
        for _ in range(WARM_UP):
            await connection.open()
        before = server.rss()
        for _ in range(count):
            await connection.open()
        each = (server.rss() - before) / count * 1e3
        return {KB: each}


async def _streams(server: Child, port: int, count: int) -> Sample:
    async with listening(port, WARM_UP):
        before = server.rss()
        async with listening(port, count):
            return {KB: (server.rss() - before) / count * 1e3}


class _Changes:
    """Two rows from one set of open streams."""

    def __init__(self, server: Child, port: int, count: int) -> None:
        self._server, self._port, self._count = server, port, count
        self._told: Sample | None = None

    def opened(self) -> Sample:
        return run(self._open())

    def told(self) -> Sample:
        if self._told is None:
            raise Failed("no streams, see the row above")
        return self._told

    async def _open(self) -> Sample:
        async with listening(self._port, WARM_UP), connected(self._port, 1) as (caller,):
            await _touch(caller)
            before = self._server.rss()
            async with listening(self._port, self._count) as listeners:
                each = (self._server.rss() - before) / self._count * 1e3
                costs = [await self._tell(listeners) for _ in range(CHANGES)]
        cpu, wall = (median(cost[index] for cost in costs) * 1e3 for index in (0, 1))
        self._told = {CPU_MS: cpu, WALL_MS: wall}
        return {KB: each}

    async def _tell(self, listeners: list[Listener]) -> tuple[float, float]:
        """Announce a change, and wait until every listener has heard of it."""
        heard = [listener.next_change() for listener in listeners]
        async with connected(self._port, 1) as (caller,):
            cpu, began = self._server.cpu(), time.perf_counter()
            async with asyncio.timeout(LIMIT_SECONDS):
                await asyncio.gather(_touch(caller), *heard)
            return self._server.cpu() - cpu, time.perf_counter() - began


async def _touch(caller: Connection) -> None:
    """Let a tool announce a change."""
    response = await caller.ask(caller.call(TOUCH, "modern") % PLACE)
    if REFUSED.search(response):
        raise Failed(f"refused: {response[-200:].decode('utf-8', 'replace')}")


STREAMS = Section(
    name="streams",
    title="Idle sessions, open streams and 500 listeners, over HTTP",
    note=(
        "Memory is the growth of the server process divided by the number; "
        "the cost of a change includes the call that makes it."
    ),
    peers=(*SDKS, BARE_ASGI),
    columns=(KB, CPU_MS, WALL_MS),
    ratio=(KB, CPU_MS),
    steps=steps,
)
