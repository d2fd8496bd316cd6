"""Approvals: everything a user can say about a call, alone and with others that wait."""

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from splice.host.asked import Approval, Decision, Json
from splice.host.asking.answers import WrongAnswer
from splice.host.asking.approvals import DELETES, LEAVES, NOT_SAID, Approvals, Approved
from splice.host.asking.permissions import Permissions
from splice.host.asking.policy import Policy, Taint
from splice.host.asking.questions import Questions
from splice.host.asking.unattended import Answers
from splice.host.board import Board
from splice.host.items import Call, Question, Rule, Tool
from support.asking import asked_of

SCHEMA = {"type": "object", "properties": {"to": {"type": "string"}, "copies": {"type": "integer", "maximum": 3}}}


class Found(Struct, frozen=True):
    server: str
    item: Tool


def _tool(name: str = "send", server: str = "mail", **words: Any) -> Found:
    said: dict[str, Any] = {"schema": SCHEMA, "claims": ["goes outside"], "may_delete": False, **words}
    return Found(server, Tool(id=f"tool:{server}/{name}", server=server, name=name, **said))


class Desk(Struct):
    """The parts that approvals need."""

    board: Board
    questions: Questions
    policy: Policy
    approvals: Approvals

    def begin(self, call: int, found: Found, arguments: Json, taint: str = "") -> "asyncio.Task[Approved]":
        self.board.put(Call(id=f"call:{call}", chat="chat:1", turn=1, server=found.server, tool=found.item.name))
        if self.board.get(found.item.id, Tool) is None:
            self.board.put(found.item)
        turn = Taint(taint.split())
        asking = self.approvals.approve(f"call:{call}", found, arguments, turn, "The model, in turn 1")
        return asyncio.create_task(asking)

    async def asked(self, count: int = 1) -> list[tuple[str, Approval]]:
        waiting = await asked_of(self.questions, count)
        return [(item.id, item.asked) for item in waiting if isinstance(item.asked, Approval)]

    def state(self, call: int) -> tuple[str, str]:
        item = self.board.get(f"call:{call}", Call)
        assert item is not None
        return item.state, item.word


def _run(
    body: Callable[[Desk], Coroutine[Any, Any, None]],
    path: Path | None = None,
    *,
    answers: Answers | None = None,
    is_headless: bool = False,
) -> None:
    async def main() -> None:
        board = Board()
        questions = Questions(board, answers)
        policy = Policy(Permissions(board, path), is_headless=is_headless)
        async with asyncio.timeout(5):
            await body(Desk(board, questions, policy, Approvals(board, questions, policy)))

    asyncio.run(main())


@pytest.mark.parametrize(
    ("decision", "is_allowed", "reason", "trail", "rules"),
    [
        (Decision("once"), True, "", ["Allowed once"], []),
        (Decision("chat"), True, "", ["Allowed for this chat"], [("mail/send", "chat")]),
        (Decision("tool"), True, "", ["Always allowed this tool"], [("mail/send", "always")]),
        (Decision("server"), True, "", ["Always allowed every tool of mail"], [("mail/*", "always")]),
        (Decision("deny"), False, "", ["Denied"], []),
        (Decision("deny", "wrong\nteam"), False, "wrong\nteam", ["Denied: wrong team"], []),
        (Decision("cancel"), False, "", ["Cancelled"], []),
        (Decision("once", arguments={"to": "b"}), True, "", ["Edited the arguments", "Allowed once"], []),
        (Decision("once", arguments={"to": "a"}), True, "", ["Allowed once"], []),
    ],
)
def test_everything_a_user_can_say(
    tmp_path: Path, decision: Decision, is_allowed: bool, reason: str, trail: list[str], rules: list[tuple[str, str]]
) -> None:
    async def body(desk: Desk) -> None:
        approving = desk.begin(1, _tool(), {"to": "a"})
        [(id, asked)] = await desk.asked()
        assert (asked.call, asked.tool, asked.why, asked.asker) == (
            "call:1",
            "tool:mail/send",
            "no rule",
            "The model, in turn 1",
        )
        assert desk.state(1) == ("waiting", "waits for you")
        desk.questions.answer(id, decision, "terminal")
        approved = await approving
        assert (approved.is_allowed, approved.reason) == (is_allowed, reason)
        assert approved.arguments == (decision.arguments or {"to": "a"})
        assert [step.what for step in approved.trail] == ["Asked: no rule", *trail]
        assert {step.who for step in approved.trail[1:]} == {"you, in the terminal"}
        assert desk.state(1) == ("queued", "")
        assert [(each.what, each.scope) for each in desk.board.all(Rule)] == rules

    _run(body, tmp_path / "permissions.json")


