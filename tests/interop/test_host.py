"""One conversation of the host over servers that nobody here wrote, in both eras; and any of them may be killed."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from host.hosting import call, calls, run, said, until
from host.turns.test_turn import results
from interop.peer import EXAMPLE, HERE, free_port, node_server, peer_python, serving
from splice.host.host import Host
from splice.host.items import Call, Server, Tool
from splice.host.models.script import ScriptModel
from splice.types import PromptReference, ResourceTemplateReference

SMALL = str(HERE / "peers" / "small_server.py")
ASKING = str(HERE / "peers" / "asking_server.py")
QUICK = {
    "everything": call("everything__echo", message="hi"),
    "files": call("files__list_allowed_directories"),
    "fast": call("fast__add", a=1, b=2),
    "official": call("official__add", a=1, b=2),
    "ours": call("ours__add", a=1, b=2),
    "older": call("older__add", a=1, b=2),
}
ERAS = {
    "everything": "2025-11-25",
    "files": "2025-11-25",
    "fast": "2026-07-28",
    "official": "2025-11-25",
    "ours": "2026-07-28",
    "older": "2025-11-25",
}
ANSWERS = {"form": {"seat": "aisle", "name": "Ann"}, "sampling": True, "visit": True}


def program(name: str, *command: str, protocol: str = "auto") -> dict[str, Any]:
    """Make an entry; a variable tells its process from others."""
    return {"command": command[0], "args": list(command[1:]), "x-splice": {"protocol": protocol}, "env": {"WHO": name}}


def servers(folder: Path) -> dict[str, Any]:
    return {
        "everything": program("everything", *node_server("server-everything"), "stdio"),
        "files": program("files", *node_server("server-filesystem"), str(folder)),
        "fast": program("fast", peer_python("fastmcp"), ASKING),
        "official": program("official", peer_python("python"), ASKING, protocol="legacy"),
        "ours": program("ours", sys.executable, str(EXAMPLE)),
        "older": program("older", sys.executable, str(EXAMPLE), protocol="legacy"),
    }


def process(name: str) -> int:
    """Find the process of a server of this program's."""
    for path in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((path / "stat").read_text().rpartition(")")[2].split()[1])
            if parent == os.getpid() and f"WHO={name}\0".encode() in (path / "environ").read_bytes():
                return int(path.name)
        except OSError:
            continue
    raise AssertionError(f"no process of {name}")


@asynccontextmanager
async def conversation(home: Path, *turns: dict[str, Any]) -> AsyncIterator[Host]:
    """Open a host by policy, with all servers allowed and started."""
    options: Any = {"policy": "headless", "answers": {**ANSWERS, "roots": [home.as_uri()]}, "roots": [home]}
    made = Host.from_config(cwd=home, home=home, servers=servers(home), model=ScriptModel(turns), **options)
    async with made as host:
        for name in QUICK:
            host.permissions.grant("allow", f"{name}/*", chat="")
        yield host


def told(host: Host) -> dict[str, str]:
    """Tell what the model got as the results of the last step, by the names of the tools."""
    step = [text for text, _ in results(host.chat.messages[-2])]
    return dict(zip([each["name"] for each in QUICK.values()], step, strict=False))


