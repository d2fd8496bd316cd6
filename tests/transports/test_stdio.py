"""Serving on stdin and stdout: in this process over pipes, and as a real program."""

import asyncio
import contextlib
import os
import resource
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from splice.errors import ConnectionClosed
from splice.protocol.jsonrpc import MAX_MESSAGE_BYTES, Notification, Request, Response, Success
from splice.transports import stdio
from splice.transports.base import Exchange
from support.program import program
from support.services import Scripted, never
from support.waiting import settle, until
from support.wire import JSON, answer, ask, call, cancel, code_of, initialize, line, lines, modern, note

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
        assert peer.service.told == ["open"]
        peer.hang_up()
        await peer.ended()
        assert peer.service.told == ["open", "stop", "close", "end"]
        assert [each.method for each, _ in peer.service.noted] == ["hello"]
        assert peer.service.noted[0][1].kind == "stdio"


async def test_what_is_in_flight_at_the_end_of_input_is_finished(monkeypatch: pytest.MonkeyPatch) -> None:
    service = Scripted()

    async def slow(exchange: Exchange) -> Response:
        await until(lambda: "stop" in service.told)
        assert "end" not in service.told
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
            await exchange.ask(Request(0, "roots/list"))
        except ConnectionClosed as error:
            reasons.append(str(error))
        return Success(exchange.request.id, "went on")

    async with served(monkeypatch, Scripted(asks)) as peer:
        peer.say(ask(1, "asks"))
        await peer.responses(1)
        peer.hang_up()
        async with asyncio.timeout(1):
            await peer.task
        assert peer.read()[1] == answer(1, "went on")
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
        assert peer.service.told[-1] == "end"


async def test_the_client_may_leave_without_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as peer:
        peer.leave()
        peer.say(GOOD, GOOD)
        await peer.ended()
        assert peer.service.told[-1] == "end"


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
    assert service.told == ["open", "stop", "close", "end"]


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
    assert service.told == ["open", "stop", "close", "end"]
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