def test_what_is_allowed_for_longer_is_not_asked_again_and_counted(tmp_path: Path) -> None:
    async def body(desk: Desk) -> None:
        approving = desk.begin(1, _tool(), {"to": "a"})
        [(id, _)] = await desk.asked()
        desk.questions.answer(id, Decision("tool"), "web")
        await approving
        again = await desk.begin(2, _tool(), {"to": "b"})
        assert (again.is_allowed, [(step.who, step.what) for step in again.trail]) == (
            True,
            [("the policy", "Allowed: a rule allows mail/send")],
        )
        [rule] = desk.board.all(Rule)
        assert (rule.uses, again.rule) == (2, rule.id)
        # Text from outside comes in: it is asked again.
        tainted = desk.begin(3, _tool(), {"to": "c"}, "web")
        [(id, asked)] = await desk.asked()
        assert (asked.why, asked.is_grave, asked.may_always) == ("text from web came into this turn", True, False)
        assert asked.loud.startswith("Text from web came into this turn, and may have asked for this.")
        with pytest.raises(WrongAnswer, match="once"):
            desk.questions.answer(id, Decision("tool"), "web")
        desk.questions.answer(id, Decision("once"), "web")
        assert (await tainted).is_allowed

    _run(body, tmp_path / "permissions.json")


def test_a_rule_that_cannot_be_kept_allows_this_call_and_says_so(tmp_path: Path) -> None:
    async def body(desk: Desk) -> None:
        approving = desk.begin(1, _tool(), {})
        [(id, _)] = await desk.asked()
        (tmp_path / "home").write_text("in the way")
        desk.questions.answer(id, Decision("server"), "web")
        approved = await approving
        assert approved.is_allowed
        assert approved.trail[-1].what.startswith("Allowed only this once, as the rule could not be kept")

    _run(body, tmp_path / "home" / "permissions.json")


def test_two_wait_and_each_has_its_own_answer() -> None:
    async def body(desk: Desk) -> None:
        one, two = desk.begin(1, _tool(), {"to": "a"}), desk.begin(2, _tool("delete"), {})
        (first, _), (second, _) = await desk.asked(2)
        desk.questions.answer(second, Decision("deny"), "web")
        assert not (await two).is_allowed
        assert desk.state(1)[0] == "waiting"
        desk.questions.answer(first, Decision("once"), "terminal")
        assert (await one).is_allowed

    _run(body)


def test_allowing_for_longer_answers_what_waits_and_falls_under_it() -> None:
    async def body(desk: Desk) -> None:
        one, two = desk.begin(1, _tool(), {"to": "a"}), desk.begin(2, _tool(), {"to": "b"})
        three = desk.begin(3, _tool("delete"), {})
        (first, _), _, (third, _) = await desk.asked(3)
        desk.questions.answer(first, Decision("chat"), "web")
        assert (await one).is_allowed
        assert [step.what for step in (await two).trail] == ["Asked: no rule", "Allowed: a rule allows mail/send"]
        assert [item.id for item in desk.board.all(Question)] == [third]
        desk.questions.answer(third, Decision("deny"), "web")
        assert not (await three).is_allowed

    _run(body)


