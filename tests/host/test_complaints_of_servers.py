"""What users of other hosts complain about, of servers, their lists and runs by themselves. Docstrings say what."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from client.scripted import DONE, Listenable, forever, returning
from host.hosting import allow, asked, call, calls, hosting, run, said, until
from host.turns.test_turn import results
from splice import ConnectFailed, Context, Server
from splice.host import headless
from splice.host.asked import Approval, Trust
from splice.host.config.entries import Entry
from splice.host.config.reading import entry_of
from splice.host.host import Host, HostError
from splice.host.items import Meter, Notice, Tool
from splice.host.items import Server as Shown
from splice.host.models.base import ModelEvent
from splice.host.models.script import ScriptModel
from splice.types import CreateMessageParams
from support.warm import warm_python

MORTAL = Path(__file__).parents[1] / "support" / "mortal_server.py"


class Listening(ScriptModel):
    """A scripted model that remembers the names of the tools that it was given, step by step."""

    def __init__(self, *turns: dict[str, Any]) -> None:
        super().__init__(turns)
        self.given: list[list[str]] = []

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        self.given.append([tool.name for tool in params.tools or ()])
        async for event in super().stream(params):
            yield event


def many(count: int) -> Listenable:
    """Make a server that lists so many tools, page by page."""

    async def page(message: Any, link: Any) -> Any:
        begin = int(message["params"].get("cursor", 0))
        end = min(begin + 100, count)
        tools = [
            {"name": f"tool_{number}", "description": f"Do the work {number}.", "inputSchema": {"type": "object"}}
            for number in range(begin, end)
        ]
        more = {"nextCursor": str(end)} if end < count else {}
        return {"tools": tools, "resultType": "complete", "ttlMs": 0, "cacheScope": "private", **more}

    target = Listenable(prompts=None, resources=None)
    target.methods.update({"tools/list": page, "tools/call": returning({**DONE, "resultType": "complete"})})
    return target


def entry(name: str, protocol: str, timeout: float = 60.0) -> Entry:
    return entry_of(name, {"command": "true", "x-splice": {"protocol": protocol, "timeout": timeout}})


def definitions(model: Listening, step: int) -> set[str]:
    return set(model.given[step]) - {"ask_user", "read_more", "read_resource"}


def test_three_hundred_tools_are_three_hundred_tools(tmp_path: Path) -> None:
    """More than 128 tools are an error, or are dropped silently after the 40th, and the count is wrong."""

    async def main() -> None:
        model = Listening(
            {"call": [call("search_tools", query="work 299"), call("describe_tool", name="big__tool_299")]},
            {"call": [call("call_tool", name="big__tool_299", arguments={})]},
            {"say": "So."},
        )
        async with hosting(tmp_path, {"big": many(300)}, model=model) as host:
            await host.say("go")
            (question,) = await asked(host, Approval)
            assert isinstance(question.asked, Approval)
            assert question.asked.tool == "tool:big/tool_299"  # the tool itself is asked about
            allow(host, question)
            await host.wait()
            assert definitions(model, 0) == definitions(model, 2) == {"search_tools", "describe_tool", "call_tool"}
            found, described = (text for text, _ in results(host.chat.messages[2]))
            assert "big__tool_299" in found
            assert "inputSchema" in described
            shown = host.board.get("server:big", Shown)
            assert shown is not None
            assert shown.tools == len(host.board.all(Tool)) == 300
            assert [each.tool for each in calls(host)][-1] == "tool_299"
            meter = host.board.get("meter:now", Meter)
            assert meter is not None
            assert meter.is_searching

    run(main())


def test_what_definitions_cost_is_told(tmp_path: Path) -> None:
    """Definitions of tools eat the window before anything is said, and nobody is told."""

    async def main() -> None:
        async with hosting(tmp_path, {"few": many(8)}, {"say": "So."}) as host:
            await host.say("go")
            await host.wait()
            meter = host.board.get("meter:now", Meter)
            assert meter is not None
            tools = host.board.all(Tool)
            assert all(each.tokens > 10 for each in tools)
            assert sum(each.tokens for each in tools) <= meter.definitions < meter.window

    run(main())


@pytest.mark.parametrize("protocol", ["modern", "legacy"])
def test_a_list_that_changes_during_a_call_counts_in_the_next_step(tmp_path: Path, protocol: str) -> None:
    """`list_changed` is not heard within a turn: the model does not get the tool that its own call has made."""
    server = Server("tree")

    @server.tool
    def grow() -> str:
        """Add a tool."""

        @server.tool
        def fruit() -> str:
            """Give a fruit."""
            return "an apple"

        return "grown"

    async def main() -> None:
        model = Listening(
            {"call": [call("tree__grow")]}, {"call": [call("tree__fruit")]}, {"say": "So.", "after": "an apple"}
        )
        async with hosting(tmp_path, {}, model=model) as host:
            host.add_entry(entry("tree", protocol), server)
            host.permissions.grant("allow", "tree/*")
            await host.set("asks_after_outside", value=False)
            await host.say("go")
            assert (await host.wait()).text == "So."
            assert definitions(model, 0) == {"tree__grow"}
            assert definitions(model, 1) == {"tree__grow", "tree__fruit"}
            assert "+1 tools of tree" in said(host, "host")

    run(main())


def test_a_turn_waits_for_a_server_that_is_starting(tmp_path: Path) -> None:
    """Races at the start: the first turn runs without the tools of servers that are not up yet."""

    async def main() -> None:
        model, target, may_answer = Listening({"say": "So."}), many(2), asyncio.Event()
        discovered = target.methods["server/discover"]

        async def late(message: Any, link: Any) -> Any:
            await may_answer.wait()
            return await discovered(message, link)

        target.methods["server/discover"] = late
        async with hosting(tmp_path, {"late": target}, model=model) as host:
            starting = [asyncio.ensure_future(host.start_server("late")) for _ in range(2)]
            await until(host, Shown, lambda each: each.state == "starting")
            await host.say("go")
            may_answer.set()
            await host.wait()
            await asyncio.gather(*starting)
            assert len(target.links) == 1  # started once, for all who want it
            assert definitions(model, 0) == {"late__tool_0", "late__tool_1"}

    run(main())


def test_a_change_while_lists_are_asked_for_is_not_lost(tmp_path: Path) -> None:
    """Races at the start: a list that changes while the server starts stays as it was first."""

    async def main() -> None:
        target = many(1)
        first, second = target.methods["tools/list"], many(2).methods["tools/list"]

        async def changing(message: Any, link: Any) -> Any:
            answer = await first(message, link)
            target.methods["tools/list"] = second
            await target.tell_change("notifications/tools/list_changed")
            return answer

        target.methods["tools/list"] = changing
        async with hosting(tmp_path, {"hasty": target}) as host:
            await host.start_server("hasty")
            await until(host, Tool, lambda each: each.name == "tool_1")

    run(main())


def test_a_server_that_could_not_be_reached_once_is_tried_again(tmp_path: Path, monkeypatch: Any) -> None:
    """A server that was away for a moment has to be started by hand."""

    async def main() -> None:
        target = many(1)
        turn = {"call": [call("far__tool_0")]}, {"say": "So."}
        async with hosting(tmp_path, {"far": target}, *turn, *turn) as host:
            host.permissions.grant("allow", "far/*")
            await host.start_server("far")
            await host.stop_server("far")
            monkeypatch.setattr(target, "connect", away)
            await host.say("go")
            await host.wait()
            shown = host.board.get("server:far", Shown)
            assert shown is not None
            assert (shown.state, shown.word) == ("crashed", "It is away. It is tried again when it is needed")
            monkeypatch.undo()
            await host.say("go")
            await host.wait()
            assert [each.state for each in calls(host)] == ["failed", "done"]

    run(main())


async def away(_receiver: Any) -> Any:
    raise ConnectFailed("It is away")


def test_nothing_of_a_long_result_is_lost_silently(tmp_path: Path) -> None:
    """Long results are cut, and neither the user nor the model is told."""
    server = Server("long")

    @server.tool
    def text() -> str:
        """Give five million characters."""
        return "0123456789" * 500_000

    async def main() -> None:
        async with hosting(tmp_path, {"long": server}, {"call": [call("long__text")]}, {"say": "So."}) as host:
            host.permissions.grant("allow", "long/*")
            await host.say("go")
            await host.wait()
            (shown,) = calls(host)
            assert shown.bytes >= 5_000_000
            assert 0 < shown.given_tokens < shown.tokens
            assert shown.word
            assert shown.result[0].cut + len(shown.result[0].text) == 5_000_000
            assert "read_more" in results(host.chat.messages[2])[0][0]

    run(main())


# Files, and what programs get.


def test_what_is_wrong_in_a_file_is_said_with_its_place_and_the_rest_goes_on(tmp_path: Path) -> None:
    """Errors in configuration files are silent: a server is missing, and nobody knows why."""
    (tmp_path / "bad.json").write_text('{\n  "mcpServers": {"x": nul}\n}')
    good = {"here": {"command": "true"}, "broken": {"command": 3}, "odd": {"type": "pigeon", "url": "x"}}
    (tmp_path / "good.json").write_text(json.dumps({"mcpServers": good}))

    async def main() -> None:
        async with Host.from_config("bad.json", "good.json", cwd=tmp_path, home=tmp_path) as host:
            told = [each.text for each in host.board.all(Notice)]
            assert any("bad.json: line 2, column 23" in each for each in told), told
            shown = {each.name: each for each in host.board.all(Shown)}
            assert {name: each.state for name, each in shown.items()} == {
                "here": "asleep",
                "broken": "failed",
                "odd": "failed",
            }
            assert all(shown[name].word for name in ("broken", "odd"))
            with pytest.raises(HostError, match="broken"):
                await host.start_server("broken")

    run(main())


def test_a_server_is_added_taken_away_and_added_otherwise_without_a_restart(tmp_path: Path) -> None:
    """The host has to be restarted after each change of a server."""

    async def main() -> None:
        model = Listening({"say": "One."}, {"say": "Two."}, {"say": "Three."})
        program = {"command": warm_python(), "args": [str(MORTAL)]}
        async with hosting(tmp_path, {}, model=model) as host:
            for entry in (program, {**program, "x-splice": {"tools": {"include": ["who"]}}}):
                await host.add_server("mortal", entry)
                await host.say("go")
                await host.wait()
                await host.remove_server("mortal")
            await host.say("go")
            await host.wait()
            assert [len(definitions(model, step)) for step in range(3)] == [3, 1, 0]

    run(main())


def test_an_edit_of_a_file_counts_in_the_next_turn_without_a_restart(tmp_path: Path) -> None:
    """The host has to be restarted after each edit of a file of servers."""
    path = tmp_path / "servers.json"
    program = {"command": warm_python(), "args": [str(MORTAL)]}
    texts = [
        {"mcpServers": {"mortal": program}},
        {"mcpServers": {"mortal": {**program, "x-splice": {"tools": {"include": ["who"]}}}}},
        {"mcpServers": {}},
    ]

    async def main() -> None:
        model = Listening({"say": "One."}, {"say": "Two."}, {"say": "Three."})
        path.write_text(json.dumps({"mcpServers": {}}))
        async with Host.from_config(str(path), cwd=tmp_path, home=tmp_path, model=model) as host:
            for text in texts:
                path.write_text(json.dumps(text))
                saying = asyncio.ensure_future(host.say("go"))
                if text is texts[0]:  # it may have been a program that edited the file; later the command is the same
                    allow(host, *await asked(host, Trust))
                await saying
                await host.wait()
            assert [len(definitions(model, step)) for step in range(3)] == [3, 1, 0]

    run(main())


def test_programs_get_a_little_environment_and_what_the_entry_says(tmp_path: Path, monkeypatch: Any) -> None:
    """Servers do not see the variables that they need, or see all secrets of the user's."""
    monkeypatch.setenv("MY_TOKEN", "t0p-secret")
    monkeypatch.setenv("MY_OTHER", "another secret")
    monkeypatch.delenv("MY_MISSING", raising=False)
    shell = {"command": "/bin/sh", "args": ["-c", 'echo "[$TOKEN|$MY_OTHER|$HOME]" >&2; exit 1']}
    servers = {
        "given": {**shell, "env": {"TOKEN": "${MY_TOKEN}"}},
        "open": {**shell, "env": {"TOKEN": "${MY_MISSING}"}},
    }

    async def main() -> None:
        async with hosting(tmp_path, servers) as host:
            with pytest.raises(HostError, match="given"):
                await host.start_server("given")
            lines = [each.text for each in host.output("given") if each.source == "stderr"]
            assert lines[0] == f"[***||{os.environ['HOME']}]"  # it has the token; the output does not show it
            with pytest.raises(HostError, match="MY_MISSING"):
                await host.start_server("open")

    run(main())


