"""The activity log in words."""

from typing import Any

import pytest

from splice.host import telling, text
from splice.host.telling import MAX_STEP, MAX_STEPS, MAX_TEXT, decided, told

ROWS: list[tuple[str, dict[str, Any], str]] = [
    (
        "call",
        {
            "tool": "add", "state": "done", "seconds": 0.1, "bytes": 12, "arguments": {"a": 1},
            "arguments_sha256": "ab12", "trail": ["the policy: Asked: no rule", "you, in the terminal: Allowed once"],
        },
        (
            "add was called in 0.1 s, 12 bytes came back. How it was decided: Asked by the policy: no rule; "
            "Allowed once by you, in the terminal."
        ),
    ),
    ("call", {"tool": "add", "state": "denied", "why": "a rule denies it"}, "add was denied: a rule denies it."),
    ("call", {"tool": "add", "state": "denied", "why": "denied"}, "add was denied."),
    (
        "question", {"asks": "approval", "tool": "add", "says": "no rule"},
        "you were asked whether add may be called: no rule.",
    ),
    (
        "answer", {"asks": "trust", "answer": "once", "by": "web"},
        "asked to be started: allowed once by you, in the browser.",
    ),
    ("turn", {"state": "begins"}, "turn 3 began."),
    ("turn", {"state": "ends", "seconds": 2, "calls": 1}, "turn 3 ended after 2 s, with 1 call."),
    (
        "model",
        {"model": "demo", "stop": "endTurn", "seconds": 1, "calls": 0, "input_tokens": 5, "output_tokens": 6},
        "demo answered in 1 s: 5 tokens in and 6 out.",
    ),
    (
        "model",
        {"model": "demo", "stop": "maxTokens", "calls": 2, "input_tokens": 5, "output_tokens": 6},
        "demo answered (cut off at its limit): 5 tokens in and 6 out, 2 calls wanted.",
    ),
    ("model", {"failure": "login", "why": "The key is wrong."}, "the model gave no answer: The key is wrong."),
    ("rule", {"what": "s/*", "effect": "allow"}, "the rule allow s/* was made."),
    ("rule", {"what": "s/*", "revoked": True}, "the rule s/* was revoked."),
    ("trust", {"given": False, "by": "policy", "runs": "x y"}, "x y is not trusted by the policy."),
    ("tool", {"tool": "tool:s/add", "is_on": False}, "s/add was switched off."),
    ("sampling", {"decision": "denied"}, "its request to a model was denied."),
    ("host", {"state": "open", "folder": "/tmp"}, "the host opened in /tmp."),
    ("stop", {}, "was stopped."),
    ("list", {"tools": 3, "prompts": 1}, "offers 3 tools and 1 prompt."),
    ("question", {"asks": "visit", "says": "Pay here."}, "you were asked to open an address: Pay here."),
    ("start", {"seconds": 0.3, "protocol": "2026-07-28"}, "was started in 0.3 s, speaks 2026-07-28."),
    (
        "call", {"tool": "t", "state": "failed", "why": "no room", "seconds": 2.0, "arguments_sha256": "9f"},
        "t failed in 2 s: no room.",
    ),
    ("sampling", {"decision": "limited", "why": "wait 3 s"}, "its request to a model was limited: wait 3 s."),
    ("odd", {"a_thing": {"b": 1}, "x_sha256": "ab"}, 'a thing {"b":1}.'),
    ("elicitation", {"message": "Sign\x1b[2J", "action": "accept"}, "it asked “Sign\\x1b[2J”, and got: accepted."),
    ("odd", {"a": [1], "b": "x" * 1_000, "x_sha256": "1"}, f"a [1], b {'x' * (MAX_TEXT - 1)}…"),
    ("odd", {}, ""),
    ("call", {"tool": "t", "state": "done", "seconds": 10**400, "bytes": 10**400}, "t was called in 0 s."),
    ("odd", {"n" * 9_000: 1}, f"{'n' * (MAX_TEXT - 1)}… 1."),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "facts", "words"), ROWS)
def test_a_record_is_a_sentence(kind: str, facts: dict[str, Any], words: str) -> None:
    assert told(kind, facts, 3).whole == words


