"""A turn: the model speaks and calls, the user decides, and whatever goes wrong is told to both."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from host.hosting import allow, asked, call, calls, hosting, run, said
from splice import Server, ToolError
from splice.host.asked import Approval, Decision, ResultReview
from splice.host.models.base import ModelEvent
from splice.host.models.script import ScriptModel
from splice.types import CreateMessageParams, SamplingMessage, ToolChoice, ToolResultContent


def notes() -> Server:
    server = Server("notes")

    @server.tool
    def add(text: str) -> str:
        """Add a note."""
        return f"added {text}"

    @server.tool
    def fail() -> str:
        """Fail always."""
        raise ToolError("the disk is full")

    return server


def results(message: SamplingMessage) -> list[tuple[str, bool]]:
    """List the texts that the model got as results, and whether they are errors."""
    found = [block for block in message.blocks if isinstance(block, ToolResultContent)]
    return [("".join(getattr(each, "text", "") for each in block.content), block.is_error) for block in found]


def test_calls_run_in_parallel_after_two_approvals_at_once_and_their_results_keep_the_order(tmp_path: Path) -> None:
    server = Server("slow")
    started: list[str] = []
    all_started = asyncio.Event()

    @server.tool
    async def wait(name: str) -> str:
        """Wait until both run."""
        started.append(name)
        if len(started) == 2:
            all_started.set()
        await all_started.wait()
        return f"{name} done"

    async def main() -> None:
        turns = (
            {"say": "I look.", "call": [call("slow__wait", name="a"), call("slow__wait", name="b")]},
            {"say": "Both are done.", "after": "b done"},
        )
        async with hosting(tmp_path, {"slow": server}, *turns) as host:
            assert await host.say("go") == 1
            first, second = await asked(host, Approval, 2)
            assert [each.state for each in calls(host)] == ["waiting", "waiting"]
            allow(host, second, first)
            message = await host.wait()
            assert (message.text, message.role, message.stop) == ("Both are done.", "model", "")
            first_text, second_text = (text for text, _ in results(host.chat.messages[2]))
            assert "a done" in first_text
            assert "b done" in second_text
            shown = calls(host)
            assert [each.state for each in shown] == ["done", "done"]
            assert shown[0].trail[-1].what == "Allowed once"
            assert said(host, "model") == ["I look.", "Both are done."]
            kinds = [record.kind for record in host.activity.read(kind="call")]
            assert len(kinds) == 2

    run(main())


def test_a_denied_call_and_its_reason_are_told_to_the_model(tmp_path: Path) -> None:
    async def main() -> None:
        turns = ({"call": [call("notes__add", text="x")]}, {"say": "Then not.", "after": "rather tomorrow"})
        async with hosting(tmp_path, {"notes": notes()}, *turns) as host:
            await host.say("note x")
            (question,) = await asked(host, Approval)
            host.answer(question.id, Decision("deny", "rather tomorrow"), "terminal")
            assert (await host.wait()).text == "Then not."
            assert calls(host)[0].state == "denied"

    run(main())


def test_what_goes_wrong_with_a_call_is_a_result_that_the_model_can_act_on(tmp_path: Path) -> None:
    async def main() -> None:
        turns = (
            {"call": [call("notes__fail"), call("notes__ad", text="x"), {"name": "notes__add", "arguments": "{oops"}]},
            {"call": [call("notes__add", wrong=1)]},
            {"say": "I give up."},
        )
        async with hosting(tmp_path, {"notes": notes()}, *turns) as host:
            await host.say("try")
            allow(host, *await asked(host, Approval))
            allow(host, *await asked(host, Approval))
            await host.wait()
            failed, unknown, malformed = results(host.chat.messages[2])
            assert "the disk is full" in failed[0]
            assert "notes__add" in unknown[0]
            assert "not a JSON object" in malformed[0]
            assert all(is_error for _, is_error in results(host.chat.messages[2]))
            assert results(host.chat.messages[4])[0][1]
            assert [each.state for each in calls(host)] == ["failed"] * 4

    run(main())


class Listening(ScriptModel):
    """Keeps what it is asked."""

    def __init__(self, *turns: dict[str, Any]) -> None:
        super().__init__(turns)
        self.heard: list[CreateMessageParams] = []

    def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        self.heard.append(params)
        return super().stream(params)


def names(params: CreateMessageParams) -> list[str]:
    return [tool.name for tool in params.tools or ()]


def test_a_tool_that_the_user_names_comes_first(tmp_path: Path) -> None:
    async def main() -> None:
        model = Listening({"call": [call("notes__add", text="x")]}, {"say": "Done."})
        async with hosting(tmp_path, {"notes": notes()}, model=model) as host:
            await host.start_server("notes")
            await host.say("note x", tool="tool:notes/add")
            allow(host, *await asked(host, Approval))
            await host.wait()
            first, second = model.heard
            assert names(first) == ["notes__add"]
            assert first.tool_choice == ToolChoice(mode="required")
            assert names(second) == ["notes__add", "notes__fail", "ask_user", "read_more"]
            assert second.tool_choice is None

    run(main())


def test_with_too_many_tools_the_model_searches_and_the_inner_tool_is_approved(tmp_path: Path) -> None:
    server = Server("many")

    def numbered(number: int) -> None:
        @server.tool(name=f"tool{number}")
        def tool(text: str = "") -> str:
            return f"{number} {text}"

    for number in range(150):
        numbered(number)

    @server.tool
    def umbrella(city: str) -> str:
        """Tell whether it rains."""
        return f"rain in {city}"

    async def main() -> None:
        inner = {"name": "many__umbrella", "arguments": {"city": "Oslo"}}
        model = Listening(
            {"call": [call("search_tools", query="does it rain")]},
            {"call": [{"name": "call_tool", "arguments": inner}], "after": "many__umbrella"},
            {"say": "Take one.", "after": "rain in Oslo"},
        )
        async with hosting(tmp_path, {"many": server}, model=model) as host:
            await host.say("umbrella?")
            (question,) = await asked(host, Approval)
            assert isinstance(question.asked, Approval)
            assert question.asked.tool == "tool:many/umbrella"
            allow(host, question)
            assert (await host.wait()).text == "Take one."
            assert len(names(model.heard[0])) < 10
            assert calls(host)[1].tool == "umbrella"

    run(main())


def test_a_result_is_reviewed_before_the_model_reads_it(tmp_path: Path) -> None:
    async def main() -> None:
        turns = (
            {"call": [call("notes__add", text="x"), call("notes__add", text="y")]},
            {"say": "Ok.", "after": "less"},
        )
        async with hosting(tmp_path, {"notes": notes()}, *turns) as host:
            await host.set("reviews_results", value=True)
            await host.say("note")
            allow(host, *await asked(host, Approval, 2))
            first, second = await asked(host, ResultReview, 2)
            assert [each.result[0].text for each in calls(host)] == ["added x", "added y"]
            host.answer(first.id, Decision("once", arguments="less"), "web")
            host.answer(second.id, Decision("deny"), "web")
            assert (await host.wait()).text == "Ok."
            (edited, _), (kept, is_error) = results(host.chat.messages[2])
            assert "added x" not in edited
            assert "does not let you read" in kept
            assert is_error

    run(main())
