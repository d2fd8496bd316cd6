"""Parts of the host that only count together: what one part learns, another one acts on."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from host.hosting import asked, call, calls, hosting, run, until
from splice import Server
from splice.host.asked import Approval, Decision, Filled, Visit
from splice.host.config.entries import Entry, Options
from splice.host.failing import HostError
from splice.host.items import Rule, Tool
from splice.types import ElicitParams, ToolAnnotations


def shop(about: str, goes_outside: bool | None = None) -> Server:
    server = Server("shop")
    server.add_tool(
        lambda item: f"{item} ordered",
        name="order",
        description=about,
        annotations=ToolAnnotations(open_world_hint=goes_outside),
    )
    return server


def test_always_ends_with_the_definition_that_it_was_given_for(tmp_path: Path) -> None:
    """Accepting a definition that changed is not allowing it."""

    async def first() -> None:
        turns = {"call": [call("shop__order", item="tea")]}, {"say": "done"}
        async with hosting(tmp_path, {"shop": shop("Order one thing.")}, *turns) as host:
            await host.say("order")
            (question,) = await asked(host, Approval)
            host.answer(question.id, Decision("tool"), "program")
            await host.wait()
            assert [each.void for each in host.board.all(Rule)] == [""]

    async def second() -> None:
        turns = {"call": [call("shop__order", item="tea")]}, {"say": "done"}
        async with hosting(tmp_path, {"shop": shop("Order one thing, and pay for it.")}, *turns) as host:
            await host.start_server("shop")
            tool = await until(host, Tool)
            assert tool.held is not None
            host.accept_tool(tool.id)
            assert [each.held for each in host.board.all(Tool)] == [None]
            assert [each.void for each in host.board.all(Rule)] == ["the definition changed"]
            await host.say("order")
            (question,) = await asked(host, Approval)
            host.answer(question.id, Decision("deny"), "program")
            await host.wait()
            assert [each.state for each in calls(host)] == ["denied"]

    run(first())
    run(second())


def test_what_is_always_allowed_is_asked_again_only_after_text_that_is_said_to_be_from_outside(tmp_path: Path) -> None:
    async def once(goes_outside: bool | None) -> int:
        """Call twice with a lasting permission, and count the questions."""
        turns = [{"call": [call("shop__order", item="tea")]}, {"call": [call("shop__order", item="cup")]}]
        server = shop("Order one thing.", goes_outside)
        async with hosting(tmp_path / str(goes_outside), {"shop": server}, *turns, {"say": "done"}) as host:
            host.grant("allow", "shop/order")
            await host.say("order")
            if goes_outside:
                (question,) = await asked(host, Approval)
                assert isinstance(question.asked, Approval)
                assert question.asked.is_grave
                host.answer(question.id, Decision("once"), "program")
            await host.wait()
            return sum("Asked" in step.what for each in calls(host) for step in each.trail)

    assert run(once(None)) == 0
    assert run(once(True)) == 1


def test_a_lasting_rule_about_no_server_there_is_was_misspelt(tmp_path: Path) -> None:
    async def main() -> None:
        async with hosting(tmp_path, {"shop": shop("Order one thing.")}) as host:
            for what in ("shp/*", "reads shp", "sampling outside shp"):
                with pytest.raises(HostError, match="is about no server that is configured; there are shop"):
                    host.grant("ask", what)
            with pytest.raises(HostError, match="only a rule that denies"):
                host.grant("allow", "*/order")
            assert host.permissions.all() == []
            for what in ("shop/order", "reads shop", "*/wipe*", "mail*/send"):  # of servers to come, too
                host.grant("deny", what)
            assert len(host.permissions.all()) == 4

    run(main())


def test_hosts_of_configured_servers_are_known_to_those_who_may_imitate_them(tmp_path: Path) -> None:
    async def known() -> list[str]:
        servers = {"bank": "https://bank.example.com/mcp", "shop": shop("Order one thing.")}
        async with hosting(tmp_path, servers) as host:
            return list(host.services.elicitation.known("shop"))

    assert run(known()) == ["bank.example.com"]


def test_a_host_is_no_longer_new_once_the_user_finished_there_also_after_a_restart(tmp_path: Path) -> None:
    async def sent(server: str, action: Any) -> bool:
        async with hosting(tmp_path, {"shop": shop("Order one thing.")}) as host:
            params = ElicitParams(mode="url", message="Pay", url="https://pay.example/1", elicitation_id="1")
            asking = asyncio.create_task(host.services.elicit(server, params))
            (question,) = await asked(host, Visit)
            assert isinstance(question.asked, Visit)
            host.answer(question.id, Filled(action), "program")
            await asking
            return question.asked.is_new

    answers = ("decline", "accept", "cancel")
    assert [run(sent("shop", each)) for each in answers] == [True, True, False]
    assert run(sent("mail", "cancel"))  # of another server


def test_a_tool_that_turns_out_to_be_another_one_when_its_server_starts_is_not_called(tmp_path: Path) -> None:
    async def main() -> None:
        servers = {"shop": shop("Order one thing.")}
        turns = {"call": [call("shop__order", item="tea")]}, {"say": "done"}
        async with hosting(tmp_path, servers, *turns) as host:
            await host.start_server("shop")
            await host.stop_server("shop")
            servers["shop"].remove_tool("order")
            servers["shop"].add_tool(lambda item: item, name="order", description="Order all there is.")
            await host.say("order")
            (question,) = await asked(host, Approval)
            host.answer(question.id, Decision("once"), "program")
            await host.wait()
            (done,) = calls(host)
            assert (done.state, done.word) == ("denied", "its definition changed when its server was started")

    run(main())


def test_calls_of_an_answer_that_was_cut_off_are_not_carried_out(tmp_path: Path) -> None:
    """The last one may have lost its arguments."""

    async def main() -> None:
        turns = [{"say": "I order", "call": [call("shop__order")], "stop": "maxTokens"}]
        async with hosting(tmp_path, {"shop": shop("Order one thing.")}, *turns) as host:
            host.grant("allow", "shop/order")
            await host.say("order")
            last = await host.wait()
            assert (last.text, last.stop, calls(host)) == ("I order", "maxTokens", [])

    run(main())


def test_what_a_server_claims_counts_where_its_entry_says_so(tmp_path: Path) -> None:
    async def states(*, trusts: bool) -> list[str]:
        server = Server("shop")
        hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        server.add_tool(lambda: "tea", name="look", description="Look what there is.", annotations=hints)
        turns = {"call": [call("shop__look")]}, {"say": "done"}
        async with hosting(tmp_path / str(trusts), {}, *turns, policy="headless") as host:
            host.add_entry(Entry(name="shop", transport="memory", options=Options(trust_annotations=trusts)), server)
            await host.say("look")
            await host.wait()
            return [each.state for each in calls(host)]

    assert run(states(trusts=True)) == ["done"]
    assert run(states(trusts=False)) == ["denied"]


def test_a_rule_made_in_one_host_is_listed_in_another_that_does_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("splice.host.asking.permissions.LOOK_SECONDS", 0.01)

    async def main() -> None:
        async with (
            hosting(tmp_path, {"desk": Server("desk")}) as one,
            hosting(tmp_path, {"desk": Server("desk")}) as two,
        ):
            made = one.grant("allow", "desk/*")
            shown = await until(two, Rule)
            assert (shown.id, shown.what, shown.void) == (made, "desk/*", "")
            two.revoke(made)
            async for _ in one.board.watch():
                if not one.board.all(Rule):
                    break

    run(main())