YOU, BROWSER = "you, in the terminal", "you, in the browser"
ADD = {"asks": "approval", "tool": "add"}
ALLOWED = "A rule allows s/*"
RULED = {"rule": "rule:1", "trail": ["the policy: Allowed: a rule allows s/*"]}
SHORT: list[tuple[str, dict[str, Any], tuple[str, str, str], list[str]]] = [
    (
        "call", {"tool": "add", "trail": ["the policy: Allowed: a rule allows x by you/*"]},
        ("add", "A rule allows x by you/*", ""), [],
    ),
    (
        "call", {"tool": "add", "trail": ["the policy: Asked: no rule", f"{YOU}: Denied: too dear: no"]},
        ("add", "Denied by you, in the terminal: too dear: no", ""), ["you"],
    ),
    (
        "call", {"tool": "add", "state": "denied", "trail": [f"{YOU}: Denied"]},
        ("add", f"Denied by {YOU}", ""), ["you", "denied"],
    ),
    ("call", {"tool": "add", "state": "done", **RULED}, ("add", ALLOWED, ""), ["rule"]),
    ("call", {"tool": "add", "state": "denied", **RULED}, ("add", ALLOWED, ""), ["denied"]),
    ("call", {"tool": "add", "state": "timeout", **RULED}, ("add", ALLOWED, "too long"), ["rule", "failed"]),
    ("call", {"tool": "a", "state": "cancelled", "why": "you stopped"}, ("a", "You stopped", "cancelled"), []),
    ("call", {"tool": "a\x1b\n b", "state": [{}], "trail": "?", "seconds": "?"}, ("a\\x1b b", "", ""), []),
    ("question", {"asks": "form"}, ("form", "Asked you", ""), []),
    ("question", {"asks": "{tool.x}", "tool": "{0}"}, ("{0}", "Asked you", ""), []),
    ("answer", {"asks": "form", "answer": "accept", "by": "web"}, ("form", f"Accepted by {BROWSER}", ""), ["you"]),
    ("answer", {**ADD, "answer": "once", "by": "policy"}, ("add", "Allowed once by the policy", ""), ["rule"]),
    ("answer", {**ADD, "answer": "deny", "by": "policy"}, ("add", "Denied by the policy", ""), ["denied"]),
    ("elicitation", {"mode": "url", "action": "decline"}, ("page to open", "Declined", ""), ["denied"]),
    ("sampling", {"decision": "limited", "why": "wait"}, ("use of your model", "Limited: wait", ""), ["denied"]),
    ("sampling", {"decision": "allowed", "rule": "rule:1"}, ("use of your model", "Allowed", ""), ["rule"]),
    ("trust", {"given": True, "by": "web"}, ("trust", f"Trusted by {BROWSER}", ""), ["you"]),
    ("trust", {"given": False}, ("trust", "Not trusted by you", ""), ["you", "denied"]),
    ("rule", {"what": "s/*", "effect": "deny", "rule": "rule:1"}, ("s/*", "Deny, set by you", ""), ["you"]),
    ("rule", {"rule": "rule:1", "revoked": True}, ("rule:1", "Revoked by you", ""), ["you"]),
    ("tool", {"tool": "tool:s/add", "accepted": True}, ("s/add", "Accepted as it is now by you", ""), ["you"]),
    ("setting", {"name": "theme", "value": 1}, ("theme", "Set by you", ""), ["you"]),
    ("attach", {"uri": "x://y"}, ("x://y", "Attached by you", ""), ["you"]),
    ("prompt", {"name": "plan"}, ("plan", "Sent by you", ""), ["you"]),
    ("model", {"failure": "login", "why": "The key is wrong."}, ("model", "The key is wrong.", "failed"), ["failed"]),
    ("model", {"model": "demo", "calls": 2}, ("demo", "Wants 2 calls", ""), []),
    ("turn", {"state": "ends", "calls": 1}, ("turn 3", "Ended, 1 call", ""), []),
    ("list", {"tools": 9, "prompts": 1}, ("lists read", "9 tools, 1 prompt", ""), []),
    ("start", {"protocol": "2026-07-28"}, ("started", "Speaks 2026-07-28", ""), []),
    ("stop", {}, ("stopped", "", ""), []),
    ("crash", {"why": "it ended"}, ("crashed", "It ended", "crashed"), ["failed"]),
    ("fail", {"state": "login", "why": "log in"}, ("failed", "Log in", "failed"), ["failed"]),
    ("fault", {"tool": "add", "why": "KeyError: 1"}, ("add", "KeyError: 1", "failed"), ["failed"]),
    ("host", {"state": "closed"}, ("Splice", "Closed", ""), []),
    ("login", {}, ("login", "Logged in", ""), ["you"]),
    ("updated", {"uri": "x://y"}, ("x://y", "Changed on the server", ""), []),
    ("added", {"runs": "x y"}, ("added", "Runs x y", ""), ["you"]),
    ("odd\u202e", {}, ("odd\\u202e", "", ""), []),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "facts", "row", "ways"), SHORT)
def test_a_record_is_a_row_and_found_by_how_it_was_decided(
    kind: str, facts: dict[str, Any], row: tuple[str, str, str], ways: list[str]
) -> None:
    said = told(kind, facts, 3)
    assert ((said.name, said.word, said.outcome), said.ways) == (row, ways)


def test_of_a_long_text_only_the_beginning_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that sends many of what cannot be seen would hold up the page, which reads 200 records at once."""
    looked: list[int] = []

    def one_line(given: str) -> str:
        looked.append(len(given))
        return text.one_line(given)

    monkeypatch.setattr(telling, "one_line", one_line)
    long = "\u202e" * 80_000
    for kind, name in (("elicitation", "message"), ("updated", "uri"), ("notice", "text"), ("call", "why")):
        assert len(told(kind, {name: long}).text) < 2_000
    assert max(looked) <= 2 * MAX_TEXT


def test_a_decision_with_a_thousand_steps_is_told_cut() -> None:
    said = told("call", {"trail": ["you: Denied: " + "no " * 1_000] * 1_000})
    assert len(said.steps) == MAX_STEPS
    assert max(map(len, said.steps)) < 2 * MAX_STEP


@pytest.mark.parametrize(
    ("what", "said"),
    [("Denied", "Denied by you"), ("Asked: no rule", "Asked by you: no rule"), ("Denied: a: b", "Denied by you: a: b")],
)
def test_who_decided_stands_before_the_reason(what: str, said: str) -> None:
    assert decided(what, "you") == said
