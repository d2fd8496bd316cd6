"""What is changed by keys: settings, servers, chats; and the messages of the wire."""

import asyncio
import json
from pathlib import Path

from textual.events import Paste

from faces.terminal.acting import Acting, acting, sitting
from host.hosting import hosting
from splice.host.connecting.wire import Message
from splice.host.items import Chat, Settings, Step
from splice.host.terminal import settable
from splice.host.terminal.adding import LookDialog
from splice.host.terminal.calls import CallRow
from splice.host.terminal.line import Line
from splice.host.terminal.rows import Rows
from support import scenes
from support.stage import Stage


def played(scene: object, play: object) -> None:
    async def run() -> None:
        async with acting(scene) as person:  # type: ignore[arg-type]
            await play(person)  # type: ignore[operator]

    asyncio.run(run())


async def choose(person: Acting, name: str) -> None:
    """Go to the row of a setting."""
    rows = person.app.query_one("#settings-rows", Rows)
    rows.go(rows.count - len(settable.TITLES) + list(settable.TITLES).index(name))
    await person.pilot.pause()
    await person.sees(name)


def test_settings_are_rows_that_are_changed() -> None:
    async def play(person: Acting) -> None:
        await person.press("f8")
        await choose(person, "asks_after_outside")
        await person.press("enter")
        await choose(person, "max_turn_tokens")
        await person.press("enter", "ctrl+u")
        await person.write("20,000")
        await person.press("enter")
        await choose(person, "theme")
        await person.press("enter", "ctrl+u")
        await person.write("light")
        await person.press("enter", "x")
        person.stage.board.put(Settings(id="settings:now", values={"instructions": "Be\x1b[2J short."}))
        await choose(person, "instructions")
        await person.sees("[2J short.")
        assert "\x1b" not in person.text()
        assert [tuple(each.values()) for each in person.named("set")] == [
            ("asks_after_outside", False),
            ("max_turn_tokens", 20_000),
            ("theme", "light"),
            ("theme",),
        ]

    played(scenes.empty, play)


def test_a_server_is_added_after_a_look_and_removed_after_a_question() -> None:
    async def play(person: Acting) -> None:
        await person.press("f3", "n")
        await person.write("npx 'unclosed")
        await person.press("enter")
        await person.press("ctrl+u")
        await person.write("npx -y @acme/mcp-server-maps 'a b'")
        await person.press("enter")
        await person.sees("maps")
        await person.press("enter")
        await person.until(lambda: isinstance(person.app.screen, LookDialog))
        await person.sees("@acme/mcp-server-maps")
        await person.press("enter")
        assert person.named("add_server") == [], "Enter adds nothing"
        await person.press("end")
        await person.until(lambda: getattr(person.app.screen, "is_armed", False))
        await person.press("a")
        entry = {"command": "npx", "args": ["-y", "@acme/mcp-server-maps", "a b"]}
        assert person.named("add_server") == [{"name": "maps", "entry": entry}]
        await person.press("x")
        await person.sees("Remove travel?")
        await person.press("escape")
        assert person.named("remove_server") == []
        await person.press("x", "y")
        assert person.named("remove_server") == [{"name": "travel"}]

    played(scenes.crashed, play)


def test_an_address_that_is_added_is_not_said_to_run_here() -> None:
    async def play(person: Acting) -> None:
        await person.press("f3", "n")
        await person.write("https://maps.example/mcp -H 'X-Key: ${KEY}'")
        await person.press("enter")
        await person.sees("Its name here")
        await person.press("enter")
        await person.sees("It gets what is said to it. It is connected when it is needed")
        assert "runs as you" not in person.text()
        assert "command" not in person.text()
        assert "/home/you" not in person.text(), "a folder is not sent"

    played(scenes.crashed, play)


def test_json_of_several_lines_is_pasted_into_one() -> None:
    async def play(person: Acting) -> None:
        await person.press("f3", "n")
        text = json.dumps({"mcpServers": {"mail": {"command": "uvx", "args": ["mail-mcp"]}}}, indent=2)
        person.app.screen.query_one(Line).post_message(Paste(text.replace("\n", "\r")))  # as terminals send it
        await person.sees('"mail-mcp"')
        await person.press("enter")
        await person.sees("Its name here")
        assert person.app.screen.query_one(Line).value == "mail"
        await person.press("escape", "n")
        person.app.screen.query_one(Line).post_message(Paste("npx \\\r\n  -y travel\r\n"))
        await person.press("enter")
        await person.sees("Its name here")
        assert person.app.screen.query_one(Line).value == "travel-2", "there is a server travel"

    played(scenes.crashed, play)


def test_messages_of_the_wire_are_a_form_of_the_output() -> None:
    def scene(stage: Stage) -> None:
        scenes.crashed(stage)
        stage.wire["travel"] = [
            Message(1, 0.0, "to", '{"method":"tools/list"}'),
            Message(2, 0.0, "from", '{"result":"\x1b[2J"}' + "x" * 5_000, cut=True),
        ]

    async def play(person: Acting) -> None:
        await person.press("f3", "m")
        await person.sees("it is longer")
        await person.press("m", "l")
        await person.sees("It wrote nothing.")
        await person.press("m")
        person.app.query_one("#servers .detail").scroll_home(animate=False)
        await person.sees('→ {"method":"tools/list"}')
        await person.sees("00 from")
        assert "\x1b" not in person.text()

    played(scene, play)


def test_chats_are_opened_renamed_and_deleted_in_the_engine(tmp_path: Path) -> None:
    async def main() -> None:
        async with hosting(tmp_path, {}, {"say": "Hello."}) as host:
            first = next(each for each in host.board.all(Chat) if each.is_open).id
            await host.say("hello")
            await host.wait()
            await host.new_chat()
            async with sitting(host) as person:

                async def command(words: str) -> None:
                    await person.press("ctrl+p")
                    await person.write(words)
                    await person.press("enter")

                await command("Chat: open")
                opened = host.board.get
                await person.until(lambda: (chat := opened(first, Chat)) is not None and chat.is_open, "it stays shut")
                await command("Chat: rename")
                await person.sees("The title")
                await person.press("ctrl+u")
                await person.write("Oslo")
                await person.press("enter")
                await person.until(lambda: "Oslo" in {each.title for each in host.board.all(Chat)})
                await command("Chat: delete Oslo")
                await person.sees("Delete Oslo?")
                await person.press("y")
                await person.until(lambda: "Oslo" not in {each.title for each in host.board.all(Chat)})

    asyncio.run(asyncio.wait_for(main(), 60))


def test_an_opened_call_names_who_decided_before_the_reason() -> None:
    async def play(person: Acting) -> None:
        trail = [Step(0, "the policy", "Asked: no rule"), Step(1, "you, in the terminal", "Denied: too dear")]
        person.stage.board.put(scenes.call(20, "weather", "forecast", state="denied", trail=trail))
        await person.until(lambda: any(row.call.id == "call:20" for row in person.app.query(CallRow)))
        next(row for row in person.app.query(CallRow) if row.call.id == "call:20").action_open()
        await person.press("end")
        await person.sees("Asked by the policy: no rule")
        await person.sees("Denied by you, in the terminal: too dear")

    played(scenes.mid_turn, play)
