"""A server with 1,000 tools: registering them, listing them, and whether a call still costs the same."""

import asyncio
import re
import time
from collections.abc import Iterator
from statistics import median

from bench.http_driver import Connection, body, connected, drive, run
from bench.peers import SDKS, Peer, Wire
from bench.process import Child, Failed
from bench.runner import Section, Settings, Step
from bench.samples import CPU, Sample
from bench.sections.calls_http import serving
from bench.wire import PLACE, headers, post, request

TOOLS = 1000
LISTS = 5
CONNECTIONS = 8
CPU_MS = "CPU ms"
WALL_MS = "wall ms"
REGISTERED = re.compile(r"registered ([\d.e-]+)")


def steps(peer: Peer, settings: Settings) -> Iterator[Step]:
    """Start one HTTP server with all the tools, and one with few to compare a call with."""
    wire: Wire = "modern" if "modern" in peer.wires else "legacy"
    count = settings.count(TOOLS)
    with serving(peer, f"--tools={count}") as (server, port):
        yield "list them again", lambda: run(_listed(server, port, wire, count))
        yield "register them", lambda: _registered(server)
        yield "call one", lambda: _called(server, port, wire, settings)
    with serving(peer) as (server, port):
        yield "call one of few", lambda: _called(server, port, wire, settings)


def _registered(server: Child) -> Sample:
    found = REGISTERED.search(server.errors())
    if found is None:
        raise Failed(f"not told; {server.complaint()}")
    return {CPU_MS: float(found[1]) * 1e3, "RSS MB": server.rss()}


def _called(server: Child, port: int, wire: Wire, settings: Settings) -> Sample:
    """Warm up, then measure."""
    for _ in range(2):
        sample = run(drive(server, port, "add_async", wire, connections=CONNECTIONS, seconds=settings.seconds))
    return {CPU_MS: sample[CPU] / 1e3, WALL_MS: sample["p50 us"] / 1e3, "RSS MB": sample["RSS MB"]}


async def _listed(server: Child, port: int, wire: Wire, expected: int) -> Sample:
    async with connected(port, 1) as (connection,):
        if wire == "legacy":
            await connection.open()
        await _list(connection, wire, expected)
        walls: list[float] = []
        cpu = server.cpu()
        for _ in range(LISTS):
            began = time.perf_counter()
            await _list(connection, wire, expected)
            walls.append(time.perf_counter() - began)
        await asyncio.sleep(0)
        return {CPU_MS: (server.cpu() - cpu) / LISTS * 1e3, WALL_MS: median(walls) * 1e3, "RSS MB": server.rss()}


async def _list(connection: Connection, wire: Wire, expected: int) -> None:
    """Read all pages; only the first call of a run is worth parsing, but a cursor must be looked for in each."""
    names = 0
    cursor = ""
    while True:
        message = request("tools/list", {"cursor": cursor} if cursor else {}, wire)
        fields = headers("tools/list", wire, session=connection.session)
        response = await connection.ask(post(message, fields, connection.port) % PLACE)
        names += response.count(b'"inputSchema"')
        cursor = body(response)["result"].get("nextCursor", "") if b'"nextCursor"' in response else ""
        if not cursor:
            break
    if names < expected:
        raise Failed(f"{names} of {expected} tools: {response[:160].decode('utf-8', 'replace')}")


MANY_TOOLS = Section(
    name="tools",
    title="A server with 1,000 tools, over HTTP",
    note="CPU of the server process, per call, over 8 connections; modern requests where the peer has them.",
    peers=SDKS,
    columns=(CPU_MS, WALL_MS, "RSS MB"),
    ratio=(CPU_MS,),
    steps=steps,
)
