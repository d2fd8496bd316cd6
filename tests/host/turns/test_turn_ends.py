"""How turns end: stopped, a call cancelled, a server crashed, bounds reached, a model that fails."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

from host.hosting import allow, asked, call, calls, hosting, run, said, until
from host.turns.test_turn import results
from splice import Context, Server
from splice.host.asked import Approval, Decision, Filled, Form, Goon
from splice.host.failing import HostError
from splice.host.items import Call, Chat, Message, Meter, Question
from splice.host.models.base import ModelEvent
from splice.host.models.script import ScriptModel
from splice.types import CreateMessageParams, ToolResultContent, ToolUseContent
from support.warm import warm_python

MORTAL = Path(__file__).parents[2] / "support" / "mortal_server.py"


class Hanging:
    """A server with a tool that does not end by itself."""

    def __init__(self) -> None:
        self.server = Server("slow")
        self.cancelled = asyncio.Event()
        self.server.tool(self.hang)
        self.server.tool(self.quick)

    async def hang(self, ctx: Context) -> str:
        """Hang."""
        try:
            await ctx.progress(1, 4, "begun\x1b[31m")
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.cancelled.set()
            raise
        return ""

    def quick(self) -> str:
        """Answer at once."""
        return "quick"


def test_one_call_is_cancelled_and_the_turn_goes_on(tmp_path: Path) -> None:
    async def main() -> None:
        slow = Hanging()
        turns = ({"call": [call("slow__hang"), call("slow__quick")]}, {"say": "Fine.", "after": "cancelled"})
        async with hosting(tmp_path, {"slow": slow.server}, *turns) as host:
            await host.say("go")
            allow(host, *await asked(host, Approval, 2))
            shown = await until(host, Call, lambda each: each.progress is not None)
            assert shown.progress is not None
            assert (shown.progress.done, shown.progress.total, shown.progress.message) == (1, 4, "begun\\x1b[31m")
            await until(host, Call, lambda each: each.tool == "quick" and each.state == "done")
            await host.cancel(shown.id)
            assert (await host.wait()).text == "Fine."
            assert [each.state for each in calls(host)] == ["cancelled", "done"]
            await slow.cancelled.wait()  # the server was told

    run(main())


def test_a_stopped_turn_leaves_no_question_and_a_valid_history(tmp_path: Path) -> None:
    async def main() -> None:
        slow = Hanging()
        turns = ({"say": "Wait.", "call": [call("slow__hang"), call("slow__quick")]}, {"say": "Again."})
        async with hosting(tmp_path, {"slow": slow.server}, *turns) as host:
            await host.say("go")
            first, _ = await asked(host, Approval, 2)
            allow(host, first)
            await until(host, Call, lambda each: each.state == "running")
            await host.stop()
            assert host.board.all(Question) == []
            assert {each.state for each in calls(host)} == {"cancelled"}
            assert said(host, "host")[-1] == "You stopped this turn."
            uses = [block.id for block in host.chat.messages[1].blocks if isinstance(block, ToolUseContent)]
            due = [block for block in host.chat.messages[2].blocks if isinstance(block, ToolResultContent)]
            assert [block.tool_use_id for block in due] == uses
            assert all(block.is_error for block in due)
            await slow.cancelled.wait()
            await host.say("and now?")
            assert (await host.wait()).text == "Again."

    run(main())


def test_a_model_that_is_stopped_keeps_what_it_said(tmp_path: Path) -> None:
    async def main() -> None:
        model = ScriptModel([{"say": "one two three four five six"}], pace=0.03)
        async with hosting(tmp_path, {}, model=model) as host:
            await host.say("count")
            await until(host, Message, lambda each: each.role == "model" and bool(each.text))
            await host.stop()
            (message,) = [each for each in host.board.all(Message) if each.role == "model"]
            assert message.is_done
            assert message.stop == "stopped by you"
            assert host.chat.messages[-1].role == "assistant"
            chat = host.board.get(f"chat:{host.chat.id}", Chat)
            assert chat is not None
            assert not chat.is_busy

    run(main())


def test_a_server_that_crashes_in_mid_call_is_told_and_started_again_when_it_is_needed(tmp_path: Path) -> None:
    async def main() -> None:
        mortal = {"command": warm_python(), "args": [str(MORTAL)]}
        turns = (
            {"call": [call("mortal__die"), call("slow__quick")]},
            {"call": [call("mortal__who")], "after": "crashed"},
            {"say": "It lives."},
        )
        async with hosting(tmp_path, {"slow": Hanging().server, "mortal": mortal}, *turns) as host:
            await host.say("go")
            allow(host, *await asked(host, Approval, 2))
            allow(host, *await asked(host, Approval))
            assert (await host.wait()).text == "It lives."
            assert [each.state for each in calls(host)] == ["crashed", "done", "done"]
            assert any("mortal crashed" in line for line in said(host, "host"))
            assert {"crash", "start"} <= {record.kind for record in host.activity.read(server="mortal")}

    run(main())


def test_a_server_that_is_stopped_during_a_call_ends_the_call(tmp_path: Path) -> None:
    async def main() -> None:
        slow = Hanging()
        turns = ({"call": [call("slow__hang")]}, {"say": "It is gone.", "after": "server"})
        async with hosting(tmp_path, {"slow": slow.server}, *turns) as host:
            await host.say("go")
            allow(host, *await asked(host, Approval))
            await until(host, Call, lambda each: each.state == "running" and each.progress is not None)
            await host.stop_server("slow")
            assert (await host.wait()).text == "It is gone."
            assert calls(host)[0].state == "crashed"

    run(main())


def bound(question: Question) -> str:
    assert isinstance(question.asked, Goon)
    return question.asked.what


def test_bounds_of_a_turn_ask_whether_to_go_on(tmp_path: Path) -> None:
    async def main() -> None:
        quick = [call("slow__quick")]
        turns = ({"call": quick * 4}, {"call": quick}, {"say": "Enough."})
        async with hosting(tmp_path, {"slow": Hanging().server}, *turns) as host:
            await host.set("max_calls", 4)
            await host.say("go")
            (same,) = await asked(host, Goon)  # the fourth identical one
            assert bound(same).startswith("3 calls of slow__quick")
            waiting = await asked(host, Approval, 3)
            host.answer(waiting[0].id, Decision("chat"), "program")
            allow(host, same)
            (many,) = await asked(host, Goon)
            assert bound(many) == "4 calls in this turn"
            host.answer(many.id, Decision("deny"), "program")
            assert (await host.wait()).text == "Enough."
            assert "does not want more calls" in results(host.chat.messages[-2])[0][0]
            meter = host.board.get("meter:now", Meter)
            assert meter is not None
            assert meter.calls == 5

    run(main())


def test_so_many_tokens_of_a_turn_ask_whether_to_go_on(tmp_path: Path) -> None:
    async def main() -> None:
        long = {"say": "word " * 1_000, "call": [call("slow__quick")]}
        async with hosting(tmp_path, {"slow": Hanging().server}, long, long, {"say": "Enough."}) as host:
            host.permissions.grant("allow", "slow/*", chat="")
            await host.set("max_turn_tokens", 1_000)
            await host.say("go")
            for _ in range(2):  # after the first step, and again a thousand later
                (spent,) = await asked(host, Goon)
                assert bound(spent).endswith(" tokens in this turn")
                allow(host, spent)
            assert (await host.wait()).text == "Enough."

    run(main())


def test_a_model_that_is_busy_is_asked_again_and_one_that_fails_leaves_the_chat_usable(tmp_path: Path) -> None:
    async def main() -> None:
        later = {"fail": {"kind": "limit", "message": "Too many requests.", "retry_after": 0.01}}
        login = {"say": "I beg", "fail": {"kind": "login", "message": "The key is wrong."}}
        async with hosting(tmp_path, {}, later, {"say": "Hello."}, login, {"say": "Back."}) as host:
            await host.say("hi")
            assert (await host.wait()).text == "Hello."
            assert said(host, "host") == ["Too many requests. Asking again in 1 s."]
            await host.say("again")
            assert (await host.wait()).text.startswith("The key is wrong.")
            stopped = [each for each in host.board.all(Message) if each.stop == "error"]
            assert [each.text for each in stopped] == ["I beg"]
            await host.say("still there?")
            assert (await host.wait()).text == "Back."

    run(main())


def test_the_model_asks_the_user_by_a_form_and_never_for_a_secret(tmp_path: Path) -> None:
    async def main() -> None:
        city = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
        secret = {"type": "object", "properties": {"password": {"type": "string"}}}
        turns = (
            {
                "call": [
                    call("ask_user", message="Where to?", schema=city),
                    call("ask_user", message="?", schema=secret),
                    call("ask_user", message="?", schema={"type": "object", "properties": {"x": {"type": "object"}}}),
                ]
            },
            {"say": "Off we go.", "after": "Oslo"},
        )
        async with hosting(tmp_path, {}, *turns) as host:
            await host.say("plan")
            (form,) = await asked(host, Form)
            assert form.server == ""
            host.answer(form.id, Filled("accept", {"city": "Oslo"}), "web")
            assert (await host.wait()).text == "Off we go."
            assert [each.state for each in calls(host)] == ["done", "denied", "failed"]

    run(main())


class Faulty(ScriptModel):
    """A model with a fault of its own."""

    def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        raise KeyError(params.messages and "oops")


def test_a_fault_of_a_model_is_found_in_the_log(tmp_path: Path) -> None:
    async def main() -> None:
        async with hosting(tmp_path, {}, model=Faulty([])) as host:
            await host.say("go")
            assert "because of a fault (KeyError); the log says where, as `fault`" in (await host.wait()).text
            (fault,) = [each.facts for each in host.activity.read() if each.kind == "fault"]
            assert fault["why"].startswith("KeyError: 'oops', at test_turn_ends.py:")
            assert fault["trace"][-1] == "KeyError: 'oops'"

    run(main())


def test_a_chat_is_left_only_once_its_turn_is_shown_as_over(tmp_path: Path) -> None:
    async def main() -> None:
        async with hosting(tmp_path, {}, *[{"say": "done"}] * 10) as host:
            for steps in range(10):
                await host.say("go")
                for _ in range(steps % 2):
                    await asyncio.sleep(0)
                while True:
                    try:
                        await host.new_chat()
                        break
                    except HostError:
                        await asyncio.sleep(0)
            await asyncio.sleep(0)
            assert not [each for each in host.board.all(Chat) if each.is_busy]

    run(main())


def test_a_host_that_is_killed_leaves_what_was_under_way(tmp_path: Path) -> None:
    async def main() -> None:
        hanging = Hanging()
        turns = [{"say": "Now.", "call": [call("slow__quick"), call("slow__hang")]}]
        async with hosting(tmp_path, {"slow": hanging.server}, *turns) as host:
            host.grant("allow", "slow/*")
            await host.say("go")
            await until(host, Call, lambda each: each.tool == "quick" and each.state == "done")
            await asyncio.sleep(0)
            kept = host.history.items(host.chat.id)  # what the next host finds if this one ends now
            shown = {each.tool: each.state for each in kept if isinstance(each, Call)}
            assert len(shown) == 2
            assert shown["quick"] == "done"
            assert "Now." in [each.text for each in kept if isinstance(each, Message)]

    run(main())