# Runs that nobody watches.


class Interrupted(ScriptModel):
    """A scripted model during whose words something happens to a server."""

    host: Host

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        async for event in super().stream(params):
            yield event
            self.host.announce("desk", "desk crashed")


def test_a_run_is_judged_by_what_the_model_said_and_not_by_news_of_servers(tmp_path: Path) -> None:
    """A run fails although the model has done its work, because something else came last."""

    async def main() -> None:
        async with hosting(tmp_path, {}, policy="headless", model=(model := Interrupted([{"say": "Done."}]))) as host:
            model.host = host
            assert await headless.run(host, "go") == headless.DONE
            assert (await host.wait()).text == "Done."
            assert "desk crashed" in said(host, "host")

    run(main())


def test_what_no_longer_fits_is_said_before_the_answer(tmp_path: Path) -> None:
    """The window is full, and the beginning of the chat is forgotten silently."""

    async def main() -> None:
        model = ScriptModel([{"say": "One."}, {"say": "Two."}])
        model.window = 6_000
        async with hosting(tmp_path, {}, model=model) as host:
            await host.set("max_tokens", 100)
            for text in ("a" * 18_000, "b" * 8_000):
                await host.say(text)
                message = await host.wait()
            assert message.text == "Two."
            assert "nearly full" in said(host, "host")[-1]

    run(main())


