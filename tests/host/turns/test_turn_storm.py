"""Turns in which everything happens at once: answers, cancels, stops, restarts, in an order that a seed decides."""

import asyncio
import random
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from host.hosting import call, calls, hosting, run
from splice import Context, Server
from splice.host.asked import Approval, Decision, Filled
from splice.host.host import Host, HostError
from splice.host.items import Call, Chat, Item, Message, Question
from splice.host.records.history import History
from splice.protocol.questions import check_sampling_messages

UNDER_WAY = {"waiting", "queued", "running"}


def server() -> Server:
    made = Server("s")

    @made.tool
    async def nap(ctx: Context, times: int = 1) -> str:
        """Give way to others a few times."""
        for done in range(times):
            await ctx.progress(done, times)
        return "rested"

    @made.tool
    async def ask(ctx: Context) -> str:
        """Ask the user."""
        answer = await ctx.elicit("?", {"type": "object", "properties": {"x": {"type": "integer"}}})
        return str(answer.action)

    @made.tool
    async def hang() -> str:
        """Wait for ever."""
        await asyncio.Event().wait()
        return ""

    return made


def turns(chance: random.Random) -> list[dict[str, Any]]:
    wanted = [
        call("s__nap", times=chance.randint(0, 5)),
        call("s__ask"),
        call("s__hang"),
        call("s__none"),
        call("t__ask"),
    ]
    return [
        {"say": "x " * chance.randint(0, 9), "call": chance.choices(wanted, k=chance.randint(1, 4))}
        if chance.random() < 0.7
        else {"say": "done"}
        for _ in range(30)
    ]


async def act(host: Host, chance: random.Random) -> None:
    """Do one thing that a user may do."""
    questions, under_way = host.board.all(Question), [each for each in calls(host) if each.state in UNDER_WAY]
    match chance.randrange(8):
        case 0 | 1 | 2 if questions:
            each = chance.choice(questions)
            if isinstance(each.asked, Approval):
                host.answer(each.id, Decision(chance.choice(["once", "once", "chat", "deny"])), "web")
            else:
                host.answer(each.id, Filled("decline"), "web")
        case 3 | 4 if under_way:
            await host.cancel(chance.choice(under_way).id)
        case 5 if chance.random() < 0.3:
            await host.stop()
        case 6 if chance.random() < 0.3:
            await host.restart_server("t")
        case _:
            await host.say("go")


async def storm(host: Host, chance: random.Random) -> None:
    for _ in range(60):
        with suppress(HostError):  # what does not fit now
            await act(host, chance)
        for _ in range(chance.randint(0, 30)):
            await asyncio.sleep(0)


def shown(host: Host) -> dict[str, Item]:
    return {each.id: each for each in (*host.board.all(Message), *host.board.all(Call))}


@pytest.mark.parametrize("seed", [1, 2, 17])
def test_whatever_happens_the_chat_stays_valid_and_nothing_is_left(tmp_path: Path, seed: int) -> None:
    async def main() -> None:
        chance = random.Random(seed)
        async with hosting(tmp_path, {"s": server(), "t": server()}, *turns(chance)) as host:
            await storm(host, chance)
            await host.stop()
            assert host.board.all(Question) == []
            assert {each.state for each in calls(host)} & UNDER_WAY == set()
            assert all(each.is_done for each in host.board.all(Message))
            assert not any(each.is_busy for each in host.board.all(Chat))
            check_sampling_messages(host.chat.messages)
            id, messages, items = host.chat.id, host.chat.messages, shown(host)
            await host.new_chat()
            await host.open_chat(id)
            assert (host.chat.messages, shown(host)) == (messages, items)
            await storm(host, chance)
            faults = [each for each in host.activity.read(count=10_000) if each.kind == "fault"]
            assert faults == []
        await asyncio.sleep(0)
        assert asyncio.all_tasks() == {asyncio.current_task()}
        history = History(tmp_path / "state" / "chats.db")
        check_sampling_messages(history.messages(id))
        assert {each.state for each in history.items(id) if isinstance(each, Call)} & UNDER_WAY == set()
        history.close()

    run(main())