def test_one_conversation_over_servers_of_both_eras(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("milk and eggs")
    asking = [
        call("everything__trigger-elicitation-request"),
        call("everything__trigger-sampling-request", prompt="Say it", maxTokens=20),
        call("official__book"),
        call("ours__introduce"),
        call("ours__summarize", text="A long story."),
        call("older__introduce"),
        call("older__summarize", text="A long story."),
    ]
    working = [
        call("files__read_text_file", path=str(tmp_path / "note.txt")),
        call("everything__trigger-long-running-operation", duration=0.4, steps=4),
        call("fast__count", steps=3),
        call("ours__count", steps=3),
        call("ours__workspace"),
        call("older__workspace"),
        call("official__grow"),
        call("read_resource", server="fast", uri="note://motto"),
    ]

    async def main() -> None:
        turns: list[dict[str, Any]] = [{"call": list(QUICK.values())}, {"say": "One."}, {"call": asking}]
        turns += [{"say": f"Sampled {number}."} for number in range(3)]
        turns += [{"say": "Two."}, {"call": working}, {"say": "Three."}]
        async with conversation(tmp_path, *turns) as host:
            await host.say("go")
            assert (await host.wait()).text == "One."
            assert {each.name: each.protocol for each in host.board.all(Server)} == ERAS
            assert {each.state for each in host.board.all(Server)} == {"ready"}
            assert {each.state for each in calls(host)} == {"done"}
            assert "Echo: hi" in told(host)["everything__echo"]
            assert str(tmp_path) in told(host)["files__list_allowed_directories"]

            await host.say("ask me")
            assert (await host.wait()).text == "Two."
            texts = [text for text, _ in results(host.chat.messages[-2])]
            assert [each.state for each in calls(host)[6:]] == ["done"] * 7, [each.word for each in calls(host)[6:]]
            assert "Ann" in texts[0]
            assert "accept: aisle" in texts[2]
            assert all("Hello Ann, 30!" in texts[number] for number in (3, 5))
            assert {text for text in texts if "Sampled" in text} == {texts[1], texts[4], texts[6]}

            seen: list[str] = []
            watching = asyncio.ensure_future(progress(host, seen))
            await host.say("work")
            assert (await host.wait()).text == "Three."
            watching.cancel()
            texts = [text for text, _ in results(host.chat.messages[-2])]
            assert "milk and eggs" in texts[0]
            assert all(tmp_path.as_uri() in texts[number] for number in (4, 5))
            assert "Write it once." in texts[7]
            assert {"trigger-long-running-operation", "count"} <= set(seen)
            await until(host, Tool, lambda each: (each.server, each.name) == ("official", "fruit"))
            assert "+1 tools of official" in said(host, "host")

            assert (await host.read("everything", "demo://resource/dynamic/text/7")).contents
            assert (await host.read("official", "note://motto")).contents[0].text == "Write it once."
            completed = await host.complete("everything", PromptReference(name="completable-prompt"), "department", "E")
            assert completed == ["Engineering"]
            template = ResourceTemplateReference(uri="demo://resource/dynamic/text/{resourceId}")
            assert await host.complete("everything", template, "resourceId", "1") == ["1"]
            assert await host.complete("ours", PromptReference(name="review"), "language", "ru") == ["rust", "ruby"]
            for name in ("fast", "official", "ours", "older"):
                (message, *_) = await host.preview(name, "review", {"code": "1+1"})
                assert "1+1" in str(message)

    run(main(), seconds=90)


def is_done(turn: int, shown: Call) -> bool:
    return shown.turn == turn and shown.state == "done"


async def progress(host: Host, seen: list[str]) -> None:
    async for _ in host.board.watch():
        seen += [each.tool for each in host.board.all(Call) if each.progress is not None]


def test_any_server_may_be_killed_in_mid_call_and_the_conversation_goes_on(tmp_path: Path) -> None:
    names = list(QUICK)
    turns: list[dict[str, Any]] = [{"call": list(QUICK.values())}, {"say": "All."}]
    for number, name in enumerate(names):
        both = [QUICK[name], QUICK[names[number - 1]]]
        turns += [{"call": both}, {"say": f"No {name}.", "after": "crashed"}, {"call": [QUICK[name]]}, {"say": "Back."}]

    async def main() -> None:
        async with conversation(tmp_path, *turns) as host:
            await host.say("go")
            await host.wait()
            for name in names:
                tools = len([each for each in host.board.all(Tool) if each.server == name])
                victim = process(name)
                os.kill(victim, signal.SIGSTOP)  # so that the call is under way for as long as the test wants
                turn = await host.say(f"use {name}")
                await until(host, Call, partial(is_done, turn))
                os.kill(victim, signal.SIGKILL)
                assert (await host.wait()).text == f"No {name}."
                assert {each.state for each in calls(host) if each.turn == turn} == {"crashed", "done"}
                assert any(line.startswith(f"{name} crashed: ") for line in said(host, "host"))
                turn = await host.say("again")
                assert (await host.wait()).text == "Back."
                assert [each.state for each in calls(host) if each.turn == turn] == ["done"]
                assert process(name) != victim
                assert len([each for each in host.board.all(Tool) if each.server == name]) == tools

    run(main(), seconds=90)


@pytest.mark.parametrize("name", QUICK)
def test_a_server_that_is_killed_while_it_starts_or_rests_is_started_again(tmp_path: Path, name: str) -> None:
    async def main() -> None:
        async with conversation(tmp_path, {"call": [QUICK[name]]}, {"say": "Done."}) as host:
            for each in set(QUICK) - {name}:
                host.switch_server(each, on=False)
            starting = asyncio.ensure_future(host.start_server(name))
            await until(host, Server, lambda each: each.name == name and each.state == "starting")
            while True:
                try:
                    os.kill(process(name), signal.SIGKILL)
                    break
                except AssertionError:
                    await asyncio.sleep(0.01)
            (outcome,) = await asyncio.gather(starting, return_exceptions=True)
            # One that dies at the first question of the newest version is started again for an older one.
            assert outcome is None or name in str(outcome)
            await host.start_server(name)
            os.kill(process(name), signal.SIGKILL)
            await until(host, Server, lambda each: each.name == name and each.state == "crashed")
            await host.say("go")
            assert (await host.wait()).text == "Done."
            assert [each.state for each in calls(host)] == ["done"]

    run(main(), seconds=60)


BEHIND_URLS = {
    "everything": ([*node_server("server-everything"), "streamableHttp"], call("far__echo", message="hi")),
    "fastmcp": ([peer_python("fastmcp"), SMALL, "http"], call("far__add", a=1, b=2)),
    "mcp-1.30": ([peer_python("mcp-1.30"), SMALL, "http"], call("far__add", a=1, b=2)),
    "ours": ([sys.executable, str(EXAMPLE), "--http", "--port"], call("far__add", a=1, b=2)),
}


@pytest.mark.parametrize("name", BEHIND_URLS)
def test_a_server_behind_a_url_may_go_in_mid_call_and_come_back(tmp_path: Path, name: str) -> None:
    command, using = BEHIND_URLS[name]
    port = free_port()
    turns: list[dict[str, Any]] = [
        {"call": [using]},
        {"say": "Gone."},
        {"call": [using]},
        {"say": "Still gone."},
        {"call": [using]},
    ]

    def far() -> Any:
        words = command if name == "everything" else [*command, str(port)]
        return serving(*words, port=port, env={"PORT": str(port)}, leaves=False)

    async def main() -> None:
        model = ScriptModel([*turns, {"say": "Back."}])
        options: Any = {"policy": "headless", "model": model, "servers": {"far": f"http://127.0.0.1:{port}/mcp"}}
        async with Host.from_config(cwd=tmp_path, home=tmp_path, **options) as host:
            host.permissions.grant("allow", "far/*", chat="")
            with far() as served:
                await host.start_server("far")
                os.kill(served.pid, signal.SIGSTOP)
                await host.say("go")
                await until(host, Call, lambda each: each.state == "running")
                served.kill()
                assert (await host.wait()).text == "Gone."
            (shown,) = host.board.all(Server)
            assert shown.state == "crashed"
            assert any(line.startswith("far crashed: ") for line in said(host, "host"))
            await host.say("again")
            assert (await host.wait()).text == "Still gone."
            with far():
                await host.say("and again")
                assert (await host.wait()).text == "Back."
            assert [each.state for each in calls(host)] == ["crashed", "failed", "done"]

    run(main(), seconds=60)
