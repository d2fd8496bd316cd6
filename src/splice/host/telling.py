"""A record of the activity log in words: what happened, and why it was allowed, as a sentence for people."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from splice.host.asked import Json
from splice.host.text import one_line, size
from splice.schema.schemas import is_array

MAX_TEXT = 160
"""How many characters of one fact are told."""

MAX_FACTS = 6
"""How many facts of a record of an unknown kind are told."""

_WHO = {"terminal": "you, in the terminal,", "web": "you, in the browser,", "policy": "the policy", "host": "the host"}
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
ANSWERS = {
    "once": "allowed once",
    "chat": "allowed in this chat",
    "tool": "allowed always",
    "server": "allowed always, with all tools of the server",
    "always": "allowed always",
    "again": "asked for another answer",
    "deny": "denied",
    "accept": "sent",
    "decline": "declined",
    "cancel": "cancelled",
}
"""Answers to questions, in words."""

_ENDS = {"done": "was called", "failed": "failed", "crashed": "crashed", "timeout": "took too long"}


def told(kind: str, given: Mapping[str, Json], turn: int = 0) -> str:
    """Write what happened of a kind, with its facts, in a turn; without the time and the server."""
    facts = _Facts(given)
    write = _KINDS.get(kind)
    words = _turn(facts, turn) if kind == "turn" else write(facts) if write is not None else facts.rest()
    return words if words.endswith((".", "…", "?", "!")) or not words else f"{words}."


class _Facts:
    """The facts of a record, as short text of one line."""

    def __init__(self, facts: Mapping[str, Json]) -> None:
        self._facts = facts

    def __contains__(self, name: str) -> bool:
        return name in self._facts

    def __getitem__(self, name: str) -> str:
        value = self._facts.get(name, "")
        return _short(value if isinstance(value, str) else msgspec.json.encode(value).decode())

    def listed(self, name: str) -> list[str]:
        """List the texts of a fact that is a list."""
        value = self._facts.get(name)
        return [_short(each) for each in value if isinstance(each, str)] if is_array(value) else []

    def number(self, name: str) -> float:
        """Read a number; 0 if there is none."""
        value: Any = self._facts.get(name)
        return value if isinstance(value, int | float) else 0

    def after(self, name: str, before: str = ": ") -> str:
        """Write a fact with what stands before it; nothing without the fact."""
        return f"{before}{self[name]}" if self[name] else ""

    def rest(self) -> str:
        """Write the facts by their names, but for hashes."""
        named = [name for name in self._facts if not name.endswith(("_sha256", "fingerprint"))]
        return ", ".join(f"{one_line(name.replace('_', ' '))} {self[name]}" for name in named[:MAX_FACTS])


def _short(text: str) -> str:
    line = one_line(text)
    return line if len(line) <= MAX_TEXT else f"{line[: MAX_TEXT - 1]}…"


def _took(facts: _Facts) -> str:
    return f" in {facts.number('seconds'):.3g} s" if "seconds" in facts else ""


def _counted(facts: _Facts, name: str) -> str:
    """Write how many there are of something: the fact is named as many of them are."""
    return f"{facts[name]} {name.removesuffix('s') if facts[name] == '1' else name}"


def _call(facts: _Facts) -> str:
    state, why = facts["state"], facts["why"]
    did = f"{facts['tool'] or 'a tool'} {_ENDS.get(state, f'was {state}')}"
    result = f", {size(int(facts.number('bytes')))} came back" if facts.number("bytes") else ""
    steps = "; ".join(each.rstrip(".") for each in facts.listed("trail"))
    because = f": {why.rstrip('.')}" if why else ""
    return f"{did}{_took(facts)}{result}{because}{f'. How it was decided: {steps}' if steps else ''}"


def _question(facts: _Facts) -> str:
    about = _ASKS.get(facts["asks"], facts["asks"]).format(tool=facts["tool"] or "a tool")
    return f"you were asked {about}{facts.after('says')}"


def _answer(facts: _Facts) -> str:
    about = _ASKS.get(facts["asks"], facts["asks"]).format(tool=facts["tool"] or "a tool")
    answer = ANSWERS.get(facts["answer"], facts["answer"])
    return f"{_WHO.get(facts['by'], facts['by'])} answered “{answer}” when asked {about}"


def _turn(facts: _Facts, turn: int) -> str:
    name = f"turn {turn}" if turn else "the turn"
    if facts["state"] == "begins":
        return f"{name} began"
    return f"{name} ended{_took(facts).replace(' in ', ' after ')}, with {_counted(facts, 'calls')}"


def _model(facts: _Facts) -> str:
    if "failure" in facts:
        return f"the model gave no answer: {facts['why']}"
    tokens = f"{facts['input_tokens']} tokens in and {facts['output_tokens']} out"
    return f"{facts['model']} answered{_took(facts)} ({facts['stop']}): {tokens}, {_counted(facts, 'calls')} wanted"


def _rule(facts: _Facts) -> str:
    did = "was revoked" if "revoked" in facts else "was restored" if "restored" in facts else "was made"
    return f"the rule {facts.after('effect', '')} {facts['what']} {did}".replace("  ", " ")


def _trust(facts: _Facts) -> str:
    given = "trusts" if facts["given"] == "true" else "does not trust"
    return f"{_WHO.get(facts['by'], facts['by'])} {given} {facts['runs']}"


def _tool(facts: _Facts) -> str:
    did = "accepted as it is now" if "accepted" in facts else f"switched {'on' if facts['is_on'] == 'true' else 'off'}"
    return f"{facts['tool'].removeprefix('tool:')} was {did}"


def _sampling(facts: _Facts) -> str:
    return f"its request to a model was {facts['decision']}{facts.after('why')}{facts.after('rule', ' by ')}"


def _host(facts: _Facts) -> str:
    return f"the host {'opened' if facts['state'] == 'open' else 'closed'}{facts.after('folder', ' in ')}"


_KINDS: dict[str, Callable[[_Facts], str]] = {
    "call": _call,
    "question": _question,
    "answer": _answer,
    "model": _model,
    "rule": _rule,
    "trust": _trust,
    "tool": _tool,
    "sampling": _sampling,
    "host": _host,
    "start": lambda facts: f"was started{_took(facts)}, speaks {facts['protocol']}",
    "stop": lambda _: "was stopped",
    "crash": lambda facts: f"crashed{facts.after('why')}",
    "fail": lambda facts: f"cannot be used ({facts['state']}){facts.after('why')}",
    "login": lambda _: "you logged in",
    "list": lambda facts: f"offers {_counted(facts, 'tools')} and {_counted(facts, 'prompts')}",
    "updated": lambda facts: f"{facts['uri']} changed",
    "added": lambda facts: f"was added{facts.after('runs')}",
    "changed": lambda facts: f"its entry was edited{facts.after('runs')}",
    "removed": lambda _: "was removed",
    "attach": lambda facts: f"{facts['uri']} was attached",
    "prompt": lambda facts: f"its prompt {facts['name']} was used",
    "elicitation": lambda facts: f"it asked “{facts['message']}”, and got: {facts['action']}",
    "setting": lambda facts: f"{facts['name']} was set{facts.after('value', ' to ')}",
}
