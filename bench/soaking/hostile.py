"""A TCP proxy that does everything a network may do: wait, send byte by byte, half close, reset in any phase.

What it does to a request is drawn anew for each one that passes, on kept connections too.
"""

import asyncio
import contextlib
import random
import socket
import struct
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

END = b"\r\n\r\n"
SLOW_SECONDS = 0.02
SHREDDED_BYTES = 700
"""How much of a piece goes byte by byte."""


def _after(text: bytes, mark: bytes, start: int, more: int) -> int | None:
    place = text.find(mark, start)
    return None if place < 0 else place + len(mark) + more


def _between_events(text: bytes) -> int | None:
    head = text.find(END)
    return None if head < 0 else _after(text, b"\n\n", head + len(END), 0)


RESETS: dict[str, tuple[str, Callable[[bytes], int | None]]] = {
    "reset before the head": ("up", lambda _: 0),
    "reset in the head": ("up", lambda _: 60),
    "reset in the body": ("up", lambda text: _after(text, END, 0, 10)),
    "reset before the reply": ("down", lambda _: 0),
    "reset in the reply's head": ("down", lambda _: 40),
    "reset in the reply's body": ("down", lambda text: _after(text, END, 0, 10)),
    "reset between events": ("down", _between_events),
}
"""Which way the bytes go that are cut, and how many of them pass."""

PLANS = {"plain": 50, "slow": 10, "byte by byte": 10, "half closed by the client": 4, "half closed by the server": 4}
PLANS |= dict.fromkeys(RESETS, 4)


class Passage:
    """One connection through the proxy."""

    def __init__(self, proxy: "Proxy", client: asyncio.StreamWriter, server: asyncio.StreamWriter) -> None:
        self._proxy = proxy
        self._to = {"up": server, "down": client}
        self._plan = "plain"
        self._seen = {"up": b"", "down": b""}

    async def pump(self, way: str, reader: asyncio.StreamReader) -> None:
        """Pass on what arrives, one way, until it ends or is cut."""
        while data := await reader.read(65536):
            if way == "up" and data.startswith((b"POST ", b"GET ", b"DELETE ")):
                self._plan = self._proxy.draw()
                self._seen = {"up": b"", "down": b""}
            await self._pass(way, data)
        with contextlib.suppress(OSError):
            self._to[way].write_eof()

    async def _pass(self, way: str, data: bytes) -> None:
        before, to = self._seen[way], self._to[way]
        self._seen[way] += data
        cut_way, rule = RESETS.get(self._plan, ("", None))
        place = rule(self._seen[way]) if rule is not None and cut_way == way else None
        if place is not None and place <= len(self._seen[way]):
            to.write(data[: max(0, place - len(before))])
            await to.drain()
            raise ConnectionResetError(self._plan)
        if self._plan == "slow":
            await asyncio.sleep(self._proxy.chance.random() * SLOW_SECONDS)
        elif self._plan == "byte by byte":
            for number in range(min(SHREDDED_BYTES, len(data))):
                if to.is_closing():
                    break
                to.write(data[number : number + 1])
                await asyncio.sleep(0)
            data = data[SHREDDED_BYTES:]
        to.write(data)
        await to.drain()
        if self._plan == f"half closed by the {'client' if way == 'up' else 'server'}":
            to.write_eof()

    def reset(self) -> None:
        """End both sides with RST."""
        for writer in self._to.values():
            with contextlib.suppress(OSError):
                linger = struct.pack("ii", 1, 0)
                writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            writer.transport.abort()


class Proxy:
    """Stands before a port; `calm` makes it pass on everything as it is."""

    def __init__(self, port: int, seed: int) -> None:
        self.chance = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.calm = False
        self.port = 0
        self._behind = port

    def draw(self) -> str:
        """Choose what becomes of the next request."""
        if self.calm:
            return "plain"
        (plan,) = self.chance.choices(list(PLANS), list(PLANS.values()))
        self.done[plan] += 1
        return plan

    async def serve(self, reader: asyncio.StreamReader, client: asyncio.StreamWriter) -> None:
        """Join one client to the server."""
        try:
            back, server = await asyncio.open_connection("127.0.0.1", self._behind)
        except OSError:  # it is being restarted
            client.transport.abort()
            return
        passage = Passage(self, client, server)
        try:
            async with asyncio.TaskGroup() as ways:
                ways.create_task(passage.pump("up", reader))
                ways.create_task(passage.pump("down", back))
        except* (OSError, RuntimeError):  # cut here or there; RuntimeError: written to after its end
            passage.reset()
        finally:
            server.close()
            client.close()


@asynccontextmanager
async def hostile(port: int, seed: int) -> AsyncIterator[Proxy]:
    """Stand a proxy before a port for the length of the block."""
    proxy = Proxy(port, seed)
    tasks: set[asyncio.Task[None]] = set()

    def joined(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(proxy.serve(reader, writer))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    listener = await asyncio.start_server(joined, "127.0.0.1", 0)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        if tasks:
            await asyncio.wait(list(tasks))
