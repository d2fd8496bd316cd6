"""The soak behind a hostile proxy: clients that go on calling while connections are cut and servers killed.

Each call has a key, which the server writes to a file before it answers. So a call that ran twice is seen, whoever sent
it again, and so is one that was answered without being run.
"""

import asyncio
import os
import signal
import tempfile
from collections import Counter
from pathlib import Path

from bench.process import free_port
from bench.soaking.clients import serving, version
from bench.soaking.hostile import Proxy, hostile
from bench.soaking.http import call, look
from bench.soaking.ledger import ANSWER_SECONDS, Round, Vitals, expect, settled, timed
from bench.soaking.raw import Line
from bench.soaking.server import COUNTED
from bench.wire import LEGACY, ME
from splice import Client
from splice.errors import ConnectionClosed, TransportError

CLIENTS = 8
KILLS = (signal.SIGKILL, signal.SIGTERM)


class Load:
    """One round of calls through a proxy."""

    def __init__(self, one: Round, proxy: Proxy, calls: int, number: int) -> None:
        self._one, self._proxy, self._number = one, proxy, number
        self._left = iter(range(calls))
        self._calls = calls
        self.begun = 0
        self.up = asyncio.Event()
        self.answered: set[str] = set()

    @property
    def is_over(self) -> bool:
        """All calls have begun."""
        return self.begun >= self._calls

    async def work(self, number: int) -> None:
        """Call until nothing is left to do, with a new client whenever one could not be opened."""
        while not self.is_over:
            await self.up.wait()
            try:
                async with Client(
                    f"http://127.0.0.1:{self._proxy.port}/mcp", protocol=version(number), timeout=ANSWER_SECONDS
                ) as client:
                    for which in self._left:
                        self.begun += 1
                        with self._one.judged():
                            await self._call(client, f"{self._number}/{which}")
            except TransportError:
                self._one.count("not opened")

    async def _call(self, client: Client, key: str) -> None:
        told: list[float] = []
        await self.up.wait()
        try:
            result = await client.call_tool("count", {"key": key}, progress=lambda value, *_: told.append(value))
        except TransportError:
            self._one.count("cut off")
            return
        expect(key, result.text)
        expect([1, 2, 3][: len(told)], told)
        self.answered.add(key)
        self._one.count("right")

    def audit(self, file: Path) -> None:
        """Compare what ran with what was answered."""
        ran = Counter(key for key in file.read_text().split() if key.startswith(f"{self._number}/"))
        for key in [key for key, times in ran.items() if times > 1]:
            self._one.count("repeated", ConnectionClosed(key))
        for key in self.answered - ran.keys():
            self._one.count("wrong", ConnectionClosed(f"{key} was answered and never ran"))


async def _quiet(port: int) -> Vitals:
    """Let sessions expire whose clients were cut off from them, and look at the server."""
    opening = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": ME}
    line = await Line.to(port)
    line.send(call("tools/call", 1, {"name": "expire", "arguments": {}}), "modern")
    async for _ in line.messages():
        pass
    line.send(call("initialize", 0, opening), "legacy")  # whoever opens a session sweeps
    _, fields = await line.head()
    async for _ in line.pieces(fields):
        pass
    line.send(b"", "legacy", fields["mcp-session-id"], "DELETE")
    await line.head()
    line.leave()
    return await look(port)


async def _begun(load: Load, calls: int, work: list[asyncio.Task[None]]) -> None:
    """Wait until so many calls have begun. Raises what a client raised."""

    def enough() -> bool:
        for task in work:
            if task.done():
                task.result()
        return load.begun >= calls

    while not enough():  # noqa: ASYNC110 - nothing tells of it
        await asyncio.sleep(0.01)


async def _round(one: Round, calls: int, number: int, file: Path) -> Vitals:
    """Let clients call, and kill the server under them twice; returns what the last server held at first."""
    port = free_port()
    async with hostile(port, number) as proxy:
        load = Load(one, proxy, calls, number)
        work = [asyncio.create_task(load.work(each)) for each in range(CLIENTS)]
        for part, kill in enumerate((*KILLS, None), 1):
            async with serving(port) as process:
                start = await look(port)
                load.up.set()
                await _begun(load, calls * part // (len(KILLS) + 1), work)
                if kill is not None:
                    load.up.clear()
                    os.kill(process.pid, kill)
                    one.count("servers killed")
                    continue
                proxy.calm = True  # the clients' leave arrives
                await asyncio.gather(*work)
                one.vitals = await settled(lambda: _quiet(port), start)
        load.audit(file)
        one.ended.update(proxy.done)
        return start


async def proxied(calls: int, rounds: int) -> tuple[Vitals, list[Round]]:
    """Soak servers behind a hostile proxy."""
    done = list[Round]()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "counted"
        file.touch()
        os.environ[COUNTED] = str(file)
        for number in range(rounds):
            async with timed() as one:
                start = await _round(one, calls, number, file)
            done.append(one)
    return start, done
