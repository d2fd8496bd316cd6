"""Soaks with Splice's client: stdio children that are killed and stopped, memory, restarts of an HTTP server."""

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from bench.peers import ROOT
from bench.process import child, free_port, wait_for_port
from bench.soaking import server
from bench.soaking.ledger import (
    ANSWER_SECONDS,
    SETTLE_SECONDS,
    Crossed,
    Round,
    Vitals,
    expect,
    perform,
    schedule,
    settled,
    timed,
    until,
)
from splice import Client, StdioServer
from splice.client import lives
from splice.errors import ConnectionClosed, RequestTimeout, TransportError
from splice.types import VERSIONS

SERVER = (sys.executable, "-m", "bench.soaking.server")
CLIENTS, AT_ONCE = 6, 20
BIG = 10_000_000
STOP_SECONDS = 0.3
SHORT_SECONDS = 0.05

ACTS = {"echo": 50.0, "shout": 20, "steps": 19.2, "timeout": 5, "cancel": 5, "down": 0.3, "up": 0.3}
"""How many of a hundred calls are of each kind."""
FAULTS = {"kill": 0.16, "stop": 0.15}

Open = Callable[[int], Client]


class Seat:
    """Where a client is, and the next one when its server was killed."""

    def __init__(self, open_client: Open, number: int) -> None:
        self._open, self._number = open_client, number
        self.client: Client
        self.start: Vitals
        self.pid = 0
        self.is_dead = False

    async def sit(self) -> None:
        """Open a client."""
        self.client = await self._open(self._number).open()
        self.start = await self.look()
        self.is_dead = False  # from here on the pid is the new server's

    async def look(self) -> Vitals:
        """Let the server say what it holds."""
        found = (await self.client.call_tool("vitals")).structured_content
        assert isinstance(found, dict)
        self.pid = found.pop("pid")
        return Vitals(**found)

    async def kill(self) -> None:
        """Kill the server. Every other client is then closed and replaced; the rest start their server again."""
        self.is_dead, killed = True, self.pid
        os.kill(killed, signal.SIGKILL)
        if self._number % 4 < 2:  # in both eras
            await self.client.close()
            await self.sit()
            return
        while self.pid == killed:
            with contextlib.suppress(ConnectionClosed):  # it was not noticed yet
                self.start = await self.look()
        self.is_dead = False

    async def stop(self) -> None:
        """Let the server do nothing for a moment."""
        pid = self.pid
        os.kill(pid, signal.SIGSTOP)
        try:
            await asyncio.sleep(STOP_SECONDS)
        finally:
            with contextlib.suppress(ProcessLookupError):  # somebody killed it meanwhile
                os.kill(pid, signal.SIGCONT)


async def act(name: str, text: str, client: Client) -> str:
    """Do one thing, check what comes of it, and say how it ended."""
    match name:
        case "timeout":
            try:
                await client.call_tool("hold", {"text": text}, timeout=SHORT_SECONDS)
            except RequestTimeout:
                return "timed out"
            raise Crossed(f"an answer to {text}, which has none")
        case "cancel":
            await cancelled(text, client)
            return "cancelled"
        case "down":
            expect("x" * BIG, (await client.call_tool("down", {"size": BIG})).text)
        case "up":
            expect(str(BIG), (await client.call_tool("up", {"text": "y" * BIG})).text)
        case "steps":
            told: list[Any] = []
            arguments = {"text": text, "count": 5}
            result = await client.call_tool("steps", arguments, progress=lambda *report: told.append(report))
            wanted = [(number, 5, text) for number in range(1, 6)]
            expect((text, wanted[: len(told)]), (result.text, told))
            if len(told) < len(wanted):  # who closes a client between a report and its callback hears no more
                raise ConnectionClosed(f"only {len(told)} reports before the answer to {text}")
        case _:
            expect(text.upper() if name == "shout" else text, (await client.call_tool(name, {"text": text})).text)
    return "right"


