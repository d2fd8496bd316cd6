"""A server in a process of its own, spoken to in raw lines; it never outlives its test."""

import asyncio
import json
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

from support.waiting import LIMIT_SECONDS
from support.wire import JSON, initialize, line, note

MISBEHAVING = Path(__file__).with_name("stdio_server.py")
PIPE = asyncio.subprocess.PIPE


class Program:
    """The process and its pipes. What it writes to stderr is kept."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.errors = b""
        self.others: list[JSON] = []
        self._reading = asyncio.create_task(self._read_errors())

    async def _read_errors(self) -> None:
        while self.process.stderr is not None and (data := await self.process.stderr.read(65536)):
            self.errors += data

    async def send(self, *messages: JSON) -> None:
        """Write messages, or raw bytes."""
        assert self.process.stdin is not None
        self.process.stdin.write(line(*messages))
        async with asyncio.timeout(LIMIT_SECONDS):
            await self.process.stdin.drain()

    async def receive(self) -> JSON:
        """Read one message; whatever is on stdout has to be one."""
        assert self.process.stdout is not None
        async with asyncio.timeout(LIMIT_SECONDS):
            data = await self.process.stdout.readline()
        assert data, f"the server closed its output: {self.errors.decode()}"
        return json.loads(data)

    async def response(self, id: JSON) -> JSON:
        """Read until the response to `id`; what came before is in `others`."""
        while (message := await self.receive()).get("id") != id or "method" in message:
            self.others.append(message)
        return message

    async def request(self, message: dict[str, JSON]) -> JSON:
        """Send a request and read its response."""
        await self.send(message)
        return await self.response(message["id"])

    async def open(self, version: str, **options: JSON) -> JSON:
        """Initialize a legacy session."""
        result = await self.request(initialize(version, **options))
        await self.send(note("notifications/initialized"))
        return result

    async def said(self, text: str) -> None:
        """Wait until stderr contains `text`."""
        async with asyncio.timeout(LIMIT_SECONDS):
            while text.encode() not in self.errors:
                assert not self._reading.done(), self.errors.decode()
                await asyncio.wait([self._reading], timeout=0.01)

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    async def rest(self) -> list[JSON]:
        """Read what is still to come, until the output ends."""
        assert self.process.stdout is not None
        async with asyncio.timeout(LIMIT_SECONDS):
            return [json.loads(each) for each in (await self.process.stdout.read()).splitlines()]

    async def ended(self, seconds: float = LIMIT_SECONDS) -> int:
        """Wait for the end; the exit status."""
        async with asyncio.timeout(seconds):
            await self._reading
            return await self.process.wait()


@asynccontextmanager
async def program(
    path: Path | str = MISBEHAVING,
    *arguments: str,
    stdin: int | IO[Any] = PIPE,
    stdout: int | IO[Any] = PIPE,
    options: Sequence[str] = (),
    python: str = sys.executable,
) -> AsyncIterator[Program]:
    """Run a Python program for the length of the block."""
    process = await asyncio.create_subprocess_exec(
        python,
        *options,
        str(path),
        *arguments,
        stdin=stdin,
        stdout=stdout,
        stderr=PIPE,
        limit=64 * 1024 * 1024,
    )
    running = Program(process)
    try:
        yield running
    finally:
        if process.returncode is None:
            process.kill()
        await running.ended()
        if process.stdin is not None:
            process.stdin.close()
        if process.stdout is not None:  # a warm one that was killed closes it a moment later
            async with asyncio.timeout(LIMIT_SECONDS):
                await process.stdout.read()


async def interrupted(server: Program, seconds: float) -> int:
    """Press Ctrl-C until it ends; the exit status."""
    async with asyncio.timeout(seconds):
        ended = asyncio.create_task(server.process.wait())
        while not ended.done():
            server.process.send_signal(signal.SIGINT)
            await asyncio.wait([ended], timeout=0.1)
        return ended.result()
