"""Whether a tool is called, asked about or refused: one decision, from the rules and from nothing else.

The first of these counts:

    1 the server is not trusted, or the tool is off or changed    block
    2 a rule denies it, for whatever and wherever                 deny
    3 a rule wants it asked always                                ask
    4 allowed in this chat                                        allow
    5 allowed always: the tool, then the server                   allow
    6 it says it only reads, and the user trusts that             allow
    7 anything else                                               ask

What is allowed is asked about all the same once text from outside came into the turn, unless it only reads. Where
nobody can be asked, what would be asked is denied.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#security-considerations
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from splice.host.asked import Json
from splice.host.asking.permissions import Effect, Permissions, matches, reads_of, sampling_of, server_of, tool_of
from splice.host.items import Rule, Tool
from splice.host.text import one_line


class Taint(Struct):
    """The servers whose text from outside came into a turn. One for each turn."""

    servers: list[str] = []

    def add(self, server: str) -> None:
        """Note that text came in."""
        if server not in self.servers:
            self.servers.append(server)


class Proposed(Struct, frozen=True):
    """A call that a model wants."""

    server: str
    tool: Tool
    arguments: Json
    turn: Taint
    chat: str = ""
    is_trusted: bool = True
    """The user trusts the server's command."""


class Verdict(Struct, frozen=True):
    """What is done with it."""

    effect: Literal["allow", "ask", "deny", "block"]
    why: str
    """For the user: ``no rule``, ``asks always``, ``text from weather came into this turn``."""
    rule: str = ""
    """The id of the rule that decided."""
    is_tainted: bool = False
    """Text from outside came into the turn, and the tool may have effects: asking takes care."""


class Policy:
    """Decides by the user's rules. A headless one never asks."""

    def __init__(self, permissions: Permissions, *, is_headless: bool = False, asks_when_tainted: bool = True) -> None:
        self.permissions = permissions
        self.is_headless = is_headless
        self.asks_when_tainted = asks_when_tainted

    def decide(self, asked: Proposed) -> Verdict:
        """Decide, and change nothing."""
        if blocked := _blocked(asked):
            return Verdict("block", blocked)
        rules = self._holding(asked.chat)
        trusting = self._trusting(asked, rules)
        verdict = self._by_rules(asked, rules, trusting)
        tainted = self.asks_when_tainted and bool(asked.turn.servers) and not trusting
        if tainted and verdict.effect == "allow":
            came = ", ".join(map(one_line, asked.turn.servers))
            verdict = Verdict("ask", f"text from {came} came into this turn", verdict.rule)
        if verdict.effect == "ask" and self.is_headless:
            name = one_line(f"{asked.server}/{asked.tool.name}")
            todo = "Run it where somebody can answer" if verdict.rule else "Allow it by a rule"
            why = f"{name} would be asked about ({verdict.why}), and nobody can be asked here. {todo}."
            verdict = Verdict("deny", why, verdict.rule)
        return replace(verdict, is_tainted=tainted)

    def decide_sampling(self, server: str, chat: str, *, is_outside: bool = False) -> Verdict:
        """Decide whether a server's request to a model runs without the user seeing it.

        What was allowed for its calls does not count while none of them runs; what was denied does.
        """
        about = sampling_of(server, is_outside=is_outside)
        rules = self._holding(chat)
        effects: tuple[Effect, ...] = ("deny", "ask", "allow")
        for effect in effects:
            named = (about,) if effect == "allow" else (about, sampling_of(server))
            for rule in rules:
                if rule.effect == effect and not rule.void and any(matches(rule.what, each) for each in named):
                    return Verdict(effect, f"a rule for {one_line(rule.what)}", rule.id)
        return Verdict("ask", "no rule")

    def _by_rules(self, asked: Proposed, rules: Sequence[Rule], trusting: str) -> Verdict:
        about, everything = tool_of(asked.server, asked.tool.name), server_of(asked.server)
        for rule in rules:
            if rule.effect == "deny" and matches(rule.what, about):
                return Verdict("deny", f"a rule denies {one_line(rule.what)}", rule.id)
        for rule in rules:
            if rule.effect == "ask" and rule.what in (about, everything):
                return Verdict("ask", "asks always", rule.id)
        for scope in ("chat", "always"):
            for what in (about, everything):
                for rule in rules:
                    if rule.what == what and rule.scope == scope and self._counts(rule, about):
                        return Verdict("allow", f"a rule allows {one_line(what)}", rule.id)
        return Verdict("allow", "it only reads", trusting) if trusting else Verdict("ask", "no rule")

    def _holding(self, chat: str) -> list[Rule]:
        """List the rules that hold in a chat."""
        return [each for each in self.permissions.all() if not each.chat or each.chat == chat]

    def _counts(self, rule: Rule, about: str) -> bool:
        """Tell whether a rule allows a tool, as its definition is now."""
        return rule.effect == "allow" and not rule.void and rule.made > self.permissions.voided(about)

    def _trusting(self, asked: Proposed, rules: Sequence[Rule]) -> str:
        """Find the rule by which the user trusts a tool that says it only reads; empty if there is none.

        A tool that goes outside always has an effect: what it is given leaves this computer.
        """
        if not asked.tool.reads_only or asked.tool.goes_outside:
            return ""
        about, what = tool_of(asked.server, asked.tool.name), reads_of(asked.server)
        return next((each.id for each in rules if each.what == what and self._counts(each, about)), "")


def _blocked(asked: Proposed) -> str:
    if not asked.is_trusted:
        return f"{one_line(asked.server)} is not trusted yet"
    if asked.tool.held is not None:
        return "its definition changed since you saw it"
    return "" if asked.tool.is_on else "you switched it off"
