"""Serving on stdin and stdout, in this process: pipes stand in for the real descriptors."""

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import Notification, Response, Success
from splice.rules.sessions import Session
from splice.transports.base import Exchange
from splice.transports.stdio import server as stdio
from support.services import Scripted, echo, never
from support.waiting import settle, until
from support.wire import JSON, answer, ask, code_of, line, lines, note

GOOD = ask(99, "echo", {"good": True})


# In this process, over pipes instead of the real descriptors.


class Served:
    """`serve_stdio` at work in a task, and the far ends of its two pipes."""

    def __init__(self, service: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
        self.service = service
        self.source, self.input = os.pipe()
        self.output, self.target = os.pipe()
        self.heard = bytearray()
        os.set_blocking(self.output, False)

        @contextlib.contextmanager
        def descriptors() -> Iterator[tuple[int, int]]:
            yield self.source, self.target

        monkeypatch.setattr(stdio, "_own_descriptors", descriptors)
        self.task = asyncio.create_task(stdio.serve_stdio(service))

    def say(self, *messages: JSON) -> None:
        os.write(self.input, line(*messages))

    def hang_up(self) -> None:
        """Close our end of the server's input."""
        if self.input >= 0:
            os.close(self.input)
            self.input = -1

    def leave(self) -> None:
        """Close our end of the server's output."""
        if self.output >= 0:
            os.close(self.output)
            self.output = -1

    def take(self) -> int:
        """Take what there is; tell how many messages that makes so far."""
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self.output, 1 << 20):
                self.heard += data
        return self.heard.count(b"\n")

    def read(self) -> list[JSON]:
        self.take()
        return lines(bytes(self.heard[: self.heard.rfind(b"\n") + 1]))

    async def responses(self, count: int) -> list[JSON]:
        await until(lambda: self.take() >= count)
        return self.read()

    async def ended(self) -> None:
        async with asyncio.timeout(5):
            await self.task


@contextlib.asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch, service: Scripted | None = None) -> AsyncIterator[Served]:
    serving = Served(service or Scripted(), monkeypatch)
    try:
        yield serving
    finally:
        serving.hang_up()
        if not serving.task.done():
            serving.task.cancel()
        await asyncio.wait([serving.task], timeout=5)
        serving.leave()


async def test_requests_are_answered_until_the_end_of_input(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as peer:
        peer.say(b"junk\n", GOOD, note("hello"))
        junk, good = await peer.responses(2)
        assert code_of(junk) == -32700
        assert good == answer(99, {"good": True})
        assert peer.service.told == []
        peer.hang_up()
        await peer.ended()
        assert peer.service.told == ["drain", "close"]
        assert [each.method for each, _ in peer.service.noted] == ["hello"]
        assert peer.service.noted[0][1].kind == "stdio"


async def test_what_is_in_flight_at_the_end_of_input_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Scripted()

    async def slow(exchange: Exchange) -> Response:
        await until(lambda: "drain" in service.told)
        assert "close" not in service.told
        await exchange.notify(Notification("while draining"))
        return Success(exchange.request.id, "finished")

    service.answer = slow
    async with served(monkeypatch, service) as peer:
        peer.say(ask(1, "slow"))
        peer.hang_up()
        await peer.ended()
        said, finished = peer.read()
        assert said["method"] == "while draining"
        assert finished == answer(1, "finished")


async def test_what_is_not_finished_in_time_is_answered_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "DRAIN_SECONDS", 0.01)
    async with served(monkeypatch, Scripted(never)) as peer:
        peer.say(ask(1, "never"))
        peer.hang_up()
        await peer.ended()
        assert [code_of(message) for message in peer.read()] == [-32603]