def test_the_same_for_all_is_for_equal_calls_only() -> None:
    async def body(desk: Desk) -> None:
        arguments: list[Json] = [{"to": "a", "copies": 1}, {"copies": 1, "to": "a"}, {"to": "a", "copies": True}, {}]
        calls = [desk.begin(place, _tool(), each) for place, each in enumerate(arguments)]
        calls.append(desk.begin(9, _tool(server="post"), arguments[0]))
        waiting = await desk.asked(5)
        desk.questions.answer(waiting[0][0], Decision("deny", "no", is_for_equal=True), "web")
        assert [(await each).reason for each in calls[:2]] == ["no", "no"]
        assert len(desk.board.all(Question)) == 3
        desk.questions.close()
        assert not any(approved.is_allowed for approved in await asyncio.gather(*calls))

    _run(body)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"copies": 9}, "copies: Must be 3 or less"),
        ({"to": 1, "copies": "x"}, "to: Must be text"),
        ([], "JSON object"),
    ],
)
def test_edited_arguments_must_fit_the_tool(arguments: Json, said: str) -> None:
    async def body(desk: Desk) -> None:
        approving = desk.begin(1, _tool(), {"to": "a"})
        [(id, _)] = await desk.asked()
        with pytest.raises(WrongAnswer, match=said):
            desk.questions.answer(id, Decision("once", arguments=arguments), "web")
        assert desk.state(1)[0] == "waiting"
        desk.questions.answer(id, Decision("once", arguments={"to": "b", "more": 1}), "web")
        assert (await approving).arguments == {"to": "b", "more": 1}

    _run(body)


@pytest.mark.parametrize("schema", [{"$ref": "https://elsewhere.example"}, {"type": 7}, None, True])
def test_a_schema_that_cannot_be_checked_hinders_nobody(schema: Json) -> None:
    async def body(desk: Desk) -> None:
        approving = desk.begin(1, _tool(schema=schema), {})
        [(id, _)] = await desk.asked()
        desk.questions.answer(id, Decision("once", arguments={"a": 1}), "web")
        assert (await approving).arguments == {"a": 1}

    _run(body)


@pytest.mark.parametrize(
    ("words", "loud", "is_grave"),
    [
        ({"claims": []}, NOT_SAID, False),
        ({"claims": ["may delete"], "may_delete": True}, DELETES, True),
        ({"claims": ["may delete", "goes outside"], "may_delete": True}, f"{DELETES} {LEAVES}", True),
        ({"claims": ["goes outside"]}, LEAVES, False),
        ({"claims": ["reads only"], "reads_only": True}, "", False),
    ],
)
def test_what_cannot_be_undone_is_said_first(words: dict[str, Any], loud: str, is_grave: bool) -> None:
    async def body(desk: Desk) -> None:
        approving = desk.begin(1, _tool(**words), {})
        [(_, asked)] = await desk.asked()
        assert (asked.loud, asked.is_grave, asked.may_always) == (loud, is_grave, not is_grave)
        desk.questions.close()
        await approving

    _run(body)


def test_arguments_are_shown_beside_the_last_ones_and_hidden_characters_are_counted() -> None:
    async def body(desk: Desk) -> None:
        approving = desk.begin(1, _tool(), {"to": "a"})
        [(id, asked)] = await desk.asked()
        assert (asked.before, asked.hidden) == (None, 0)
        desk.questions.answer(id, Decision("once"), "web")
        await approving
        hiding = {"to": ["b\u200b", {"\u202ekey": "\x1b[31m"}], "note": "\U000e0041\U000e0100\u3164 ok \U0001f468"}
        approving = desk.begin(2, _tool(), hiding)
        [(id, asked)] = await desk.asked()
        assert (asked.before, asked.hidden) == ({"to": "a"}, 6)
        desk.questions.answer(id, Decision("deny"), "web")
        await approving
        desk.begin(3, _tool(), {})
        [(_, asked)] = await desk.asked()
        assert asked.before == {"to": "a"}
        desk.questions.close()

    _run(body)


def test_a_cancelled_call_takes_its_question_back() -> None:
    async def body(desk: Desk) -> None:
        approving = desk.begin(1, _tool(), {})
        await desk.asked()
        approving.cancel()
        with pytest.raises(asyncio.CancelledError):
            await approving
        assert desk.board.all(Question) == []

    _run(body)


