"""The soak of an HTTP server process, by raw sockets: streams that stay open, calls, and everything that goes wrong."""

import asyncio
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from typing import Any, NamedTuple, TypeAlias

from bench.peers import Wire
from bench.process import free_port
from bench.soaking.clients import restarts, serving
from bench.soaking.ledger import (
    ANSWER_SECONDS,
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
from bench.soaking.raw import Line, request
from bench.wire import LEGACY, ME

WORKERS, STANDING, HELD = 40, 50, 30
RESTARTS = 2
BLOCK = 100_000
KEEP_SECONDS = 3.0
"""How long an idle connection is used again: uvicorn closes it after 5 s."""

ACTS = {
    "echo": 54.0, "shout": 10, "steps": 12, "down": 4, "leave a call": 4, "leave a stream": 2, "cancel": 4,
    "half a body": 3, "half a head": 1, "an unread stream": 1, "a malformed body": 1, "publish": 4,
}  # fmt: skip

MALFORMED = (b"{", b"\xff", b"null", b"[]", b"[" * 1000, b'{"jsonrpc":"2.0","id":{},"method":"x"}', b'{"id":1}')


class Door(NamedTuple):
    """How a request is sent: in which era, and in which session."""

    wire: Wire
    session: str = ""


MODERN = Door("modern")

Act: TypeAlias = Callable[[str, Any, str, Door], Coroutine[Any, Any, str]]
"""Does one thing: its name, an id, a text of its own, and the door it takes. Returns how it ended."""


class Standing:
    """A session with its GET stream, or a listener, that hears of one resource."""

    def __init__(self, port: int, number: int) -> None:
        self.uri = f"note://{number}"
        self.session = ""
        self.heard: set[str] = set()
        self._port = port
        self._line: Line
        self._reading: asyncio.Task[None]

    async def initialize(self) -> None:
        """Open a session, subscribe, and open its stream."""
        opening = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": ME}
        line = await Line.to(self._port)
        line.send(call("initialize", 0, opening), "legacy")
        _, fields = await line.head()
        self.session = fields["mcp-session-id"]
        async for _ in line.pieces(fields):
            pass
        for message in (
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            call("resources/subscribe", 1, {"uri": self.uri}),
        ):
            line.send(message, "legacy", self.session)
            async for _ in line.messages():
                pass
        line.send(b"", "legacy", self.session, "GET")
        self._stay(line)

    async def listen(self) -> None:
        """Open a stream of the modern kind."""
        line = await Line.to(self._port)
        line.send(call("subscriptions/listen", self.uri, {"notifications": {"resourceSubscriptions": [self.uri]}}),
                  "modern")  # fmt: skip
        self._stay(line)

    def _stay(self, line: Line) -> None:
        self._line = line
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        async for message in self._line.messages():
            if message.get("method") == "notifications/resources/updated":
                self.heard.add(message["params"]["uri"])

    async def close(self) -> None:
        """Delete the session, or leave the stream."""
        self._reading.cancel()
        await asyncio.wait([self._reading])
        self._line.leave()
        if self.session:
            line = await Line.to(self._port)
            line.send(b"", "legacy", self.session, "DELETE")
            await line.head()
            line.leave()


def call(method: str, id: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Write a request."""
    return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}


def tool(name: str, id: Any, **arguments: Any) -> dict[str, Any]:
    """Write a tool call that wants progress."""
    return call("tools/call", id, {"name": name, "arguments": arguments, "_meta": {"progressToken": id}})


class Load:
    """One round of acts against one server."""

    def __init__(self, one: Round, port: int, number: int) -> None:
        self._one, self._port, self._number = one, port, number
        self._chance = random.Random(number)
        self._kept: deque[tuple[float, Line]] = deque()
        self._held: deque[Line] = deque()
        self.sessions = [Standing(port, each) for each in range(STANDING)]
        self.listeners = [Standing(port, each) for each in range(STANDING)]
        self.published: set[int] = set()
        self._acts: dict[str, Act] = {
            "leave a call": self._leave, "leave a stream": self._leave, "cancel": self._cancel,
            "half a body": self._half, "half a head": self._half, "an unread stream": self._unread,
            "a malformed body": self._malform, "publish": self._publish,
        }  # fmt: skip

    async def open(self) -> None:
        """Open the streams that stay."""
        await asyncio.gather(
            *(each.initialize() for each in self.sessions), *(each.listen() for each in self.listeners)
        )

    async def close(self) -> None:
        """Wait until everything published was heard, by whom it concerns and nobody else, and close all."""
        for each in self.published:
            for stream in (self.sessions[each], self.listeners[each]):
                with self._one.judged():
                    await until(lambda stream=stream: stream.heard)  # type: ignore[misc]  # mypy cannot tell its type
                    expect({stream.uri}, stream.heard)
        await asyncio.gather(*(each.close() for each in (*self.sessions, *self.listeners)))
        for line in (*self._held, *(line for _, line in self._kept)):
            line.leave()

    async def act(self, name: str, which: int) -> None:
        """Do one thing, and count how it ended."""
        door = Door("legacy", self.sessions[which % STANDING].session) if self._chance.random() < 0.5 else MODERN
        id: Any = which // STANDING if which % 2 else f"{self._number}-{which}"
        with self._one.judged():
            async with asyncio.timeout(ANSWER_SECONDS):
                self._one.count(await self._acts.get(name, self._call)(name, id, f"{self._number}/{which}", door))

    # Calls.

    async def _call(self, name: str, id: Any, text: str, door: Door) -> str:
        """Call a tool and check the answer and all that came before it."""
        arguments: dict[str, Any] = {"size": BLOCK} if name == "down" else {"text": text}
        told, wanted = 0, {"down": "x" * BLOCK, "shout": text.upper()}.get(name, text)
        if name == "steps":
            arguments["count"], told = 5, 5
        await self._checked(tool(name, id, **arguments), door, wanted, told)
        return "right"

    async def _checked(self, message: dict[str, Any], door: Door, wanted: str, told: int = 0) -> None:
        async with self._line() as line:
            line.send(message, *door)
            heard = [each async for each in line.messages()]
        *notes, answer = heard or [{}]
        expect((message["id"], wanted), (answer.get("id"), text_of(answer)))
        progress = [each["params"] for each in notes if each["method"] == "notifications/progress"]
        expect([(message["id"], wanted)] * told, [(each["progressToken"], each["message"]) for each in progress])

    @asynccontextmanager
    async def _line(self) -> AsyncIterator[Line]:
        """Lend a kept connection that is young enough, or a new one; one that failed is not kept."""
        born, line = self._kept.pop() if self._kept else (0.0, None)
        if line is None or time.monotonic() - born > KEEP_SECONDS:
            if line is not None:
                line.leave()
            line = await Line.to(self._port)
        try:
            yield line
        except BaseException:
            line.leave()
            raise
        self._kept.append((time.monotonic(), line))

    # Faults.

    async def _leave(self, name: str, id: Any, text: str, door: Door) -> str:
        """Break off a call that has not answered yet, or a stream that has begun. A legacy call may go on: it ends."""
        line = await Line.to(self._port)
        message = tool("nap", id, seconds=0.3) if door.session else tool("hold", id, text=text)
        if name == "leave a stream":
            message = tool("steps", id, text=text, count=200)
        line.send(message, *door)
        if name == "leave a stream":
            await anext(line.messages())
        else:
            await line.writer.drain()
        line.leave(at_once=self._chance.random() < 0.5)
        return "left"

    async def _cancel(self, _name: str, _id: Any, text: str, door: Door) -> str:
        """Cancel a legacy call, on another connection as it has to be, once it runs."""
        door = door if door.session else Door("legacy", self._chance.choice(self.sessions).session)
        line = await Line.to(self._port)
        line.send(tool("hold", text, text=text), *door)
        stream = line.messages()
        expect(text, (await anext(stream))["params"]["progressToken"])
        note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": text}}
        async with self._line() as other:
            other.send(note, *door)
            expect([], [each async for each in other.messages()])
        rest = [each async for each in stream if "result" in each]
        line.leave()
        expect([], rest)
        return "cancelled"

    async def _half(self, name: str, id: Any, text: str, door: Door) -> str:
        """Send half a body and leave, or half a head and stay."""
        line = await Line.to(self._port)
        data = request(tool("echo", id, text=text), self._port, *door)
        if name == "half a head":
            line.writer.write(data[:60])
            self._hold(line)
        else:
            line.writer.write(data[:-20])
            line.leave(at_once=self._chance.random() < 0.5)
        return "half sent"

    async def _unread(self, _name: str, id: Any, text: str, _door: Door) -> str:
        """Open a stream of 10 MB and read none of it."""
        line = await Line.to(self._port)
        line.reader._limit = 1  # type: ignore[attr-defined]  # noqa: SLF001 - the loop stops reading at twice that
        line.send(tool("steps", id, text=text, count=200, block=True), "modern")
        self._hold(line)
        return "not read"

    def _hold(self, line: Line) -> None:
        self._held.append(line)
        if len(self._held) > HELD:
            self._held.popleft().leave(at_once=self._chance.random() < 0.5)

    async def _malform(self, _name: str, _id: Any, _text: str, door: Door) -> str:
        """Send what is no message: it is refused."""
        line = await Line.to(self._port)
        line.send(self._chance.choice(MALFORMED), *door)
        status, _ = await line.head()
        assert 400 <= status < 500, f"HTTP {status} to a malformed body"
        line.leave()
        return "malformed"

    async def _publish(self, _name: str, id: Any, _text: str, _door: Door) -> str:
        """Announce a change of one resource, of which one session and one listener are to hear."""
        number = self._chance.randrange(STANDING)
        await self._checked(tool("publish", id, uri=f"note://{number}"), MODERN, f"note://{number}")
        self.published.add(number)
        return "published"


def text_of(answer: dict[str, Any]) -> str:
    """Read the text of a tool's answer."""
    if "result" not in answer:
        raise Crossed(f"no result: {str(answer)[:200]}")
    text: str = answer["result"]["content"][0]["text"]
    return text


async def look(port: int) -> Vitals:
    """Let the server say what it holds, on a connection that is closed again."""
    line = await Line.to(port)
    line.send(tool("vitals", 0), "modern")
    (answer,) = [each async for each in line.messages()]
    line.leave()
    found = answer["result"]["structuredContent"]
    del found["pid"]
    return Vitals(**found)


async def http(calls: int, rounds: int) -> tuple[Vitals, list[Round]]:
    """Soak one server process, round after round, and restart another under clients at the end of each."""
    port, done = free_port(), list[Round]()
    async with serving(port):
        start = await look(port)
        own: Vitals | None = None  # of the driver, after a first round, in which the client loads its engine
        for number in range(rounds):
            async with timed() as one:
                load = Load(one, port, number)
                await load.open()
                await perform(schedule(ACTS, calls, number), WORKERS, load.act)
                await load.close()
                one.vitals = await settled(lambda: look(port), start)
                await restarts(one, RESTARTS)
            with one.judged():
                own = own or Vitals.now()
                left = list(Vitals.now().exceeding(own))
                assert not left, f"in the client: {left}"
            done.append(one)
    return start, done