async def test_a_question_at_the_end_of_input_fails_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons: list[str] = []

    async def asks(exchange: Exchange) -> Response:
        try:
            await exchange.ask("roots/list", None)
        except ConnectionClosed as error:
            reasons.append(str(error))
        return Success(exchange.request.id, "went on")

    async with served(monkeypatch, Scripted(asks)) as peer:
        peer.say(ask(1, "asks"))
        await peer.responses(1)
        peer.hang_up()
        async with asyncio.timeout(1):
            await peer.task
        assert peer.read()[1]["method"] == "notifications/cancelled"
        assert peer.read()[2] == answer(1, "went on")
        assert len(reasons) == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_as_the_end_of_input_does(
    monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    async with served(monkeypatch) as peer:
        peer.say(GOOD)
        await peer.responses(1)
        os.kill(os.getpid(), number)
        await peer.ended()
        assert peer.service.told[-1] == "close"


async def test_the_client_may_leave_without_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as peer:
        peer.leave()
        peer.say(GOOD, GOOD)
        await peer.ended()
        assert peer.service.told[-1] == "close"


async def test_a_peer_that_does_not_read_is_not_read_from(monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits in memory is bounded by the pipe and the transport's own buffer, however much is sent."""
    big, seen = "x" * 2_000, 0

    async def count(exchange: Exchange) -> Response:
        nonlocal seen
        seen += 1
        return Success(exchange.request.id, big)

    async with served(monkeypatch, Scripted(count)) as peer:
        os.set_blocking(peer.input, False)
        pending, sent = line(*(ask(id, "big") for id in range(3000))), 0
        stalled = 0
        while stalled < 50:
            try:
                sent += os.write(peer.input, pending[sent : sent + 65536])
                stalled = 0
            except BlockingIOError:
                stalled += 1
            await settle(2)
        assert sent < len(pending)
        assert seen < 3000
        while sent < len(pending):
            with contextlib.suppress(BlockingIOError):
                sent += os.write(peer.input, pending[sent : sent + 65536])
            peer.take()
            await settle(1)
        assert len(await peer.responses(3000)) == seen == 3000


async def test_a_writer_waits_for_a_peer_that_does_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    told = 0

    async def chatty(exchange: Exchange) -> Response:
        nonlocal told
        for _ in range(1000):
            told += 1
            await exchange.notify(Notification("n", {"text": "x" * 10_000}))
        return Success(exchange.request.id, "done")

    async with served(monkeypatch, Scripted(chatty)) as peer:
        peer.say(ask(1, "chatty"))
        await until(lambda: told > 1)
        await settle(200)
        assert told < 100
        assert (await peer.responses(1001))[-1] == answer(1, "done")
        assert told == 1000


async def test_everything_said_is_delivered_before_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    async def big(exchange: Exchange) -> Response:
        return Success(exchange.request.id, "x" * 3_000_000)

    async with served(monkeypatch, Scripted(big)) as peer:
        peer.say(ask(1, "big"))
        peer.hang_up()
        (message,) = await peer.responses(1)
        assert len(message["result"]) == 3_000_000


async def test_a_peer_that_never_reads_does_not_keep_the_server_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "DRAIN_SECONDS", 0.05)

    async def big(exchange: Exchange) -> Response:
        return Success(exchange.request.id, "x" * 3_000_000)

    async with served(monkeypatch, Scripted(big)) as peer:
        peer.say(ask(1, "big"))
        await settle(200)
        os.kill(os.getpid(), signal.SIGTERM)
        await peer.ended()


async def test_input_from_a_file_and_output_to_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The event loop cannot watch either of them."""
    (tmp_path / "in").write_bytes(line(*(ask(id, "echo", {}) for id in range(50)), b"junk\n"))
    service = Scripted()

    @contextlib.contextmanager
    def descriptors() -> Iterator[tuple[int, int]]:
        yield os.open(tmp_path / "in", os.O_RDONLY), os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT)

    monkeypatch.setattr(stdio, "_own_descriptors", descriptors)
    async with asyncio.timeout(5):
        await stdio.serve_stdio(service)
    heard = lines((tmp_path / "out").read_bytes())
    assert sorted(message["id"] for message in heard if "id" in message) == list(range(50))
    assert len(heard) == 51
    assert service.told == ["drain", "close"]


@pytest.mark.parametrize(
    ("source", "target"), [("/dev/null", "pipe"), ("pipe", "/dev/null"), ("/dev/null", "/dev/null")]
)
async def test_input_and_output_may_be_nothing(monkeypatch: pytest.MonkeyPatch, source: str, target: str) -> None:
    ends = os.pipe(), os.pipe()
    os.write(ends[0][1], line(GOOD))
    os.close(ends[0][1])
    reading = os.dup(ends[0][0]) if source == "pipe" else os.open(source, os.O_RDONLY)
    writing = os.dup(ends[1][1]) if target == "pipe" else os.open(target, os.O_WRONLY)

    @contextlib.contextmanager
    def descriptors() -> Iterator[tuple[int, int]]:
        yield reading, writing

    monkeypatch.setattr(stdio, "_own_descriptors", descriptors)
    service = Scripted()
    async with asyncio.timeout(5):
        await stdio.serve_stdio(service)
    assert service.told == ["drain", "close"]
    for fd in (ends[0][0], *ends[1]):
        os.close(fd)


async def test_a_full_disk_ends_the_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """/dev/full takes nothing; the loop may or may not watch it."""
    (tmp_path / "in").write_bytes(line(*(ask(id, "echo", {}) for id in range(5))))

    @contextlib.contextmanager
    def descriptors() -> Iterator[tuple[int, int]]:
        yield os.open(tmp_path / "in", os.O_RDONLY), os.open("/dev/full", os.O_WRONLY)

    monkeypatch.setattr(stdio, "_own_descriptors", descriptors)
    async with asyncio.timeout(5):
        await stdio.serve_stdio(Scripted())


async def test_the_descriptors_come_back(monkeypatch: pytest.MonkeyPatch) -> None:
    before = [os.fstat(fd).st_ino for fd in (0, 1)]
    with stdio._own_descriptors() as (source, target):
        assert os.fstat(source).st_ino == before[0]
        assert os.fstat(target).st_ino == before[1]
        assert os.read(0, 1) == b""
        assert os.fstat(1).st_ino == os.fstat(2).st_ino
        os.close(source)
        os.close(target)
    assert [os.fstat(fd).st_ino for fd in (0, 1)] == before


async def keep_session(peer: Served) -> Session:
    """Send a request, to get at the session it belongs to."""
    sessions: list[Session | None] = []

    async def answer(exchange: Exchange) -> Response:
        sessions.append(exchange.sender.session)
        return await echo(exchange)

    peer.service.answer = answer
    peer.say(ask("first", "echo", {}))
    await peer.responses(1)
    assert sessions[0] is not None
    return sessions[0]


@pytest.mark.requirement(509)
async def test_batches_are_legal_in_one_version_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as peer:
        session = await keep_session(peer)
        peer.say([GOOD])
        assert code_of((await peer.responses(2))[1]) == -32600
        session.open("2025-03-26")
        peer.say([GOOD, GOOD | {"id": 100}])
        assert [message["id"] for message in (await peer.responses(3))[2]] == [99, 100]
        session.open("2025-06-18")
        peer.say([GOOD])
        assert code_of((await peer.responses(4))[3]) == -32600


async def test_a_session_pushes_on_the_same_channel_and_ends_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as peer:
        session = await keep_session(peer)
        session.ended = lambda _: peer.service.told.append("session ended")
        session.push(Notification("notifications/tools/list_changed"))
        assert [message.get("method") for message in await peer.responses(2)] == [
            None,
            "notifications/tools/list_changed",
        ]
        peer.hang_up()
        await peer.ended()
        assert peer.service.told == ["drain", "session ended", "close"]