async def cancelled(text: str, client: Client) -> None:
    """Start a call, and leave it when it runs."""
    runs = asyncio.Event()
    call = asyncio.create_task(client.call_tool("hold", {"text": text}, progress=lambda *_: runs.set()))
    waiting = asyncio.create_task(runs.wait())
    await asyncio.wait([call, waiting], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if call.done():
        call.result()
    call.cancel()
    await asyncio.wait([call])


async def play(open_client: Open, acts: dict[str, float], calls: int, number: int) -> Round:
    """Play one round: open clients, let them do everything at once, close them."""

    async def look() -> Vitals:
        return Vitals.now()

    before = await look()
    async with timed() as one:
        await _sit_and_act(one, open_client, schedule(acts, calls, number))
    one.vitals = await settled(look, before)
    return one


async def _sit_and_act(one: Round, open_client: Open, acts: list[str]) -> None:
    seats = [Seat(open_client, each) for each in range(CLIENTS)]
    for seat in seats:
        await seat.sit()
    for seat in seats:
        seat.start = await seat.look()  # in one process, after all were opened

    async def do(name: str, which: int) -> None:
        seat = seats[which % CLIENTS]
        client = seat.client
        with one.judged():
            async with asyncio.timeout(ANSWER_SECONDS):
                try:
                    if name not in FAULTS:
                        one.count(await act(name, f"call {which}", client))
                    elif not seat.is_dead:
                        await (seat.kill() if name == "kill" else seat.stop())
                        one.count(f"servers {'killed' if name == 'kill' else 'stopped'}")
                except TransportError:
                    if client is seat.client and not seat.is_dead:
                        raise
                    one.count("lost with a killed server")

    await perform(acts, AT_ONCE, do)
    for seat in seats:
        with one.judged():
            left = list((await settled(seat.look, seat.start)).exceeding(seat.start))
            assert not left, f"in the server: {left}"
        await seat.client.close()


def version(number: int) -> str:
    """Choose a version, so that both eras are spoken by half of the clients each."""
    return VERSIONS[-1 - number % 2]


def stdio_client(number: int) -> Client:
    """Make a client of a child of its own."""
    return Client(StdioServer(*SERVER, cwd=ROOT), protocol=version(number), timeout=ANSWER_SECONDS)


async def stdio(calls: int, rounds: int) -> tuple[Vitals, list[Round]]:
    """Soak children over stdio. They are killed more often than a client bears otherwise."""
    lives.MAX_STARTS, lives.BACK_OFF_SECONDS = calls, (0.0, 0.05, 0.1, 0.1, 0.1)
    start = Vitals.now()
    return start, [await play(stdio_client, ACTS | FAULTS, calls, number) for number in range(rounds)]


async def memory(calls: int, rounds: int) -> tuple[Vitals, list[Round]]:
    """Soak a server in this process."""
    here = server.build()
    start = Vitals.now()

    def client(number: int) -> Client:
        return Client(here, protocol=version(number), timeout=ANSWER_SECONDS)

    return start, [await play(client, ACTS, calls, number) for number in range(rounds)]


# Restarts.


@asynccontextmanager
async def serving(port: int) -> AsyncIterator[Any]:
    """Serve over HTTP for the length of the block."""
    with child([*SERVER, str(port)]) as process:
        await asyncio.to_thread(wait_for_port, process, port)
        yield process


async def restarts(one: Round, times: int) -> None:
    """Restart a server under clients that go on calling, by SIGKILL and SIGTERM in turn."""
    port = free_port()
    up, over = asyncio.Event(), asyncio.Event()

    async def go_on(number: int) -> None:
        calls, proven = 0, False
        async with Client(f"http://127.0.0.1:{port}/mcp", protocol=version(number), timeout=ANSWER_SECONDS) as client:
            while not (over.is_set() and proven):
                proven, calls = over.is_set(), calls + 1
                with one.judged():
                    try:
                        await act("echo", f"{number}-{calls}", client)
                        one.count("answered beside restarts")
                    except TransportError:
                        if proven:
                            raise
                        one.count("lost with a restarted server")
                        await up.wait()

    tasks: list[asyncio.Task[None]] = []
    for number in range(times + 1):
        async with serving(port) as process, asyncio.timeout(ANSWER_SECONDS + SETTLE_SECONDS):
            up.set()
            tasks = tasks or [asyncio.create_task(go_on(each)) for each in range(CLIENTS)]
            await _answered(one, tasks, 20 * CLIENTS)
            if number == times:
                over.set()
                await asyncio.gather(*tasks)
                return
            up.clear()
            os.kill(process.pid, signal.SIGKILL if number % 2 else signal.SIGTERM)
            one.count("restarts")


async def _answered(one: Round, tasks: list[asyncio.Task[None]], more: int) -> None:
    """Wait for so many more answers. Raises what a client raised that could not even be opened."""
    wanted = one.ended["answered beside restarts"] + more

    def enough() -> bool:
        for task in tasks:
            if task.done():
                task.result()
        return one.ended["answered beside restarts"] >= wanted

    await until(enough)
