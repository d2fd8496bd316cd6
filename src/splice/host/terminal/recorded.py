"""Records of the activity log in words: a sentence for line mode; what, why and how long for a row of the app."""

from splice.host import telling
from splice.host.terminal import words
from splice.host.terminal.hosted import Recorded
from splice.host.text import size

_BAD = {"denied", "deny", "failed", "cancelled", "crashed", "timeout", "limited", "blocked", "decline", "cancel"}
"""Outcomes that were not what somebody wanted."""

_BAD_KINDS = {"crash", "fail", "fault"}

_BY = {"terminal": "by you", "web": "by you, on the web page", "program": "by a program", "policy": "by the policy"}

_NAMES = {
    "state": "Outcome",
    "seconds": "Took",
    "trail": "How it was decided",
    "waited": "Waited for you",
    "whole": "In all",
    "asked_arguments": "Asked for",
    "says": "It said",
    "asks": "Question",
    "by": "Answered",
    "bytes": "Size",
    "why": "Why",
    "rule": "Rule",
}
"""Facts that have a better name than their own."""


def fact(each: Recorded, *names: str) -> str:
    """Return the first of some facts that is there, as text."""
    return next((words.short(each.facts[name]) for name in names if each.facts.get(name) not in (None, "")), "")


def is_bad(each: Recorded) -> bool:
    """Tell whether it was not what somebody wanted."""
    outcomes = {fact(each, "state"), fact(each, "decision"), fact(each, "answer"), fact(each, "action")}
    return each.kind in _BAD_KINDS or bool(outcomes & _BAD) or bool(each.facts.get("failure"))


def what(each: Recorded) -> str:
    """Say what a record is about, in a few words."""
    name = fact(each, "tool", "what", "name", "uri", "asks", "model")
    return name if each.kind == "call" else f"{each.kind} {name}".rstrip()


def why(each: Recorded) -> str:
    """Say why it was allowed, or what came of it."""
    return _decided(each) or fact(each, "rule", "why") or _answer(each) or fact(each, "decision", "action", "state")


def took(each: Recorded) -> str:
    """Say how long it took, short."""
    seconds = each.facts.get("seconds")
    return words.took(seconds) if isinstance(seconds, int | float) else ""


def told(each: Recorded) -> list[tuple[str, str]]:
    """List the facts of a record with names for people; checksums are for programs."""
    known = [(name, value) for name, value in each.facts.items() if not name.endswith("_sha256")]
    return [(_NAMES.get(name, name.replace("_", " ").capitalize()), _value(each, name)) for name, _ in known]


def _value(each: Recorded, name: str) -> str:
    value = each.facts[name]
    if name in ("seconds", "waited", "whole") and isinstance(value, int | float):
        return words.took(value)
    if name.endswith("bytes") and isinstance(value, int):
        return size(value)
    return "\n".join(words.lines_of(value))[:4_000]


def sentence(each: Recorded) -> str:
    """Say in a sentence what happened, for somebody who listens."""
    who = f"{each.server}: " if each.server else ""
    return f"{words.clock(each.at)} {who}{telling.told(each.kind, each.facts)}"


def _decided(each: Recorded) -> str:
    """Say by whom it was decided: the last step of its trail, which is kept as ``WHO: WHAT``."""
    steps = words.elements(each.facts.get("trail"))
    who, sign, done = str(steps[-1]).partition(": ") if steps else ("", "", "")
    return f"{done.rstrip('.')} by {who}" if sign else who


def _answer(each: Recorded) -> str:
    said = telling.ANSWERS.get(fact(each, "answer"), fact(each, "answer"))
    return f"{said} {_BY.get(fact(each, 'by'), fact(each, 'by'))}".strip()