async def test_batches_are_legal_in_one_version_only(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as peer:
        peer.say([GOOD])
        (refused,) = await peer.responses(1)
        assert code_of(refused) == -32600
        peer.service.sessions[0].version = "2025-03-26"
        peer.say([GOOD, GOOD | {"id": 100}])
        assert [message["id"] for message in (await peer.responses(3))[1:]] == [99, 100]
        peer.service.sessions[0].version = "2025-06-18"
        peer.say([GOOD])
        assert code_of((await peer.responses(4))[3]) == -32600


async def test_a_session_pushes_on_the_same_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as peer:
        await until(lambda: peer.service.sessions)
        peer.service.sessions[0].push(Notification("notifications/tools/list_changed"))
        assert [message["method"] for message in await peer.responses(1)] == ["notifications/tools/list_changed"]


# As a program.

BAD = {
    "not json": (b"hello\n", -32700, None),
    "invalid utf-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}\n', -32700, None),
    "a lone surrogate": (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}\n', -32700, None),
    "nul": (b"\x00\n", -32700, None),
    "too deep": (b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 9999 + b"]" * 9999 + b"}\n", -32700, None),
    "too large": (b"x" * (MAX_MESSAGE_BYTES + 1) + b"\n", -32600, None),
    "a null id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600, None),
    "an unknown method": (line(ask(7, "no/such")), -32601, 7),
    "a method of the other side": (line(ask(7, "sampling/createMessage", {})), -32601, 7),
    "a batch": (line([ask(7, "ping")]), -32600, None),
    "params of the wrong shape": (line(ask(7, "tools/call", [])), -32602, 7),
    "an unknown tool": (line(call(7, "no-such")), -32602, 7),
    "a stray response": (line(answer(7, {})), None, None),
    "a stray notification": (line(note("no/such", {"a": 1})), None, None),
    "a stray cancellation": (line(cancel(12345)), None, None),
    "blank lines": (b"\n \n\r\n", None, None),
}


async def test_a_program_survives_all_bad_input() -> None:
    async with program() as server:
        await server.open("2025-11-25")
        for name, (bad, code, id) in BAD.items():
            await server.send(bad, call(99, "echo", {"text": name}))
            good = await server.response(99)
            assert good["result"]["content"][0]["text"] == name
            errors = [(code_of(message), message.get("id")) for message in server.others]
            assert errors == ([] if code is None else [(code, id)]), name
            server.others.clear()
        server.close_input()
        assert await server.ended() == 0
        assert server.errors == b"lifespan closed\n"


async def test_a_program_refuses_an_id_in_flight_and_stays_silent_after_a_cancellation() -> None:
    async with program() as server:
        await server.open("2025-11-25")
        await server.send(call("a", "hangs", _meta={"progressToken": 1}), call("a", "echo", {"text": "again"}))
        assert code_of(await server.response("a")) == -32600
        await server.send(cancel("a"), call("a", "echo", {"text": "free again"}))
        assert (await server.response("a"))["result"]["content"][0]["text"] == "free again"
        await server.said("cleaned up")


async def test_a_program_takes_batches_where_they_are_legal() -> None:
    async with program() as server:
        await server.open("2025-03-26")
        await server.send([ask(1, "ping"), note("x"), call(2, "echo", {"text": "b"}), ask(3, "no/such")])
        replies = [await server.receive() for _ in range(3)]
        assert sorted((message["id"], code_of(message)) for message in replies) == [(1, None), (2, None), (3, -32601)]


async def test_both_eras_are_served_at_once() -> None:
    async with program() as server:
        assert code_of(await server.request(ask(1, "tools/list"))) == -32600
        tools = await server.request(modern(2, "tools/list"))
        assert tools["result"]["resultType"] == "complete"
        await server.open("2025-06-18")
        assert "resultType" not in (await server.request(ask(3, "tools/list")))["result"]
        assert (await server.request(modern(4, "server/discover")))["result"]["supportedVersions"]


async def test_what_handlers_print_never_reaches_the_wire() -> None:
    async with program() as server:
        await server.open("2025-11-25")
        assert (await server.request(call(1, "chatter")))["result"]["content"][0]["text"] == "done"
        assert server.others == []
        for source in ("print", "sys.stdout", "sys.__stdout__", "os.write", "a child", "C"):
            await server.said(f"from {source}\n")


async def test_handlers_read_nothing_from_our_input() -> None:
    async with program() as server:
        await server.open("2025-11-25")
        reply = await server.request(call(1, "reads"))
        assert reply["result"]["content"][0]["text"] == "b''''"
        assert "result" in await server.request(ask(2, "ping"))


@pytest.mark.parametrize("how", ["eof", signal.SIGTERM, signal.SIGINT])
async def test_a_program_ends_with_its_calls_finished(how: Any) -> None:
    """The lifespan is still open for them, and so is the way to the client."""
    async with program() as server:
        await server.open("2025-11-25")
        await server.send(call(1, "last", _meta={"progressToken": 5}))
        assert (await server.receive())["params"]["progress"] == 1
        if how == "eof":
            server.close_input()
        else:
            server.process.send_signal(how)
        progress, finished = await server.rest()
        assert progress["params"]["progress"] == 2
        assert finished["result"]["content"][0]["text"] == "finished, lifespan open"
        assert await server.ended(2) == 0
        assert server.errors == b"lifespan closed\n"


@pytest.mark.parametrize("how", ["eof", signal.SIGTERM, signal.SIGINT])
async def test_an_idle_program_ends_at_once(how: Any) -> None:
    async with program() as server:
        await server.open("2025-11-25")
        if how == "eof":
            server.close_input()
        else:
            server.process.send_signal(how)
        assert await server.ended(1) == 0


async def test_a_program_told_to_end_before_anything_was_said_does() -> None:
    async with program() as server:
        server.close_input()
        assert await server.ended() == 0
        assert server.errors == b""


async def test_a_stuck_thread_does_not_keep_the_process_alive() -> None:
    async with program() as server:
        await server.open("2025-11-25")
        await server.send(call(1, "stuck"))
        await server.said("stuck")
        assert "result" in await server.request(ask(2, "ping"))
        server.close_input()
        (late,) = await server.rest()
        assert code_of(late) == -32603
        assert await server.ended(10) == 0


async def test_a_program_whose_reader_left_ends() -> None:
    async with program() as server:
        await server.open("2025-11-25")
        transport: Any = server.process._transport  # type: ignore[attr-defined]  # there is no other way to one pipe
        transport.get_pipe_transport(1).close()
        with contextlib.suppress(ConnectionError):
            while server.process.returncode is None:
                await server.send(call(1, "large", {"size": 100_000}))
        assert await server.ended() == 0


@pytest.mark.parametrize(
    ("tool", "how"),
    [
        ("leaves", "exit"),
        ("leaves", "interrupt"),
        ("leaves", "base"),
        ("leaves", "generator"),
        ("leaves_async", "exit"),
        ("leaves_async", "cancel"),
        ("leaves_async", "base"),
    ],
)
async def test_a_handler_cannot_bring_the_server_down(tool: str, how: str) -> None:
    async with program() as server:
        await server.open("2025-11-25")
        reply = await server.request(call(1, tool, {"how": how}))
        assert code_of(reply) == -32603 or reply["result"]["isError"]
        assert "result" in await server.request(ask(2, "ping"))


async def test_standard_input_may_be_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(line(initialize(), *(call(id, "on_thread", {"text": "x"}) for id in range(1, 20))))
    with script.open("rb") as source:
        async with program(stdin=source) as server:
            assert sorted(message["id"] for message in await server.rest()) == list(range(20))
            assert await server.ended() == 0


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
async def test_a_descriptor_that_is_closed_from_the_start_is_as_good_as_nothing(closed: str) -> None:
    shell = await asyncio.create_subprocess_shell(
        f"exec {sys.executable} -c 'from splice import Server; Server(\"s\").run()' </dev/null {closed}",
        stderr=asyncio.subprocess.PIPE,
    )
    async with asyncio.timeout(5):
        _, errors = await shell.communicate()
    assert (shell.returncode, errors) == (0, b"")


async def test_standard_input_may_be_nothing() -> None:
    async with program(stdin=asyncio.subprocess.DEVNULL) as server:
        assert await server.ended() == 0
        assert server.errors == b""


async def test_standard_output_may_be_a_file(tmp_path: Path) -> None:
    with (tmp_path / "out").open("wb") as target:
        async with program(stdout=target) as server:
            await server.send(initialize(), call(1, "large", {"size": 300_000}), call(2, "chatter"))
            server.close_input()
            assert await server.ended() == 0
    assert sorted(message["id"] for message in lines((tmp_path / "out").read_bytes())) == [0, 1, 2]


async def test_output_goes_nowhere_without_harm() -> None:
    async with program(stdout=asyncio.subprocess.DEVNULL) as server:
        await server.send(initialize(), call(1, "echo", {"text": "x"}))
        server.close_input()
        assert await server.ended() == 0


async def test_memory_stays_bounded_while_nobody_reads() -> None:
    """Gigabytes of answers are asked for; the server stops reading long before it has made them."""
    async with program() as server:
        await server.open("2025-11-25")
        assert server.process.stdin is not None
        flood = line(*(call(id, "large", {"size": 1_000_000}) for id in range(1, 3000)))
        server.process.stdin.write(flood)
        await server.receive()
        peak = memory_of(server.process.pid)
        for _ in range(20):
            await server.receive()
            peak = max(peak, memory_of(server.process.pid))
        assert peak < 1_500_000_000


def memory_of(pid: int) -> int:
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * resource.getpagesize()


async def test_options_that_stdio_has_not_are_refused() -> None:
    code = "from splice import Server; Server('s').run('stdio', port=1)"
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", code, stderr=asyncio.subprocess.PIPE)
    _, errors = await process.communicate()
    assert b"stdio has no option port" in errors
