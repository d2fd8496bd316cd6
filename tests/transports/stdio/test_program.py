"""Serving on stdin and stdout as a real program, whose handlers misbehave in every way they can."""

import asyncio
import contextlib
import resource
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from splice.protocol.jsonrpc import MAX_MESSAGE_BYTES
from support.program import interrupted, program
from support.warm import warm_python
from support.wire import answer, ask, call, cancel, code_of, initialize, line, lines, modern, note

BAD = {
    "not json": (b"hello\n", -32700, None),
    "invalid utf-8": (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}\n', -32700, 1),
    "a lone surrogate": (b'{"jsonrpc":"2.0","id":1,"method":"\\ud800"}\n', -32700, 1),
    "nul": (b"\x00\n", -32700, None),
    "too deep": (b'{"jsonrpc":"2.0","id":1,"method":"x","params":' + b"[" * 9999 + b"]" * 9999 + b"}\n", -32700, 1),
    "too large": (b"x" * (MAX_MESSAGE_BYTES + 1) + b"\n", -32600, None),
    "too large, with an id": (b'{"jsonrpc":"2.0","id":7,"x":"' + b"x" * MAX_MESSAGE_BYTES + b'"}\n', -32600, 7),
    "too large, with an id in the end": (b'{"params":"' + b"x" * MAX_MESSAGE_BYTES + b'","id":7}\n', -32600, 7),
    "an id that is a float": (b'{"jsonrpc":"2.0","id":7.0,"method":"no/such"}\n', -32601, 7),
    "a null id": (b'{"jsonrpc":"2.0","id":null,"method":"ping"}\n', -32600, None),
    "an unknown method": (line(ask(7, "no/such")), -32601, 7),
    "a method of the other side": (line(ask(7, "sampling/createMessage", {})), -32601, 7),
    "a batch": (line([ask(7, "ping")]), -32600, 7),
    "params of the wrong shape": (line(ask(7, "tools/call", [])), -32602, 7),
    "an unknown tool": (line(call(7, "no-such")), -32602, 7),
    "a stray response": (line(answer(7, {})), None, None),
    "a stray notification": (line(note("no/such", {"a": 1})), None, None),
    "a stray cancellation": (line(cancel(12345)), None, None),
    "blank lines": (b"\n \n\r\n", None, None),
}


async def test_a_program_survives_all_bad_input() -> None:
    async with program(python=warm_python()) as server:
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
    async with program(python=warm_python()) as server:
        await server.open("2025-11-25")
        await server.send(call("a", "hangs", _meta={"progressToken": 1}), call("a", "echo", {"text": "again"}))
        assert code_of(await server.response("a")) == -32600
        await server.send(cancel("a"), call("a", "echo", {"text": "free again"}))
        assert (await server.response("a"))["result"]["content"][0]["text"] == "free again"
        await server.said("cleaned up")


async def test_a_program_takes_batches_where_they_are_legal() -> None:
    async with program(python=warm_python()) as server:
        await server.open("2025-03-26")
        await server.send([ask(1, "ping"), note("x"), call(2, "echo", {"text": "b"}), ask(3, "no/such")])
        replies = await server.receive()
        assert sorted((message["id"], code_of(message)) for message in replies) == [(1, None), (2, None), (3, -32601)]


async def test_both_eras_are_served_at_once() -> None:
    async with program(python=warm_python()) as server:
        assert code_of(await server.request(ask(1, "tools/list"))) == -32602
        tools = await server.request(modern(2, "tools/list"))
        assert tools["result"]["resultType"] == "complete"
        await server.open("2025-06-18")
        assert "resultType" not in (await server.request(ask(3, "tools/list")))["result"]
        assert (await server.request(modern(4, "server/discover")))["result"]["supportedVersions"]


@pytest.mark.requirement(102)
async def test_what_handlers_print_never_reaches_the_wire() -> None:
    async with program() as server:
        await server.open("2025-11-25")
        assert (await server.request(call(1, "chatter")))["result"]["content"][0]["text"] == "done"
        assert server.others == []
        for source in ("print", "sys.stdout", "sys.__stdout__", "os.write", "a child", "C"):
            await server.said(f"from {source}\n")


async def test_handlers_read_nothing_from_our_input() -> None:
    async with program(python=warm_python()) as server:
        await server.open("2025-11-25")
        reply = await server.request(call(1, "reads"))
        assert reply["result"]["content"][0]["text"] == "b''''"
        assert "result" in await server.request(ask(2, "ping"))


@pytest.mark.parametrize("how", ["eof", signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
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


@pytest.mark.parametrize("how", ["eof", signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_an_idle_program_ends_at_once(how: Any) -> None:
    async with program() as server:
        await server.open("2025-11-25")
        if how == "eof":
            server.close_input()
        else:
            server.process.send_signal(how)
        assert await server.ended(1) == 0


async def test_a_second_ctrl_c_ends_a_program_at_once() -> None:
    async with program() as server:
        await server.open("2025-11-25")
        await server.send(call(1, "hangs", _meta={"progressToken": 5}))
        await server.receive()
        assert await interrupted(server, 2) == -signal.SIGINT
        assert server.errors == b""


async def test_a_program_told_to_end_before_anything_was_said_does() -> None:
    async with program() as server:
        server.close_input()
        assert await server.ended() == 0
        assert server.errors == b""


async def test_a_stuck_thread_does_not_keep_the_process_alive() -> None:
    async with program(python=warm_python()) as server:
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
    async with program(python=warm_python()) as server:
        await server.open("2025-11-25")
        reply = await server.request(call(1, tool, {"how": how}))
        assert code_of(reply) == -32603 or reply["result"]["isError"]
        assert "result" in await server.request(ask(2, "ping"))


async def test_an_interrupt_that_a_handler_raises_ends_the_server_as_ctrl_c_does() -> None:
    async with program() as server:
        await server.open("2025-11-25")
        await server.send(call(1, "leaves_async", {"how": "interrupt"}))
        assert await server.ended() == 130


async def test_standard_input_may_be_a_file(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_bytes(line(initialize(), *(call(id, "on_thread", {"text": "x"}) for id in range(1, 20))))
    with script.open("rb") as source:
        async with program(stdin=source, python=warm_python()) as server:
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
        async with program(stdout=target, python=warm_python()) as server:
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
