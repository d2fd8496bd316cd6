"""Whether a call may go out: decided by the policy, else by the user, and every step of that is kept with the call.

The user allows a call once, the tool for this chat, or the tool or its server always; denies, with a reason for the
model; or edits the arguments. Several calls wait at once. What the user allows for longer also answers those that wait
and fall under it.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations
"""

import json
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from splice.host.asked import Approval, By, Decision, Json
from splice.host.asking.answers import WrongAnswer, said_of
from splice.host.asking.forms import check
from splice.host.asking.permissions import server_of, tool_of
from splice.host.asking.policy import Policy, Proposed, Taint, Verdict
from splice.host.asking.questions import Questions
from splice.host.board import Board
from splice.host.items import Call, Step, Tool
from splice.host.telling import who_of
from splice.host.text import one_line, unseen
from splice.host.tools.offering import GOES_OUTSIDE
from splice.schema.schemas import cut, is_array, is_object
from splice.schema.validate import BadSchema, OverBudget, validator

MAX_REMEMBERED = 500
"""Of how many tools and chats the last arguments are kept, to mark what is different."""

MAX_REASON = 1_000
"""How many characters of a reason the model reads."""

NOT_SAID = "The server does not say what this does: it may delete, and send data out."
DELETES = "This may delete or overwrite something."
LEAVES = "This leaves your computer and cannot be undone."


class Found(Protocol):
    """A tool that a call names, as the registry finds it."""

    @property
    def server(self) -> str:
        """The local name of its server."""
        ...

    @property
    def item(self) -> Tool:
        """The tool as it is on the board."""
        ...


class Approved(Struct, frozen=True):
    """What became of a proposed call."""

    is_allowed: bool
    arguments: dict[str, Json]
    """The user's own, if they were edited."""
    reason: str
    """Why it was not allowed, for the model and the user; empty if the user gave no reason."""
    trail: list[Step]
    rule: str = ""
    """The id of the rule that decided, for the activity log."""


