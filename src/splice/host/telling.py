"""A record of the activity log in words: what happened, and why it was allowed. All faces tell it with these.

What a server said stands in them on one line, cut, and with the characters written out that a terminal would obey.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import msgspec
from msgspec import Struct

from splice.host.asked import By, Json
from splice.host.text import one_line, size
from splice.schema.schemas import is_array

MAX_TEXT = 160
"""How many characters of one fact are told."""

MAX_STEPS, MAX_STEP = 20, 2_000
"""How many steps of a decision are told, and how many characters of one."""

MAX_NUMBER = 2**53
"""Numbers beyond are no seconds and no sizes."""

MAX_FACTS = 6
"""How many facts of a record of an unknown kind are told."""

KINDS = {
    "call": "Calls",
    "question": "Questions",
    "answer": "Answers",
    "sampling": "Uses of your model",
    "elicitation": "Forms and pages",
    "prompt": "Prompts",
    "attach": "Attachments",
    "turn": "Turns",
    "model": "Answers of the model",
    "rule": "Rules",
    "tool": "Tools",
    "trust": "Trust",
    "setting": "Settings",
    "start": "Starts",
    "stop": "Stops",
    "crash": "Crashes",
    "fail": "Failures",
    "login": "Logins",
    "list": "Lists",
    "updated": "Changed resources",
    "host": "The host",
    "fault": "Faults",
}
"""The kinds of records, as a filter names them."""

WAYS = {"you": "Decided by you", "rule": "Allowed by a rule", "denied": "Denied", "failed": "Failed"}
"""How something was decided or ended, as a filter names it."""

FACTS = {
    "state": "Outcome",
    "seconds": "Took",
    "trail": "How it was decided",
    "waited": "Waited for you",
    "whole": "In all",
    "asked_arguments": "Before your edit",
    "says": "It said",
    "asks": "Question",
    "by": "Answered in",
    "bytes": "Size",
    "given": "Trusted",
}
"""Facts that have a better name than their own."""

ANSWERS = {
    "once": "allowed once",
    "chat": "allowed for this chat",
    "tool": "always allowed",
    "server": "always allowed, with all tools of the server",
    "always": "always allowed",
    "again": "asked for another answer",
    "deny": "denied",
    "accept": "accepted",
    "decline": "declined",
    "cancel": "cancelled",
}
"""Answers to questions, in words."""

_WHO = {"terminal": "you, in the terminal", "web": "you, in the browser", "you": "you"}
_ASKS = {
    "approval": "whether {tool} may be called",
    "form": "for a form to be filled in",
    "visit": "to open an address",
    "sampling": "for a model",
    "completion": "whether it may have the answer of a model",
    "trust": "to be started",
    "roots": "which folders it may know",
    "goon": "whether to go on",
    "result": "whether the model may read a result",
}
_ENDS = {"done": "was called", "failed": "failed", "crashed": "crashed", "timeout": "took too long"}
_OUTCOMES = {"failed": "failed", "crashed": "crashed", "timeout": "too long", "cancelled": "cancelled"}
_STOPS = {"endTurn": "", "toolUse": "", "stopSequence": "", "maxTokens": "cut off at its limit", "refusal": "refused"}
_BROKEN = {"crash": "crashed", "fail": "failed", "fault": "failed"}
"""Kinds of what failed."""

_DENIED = ("denied", "deny", "limited", "decline", "cancel")
"""Decisions and answers by which something did not happen."""

_YOURS = {"trust", "rule", "tool", "setting", "prompt", "attach", "login", "added", "removed"}
"""Kinds of what you do yourself, unless it is said who did."""


class Told(Struct, frozen=True, omit_defaults=True):
    """A record in words."""

    text: str
    """What happened, as a sentence; without the time and the server."""
    name: str
    """What it is about."""
    word: str = ""
    """What was decided and by whom, or what came of it."""
    steps: list[str] = []
    """How a call was decided, step by step."""
    outcome: str = ""
    """How it failed, in a word; empty: it did not."""
    ways: list[str] = []
    """Of `WAYS`."""

    @property
    def whole(self) -> str:
        """All of it as sentences."""
        steps = "; ".join(each.rstrip(".") for each in self.steps)
        return f"{self.text} How it was decided: {steps}." if steps else self.text

    @property
    def is_bad(self) -> bool:
        """It is not what somebody wanted."""
        return bool(self.outcome) or "denied" in self.ways


_Row: TypeAlias = tuple[str, str, str]
"""The name, the word and the sentence of a record, the last two still without capital and full stop."""


def told(kind: str, given: Mapping[str, Json], turn: int = 0) -> Told:
    """Tell a record of a kind, with its facts, in a turn."""
    facts = _Facts(given)
    write = _KINDS.get(kind)
    name, word, text = _turn(facts, turn) if kind == "turn" else write(facts) if write else _other(facts)
    trail = facts.listed("trail")
    steps = [_step(each) for each in trail]
    if trail:
        word = trail[-1].partition(": ")[2].partition(": ")[2] if trail[-1].startswith("the policy: ") else ""
        word = word or steps[-1]  # the reason of the policy says what it did
    stop = "" if text.endswith((".", "…", "?", "!")) or not text else "."
    return Told(
        text=f"{text}{stop}",
        name=name or one_line(kind),
        word=word[:1].upper() + word[1:],
        steps=steps,
        outcome=_BROKEN.get(kind) or _OUTCOMES.get(facts["state"], "failed" if "failure" in facts else ""),
        ways=_ways(kind, given, trail),
    )


def number(value: Json) -> float | None:
    """Take a fact for a number of seconds or bytes; None if it is none."""
    return value if isinstance(value, int | float) and abs(value) <= MAX_NUMBER else None


def who_of(by: By) -> str:
    """Write who answered, as a step of a call says it."""
    return _WHO.get(by, f"the {by}")


def _ways(kind: str, given: Mapping[str, Json], trail: Sequence[str]) -> list[str]:
    state, by = given.get("state"), given.get("by")
    ends = (state, given.get("decision"), given.get("answer"), given.get("action"))
    is_denied = any(each in _DENIED for each in ends) or given.get("given") is False
    is_ruled = by == "policy" or ("rule" in given and kind != "rule")
    has_you = any(each.partition(": ")[0] in _WHO.values() for each in trail)
    is_yours = by in ("terminal", "web") or (kind in _YOURS and not by) or has_you
    has_failed = kind in _BROKEN or "failure" in given or state in ("failed", "crashed", "timeout")
    found = {"you": is_yours, "rule": is_ruled and not is_denied, "denied": is_denied, "failed": has_failed}
    return [way for way, is_so in found.items() if is_so]


class _Facts:
    """The facts of a record, as short text of one line."""

    def __init__(self, facts: Mapping[str, Json]) -> None:
        self._facts = facts

    def __contains__(self, name: str) -> bool:
        return name in self._facts

    def __getitem__(self, name: str) -> str:
        value = self._facts.get(name, "")
        return _short(value if isinstance(value, str) else msgspec.json.encode(value).decode()) if value != "" else ""

    def listed(self, name: str) -> list[str]:
        """List the texts of a fact that is a list."""
        value = self._facts.get(name)
        return (
            [_short(each, MAX_STEP) for each in value[:MAX_STEPS] if isinstance(each, str)] if is_array(value) else []
        )

    def number(self, name: str) -> float:
        """Read a number; 0 if there is none."""
        return number(self._facts.get(name)) or 0

    def after(self, name: str, before: str = ": ") -> str:
        """Write a fact with what stands before it; nothing without the fact."""
        said = self[name]
        return f"{before}{said}" if said else ""

    def first(self, *names: str) -> str:
        """Write the first of some facts that is there."""
        return next((self[name] for name in names if self[name]), "")

    def rest(self) -> str:
        """Write the facts by their names, but for hashes."""
        named = [name for name in self._facts if not name.endswith(("_sha256", "fingerprint"))]
        return ", ".join(f"{_short(name.replace('_', ' '))} {self[name]}" for name in named[:MAX_FACTS])


def _short(text: str, most: int = MAX_TEXT) -> str:
    line = one_line(text[: most * 2])  # to write out what cannot be seen takes long, in a text that is all of it
    return line if len(line) <= most and len(text) <= most * 2 else f"{line[: most - 1]}…"


def _step(line: str) -> str:
    """Tell a step: ``you, in the terminal: Denied: too dear`` is ``Denied by you, in the terminal: too dear``."""
    who, _, what = line.partition(": ")
    return decided(what, who) if what else line


def decided(what: str, who: str) -> str:
    """Tell who decided what, the reason last: ``Denied by you, in the terminal: too dear``."""
    did, sign, why = what.partition(": ")
    return f"{did} by {who}{sign}{why}"


def _took(facts: _Facts) -> str:
    return f" in {facts.number('seconds'):.3g} s" if "seconds" in facts else ""


def _counted(facts: _Facts, name: str) -> str:
    """Write how many there are of something: the fact is named as many of them are."""
    return f"{facts[name] or 0} {name.removesuffix('s') if facts[name] == '1' else name}"


def _other(facts: _Facts) -> _Row:
    return facts.first("tool", "name"), facts.first("why", "says"), facts.rest()


def _call(facts: _Facts) -> _Row:
    state, why, tool, returned = facts["state"], facts["why"], facts["tool"], facts.number("bytes")
    did = f"{tool or 'a tool'} {_ENDS.get(state, f'was {state}')}"
    result = f", {size(int(returned))} came back" if returned else ""
    return tool, why, f"{did}{_took(facts)}{result}{f': {why}' if why not in ('', state) else ''}"


def _asked(facts: _Facts) -> str:
    return _ASKS.get(facts["asks"], facts["asks"]).replace("{tool}", facts["tool"] or "a tool")


def _question(facts: _Facts) -> _Row:
    return facts.first("tool", "asks"), "asked you", f"you were asked {_asked(facts)}{facts.after('says')}"


def _answer(facts: _Facts) -> _Row:
    answer = f"{ANSWERS.get(facts['answer'], facts['answer'])} by {who_of(facts['by'])}"
    return facts.first("tool", "asks"), answer, f"asked {_asked(facts)}: {answer}"


def _elicitation(facts: _Facts) -> _Row:
    answer = ANSWERS.get(facts["action"], facts["action"])
    name = "page to open" if facts["mode"] == "url" else "form"
    return name, answer, f"it asked “{facts['message']}”, and got: {answer}"


def _sampling(facts: _Facts) -> _Row:
    decision = f"{facts['decision']}{facts.after('why')}"
    return "use of your model", decision, f"its request to a model was {decision}{facts.after('rule', ' by ')}"


def _turn(facts: _Facts, turn: int) -> _Row:
    name = f"turn {turn}" if turn else "the turn"
    if facts["state"] == "begins":
        return name, "began", f"{name} began"
    calls = _counted(facts, "calls")
    return name, f"ended, {calls}", f"{name} ended{_took(facts).replace(' in ', ' after ')}, with {calls}"


def _model(facts: _Facts) -> _Row:
    name, calls = facts["model"] or "model", _counted(facts, "calls")
    if "failure" in facts:
        return name, facts["why"], f"the model gave no answer{facts.after('why')}"
    tokens = f"{facts['input_tokens']} tokens in and {facts['output_tokens']} out"
    word = f"wants {calls}" if facts.number("calls") else "answered"
    wanted = f", {calls} wanted" if facts.number("calls") else ""
    stop = _STOPS.get(facts["stop"], facts["stop"])
    return name, word, f"{name} answered{_took(facts)}{stop and f' ({stop})'}: {tokens}{wanted}"


def _rule(facts: _Facts) -> _Row:
    did = next((did for did in ("revoked", "restored") if did in facts), "made")
    name, effect = facts.first("what", "rule"), facts["effect"]
    word = f"{effect}, set by you" if effect else f"{did} by you"
    return name, word, f"the rule {effect} {name} was {did}".replace("  ", " ")


def _trust(facts: _Facts) -> _Row:
    trusted = "trusted" if facts["given"] == "true" else "not trusted"
    by = who_of(facts["by"] or "you")
    return "trust", f"{trusted} by {by}", f"{facts['runs'] or 'its command'} is {trusted} by {by}"


def _tool(facts: _Facts) -> _Row:
    did = "accepted as it is now" if "accepted" in facts else f"switched {'on' if facts['is_on'] == 'true' else 'off'}"
    name = facts["tool"].removeprefix("tool:")
    return name, f"{did} by you", f"{name} was {did}"


def _list(facts: _Facts) -> _Row:
    tools, prompts = _counted(facts, "tools"), _counted(facts, "prompts")
    return "lists read", f"{tools}, {prompts}", f"offers {tools} and {prompts}"


def _start(facts: _Facts) -> _Row:
    speaks = f"speaks {facts['protocol']}"
    return "started", speaks, f"was started{_took(facts)}, {speaks}"


def _host(facts: _Facts) -> _Row:
    did = "opened" if facts["state"] == "open" else "closed"
    return "Splice", did, f"the host {did}{facts.after('folder', ' in ')}"


_KINDS: dict[str, Callable[[_Facts], _Row]] = {
    "call": _call,
    "question": _question,
    "answer": _answer,
    "model": _model,
    "rule": _rule,
    "trust": _trust,
    "tool": _tool,
    "sampling": _sampling,
    "elicitation": _elicitation,
    "host": _host,
    "list": _list,
    "start": _start,
    "stop": lambda _: ("stopped", "", "was stopped"),
    "crash": lambda facts: ("crashed", facts["why"], f"crashed{facts.after('why')}"),
    "fail": lambda facts: ("failed", facts["why"], f"cannot be used ({facts['state']}){facts.after('why')}"),
    "login": lambda _: ("login", "logged in", "you logged in"),
    "updated": lambda facts: (facts["uri"], "changed on the server", f"{facts['uri']} changed"),
    "added": lambda facts: ("added", facts.after("runs", "runs "), f"was added{facts.after('runs')}"),
    "changed": lambda facts: ("changed", facts.after("runs", "runs "), f"its entry was edited{facts.after('runs')}"),
    "removed": lambda _: ("removed", "", "was removed"),
    "attach": lambda facts: (facts["uri"], "attached by you", f"{facts['uri']} was attached"),
    "prompt": lambda facts: (facts["name"], "sent by you", f"its prompt {facts['name']} was used"),
    "setting": lambda facts: (facts["name"], "set by you", f"{facts['name']} was set{facts.after('value', ' to ')}"),
}
