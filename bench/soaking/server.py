"""The server under test: on stdio, in this process, or with a port as its argument over HTTP."""

import asyncio
import os
import sys
import time
from dataclasses import asdict
from pathlib import Path
from typing import Any

from bench.soaking.ledger import Vitals
from splice import Context, Server
from splice.stores import memory
from splice.transports.http import logs, sessions

BLOCK = "x" * 50_000
EVENTS_SECONDS = 3.0
"""How long events wait for a client whose connection broke: the look at what is left over has no five minutes."""

COUNTED = "SOAK_COUNTED"
"""The environment variable that names the file in which calls are counted."""


def build() -> Server:
    """Make a new server."""
    server = Server("soaked")
    server.service.store = store = memory.MemoryStore()
    add_answers(server)
    add_work(server)
    add_messages(server)
    add_counting(server)
    add_vitals(server, store)
    return server


def add_answers(server: Server) -> None:
    """Add tools that answer at once."""

    @server.tool
    async def echo(text: str) -> str:
        return text

    @server.tool
    def shout(text: str) -> str:
        return text.upper()


def add_work(server: Server) -> None:
    """Add tools that take their time."""

    @server.tool
    async def steps(text: str, count: int, ctx: Context, *, block: bool = False) -> str:
        """Tell `count` times how far it is, and log it, between turns of the loop."""
        for number in range(count):
            await ctx.progress(number + 1, count, text + BLOCK * block)
            await ctx.info(text)
            await asyncio.sleep(0)
        return text

    @server.tool
    async def hold(text: str, ctx: Context) -> str:
        """Say that it runs, and run until it is cancelled."""
        await ctx.progress(1, None, text)
        await asyncio.Event().wait()
        return "never"

    @server.tool
    async def nap(seconds: float) -> str:
        await asyncio.sleep(seconds)
        return "awake"


def add_counting(server: Server) -> None:
    """Add a tool that must not run twice for one call, and one that ends idle sessions."""

    @server.tool
    async def count(key: str, ctx: Context) -> str:
        with Path(os.environ[COUNTED]).open("ab", buffering=0) as file:  # noqa: ASYNC230 - a line, to the page cache
            file.write(key.encode() + b"\n")
        for number in range(3):
            await ctx.progress(number + 1)
            await asyncio.sleep(0)
        return key

    @server.tool
    async def expire() -> str:
        sessions.IDLE_SECONDS = 0.0
        return "expired"


def add_messages(server: Server) -> None:
    """Add large messages and publications."""

    @server.tool
    async def down(size: int) -> str:
        return "x" * size

    @server.tool
    async def up(text: str) -> str:
        return str(len(text))

    @server.tool
    async def publish(uri: str, ctx: Context) -> str:
        await ctx.notify_resource_updated(uri)
        return uri

    @server.resource("note://{number}")
    def note(number: str) -> str:
        return number


def add_vitals(server: Server, store: memory.MemoryStore) -> None:
    """Add the tool that says what the process holds, without the events that nobody may ask for any more."""

    @server.tool
    async def vitals() -> dict[str, Any]:
        await store.append("vitals", time.monotonic_ns(), b"", ttl=0)  # whoever writes lets go of what has expired
        return {"pid": os.getpid(), **asdict(Vitals.now())}


if __name__ == "__main__":
    logs.KEEP_SECONDS = logs.OPEN_SECONDS = EVENTS_SECONDS
    memory.SWEEP_SECONDS = 0.0
    if len(sys.argv) > 1:
        build().run("http", port=int(sys.argv[1]))
    else:
        build().run()
