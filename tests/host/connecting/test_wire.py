"""The messages between the host and a server: both directions, bounded, without secrets, and next to no cost."""

import asyncio
import json
import sys
import time
import tracemalloc
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from host.hosting import asked, call, hosting, run, said, until
from splice import Context, Server, __version__
from splice.host.asked import Filled, Form, Json
from splice.host.board import Board
from splice.host.commands import carry_out
from splice.host.config.entries import Entry, Options
from splice.host.connecting.output import Output
from splice.host.connecting.wire import MAX_BYTES, MAX_MESSAGES, MAX_TEXT, Wire
from splice.host.items import Call
from splice.host.items import Output as Item
from splice.host.items import Server as Shown
from splice.protocol.jsonrpc import Notification, Request, Success, decode, raw
from support.waiting import until as soon

PROGRAM = '''
import os
from splice import Context, Server
server = Server("s")

@server.tool
async def echo(word: str, ctx: Context) -> str:
    """Say it back."""
    await ctx.info("hearing")
    return word + os.environ["API_KEY"]

@server.tool
async def crash() -> str:
    """End."""
    os._exit(3)

server.run()
'''


def methods(host: Any, server: str) -> list[tuple[str, str]]:
    found = [(each.direction, json.loads(each.text)) for each in host.messages(server)]
    return [(direction, body.get("method", "result" if "result" in body else "error")) for direction, body in found]


def test_of_a_process_both_directions_are_seen_without_secrets_and_a_crash_is_still_noticed(tmp_path: Path) -> None:
    entry = {"command": sys.executable, "args": ["-c", PROGRAM], "env": {"API_KEY": 'ses"/ame-1'}}

    async def main() -> None:
        began = time.time()
        turns = ({"call": [call("s__echo", word="hi")]}, {"say": "So."}, {"call": [call("s__crash")]}, {"say": "Oh."})
        async with hosting(tmp_path, {"s": entry}, *turns, policy="headless") as host:
            host.permissions.grant("allow", "s/*", chat="")
            await host.say("Go")
            await host.wait()
            seen = methods(host, "s")
            assert seen[0] == ("to", "server/discover")
            assert [*seen[-3:]] == [("to", "tools/call"), ("from", "notifications/message"), ("from", "result")]
            last = host.messages("s")[-1]
            assert "hi***" in last.text
            assert "ame-1" not in last.text
            assert last.number == len(seen)
            assert began <= last.at <= time.time()
            assert not last.cut
            assert host.messages("s", after=last.number - 1) == [last]
            told: Any = await carry_out(host, "messages", {"server": "s", "after": last.number - 1}, "web")
            assert told[0]["direction"] == "from"
            assert (await until(host, Item, lambda item: item.messages == last.number)).lines
            await host.say("Crash")
            await host.wait()
            assert (await until(host, Call, lambda item: item.tool == "crash")).state == "crashed"
            assert (await until(host, Shown)).state == "crashed"
            assert any("exit" in line for line in said(host, "host"))

    run(main())


def test_of_this_process_questions_and_cancelled_calls_are_seen(tmp_path: Path) -> None:
    server, is_waiting = Server("s"), asyncio.Event()

    @server.tool
    async def ask(ctx: Context) -> str:
        """Ask for folders, then wait."""
        await ctx.roots()
        is_waiting.set()
        await asyncio.Event().wait()
        return ""

    async def main() -> None:
        async with hosting(tmp_path, {"s": server}, {"call": [call("s__ask")]}, policy="headless") as host:
            host.permissions.grant("allow", "s/*", chat="")
            await host.say("Go")
            await is_waiting.wait()
            await host.stop()
            seen = methods(host, "s")
            assert seen.count(("to", "tools/call")) == 2  # asked for what was wanted, and again with it
            assert ("to", "notifications/cancelled") not in seen  # a call of a function is just cancelled
            who = f'{{"name":"splice-host","version":"{__version__}"}}'
            assert all(who in each.text for each in host.messages("s") if '"tools/call"' in each.text)

    run(main())


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
def test_a_secret_that_the_user_types_for_a_server_is_not_seen(tmp_path: Path, protocol: Any) -> None:
    server = Server("s")

    @server.tool
    async def unlock(ctx: Context) -> str:
        """Ask for what opens it."""
        schema = {"type": "object", "properties": {"password": {"type": "string"}, "place": {"type": "string"}}}
        found = await ctx.elicit("Open it", schema)
        return str(found.data)

    async def main() -> None:
        client = Entry(name="s", transport="memory", options=Options(protocol=protocol))
        async with hosting(tmp_path, {"t": Server("t")}, {"call": [call("s__unlock")]}, {"say": "So."}) as host:
            host.add_entry(client, server)
            host.permissions.grant("allow", "s/*", chat="")
            await host.say("Go")
            [form] = await asked(host, Form)
            values: dict[str, Json] = {"password": "open-sesame", "place": "the cave"}
            assert host.answer(form.id, Filled("accept", values), "program") == ""
            await host.wait()
            text = "".join(each.text for each in host.messages("s"))
            assert "the cave" in text
            assert "open-sesame" not in text

    run(main())


