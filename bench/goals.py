"""The numbers this project wants to hold, beside what a run measured. A table to read: nothing fails because of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import TypeAlias

from bench.peers import BARE_ASGI, MCP, ORIGINAL, SPLICE, TYPESCRIPT1, TYPESCRIPT2, Peer
from bench.report import figure, middle, ratios
from bench.runner import Results, Row
from bench.samples import CPU, RATE
from bench.sections.host import MEASURED as HOSTED
from bench.sections.servers import CPU_MS, FILE_WORK, GIT_WORK, MEMORY_WORK, ORIGINALS

Measure: TypeAlias = Callable[[Results], float | None]


@dataclass(frozen=True)
class Goal:
    """One number to hold."""

    words: str
    measure: Measure
    most: float | None = None
    least: float | None = None

    def line(self, results: Results) -> str:
        """Write the goal as a line of the table; a section that was not run leaves it open."""
        value = self.measure(results)
        bound = f"<= {self.most:g}" if self.most is not None else f">= {self.least:g}"
        if value is None:
            return f"| {self.words} | {bound} | not measured | |"
        held = (self.most is None or value <= self.most) and (self.least is None or value >= self.least)
        return f"| {self.words} | {bound} | {figure(value)} | {'yes' if held else '**no**'} |"


def _row(results: Results, section: str, group: str) -> Row | None:
    return results.rows.get((section, group, SPLICE.name))


def _own(section: str, group: str, column: str) -> Measure:
    """Take Splice's own number."""

    def measure(results: Results) -> float | None:
        row = _row(results, section, group)
        return middle(row, column) if row else None

    return measure


def _ratio(section: str, group: str, column: str, peer: Peer, *, inverse: bool = False) -> Measure:
    """Take the peer's number divided by Splice's, or the other way round."""

    def measure(results: Results) -> float | None:
        row = _row(results, section, group)
        values = ratios(results, row, column, peer.name) if row else []
        if not values:
            return None
        return 1 / median(values) if inverse else median(values)

    return measure


def _growth(section: str, group: str, base: str, column: str) -> Measure:
    """Take Splice's number divided by its number in another group."""

    def measure(results: Results) -> float | None:
        above, below = _own(section, group, column)(results), _own(section, base, column)(results)
        return above / below if above and below else None

    return measure


def _added(section: str, group: str, base: str, column: str) -> Measure:
    """Take how much larger Splice's number is than its number in another group."""

    def measure(results: Results) -> float | None:
        above, below = _own(section, group, column)(results), _own(section, base, column)(results)
        return above - below if above and below else None

    return measure


_share = partial(_ratio, inverse=True)
SSE, JSON = "legacy session, SSE, 32 connections", "legacy session, JSON, 32 connections"
FEW, STREAM = "call one of few", "open modern listen stream"
COLD, ASYNC, DEF = "initialize", "legacy, async tool, 64 in flight", "legacy, def tool, 64 in flight"
ONE, HTTP = "legacy, async tool, one at a time", "modern, 32 connections"
GUARDED = "modern with a verified JWT, 32 connections"

GOALS = (
    Goal("import of the server half, CPU s", _own("import", "server half", "CPU s"), most=0.15),
    Goal("import of the server half, modules beyond Python's own", _own("import", "server half", "modules"), most=120),
    Goal("cold start, share of mcp's CPU", _share("cold", COLD, "CPU ms", MCP), most=0.18),
    Goal("cold start, MB", _own("cold", COLD, "RSS MB"), most=32),
    Goal("cold start, share of the CPU of TypeScript 1.x", _share("cold", COLD, "CPU ms", TYPESCRIPT1), most=1),
    Goal("cold start, share of the CPU of TypeScript 2.x", _share("cold", COLD, "CPU ms", TYPESCRIPT2), most=1),
    Goal("stdio, async tool, 64 in flight, times less than mcp", _ratio("stdio", ASYNC, CPU, MCP), least=50),
    Goal("stdio, async tool, 64 in flight, CPU us", _own("stdio", ASYNC, CPU), most=25),
    Goal("stdio, async tool, 64 in flight, share of TypeScript 1.x", _share("stdio", ASYNC, CPU, TYPESCRIPT1), most=1),
    Goal("stdio, def tool, 64 in flight, times less than mcp", _ratio("stdio", DEF, CPU, MCP), least=15),
    Goal("stdio, def tool, 64 in flight, share of TypeScript 1.x", _share("stdio", DEF, CPU, TYPESCRIPT1), most=1),
    Goal("stdio, def tool, 64 in flight, share of an async tool", _growth("stdio", DEF, ASYNC, CPU), most=1.6),
    Goal("stdio, one at a time, calls/s against TypeScript 1.x", _share("stdio", ONE, RATE, TYPESCRIPT1), least=1),
    Goal("HTTP modern, 32 connections, times less than mcp", _ratio("http", HTTP, CPU, MCP), least=14),
    Goal("HTTP modern, 32 connections, share of a bare ASGI app", _share("http", HTTP, CPU, BARE_ASGI), most=1.15),
    Goal("HTTP legacy SSE, times less than mcp", _ratio("http", SSE, CPU, MCP), least=10),
    Goal("HTTP legacy JSON, times less than mcp", _ratio("http", JSON, CPU, MCP), least=10),
    Goal("HTTP modern with a verified JWT, CPU us more than without", _added("http", GUARDED, HTTP, CPU), most=30),
    Goal("in process, CPU us", _own("memory", "modern, 1 at a time", CPU), most=20),
    Goal("client over stdio, CPU us", _own("client", "stdio modern, 1 at a time", CPU), most=60),
    Goal("client over HTTP, CPU us", _own("client", "HTTP modern, 1 at a time", CPU), most=350),
    Goal("registering 1,000 tools, CPU ms", _own("tools", "register them", "CPU ms"), most=600),
    Goal("listing 1,000 tools, ms", _own("tools", "list them again", "wall ms"), most=35),
    Goal("a call with 1,000 tools, share of one with few", _growth("tools", "call one", FEW, "CPU ms"), most=1.2),
    Goal("idle legacy session, KB", _own("streams", "idle legacy session", "KB each"), most=8),
    Goal("open stream, share of a bare one", _share("streams", STREAM, "KB each", BARE_ASGI), most=1.2),
    Goal("a change told to 500 listeners, ms", _own("streams", "a change told to all listeners", "wall ms"), most=30),
    *(
        Goal(f"{group}, share of the original's CPU", _share("servers", group, CPU_MS, ORIGINAL), most=0.25)
        for group in (f"start {name}" for name in ORIGINALS)
    ),
    *(
        Goal(f"{group}, share of the original's time", _share("servers", group, "wall ms", ORIGINAL), most=1)
        for group in (*FILE_WORK, *GIT_WORK, *MEMORY_WORK)
    ),
    Goal("20 configured servers, processes of a turn", _own("host", HOSTED["turn"], "processes"), most=0),
    Goal("a turn over 500 tools of 20 servers starts, CPU ms", _own("host", HOSTED["turn"], CPU_MS), most=300),
    Goal("10,000 log messages in a call, busy CPU ms", _own("host", HOSTED["chatter"], "busy ms"), most=100),
    Goal("a page of a log of 10,000 records, ms", _own("host", HOSTED["log"], "wall ms"), most=50),
)  # fmt: skip


def summary(results: Results) -> Iterator[str]:
    """Write the goals as a markdown table."""
    yield "| goal | bound | measured | holds |"
    yield "|---|---|---:|---|"
    for goal in GOALS:
        yield goal.line(results)
