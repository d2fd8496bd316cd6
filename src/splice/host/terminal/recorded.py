"""Records of the activity log: a line for line mode; what it is about, and its facts, for the app."""

from splice.host import telling
from splice.host.telling import Told
from splice.host.terminal import words
from splice.host.terminal.hosted import Recorded
from splice.host.text import size


def told(each: Recorded) -> Told:
    """Tell a record in words."""
    return telling.told(each.kind, each.facts, each.turn)


def what(kind: str, said: Told) -> str:
    """Say what a record is about, and its kind where it is not clear."""
    return said.name if kind == "call" or said.name.startswith(kind) else f"{kind} {said.name}"


def took(each: Recorded) -> str:
    """Say how long it took, short."""
    return words.took(telling.number(each.facts.get("seconds")))


def facts(each: Recorded, said: Told) -> list[tuple[str, str]]:
    """List the facts of a record with names for people; checksums are for programs."""
    known = {name: _value(each, name) for name in each.facts if not name.endswith("_sha256")}
    if said.steps:
        known["trail"] = "\n".join(said.steps)
    return [(telling.FACTS.get(name, name.replace("_", " ").capitalize()), value) for name, value in known.items()]


def line(each: Recorded, said: str) -> str:
    """Say when it happened, and with which server."""
    who = f"{each.server}: " if each.server else ""
    return f"{words.clock(each.at)} {who}{said}"


def _value(each: Recorded, name: str) -> str:
    value = each.facts[name]
    number = telling.number(value)
    if name in ("seconds", "waited", "whole") and number is not None:
        return words.took(number)
    if name.endswith("bytes") and number is not None:
        return size(int(number))
    return "\n".join(words.lines_of(value))[:4_000]