def test_a_run_by_itself_does_not_hang_allows_nothing_and_names_what_is_missing(tmp_path: Path) -> None:
    """Without a terminal a host hangs at the first question, or allows everything, or loses slow servers silently."""
    server, stuck, done = Server("desk"), Listenable(), []
    stuck.methods["server/discover"] = forever

    @server.tool
    def wipe() -> str:
        """Wipe the desk."""
        done.append("wiped")
        return "wiped"

    @server.tool
    async def sign(ctx: Context) -> str:
        """Let the user sign."""
        return (await ctx.elicit("Sign", {"type": "object", "properties": {}})).action

    async def main() -> None:
        lines: list[dict[str, Any]] = []
        turns = {"call": [call("desk__wipe"), call("desk__sign")]}, {"say": "So."}
        servers = {"desk": server, "gone": {"command": str(tmp_path / "none")}}
        async with hosting(tmp_path, servers, *turns, policy="headless") as host:
            host.add_entry(entry("stuck", "modern", timeout=0.05), stuck)
            status = await headless.run(
                host, "go", allow=["desk/sign"], output=lambda line: lines.append(json.loads(line))
            )
        assert status == headless.UNANSWERED
        assert done == []
        assert [line["state"] for line in lines if line["kind"] == "call"] == ["denied", "done"]
        assert set(lines[-1]["unusable"]) == {"gone", "stuck"}
        assert "desk/wipe" in lines[-1]["why"]
        assert "form" in lines[-1]["why"]

    run(main())
