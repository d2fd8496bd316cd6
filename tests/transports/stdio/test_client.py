"""Child processes as they really behave: dying, babbling, flooding, ignoring signals, leaving children behind."""

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest
import uvloop

from splice.errors import ConnectionClosed, RemoteProtocolError
from splice.protocol.jsonrpc import MAX_ANSWER_BYTES, Failure, Notification, Request, Response, Success, raw
from splice.protocol.versions import FACTS
from splice.transports import processes
from splice.transports.base import Receiver
from splice.transports.stdio import client as stdio
from splice.transports.stdio.client import StdioLink
from support.receivers import Taking, outgoing
from support.waiting import settle

FOR_EVER = 1e6

SERVER = r"""
import json, os, signal, sys, time, socket, subprocess

def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()

def reply(result):
    send(id=message.get("id"), result=result)

class Methods:
    def echo(params): reply(params)
    def env(params): reply({"env": dict(os.environ), "cwd": os.getcwd()})
    def silent(params): pass
    def die(params):
        print("last words", file=sys.stderr, flush=True)
        os._exit(params["code"])
    def killed(params): os.kill(os.getpid(), params["signal"])
    def reply_and_die(params):
        reply("done")
        os._exit(0)
    def junk(params):
        sys.stdout.buffer.write(b"hello\n\xff\xfe\x00\n\x1b[31mred\x1b[0m\n[1, 2]\n42\n\n{\"jsonrpc\": \"2.0\"}\n{")
        sys.stdout.buffer.write(b"x" * params["bytes"] + b"\n")
        sys.stdout.flush()
        reply("done")
    def stderr(params):
        for _ in range(params["lines"]):
            sys.stderr.write("e" * 1023 + "\n")
        sys.stderr.flush()
        reply("done")
    def strays(params):
        send(id="unknown", result=1)
        send(id=message["id"] + 1000, error={"code": 1, "message": "m"})
        send(error={"code": 1, "message": "m"})
        reply("first")
        reply("second")
    def ask(params):
        send(id="q", method="question", params={"a": 1})
        reply(json.loads(sys.stdin.readline()))
    def tell(params):
        send(method="notice", params={"a": 1})
        reply("done")
    def large(params):
        reply("x" * params["bytes"])
    def large_id_last(params):
        sys.stdout.write(json.dumps({"result": "x" * params["bytes"], "jsonrpc": "2.0", "id": message["id"]}) + "\n")
        sys.stdout.flush()
    def pretty(params):
        text = json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": {}}, indent=2, sort_keys=params["sort"])
        sys.stdout.write(text + "\n")
        sys.stdout.flush()
    def ask_only(params):
        send(id="q", method="question", params={"a": 1})
        reply("done")
    def batch(params):
        sys.stdout.write(json.dumps([{"jsonrpc": "2.0", "id": message["id"], "result": "batched"}]) + "\n")
        sys.stdout.flush()
    def deaf(params):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        globals()["stubborn"] = True
        reply("done")
    def shut(params):
        os.close(1)
        time.sleep(60)
    def stop_reading(params):
        reply("done")
        time.sleep(params["seconds"])
    def breed(params):
        code = (
            "import signal, socket, sys, time\n"
            "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
            "s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))\n"
            "s.sendall(b'x')\n"
            "time.sleep(60)\n"
        )
        globals()["child"] = subprocess.Popen([sys.executable, "-I", "-S", "-c", code, str(params["port"])])
        reply("done")

stubborn = False
while True:
    line = sys.stdin.readline()
    if not line:
        if not stubborn:
            break
        time.sleep(60)
    message = json.loads(line)
    if "method" in message and "id" in message:
        getattr(Methods, message["method"])(message.get("params", {}))
"""

LIMIT_SECONDS = 10.0
Call = Callable[..., Awaitable[Any]]


@asynccontextmanager
async def child(
    source: str = SERVER, receiver: Receiver | None = None, max_message: int = MAX_ANSWER_BYTES, **options: Any
) -> AsyncIterator[StdioLink]:
    link = StdioLink("fake", receiver or Taking(), None, max_message)
    await link.start([sys.executable, "-I", "-S", "-c", source], **options)
    try:
        yield link
    finally:
        await link.close()


ids = iter(range(1, 1_000_000))


async def exchange(link: StdioLink, method: str, params: Any = None) -> Response:
    async with asyncio.timeout(LIMIT_SECONDS):
        return await link.exchange(outgoing(next(ids), method, params or {}))