async def test_it_is_bounded_and_a_secret_at_the_cut_is_not_half_seen() -> None:
    board = Board()
    output = Output("s", board)
    wire, secret = output.wire, "open-sesame-now"
    output.hide([secret])
    output.hide(["another"])
    room = MAX_TEXT - len('{"jsonrpc":"2.0","id":1,"result":"') - 4
    wire.keep("from", Success(1, raw("x" * room + secret + "y" * 3 * MAX_TEXT)))
    wire.keep("to", Request(2, "tools/call", raw({"a": [secret, "another"]})))
    wire.keep("to", Request(3, "tools/call", {"a": {1j}}))
    first, second, third = wire.messages()
    assert first.cut
    assert MAX_TEXT - len(secret) <= len(first.text) <= MAX_TEXT
    assert first.text.endswith("xxx")
    assert second.text == '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"a":["***","***"]}}'
    assert third.text.startswith("It cannot be written as JSON")
    for number in range(2 * MAX_MESSAGES):
        wire.keep("from", Notification("n", raw("z" * 40 * number)))
    kept = wire.messages()
    assert len(kept) <= MAX_MESSAGES
    assert sum(len(each.text) for each in kept) < MAX_BYTES + MAX_TEXT
    assert kept[-1].number == wire.count == 2 * MAX_MESSAGES + 3
    await soon(lambda: board.get("output:s", Item) is not None)
    assert board.get("output:s", Item) == Item(id="output:s", server="s", messages=wire.count)


async def test_no_part_of_a_secret_is_left_however_it_is_written_and_wherever_a_message_is_cut() -> None:
    """A library may write any character as an escape: .NET does so with + and quotes."""
    output, secret = Output("s", Board()), 'ses+ame/"Ä\U0001f511"-now'
    wire = output.wire
    output.hide([secret])
    every = "".join(f"\\u{int.from_bytes(unit):04X}" for unit in _units(secret))
    forms = (
        every,
        every.lower().replace("\\U", "\\u"),
        json.dumps(secret)[1:-1].replace("+", "\\u002B"),
        quote(secret, safe=""),
    )
    for form in forms:
        wire.keep("from", decode(f'{{"jsonrpc":"2.0","method":"n","params":{{"{form}":"\\u0041 {form}"}}}}'.encode()))
        assert wire.messages()[-1].text.count("***") == 2
        assert json.loads(wire.messages()[-1].text)["params"] == {"***": "A ***"}
    output.hide(["open-sesame-now"])
    for fill in ("é", "open-sesame-now "):  # in bytes it is longer than in characters, and hiding makes it shorter
        for pad in range(16):
            wire.keep("from", Notification("n", raw("x" * pad + fill * 100_000 + "open-sesame-now")))
            assert "open" not in wire.messages()[-1].text
            wire.keep(
                "from", Notification("n", raw("x" * pad + fill * 4_351 + "é" * 5_000 + "open-sesame-now" * 9_000))
            )
            assert "open" not in wire.messages()[-1].text


async def test_what_is_kept_is_bounded_in_memory_whatever_part_of_a_message_is_long() -> None:
    long = "m" * 2**20
    for text in (f'"method":"{long}"', f'"method":"n","other":"{long}","params":{{}}', f'"id":"{long}","method":"n"'):
        output = Output("s", Board())
        tracemalloc.start()
        for _ in range(20):
            output.wire.keep("from", decode(f'{{"jsonrpc":"2.0",{text}}}'.encode()))
        taken, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert taken < 4 * 2**20
        output.close()


def _units(text: str) -> list[bytes]:
    data = text.encode("utf-16-be")
    return [data[at : at + 2] for at in range(0, len(data), 2)]


def test_a_flood_costs_next_to_nothing() -> None:
    """What is kept becomes text, and secrets are looked for in it, only when somebody asks."""
    read: list[str] = []

    def blotted(text: str) -> str:
        read.append(text)
        return text

    wire, note = Wire(lambda: None, blotted), Notification("notifications/message", raw({"data": "a few words"}))
    for _ in range(10_000):
        wire.keep("from", note)
    assert read == []
    assert len(wire.messages()) == len(read) == MAX_MESSAGES
