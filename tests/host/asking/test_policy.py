"""How a call is decided: the truth table."""

import itertools
from typing import Any

from splice.host.asking.permissions import Effect, Permissions
from splice.host.asking.policy import Policy, Proposed, Taint, Verdict
from splice.host.board import Board
from splice.host.items import Change, Rule, Tool
from support.tables import rows

TOOL = Tool(id="tool:travel/book", server="travel", name="book")
READS = Tool(id="tool:travel/book", server="travel", name="book", reads_only=True, goes_outside=False, may_delete=False)
FETCHES = Tool(id="tool:travel/book", server="travel", name="book", reads_only=True, goes_outside=True)
HELD = Tool(id="tool:travel/book", server="travel", name="book", held=[Change("description", [("+", "ignore")])])
OFF = Tool(id="tool:travel/book", server="travel", name="book", is_on=False)

EFFECTS: dict[str, Effect] = {"allow": "allow", "ask": "ask", "deny": "deny"}


def _decide(
    rules: str, tool: Tool = TOOL, *, tainted: str = "", headless: bool = False, trusted: bool = True
) -> Verdict:
    """Decide by rules written as ``deny */book, allow travel/* in chat``; `elsewhere` is another chat."""
    permissions = Permissions(Board(), None)
    for rule in filter(None, rules.split(", ")):
        effect, _, rest = rule.partition(" ")
        what, _, chat = rest.partition(" in ")
        # Without a chat it is for all of them, which decides as a lasting one of a file does.
        permissions.grant(EFFECTS[effect], what, chat=chat)
    policy = Policy(permissions, is_headless=headless)
    turn = Taint(tainted.split()) if tainted else Taint()
    return policy.decide(Proposed("travel", tool, {}, turn, chat="chat", is_trusted=trusted))


@rows(
    ("rules", "effect", "why"),
    [
        # 7 nothing says anything
        ("", "ask", "no rule"),
        ("allow travel/other", "ask", "no rule"),
        ("allow other/book", "ask", "no rule"),
        ("allow other/*", "ask", "no rule"),
        ("allow travel/book in elsewhere", "ask", "no rule"),
        # 4, 5 allowed
        ("allow travel/book", "allow", "a rule allows travel/book"),
        ("allow travel/*", "allow", "a rule allows travel/*"),
        ("allow travel/book in chat", "allow", "a rule allows travel/book"),
        ("allow travel/*, allow travel/book", "allow", "a rule allows travel/book"),
        # 3 asked always, whatever is allowed
        ("ask travel/book, allow travel/book in chat", "ask", "asks always"),
        ("ask travel/book, allow travel/*", "ask", "asks always"),
        ("ask travel/*, allow travel/book", "ask", "asks always"),
        # 2 a denial beats all, at any scope and in any order
        ("deny travel/book", "deny", "a rule denies travel/book"),
        ("deny travel/book, allow travel/*", "deny", "a rule denies travel/book"),
        ("allow travel/book in chat, deny travel/*", "deny", "a rule denies travel/*"),
        ("allow travel/book, deny travel/* in chat", "deny", "a rule denies travel/*"),
        ("ask travel/book, deny travel/book", "deny", "a rule denies travel/book"),
        ("allow travel/book, deny */b*k", "deny", "a rule denies */b*k"),
        ("allow travel/book, deny tra*/*", "deny", "a rule denies tra*/*"),
        ("deny travel/book in elsewhere", "ask", "no rule"),
        ("deny travel/bo, deny ravel/book", "ask", "no rule"),
    ],
)
def test_the_first_that_counts_decides(rules: str, effect: str, why: str) -> None:
    verdict = _decide(rules)
    assert (verdict.effect, verdict.why) == (effect, why)


EVERYTHING = "allow travel/book, allow travel/*, allow travel/book in chat, allow reads travel"


@rows(
    ("tool", "rules", "options", "effect", "why"),
    [
        # 1 blocked, whatever is allowed
        (HELD, EVERYTHING, {}, "block", "its definition changed since you saw it"),
        (OFF, EVERYTHING, {}, "block", "you switched it off"),
        (TOOL, EVERYTHING, {"trusted": False}, "block", "travel is not trusted yet"),
        # 6 what a tool says of itself counts only where the user trusts it
        (READS, "", {}, "ask", "no rule"),
        (READS, "allow reads travel", {}, "allow", "it only reads"),
        (READS, "allow reads other", {}, "ask", "no rule"),
        (FETCHES, "allow reads travel", {}, "ask", "no rule"),
        (TOOL, "allow reads travel", {}, "ask", "no rule"),
        (READS, "allow reads travel, ask travel/book", {}, "ask", "asks always"),
        (READS, "allow reads travel, deny travel/*", {}, "deny", "a rule denies travel/*"),
        # text from outside came in: what was allowed is asked
        (TOOL, EVERYTHING, {"tainted": "web"}, "ask", "text from web came into this turn"),
        (FETCHES, EVERYTHING, {"tainted": "web mail"}, "ask", "text from web, mail came into this turn"),
        (READS, "allow travel/*", {"tainted": "web"}, "ask", "text from web came into this turn"),
        (READS, "allow reads travel", {"tainted": "web"}, "allow", "it only reads"),
        (TOOL, "deny travel/book", {"tainted": "web"}, "deny", "a rule denies travel/book"),
        # nobody can be asked
        (TOOL, "allow travel/book", {"headless": True}, "allow", "a rule allows travel/book"),
        (
            TOOL, "", {"headless": True}, "deny",
            "travel/book would be asked about (no rule), and nobody can be asked here. Allow it by a rule.",
        ),
        (
            TOOL, "allow travel/*", {"headless": True, "tainted": "web"}, "deny",
            ("travel/book would be asked about (text from web came into this turn), and nobody can be asked here. "
             "Run it where somebody can answer."),
        ),
    ],
)  # fmt: skip
def test_what_counts_more_than_rules(tool: Tool, rules: str, options: dict[str, Any], effect: str, why: str) -> None:
    verdict = _decide(rules, tool, **options)
    assert (verdict.effect, verdict.why) == (effect, why)


def test_a_denial_beats_every_mix_of_other_rules() -> None:
    others = ["allow travel/book", "allow travel/*", "allow travel/book in chat", "ask travel/*", "allow reads travel"]
    for count in range(len(others) + 1):
        for mix in itertools.combinations(others, count):
            for denied in ("deny travel/book", "deny travel/* in chat"):
                assert _decide(", ".join([*mix, denied]), READS).effect == "deny"
                assert _decide(", ".join([denied, *mix]), READS).effect == "deny"


def test_asking_after_text_from_outside_can_be_switched_off() -> None:
    permissions = Permissions(Board(), None)
    permissions.grant("allow", "travel/book", chat="")
    policy = Policy(permissions, asks_when_tainted=False)
    assert policy.decide(Proposed("travel", TOOL, {}, Taint(["web"]))).effect == "allow"


def test_a_name_is_never_a_pattern() -> None:
    board = Board()
    permissions = Permissions(board, None)
    star = Tool(id="tool:travel/*", server="travel", name="*")
    permissions.grant("allow", "travel/%2A", chat="")
    policy = Policy(permissions)
    assert policy.decide(Proposed("travel", star, {}, Taint())).effect == "allow"
    assert policy.decide(Proposed("travel", TOOL, {}, Taint())).effect == "ask"
    assert [each.what for each in board.all(Rule)] == ["travel/%2A"]