class Approvals:
    """Decides about calls."""

    def __init__(
        self,
        board: Board,
        questions: Questions,
        policy: Policy,
        *,
        trusts: Callable[[str], bool] = lambda _: True,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`trusts` tells whether the user trusts a server's command."""
        self._board = board
        self._questions = questions
        self._policy = policy
        self._trusts = trusts
        self._clock = clock
        self._waiting: dict[str, Proposed] = {}
        """By the id of the call."""
        self._before: OrderedDict[tuple[str, str], Json] = OrderedDict()

    async def approve(self, call: str, found: Found, arguments: dict[str, Json], turn: Taint, asker: str) -> Approved:
        """Decide about a call, which is `waiting` on the board while the user thinks."""
        shown = self._board.get(call, Call)
        chat = shown.chat if shown is not None else ""
        asked = Proposed(found.server, found.item, arguments, turn, chat, self._trusts(found.server))
        verdict = self._policy.decide(asked)
        if verdict.effect == "ask":
            approved = await self._by_user(call, asked, verdict, asker)
        else:
            approved = self._by_rule(asked, verdict)
        if approved.is_allowed:
            self._before[chat, found.item.id] = approved.arguments
            self._before.move_to_end((chat, found.item.id))
            if len(self._before) > MAX_REMEMBERED:
                self._before.popitem(last=False)
        return approved

    def _by_rule(self, asked: Proposed, verdict: Verdict) -> Approved:
        is_allowed = verdict.effect == "allow"
        if verdict.rule:
            self._policy.permissions.used(verdict.rule)
        what = f"{'Allowed' if is_allowed else 'Blocked' if verdict.effect == 'block' else 'Denied'}: {verdict.why}"
        trail = [self._step("the policy", what)]
        return Approved(is_allowed, asked.arguments, "" if is_allowed else verdict.why, trail, verdict.rule)

    async def _by_user(self, call: str, asked: Proposed, verdict: Verdict, asker: str) -> Approved:
        trail = [self._step("the policy", f"Asked: {verdict.why}")]
        self._waiting[call] = asked
        self._show(call, "waiting", "waits for you")
        try:
            answer, by = await self._questions.ask(
                asked.server,
                self._question(call, asked, verdict, asker),
                chat=asked.chat,
                check=lambda given: _check_edit(asked, given),
            )
        finally:
            del self._waiting[call]
            self._show(call, "queued", "")
        decision = answer if isinstance(answer, Decision) else Decision("cancel")
        if decision.verdict not in ("deny", "cancel") and (changed := self._changed(asked)):
            # Before a rule is made or used: it would be for a definition that the user has not seen.
            return Approved(False, asked.arguments, changed, [*trail, self._step("the policy", f"Blocked: {changed}")])
        again = self._policy.decide(asked)
        if by == "policy" and decision.verdict == "once" and again.effect == "allow":
            ruled = self._by_rule(asked, again)
            return replace(ruled, trail=trail + ruled.trail)
        who = who_of(by)
        trail += self._decided(decision, asked, who)
        if decision.is_for_equal:
            self._answer_equal(asked, decision, by)
        if decision.verdict in ("deny", "cancel"):
            return Approved(False, asked.arguments, cut(decision.reason, MAX_REASON), trail)
        edited: Json = decision.arguments
        return Approved(True, asked.arguments if edited is None else edited, "", trail)

    def _changed(self, asked: Proposed) -> str:
        """Tell why a call may no longer go out: things change while a person thinks. Empty if it may."""
        now = self._board.get(asked.tool.id, Tool)
        if now is None:
            return "its server offers it no more"
        if now.fingerprint != asked.tool.fingerprint:
            return "its definition changed while you were asked"
        verdict = self._policy.decide(replace(asked, tool=now, is_trusted=self._trusts(asked.server)))
        return verdict.why if verdict.effect in ("block", "deny") else ""

    def _question(self, call: str, asked: Proposed, verdict: Verdict, asker: str) -> Approval:
        tool = asked.tool
        is_grave = verdict.is_tainted or (tool.may_delete and "may delete" in tool.claims)
        return Approval(
            call=call,
            tool=tool.id,
            why=verdict.why,
            asker=asker,
            may_always=not is_grave and not verdict.rule,
            is_grave=is_grave,
            loud=_loud(tool, asked.turn if verdict.is_tainted else Taint()),
            before=self._before.get((asked.chat, tool.id)),
            hidden=_hidden(asked.arguments),
        )

    def _decided(self, decision: Decision, asked: Proposed, who: str) -> list[Step]:
        """Write down a decision, and keep it as a rule if it is for longer."""
        if decision.verdict in ("deny", "cancel"):
            said = f": {one_line(cut(decision.reason, MAX_REASON))}" if decision.reason else ""
            return [self._step(who, f"{'Denied' if decision.verdict == 'deny' else 'Cancelled'}{said}")]
        edited = decision.arguments is not None and decision.arguments != asked.arguments
        steps = [self._step(who, "Edited the arguments")] if edited else []
        steps.append(self._step(who, _ALLOWED[decision.verdict].format(server=one_line(asked.server))))
        if decision.verdict == "once" or (decision.verdict == "chat" and not asked.chat):
            return steps
        about = tool_of(asked.server, asked.tool.name)
        what = server_of(asked.server) if decision.verdict == "server" else about
        try:
            rule = self._policy.permissions.grant(
                "allow", what, chat=asked.chat if decision.verdict == "chat" else None
            )
            self._policy.permissions.used(rule.id)
        except (OSError, ValueError) as error:
            steps.append(self._step("the host", f"Allowed only this once, as the rule could not be kept: {error}"))
        else:
            self._answer_allowed()
        return steps

    def _answer_allowed(self) -> None:
        """Answer what waits and is allowed by now."""
        for call, id in self._others():
            if self._policy.decide(self._waiting[call]).effect == "allow":
                self._questions.answer(id, Decision("once"), "policy")

    def _answer_equal(self, asked: Proposed, decision: Decision, by: By) -> None:
        """Give the same answer to calls of the same tool with the same arguments, and to no others."""
        verdict = decision.verdict if decision.verdict in ("deny", "cancel") else "once"
        same = Decision(verdict, decision.reason, decision.arguments)
        for call, id in self._others():
            other = self._waiting[call]
            if (other.tool.id, other.chat) == (asked.tool.id, asked.chat) and _is_equal(
                other.arguments, asked.arguments
            ):
                with suppress(WrongAnswer):  # it was listed with another schema then, and goes on waiting
                    self._questions.answer(id, same, by)

    def _others(self) -> list[tuple[str, str]]:
        """List the calls that wait, with the ids of their questions."""
        asked = [(item.asked, item.id) for item in self._questions.waiting()]
        return [(each.call, id) for each, id in asked if isinstance(each, Approval) and each.call in self._waiting]

    def _show(self, call: str, state: str, word: str) -> None:
        if self._board.get(call, Call) is not None:
            self._board.change(call, state=state, word=word)

    def _step(self, who: str, what: str) -> Step:
        return Step(self._clock(), who, what)


_ALLOWED = {
    "once": "Allowed once",
    "chat": "Allowed for this chat",
    "tool": "Always allowed this tool",
    "server": "Always allowed every tool of {server}",
}


def _check_edit(asked: Proposed, decision: Decision) -> None:
    """Check edited arguments by the tool's schema. Raises `WrongAnswer`."""
    schema: Json = asked.tool.schema
    if decision.arguments is None or not is_object(schema):
        return
    try:
        validator(schema)
    except (BadSchema, OverBudget, RecursionError):
        return  # then only the server can tell
    if findings := check(schema, decision.arguments, for_tool=True):
        raise WrongAnswer(said_of(findings))


def _loud(tool: Tool, tainting: Taint) -> str:
    """Say what the user should know before anything else."""
    said: list[str] = []
    if tainting.servers:
        came = ", ".join(map(one_line, tainting.servers))
        said.append(f"Text from {came} came into this turn, and may have asked for this.")
    if not tool.claims:
        said.append(NOT_SAID)
    elif not tool.reads_only:
        said += [DELETES] if tool.may_delete and "may delete" in tool.claims else []
        said += [LEAVES] if GOES_OUTSIDE in tool.claims else []
    return " ".join(said)


def _hidden(value: Json) -> int:
    """Count the characters in a JSON value that cannot be seen."""
    if isinstance(value, str):
        return unseen(value)
    if is_object(value):
        return sum(unseen(name) + _hidden(inner) for name, inner in value.items())
    return sum(map(_hidden, value)) if is_array(value) else 0


def _is_equal(one: Json, other: Json) -> bool:
    """Compare JSON values as they go out: in Python, True is 1."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)
