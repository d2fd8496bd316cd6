"""What stands over the composer: what goes along with the next message, and what waits for the turn."""

import asyncio

from msgspec.structs import replace

from faces.terminal.acting import Acting, acting
from splice.host.items import Attached, Context
from support import scenes

NOTES = Attached("files", "file:///notes.md", "notes.md", tokens=340)
RULES = Attached("travel", "travel://rules", "Rules\x1b[2J", tokens=1_200, is_stale=True)


def attach(person: Acting, *attached: Attached) -> None:
    known = person.stage.board.get("context:now", Context) or Context(id="context:now")
    person.stage.board.put(replace(known, attached=list(attached)))


def turn(person: Acting, *, is_busy: bool) -> None:
    person.stage.board.change("chat:1", is_busy=is_busy)


def test_what_goes_along_stands_over_the_composer_and_is_taken_off() -> None:
    async def play() -> None:
        for size in ((80, 24), (40, 10)):
            async with acting(scenes.empty, size) as person:
                assert "^L" not in person.text()
                attach(person, NOTES)
                await person.sees("with  notes.md")
                if size[0] == 80:
                    await person.sees("notes.md 340 tokens")
                await person.press("ctrl+l")
                assert person.named("detach") == [{"uri": NOTES.uri}]
                attach(person, NOTES, RULES)
                if size[0] == 80:
                    await person.sees("tokens, changed")
                assert "\x1b" not in person.text()
                await person.press("ctrl+l")
                await person.sees("What to take off")
                await person.press("2")
                assert person.named("detach")[1:] == [{"uri": RULES.uri}]
                attach(person)
                await person.sees("Enter send" if size[0] == 80 else "Write")

    asyncio.run(play())


def test_what_is_written_during_a_turn_waits_for_its_end() -> None:
    async def play() -> None:
        async with acting(scenes.empty) as person:
            turn(person, is_busy=True)
            await person.sees("it is sent when this turn is over")
            for text in ("then the hotel", "and the train"):
                await person.write(text)
                await person.press("enter")
            await person.sees("Waits for this turn: then the hotel and the train")
            assert person.named("say") == []
            await person.press("ctrl+l")
            assert person.app.draft.text == "then the hotel\nand the train"
            assert "Waits for" not in person.text()
            await person.press("enter")
            await person.write("/plan-vacation destination='The Hague' departure_date=1 return_date=2 budget=3")
            await person.press("enter")
            await person.sees("Waits for this turn: /travel/plan-vacation 'destination=The Hague'")
            turn(person, is_busy=False)
            await person.until(lambda: person.named("say"), "it is never said")
            assert person.named("say")[0]["text"] == "then the hotel\nand the train"
            await person.sees("Waits for this turn: /travel/plan-vacation")
            person.stage.board.change("chat:1", changed=2.0)
            await person.until(lambda: len(person.named("say")) == 2, "it is never said")
            assert person.named("say")[1]["arguments"]["destination"] == "The Hague"

    asyncio.run(play())


def test_what_is_refused_comes_back_with_what_was_written_since() -> None:
    async def play() -> None:
        async with acting(scenes.empty) as person:
            say = person.stage.say

            async def refuse(*_: object, **__: object) -> int:
                raise OSError("the disk is full")

            person.stage.say = refuse  # type: ignore[method-assign]
            turn(person, is_busy=True)
            await person.write("one")
            await person.press("enter")
            await person.write("two")
            turn(person, is_busy=False)
            await person.until(lambda: person.app.draft.text == "one\ntwo", "it does not come back")
            await person.sees("one")
            person.stage.say = say  # type: ignore[method-assign]
            await person.press("enter")
            assert person.named("say")[0]["text"] == "one\ntwo"

    asyncio.run(play())