async def call(link: StdioLink, method: str, params: Any = None) -> Any:
    response = await exchange(link, method, params)
    assert isinstance(response, Success)
    return msgspec.json.decode(response.result)


def is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.fixture(autouse=True)
def _little_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "GRACE_SECONDS", 0.3)


async def test_a_call_and_a_graceful_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "GRACE_SECONDS", FOR_EVER)
    async with child() as link:
        assert await call(link, "echo", {"a": [1, "é"]}) == {"a": [1, "é"]}
        pid = link.pid
    assert not is_running(pid)


def test_it_works_on_uvloop() -> None:
    async def main() -> None:
        async with child() as link:
            assert await call(link, "echo", 1) == 1
            calls = (call(link, "echo", {"n": n, "pad": "x" * 20_000}) for n in range(50))
            assert [answer["n"] for answer in await asyncio.gather(*calls)] == list(range(50))
            with pytest.raises(ConnectionClosed, match=r"(?s)exited with code 3.*last words"):
                await call(link, "die", {"code": 3})

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())


async def test_only_a_little_of_our_environment_is_inherited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("TERM", "() { :; }")
    async with child(env={"EXTRA": "1", "PATH": "/x"}, cwd=tmp_path) as link:
        seen = await call(link, "env")
    assert seen["cwd"] == str(tmp_path)
    assert seen["env"]["EXTRA"] == "1"
    assert seen["env"]["PATH"] == "/x"
    assert seen["env"]["LC_TIME"] == "C"
    assert "SECRET_TOKEN" not in seen["env"]
    assert "TERM" not in seen["env"]


@pytest.mark.parametrize("command", ["/no/such/program", "nul\0byte"])
async def test_a_program_that_cannot_be_started(command: str) -> None:
    with pytest.raises(ConnectionClosed, match="Cannot start"):
        await StdioLink("fake", Taking(), None, MAX_ANSWER_BYTES).start([command])


@pytest.mark.parametrize(
    ("method", "params", "said"),
    [
        ("die", {"code": 7}, r"(?s)fake exited with code 7; the last it wrote to stderr:\nlast words"),
        ("killed", {"signal": 9}, "fake was killed by SIGKILL"),
        ("killed", {"signal": 40}, "fake was killed by signal 40"),
        ("shut", {}, "fake closed its output"),
    ],
)
async def test_a_dying_child_fails_what_is_pending_at_once(
    monkeypatch: pytest.MonkeyPatch, method: str, params: Any, said: str
) -> None:
    """Only after a child that closed its output and lives on does anything wait for last words."""
    if method != "shut":
        monkeypatch.setattr(stdio, "LAST_WORDS_SECONDS", FOR_EVER)
    async with child() as link:
        waiting = asyncio.ensure_future(exchange(link, "silent"))
        with pytest.raises(ConnectionClosed, match=said):
            await exchange(link, method, params)
        with pytest.raises(ConnectionClosed, match=said):
            await waiting
        with pytest.raises(ConnectionClosed, match=said):
            await exchange(link, "echo")
        with pytest.raises(ConnectionClosed, match=said):
            await link.notify(Notification("n"))


async def test_a_child_that_dies_at_once() -> None:
    async with child("import sys; sys.exit('no config')") as link:
        with pytest.raises(ConnectionClosed, match=r"(?s)exited with code 1.*no config"):
            await exchange(link, "echo")


async def test_a_response_written_right_before_the_end_arrives() -> None:
    async with child() as link:
        assert await call(link, "reply_and_die") == "done"


async def test_a_grandchild_that_holds_the_pipes_delays_nothing() -> None:
    source = "import subprocess, sys; subprocess.Popen(['sleep', '60']); sys.exit(5)"
    async with child(source) as link:
        with pytest.raises(ConnectionClosed, match="exited with code 5"):
            await exchange(link, "echo")
        os.killpg(link.pid, 9)


async def test_junk_on_stdout_is_skipped_counted_and_reported(caplog: pytest.LogCaptureFixture) -> None:
    async with child() as link:
        with caplog.at_level(logging.WARNING, "splice.client"):
            assert await call(link, "junk", {"bytes": 17 * 1024 * 1024}) == "done"
            assert await call(link, "echo", 1) == 1
        assert len(caplog.records) == 5
        assert all("fake" in record.message for record in caplog.records)
        with pytest.raises(ConnectionClosed, match="lines of its output were not JSON-RPC messages"):
            await exchange(link, "die", {"code": 0})


