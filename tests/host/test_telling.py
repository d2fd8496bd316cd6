"""The activity log in words."""

from typing import Any

import pytest

from splice.host.telling import MAX_TEXT, told

ROWS: list[tuple[str, dict[str, Any], str]] = [
    (
        "call",
        {
            "tool": "add", "state": "done", "seconds": 0.1, "bytes": 12, "arguments": {"a": 1},
            "arguments_sha256": "ab12", "trail": ["the policy: Asked: no rule", "you, in the terminal: Allowed once"],
        },
        (
            "add was called in 0.1 s, 12 bytes came back. How it was decided: the policy: Asked: no rule; "
            "you, in the terminal: Allowed once."
        ),
    ),
    ("call", {"tool": "add", "state": "denied", "why": "a rule denies it"}, "add was denied: a rule denies it."),
    (
        "question", {"asks": "approval", "tool": "add", "says": "no rule"},
        "you were asked whether add may be called: no rule.",
    ),
    (
        "answer", {"asks": "trust", "answer": "once", "by": "web"},
        "you, in the browser, answered “allowed once” when asked to be started.",
    ),
    ("turn", {"state": "begins"}, "turn 3 began."),
    ("turn", {"state": "ends", "seconds": 2, "calls": 1}, "turn 3 ended after 2 s, with 1 call."),
    (
        "model",
        {"model": "demo", "stop": "endTurn", "seconds": 1, "calls": 0, "input_tokens": 5, "output_tokens": 6},
        "demo answered in 1 s (endTurn): 5 tokens in and 6 out, 0 calls wanted.",
    ),
    ("model", {"failure": "login", "why": "The key is wrong."}, "the model gave no answer: The key is wrong."),
    ("rule", {"what": "s/*", "effect": "allow"}, "the rule allow s/* was made."),
    ("rule", {"what": "s/*", "revoked": True}, "the rule s/* was revoked."),
    ("trust", {"given": False, "by": "policy", "runs": "x y"}, "the policy does not trust x y."),
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
    ("elicitation", {"message": "Sign\x1b[2J", "action": "accept"}, "it asked “Sign\\x1b[2J”, and got: accept."),
    ("odd", {"a": [1], "b": "x" * 1_000, "x_sha256": "1"}, f"a [1], b {'x' * (MAX_TEXT - 1)}…"),
    ("odd", {}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "facts", "words"), ROWS)
def test_a_record_is_a_sentence(kind: str, facts: dict[str, Any], words: str) -> None:
    assert told(kind, facts, 3) == words
