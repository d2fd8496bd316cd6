"""A chat that is begun anew from a place in another one: what the model is told there, and what is on the board."""

from pathlib import Path

import pytest

from host.hosting import allow, asked, call, hosting, run
from splice import Server
from splice.host.asked import Approval
from splice.host.host import Host, HostError
from splice.host.items import Call, Message
from splice.types import PromptMessage, TextContent


def shop() -> Server:
    server = Server("shop")

    @server.tool
    def buy(what: str) -> str:
        """Buy something."""
        return f"bought {what}"

    @server.prompt
    def plan(what: str) -> list[PromptMessage]:
        """Plan it."""
        need, when, now = (TextContent(text=each) for each in (f"I need {what}.", "When?", "Now."))
        return [
            PromptMessage(role="user", content=need),
            PromptMessage(role="assistant", content=when),
            PromptMessage(role="user", content=now),
        ]

    return server


def seen(host: Host) -> list[str]:
    said = [each for each in host.board.all(Message) if each.role != "host"]
    items: list[Message | Call] = [*said, *host.board.all(Call)]
    ordered = sorted((each for each in items if each.chat == host.chat.id), key=lambda each: int(each.id.split(":")[1]))
    return [each.text if isinstance(each, Message) else f"{each.tool}: {each.state}" for each in ordered]


def test_a_chat_branches_after_a_turn_or_takes_it_anew(tmp_path: Path) -> None:
    async def main() -> None:
        turns = (
            {"say": "Hello."},
            {"call": [call("shop__buy", what="tea")]},
            {"say": "Done."},
            {"say": "Bye."},
            {"say": "Again."},
        )
        async with hosting(tmp_path, {"shop": shop()}, *turns) as host:
            await host.say("Hi")
            await host.wait()
            await host.say(prompt="shop/plan", arguments={"what": "tea"})
            allow(host, *await asked(host, Approval))
            await host.wait()
            await host.say("Thanks")
            await host.wait()
            first, told = host.chat.id, list(host.chat.messages)
            turn = ["I need tea.", "When?", "Now."]
            branch = await host.branch(2)
            assert branch == host.chat.id != first
            assert seen(host) == ["Hi", "Hello.", *turn, "buy: done", "Done."]
            assert host.chat.messages == told[: len(told) - 2]
            await host.branch(2, again=True)
            assert (await host.wait()).text == "Again."
            assert seen(host) == ["Hi", "Hello.", *turn, "Again."]
            assert host.chat.messages[:5] == told[:5]
            assert len(host.chat.messages) == 6
            with pytest.raises(HostError, match="no such turn"):
                await host.branch(9)
            await host.open_chat(first)
            assert host.chat.messages == told

    run(main())


def test_a_prompt_that_begins_with_words_of_the_model_belongs_to_its_own_turn(tmp_path: Path) -> None:
    server = Server("shop")

    @server.prompt
    def primed() -> list[PromptMessage]:
        """Put words into the model's mouth."""
        primed, go = TextContent(text="I never ask."), TextContent(text="Go.")
        return [PromptMessage(role="assistant", content=primed), PromptMessage(role="user", content=go)]

    async def main() -> None:
        turns = ({"say": "Hello."}, {"say": "Done."}, {"say": "Bye."}, {"say": "Again."}, {"say": "Other."})
        async with hosting(tmp_path, {"shop": server}, *turns) as host:
            for text, prompt in (("Hi", ""), ("", "shop/primed"), ("Thanks", "")):
                await host.say(text, prompt=prompt)
                await host.wait()
            first, told = host.chat.id, list(host.chat.messages)
            for turn, again, count in ((1, False, 2), (2, False, 5), (3, False, 7), (2, True, 4), (3, True, 6)):
                await host.open_chat(first)
                await host.branch(turn, again)
                if again:
                    await host.wait()
                assert host.chat.messages[:count] == told[:count]
                assert len(host.chat.messages) == count + again

    run(main())
