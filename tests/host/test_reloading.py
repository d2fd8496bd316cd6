"""Files of servers that are edited while the host runs; and a prompt that does not come."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from host.hosting import asked, call, run, said, until
from splice import Server
from splice.host.asked import Approval, Decision, Trust
from splice.host.host import Host, HostError
from splice.host.items import Call, Chat, Notice
from splice.host.items import Server as Shown
from splice.host.models.script import ScriptModel
from support.waiting import until as soon
from support.warm import warm_python


def program(name: str) -> dict[str, Any]:
    code = f"from splice import Server\ns = Server({name!r})\n@s.tool\ndef hello() -> str:\n    return 'hi'\ns.run()"
    return {"command": warm_python(), "args": ["-c", code]}


def write(path: Path, **servers: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"mcpServers": servers}))


def shown(host: Host) -> dict[str, str]:
    return {each.name: each.state for each in host.board.all(Shown)}


def test_only_what_was_edited_is_touched(tmp_path: Path) -> None:
    """Complaint: restart needed after each edit (section 3.5)."""
    path = tmp_path / "servers.json"
    write(path, a=program("a"), b={**program("b"), "x-splice": {"trustAnnotations": True}}, c=program("c"))

    async def main() -> None:
        memory = {"given": Server("given"), "c": Server("c")}
        model = ScriptModel([{"call": [call("a__hello")]}, {"say": "So."}])
        options: Any = {"home": tmp_path, "cwd": tmp_path, "servers": memory, "model": model}
        async with Host.from_config("servers.json", **options) as host:
            await asyncio.gather(host.start_server("a"), host.start_server("b"))
            running = host.parts.connections["a"].running
            assert await host.reload() == "The files of servers are as they were."
            assert [each.what for each in host.permissions.all()] == ["reads b"]
            write(path, a=program("a"), b={**program("b"), "env": {"X": "1"}}, new=program("new"))
            told = await host.reload()
            assert told == "The files of servers were edited: new is new, b is changed."
            assert said(host, "host")[-1] == told
            assert host.parts.connections["a"].running is running
            assert shown(host) == {"a": "ready", "b": "asleep", "new": "asleep", "c": "asleep", "given": "asleep"}
            assert host.permissions.all() == []  # what the entry allowed by itself
            await host.start_server("b")
            path.write_text("{")  # somebody is still writing
            assert await host.reload() == "The files of servers are as they were."
            assert any("servers.json" in each.text for each in host.board.all(Notice))
            assert shown(host)["b"] == "ready"
            write(path, a=program("a"))
            assert await host.reload() == "The files of servers were edited: b, new are gone."
            assert host.parts.connections["a"].running is running
            assert sorted(shown(host)) == ["a", "c", "given"]

    run(main())


def test_an_edit_is_noticed_when_a_turn_begins_and_is_not_trusted_by_itself(tmp_path: Path) -> None:
    path = tmp_path / "config" / "mcp.json"

    async def main() -> None:
        options: Any = {"home": tmp_path, "cwd": tmp_path, "model": ScriptModel([{"say": "So."}])}
        async with Host.from_config(**options) as host:
            await host.say("Hello")
            await host.wait()
            assert shown(host) == {}
            write(path, a=program("a"))  # a model that may write files could have done that
            await host.say("Hello again")
            [question] = await asked(host, Trust)
            assert question.server == "a"
            assert isinstance(question.asked, Trust)
            assert (question.asked.is_own, question.asked.is_remote) == (True, False)
            assert "The files of servers were edited: a is new." in said(host, "host")
            assert host.answer(question.id, Decision("deny"), "program") == ""
            await host.wait()
            assert shown(host) == {"a": "untrusted"}
            await host.reload()  # says that it was the user
            await host.start_server("a")
            assert shown(host) == {"a": "ready"}

    run(main())


def test_an_edit_that_was_only_noticed_permits_nothing_by_itself(tmp_path: Path) -> None:
    """A tool that may write files could give its own server the right to be believed, and every folder."""
    path = tmp_path / "config" / "mcp.json"
    favours = {"x-splice": {"trustAnnotations": True, "roots": ["/", "in"]}}

    async def main() -> None:
        write(path, a=program("a"))
        options: Any = {"home": tmp_path, "cwd": tmp_path, "model": ScriptModel([])}
        async with Host.from_config(**options) as host:
            write(path, a=program("a") | favours, b=program("b") | favours)
            for _ in range(2):
                await host.notice_edits()
                for name in ("a", "b"):
                    entry = host.parts.connections[name].entry
                    assert entry.needs_trust
                    assert entry.options.roots == ("in",)
                    told = ["trustAnnotations: true", "root /, which is outside of the project"]
                    assert host.look_at(name).asked.ignored == told
                assert host.permissions.all() == []
                connection = host.parts.connections["a"]
                path.write_text(path.read_text() + " ")  # edited, and as before
            assert host.parts.connections["a"] is connection
            assert await host.reload() == "The files of servers were edited: a, b are changed."
            assert host.parts.connections["a"].entry.options.roots == ("/", "in")
            assert not host.parts.connections["a"].entry.needs_trust
            assert [each.what for each in host.permissions.all()] == ["reads a", "reads b"]
            path.write_text(path.read_text() + " ")
            await host.notice_edits()
            assert not host.parts.connections["a"].entry.needs_trust

    run(main())


def test_a_server_of_known_tools_is_asked_about_too_before_it_is_called(tmp_path: Path) -> None:
    """Its tools are known from an earlier start: each call was blocked as not trusted, and nobody was asked."""
    path = tmp_path / "config" / "mcp.json"

    async def main() -> None:
        options: Any = {"home": tmp_path, "cwd": tmp_path}
        write(path, a=program("a"))
        async with Host.from_config(**options, model=ScriptModel([])) as host:
            await host.start_server("a")
        write(path)
        model = ScriptModel([{"say": "So."}, {"call": [call("a__hello")]}, {"say": "So."}])
        async with Host.from_config(**options, model=model) as host:
            await host.say("Hello")
            await host.wait()
            write(path, a=program("a"))
            await host.say("Hello again")
            [question] = await asked(host, Trust)
            assert shown(host) == {"a": "untrusted"}
            host.answer(question.id, Decision("once"), "program")
            [question] = await asked(host, Approval)
            host.answer(question.id, Decision("once"), "program")
            await host.wait()
            assert [each.state for each in host.board.all(Call)] == ["done"]

    run(main())


def test_a_prompt_that_does_not_come_can_be_stopped(tmp_path: Path) -> None:
    server, is_waiting = Server("s"), asyncio.Event()

    @server.prompt
    async def slow() -> str:
        """Never come."""
        is_waiting.set()
        await asyncio.Event().wait()
        return ""

    async def main() -> None:
        options: Any = {"home": tmp_path, "cwd": tmp_path, "servers": {"s": server}, "model": ScriptModel([])}
        async with Host.from_config(**options) as host:
            await host.start_server("s")
            saying = asyncio.ensure_future(host.say(prompt="s/slow"))
            await is_waiting.wait()
            assert (await until(host, Chat, lambda chat: chat.is_open)).is_busy
            with pytest.raises(HostError, match="under way"):
                await host.new_chat()
            await host.stop()
            with pytest.raises(HostError, match="You stopped it"):
                await saying
            assert not (await until(host, Chat, lambda chat: chat.is_open)).is_busy
            assert said(host, "user") == []
            is_waiting.clear()
            saying = asyncio.ensure_future(host.say(prompt="s/slow"))
            await is_waiting.wait()
            saying.cancel()
            await soon(saying.done)
            await host.new_chat()

    run(main())