JUNK_SHOWN = r"""fake wrote to stdout what is not a message, skipped: '\x1b[31mred\x1b[0m' (Parse error: """


async def test_junk_is_shown_but_cannot_write_on_the_terminal(caplog: pytest.LogCaptureFixture) -> None:
    async with child() as link:
        assert await call(link, "junk", {"bytes": 500}) == "done"
    said = [record.getMessage() for record in caplog.records]
    assert JUNK_SHOWN in said[2]
    assert said[2].endswith(
        "A server's stdout is for messages only, one on a line; its logs belong on stderr. Only the first 5 are shown"
    )
    assert "\x1b" not in "".join(said)
    assert max(map(len, said)) < 500


@pytest.mark.parametrize("method", ["large", "large_id_last"])
async def test_an_answer_over_the_limit_ends_its_call_at_once(method: str) -> None:
    async with child(max_message=100_000) as link:
        with pytest.raises(
            RemoteProtocolError, match=r"\d{6} bytes is over the limit of 100000.*max_message=\)"
        ) as caught:
            await exchange(link, method, {"bytes": 300_000})
        assert len(str(caught.value)) < 500
        assert await call(link, "echo", 1) == 1


@pytest.mark.parametrize("sort", [False, True])
async def test_an_answer_over_several_lines_ends_its_call(sort: bool) -> None:
    async with child() as link:
        with pytest.raises(RemoteProtocolError, match="written over several lines"):
            await exchange(link, "pretty", {"sort": sort})
        assert await call(link, "echo", 1) == 1


async def test_since_2026_07_28_a_request_of_the_server_is_ignored(caplog: pytest.LogCaptureFixture) -> None:
    async def answer(request: Request) -> Response:
        raise AssertionError

    async with child(receiver=Taking(answer)) as link:
        link.agree(FACTS["2026-07-28"])
        assert await call(link, "ask_only") == "done"
        assert await call(link, "echo", 1) == 1
    assert "ignored its request 'question'" in caplog.text


@pytest.mark.requirement(101)
async def test_ten_megabytes_on_stderr_block_nothing_and_only_the_tail_is_kept() -> None:
    async with child() as link:
        assert await call(link, "stderr", {"lines": 10 * 1024}) == "done"
        assert await call(link, "echo", 1) == 1
        assert len(link.errors) <= stdio.STDERR_BYTES


async def test_late_repeated_and_unknown_responses_are_ignored() -> None:
    async with child() as link:
        assert await call(link, "strays") == "first"
        assert await call(link, "echo", 2) == 2


async def test_the_server_asks_and_tells() -> None:
    async def answer(request: Request) -> Response:
        return Success(request.id, raw({"asked": request.method}))

    receiver = Taking(answer)
    async with child(receiver=receiver) as link:
        assert (await call(link, "ask"))["result"] == {"asked": "question"}
        assert await call(link, "tell") == "done"
        assert [note.method for note in receiver.heard] == ["notice"]


async def test_batches_are_read_where_the_version_has_them() -> None:
    async with child() as link:
        link.agree(FACTS["2025-03-26"])
        assert await call(link, "batch") == "batched"
        for facts in (FACTS["2025-06-18"], None):
            link.agree(facts)
            waiting = asyncio.ensure_future(exchange(link, "batch"))
            assert await call(link, "echo", 1) == 1
            assert not waiting.done()
            waiting.cancel()


async def test_an_error_response_is_an_answer() -> None:
    source = 'import json; i = json.loads(input())["id"]; print(json.dumps({"jsonrpc": "2.0", "id": i, '
    source += '"error": {"code": -32601, "message": "no"}}))'
    async with child(source) as link:
        response = await exchange(link, "initialize")
        assert isinstance(response, Failure)


@pytest.mark.requirement(243)
async def test_cancelling_tells_the_server() -> None:
    source = r"""
import json, sys
asked = json.loads(sys.stdin.readline())["id"]
cancelled = json.loads(sys.stdin.readline())
print(json.dumps({"jsonrpc": "2.0", "id": asked, "result": "too late"}))
asked = json.loads(sys.stdin.readline())["id"]
print(json.dumps({"jsonrpc": "2.0", "id": asked, "result": cancelled["method"]}), flush=True)
"""
    async with child(source) as link:
        task = asyncio.ensure_future(exchange(link, "slow"))
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await call(link, "next") == "notifications/cancelled"


