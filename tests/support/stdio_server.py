"""The program behind the tests of stdio: a server whose tools misbehave in every way they can."""

import asyncio
import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from splice import Context, Server
from splice.protocol.jsonrpc import Notification, Response
from splice.server.running import run
from splice.transports.base import Exchange, Sender, Service


class Strange(BaseException):
    """What no `except Exception` catches."""


@asynccontextmanager
async def lifespan(server: Server) -> AsyncIterator[list[str]]:
    state = ["open"]
    yield state
    state[0] = "closed"
    sys.stderr.write("lifespan closed\n")


server = Server("misbehaving", lifespan=lifespan)
stopping = asyncio.Event()


class Watched(Service):
    """The server's own service, which also tells the tools when it is about to stop."""

    async def handle(self, exchange: Exchange) -> Response:
        return await server.service.handle(exchange)

    async def hear(self, note: Notification, sender: Sender) -> None:
        await server.service.hear(note, sender)

    async def drain(self) -> None:
        await server.service.drain()
        stopping.set()

    async def close(self) -> None:
        await server.service.close()


@server.tool
async def echo(text: str) -> str:
    return text


@server.tool
def on_thread(text: str) -> str:
    return text


@server.tool
async def large(size: int) -> str:
    return "x" * size


@server.tool
def chatter() -> str:
    """Write to stdout in every way there is."""
    print("from print")  # noqa: T201 - that is the point
    sys.stdout.write("from sys.stdout\n")
    sys.stdout.flush()
    sys.__stdout__.write("from sys.__stdout__\n")  # type: ignore[union-attr]  # it is there
    sys.__stdout__.flush()  # type: ignore[union-attr]  # as above
    os.write(1, b"from os.write\n")
    subprocess.run(["/bin/echo", "from a child"], check=True)
    ctypes.CDLL(None).puts(b"from C")
    ctypes.CDLL(None).fflush(None)
    return "done"


@server.tool
def reads() -> str:
    """Read from stdin, as a careless library might."""
    return repr(os.read(0, 100)) + repr(sys.stdin.read())


@server.tool
async def last(ctx: Context) -> str:
    """End when the server does, and use the lifespan and the client until then."""
    await ctx.progress(1)
    await stopping.wait()
    await ctx.progress(2)
    return f"finished, lifespan {ctx.lifespan[0]}"


@server.tool
async def asks_at_the_end(ctx: Context) -> str:
    """Ask the client for something while it leaves."""
    await ctx.roots()
    return "answered"


@server.tool
async def hangs(ctx: Context) -> str:
    """Hang until cancelled."""
    try:
        await ctx.progress(1)
        await asyncio.Event().wait()
    finally:
        sys.stderr.write("cleaned up\n")
    return ""


@server.tool
def stuck() -> str:
    """Never come back from a thread."""
    sys.stderr.write("stuck\n")
    threading.Event().wait()
    return ""


@server.tool
def leaves(how: str) -> str:
    if how == "exit":
        sys.exit(3)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "generator":
        raise GeneratorExit
    raise Strange(how)


@server.tool
async def leaves_async(how: str) -> str:
    if how == "exit":
        sys.exit(3)
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "cancel":
        raise asyncio.CancelledError
    raise Strange(how)


if __name__ == "__main__":
    run(Watched(), "stdio")