def test_where_nobody_can_be_asked_what_is_not_allowed_is_denied_with_a_reason() -> None:
    async def body(desk: Desk) -> None:
        desk.policy.permissions.grant("allow", "mail/send", chat="")
        assert (await desk.begin(1, _tool(), {})).is_allowed
        denied = await desk.begin(2, _tool("delete"), {})
        assert denied.reason == (
            "mail/delete would be asked about (no rule), and nobody can be asked here. Allow it by a rule."
        )
        assert denied.trail[0].what.startswith("Denied: mail/delete")

    _run(body, is_headless=True)


def test_prepared_answers_decide_too() -> None:
    async def body(desk: Desk) -> None:
        approved = await desk.begin(1, _tool(), {})
        assert (approved.is_allowed, approved.trail[-1].who) == (True, "the policy")

    _run(body, answers=Answers({"mail approval": "once"}))


def test_what_is_held_is_blocked_whatever_is_allowed() -> None:
    async def body(desk: Desk) -> None:
        desk.policy.permissions.grant("allow", "mail/*", chat="")
        blocked = await desk.begin(1, _tool(held=[]), {})
        assert blocked.reason == "its definition changed since you saw it"
        assert blocked.trail[0].what == "Blocked: its definition changed since you saw it"

    _run(body)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"fingerprint": "new"}, "its definition changed while you were asked"),
        ({"held": []}, "its definition changed since you saw it"),
        ({"is_on": False}, "you switched it off"),
        ({}, "a rule denies mail/send"),
    ],
)
def test_what_changes_while_the_user_thinks_is_not_called(change: dict[str, Any], reason: str) -> None:
    async def body(desk: Desk) -> None:
        desk.board.put(_tool().item)
        approving = desk.begin(1, _tool(), {})
        [(id, _)] = await desk.asked()
        if change:
            desk.board.change("tool:mail/send", **change)
        else:
            desk.policy.permissions.grant("deny", "mail/send", chat="")
        desk.questions.answer(id, Decision("chat"), "web")
        approved = await approving
        assert (approved.is_allowed, approved.reason) == (False, reason)
        assert approved.trail[-1].what == f"Blocked: {reason}"
        assert [each for each in desk.board.all(Rule) if each.effect == "allow"] == []

    _run(body)


def test_a_rule_given_for_another_call_lets_no_tool_out_that_changed_meanwhile() -> None:
    async def body(desk: Desk) -> None:
        first, second = desk.begin(1, _tool(), {}), desk.begin(2, _tool("forward"), {})
        (id, _), _ = await desk.asked(2)
        desk.board.change("tool:mail/forward", fingerprint="new", held=[])
        desk.policy.permissions.grant("allow", "mail/*", chat="chat:1")
        desk.questions.answer(id, Decision("chat"), "web")
        assert [(await each).is_allowed for each in (first, second)] == [True, False]

    _run(body)


def test_a_tool_that_is_offered_no_more_is_not_called() -> None:
    async def body(desk: Desk) -> None:
        approving = desk.begin(1, _tool(), {})
        [(id, _)] = await desk.asked()
        desk.board.drop("tool:mail/send")
        desk.questions.answer(id, Decision("chat"), "web")
        assert (await approving).reason == "its server offers it no more"

    _run(body)


def test_an_answer_for_equal_calls_passes_over_one_that_it_does_not_fit() -> None:
    async def body(desk: Desk) -> None:
        other = desk.begin(2, _tool(schema={"type": "object", "properties": {"to": {"type": "integer"}}}), {})
        await desk.asked()
        approving = desk.begin(1, _tool(), {})
        _, (id, _) = await desk.asked(2)
        desk.questions.answer(id, Decision("once", arguments={"to": "b"}, is_for_equal=True), "web")
        assert (await approving).is_allowed
        assert len(await desk.asked()) == 1
        other.cancel()

    _run(body)