async def test_a_child_that_does_not_read_makes_writers_wait() -> None:
    async with child() as link:
        assert await call(link, "stop_reading", {"seconds": 0.5}) == "done"
        big = "x" * 1_000_000
        calls = [asyncio.ensure_future(call(link, "echo", {"n": n, "big": big})) for n in range(5)]
        note = asyncio.ensure_future(link.notify(Notification("n", {"big": big})))
        answers = await asyncio.gather(*calls)
        assert [answer["n"] for answer in answers] == list(range(5))
        await note


# Shutdown.


async def test_closing_tells_the_server_that_nobody_waits_any_more(tmp_path: Path) -> None:
    source = "import sys; open(sys.argv[1], 'w').write(sys.stdin.read())"
    target = tmp_path / "heard"
    link = StdioLink("fake", Taking(), None, MAX_ANSWER_BYTES)
    await link.start([sys.executable, "-I", "-S", "-c", source, str(target)])
    waiting = asyncio.ensure_future(exchange(link, "slow"))
    await asyncio.sleep(0)
    await link.close()
    with pytest.raises(ConnectionClosed, match="was closed"):
        await waiting
    asked, told = (msgspec.json.decode(line) for line in target.read_text().splitlines())
    assert told["method"] == "notifications/cancelled"
    assert told["params"] == {"requestId": asked["id"], "reason": "the connection is being closed"}


async def test_ignoring_eof_and_sigterm_is_answered_with_sigkill() -> None:
    async with child() as link:
        await call(link, "deaf")
        pid = link.pid
    assert not is_running(pid)


async def test_closing_twice_from_any_task_and_while_calls_run() -> None:
    async with child() as link:
        waiting = asyncio.ensure_future(exchange(link, "silent"))
        await asyncio.sleep(0)
        await asyncio.gather(asyncio.create_task(link.close()), link.close(), link.close())
        with pytest.raises(ConnectionClosed, match="was closed"):
            await waiting
        await link.close()


async def test_shutdown_ends_even_if_the_one_who_asked_for_it_is_cancelled() -> None:
    async with child() as link:
        await call(link, "deaf")
        pid = link.pid
        closing = asyncio.create_task(link.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert not is_running(pid)


async def test_grandchildren_of_a_stubborn_child_are_killed() -> None:
    connected, ended = asyncio.Event(), asyncio.Event()

    async def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        connected.set()
        await reader.read()
        writer.close()
        ended.set()

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as listener:
        port = listener.sockets[0].getsockname()[1]
        async with child() as link:
            await call(link, "breed", {"port": port})
            await call(link, "deaf")
            async with asyncio.timeout(LIMIT_SECONDS):
                await connected.wait()
        async with asyncio.timeout(LIMIT_SECONDS):
            await ended.wait()


def test_the_end_of_the_event_loop_kills_the_child(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "GRACE_SECONDS", 60)
    pids: list[int] = []

    async def main() -> None:
        async with child() as link:
            await call(link, "deaf")
            pids.append(link.pid)
            closing = asyncio.create_task(link.close())
            await settle()
            for task in asyncio.all_tasks() - {asyncio.current_task(), closing}:
                task.cancel()
            await closing
            async with asyncio.timeout(LIMIT_SECONDS):
                await link._exited.wait()

    asyncio.run(main())
    assert not is_running(pids[0])


def test_signals_to_a_group_that_is_gone_are_fine() -> None:
    for force in (False, True):
        processes.end_group(2**22 + 1, force=force)


async def test_the_end_of_stderr_is_kept_and_told_without_its_blank_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "STDERR_BYTES", 10)
    monkeypatch.setattr(StdioLink, "_transport", SimpleNamespace(get_returncode=lambda: 3), raising=False)
    link = StdioLink("fake", Taking(), None, MAX_ANSWER_BYTES)
    for number in range(100):
        link.pipe_data_received(2, b"%02d\n" % number)
    assert link.errors == b"\n97\n98\n99\n"
    link.pipe_data_received(2, b"x" * 50)
    assert link.errors == b"x" * 10
    link.pipe_data_received(2, b"\n\n\na\n \nb\n\xff")
    assert link._why() == "fake exited with code 3; the last it wrote to stderr:\na\nb\n\ufffd"
