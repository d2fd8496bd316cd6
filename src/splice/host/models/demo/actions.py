"""Which calls a step means, and with which arguments: those of the sentence, then what the conversation knows."""

import re
from datetime import date
from typing import NamedTuple

from splice.host.models.demo import answers, dates, finding
from splice.host.models.demo.facts import Facts
from splice.host.models.demo.fields import Field, fields_of, items, mapping, words_of
from splice.host.models.demo.retrieval import ENOUGH, LACK, LACK_IN_CHAIN, Hit, Shelf
from splice.host.models.demo.slots import Arguments, fill
from splice.host.models.demo.steps import Clause, Step, is_numbered
from splice.host.models.demo.talk import Talk
from splice.host.tools.search import terms
from splice.types import Tool

READ_RESOURCE, ASK_USER = "read_resource", "ask_user"
MAX_READ = 2
"""How many resources a step reads because it mentions them."""

MAX_SEARCHES = 60
"""How many clauses of a task are looked at: a page of text that somebody pastes is no list of things to do."""

_BACK = re.compile(r"\band back\b|\bround[- ]trip\b|\breturn flights?\b", re.IGNORECASE)
_IT = re.compile(r"\b(?:it|that|them|this|the (?:text|result|answer|content)s?)\b", re.IGNORECASE)
_TRIP = re.compile(r"\b(?:trip|travel|vacation|holiday|journey|flights?|hotels?)\b", re.IGNORECASE)
_LEFT = re.compile(r"\bleft\b|\bremain|\brest of\b", re.IGNORECASE)
_LIMITS = {"budget", "price", "cost"}


class Action(NamedTuple):
    """A call that a step means."""

    key: str
    tool: Tool
    text: str
    leg: int = 0
    """1: the way back."""
    preset: Arguments | None = None
    """All arguments, where nothing is to be found out."""

    @property
    def changes(self) -> bool:
        """It may change something, as far as its server says."""
        hints = self.tool.annotations
        return self.tool.name != READ_RESOURCE and not (hints is not None and hints.read_only_hint)


class Ready(NamedTuple):
    """The arguments for an action, and what the user has to be asked for."""

    arguments: Arguments
    missing: list[Field]


class Actions:
    """The calls of a conversation's task."""

    def __init__(self, talk: Talk, shelf: Shelf, facts: Facts, today: date) -> None:
        self.talk = talk
        self.shelf = shelf
        self.facts = facts
        self.today = today
        self._is_chain = is_numbered(talk.task)
        self._hits: dict[str, Hit | None] = {}

    def of(self, step: Step) -> list[Action]:
        """List the calls of a step. What finds nothing within a limit is called again without it."""
        found: list[Action] = []
        for place, clause in enumerate(step.clauses):
            is_told = clause.kind == "tell" and self._is_chain
            hit = None if is_told or clause.kind == "wait" else self.hit(clause)
            if hit is None:
                continue
            key = f"{step.number}-{place}"
            legs = (0, 1) if _BACK.search(clause.text) and self._goes(hit.tool) else (0,)
            found += [Action(f"{key}-{leg}", hit.tool, clause.text, leg) for leg in legs]
            found += self._mentioned(key, clause.text, hit.tool)
            found += [wider for each in found[-len(legs) :] if (wider := self._wider(each))]
        return found

    def hit(self, clause: Clause) -> Hit | None:
        """Find the tool for a clause; None if none is likely enough, or too many were looked for."""
        if clause.text not in self._hits and len(self._hits) < MAX_SEARCHES:
            hits = self.shelf.search(clause.text, self.today, LACK_IN_CHAIN if self._is_chain else LACK)
            self._hits[clause.text] = hits[0] if hits and hits[0].score >= ENOUGH else None
        return self._hits.get(clause.text)

    def differs(self, phrase: str, other: str) -> bool:
        """Tell whether two phrases mean different tools."""
        first, second = self.hit(Clause(phrase)), self.hit(Clause(other))
        return first is not None and second is not None and first.tool.name != second.tool.name

    def ready(self, action: Action, *, is_chain: bool) -> Ready:
        """Fill the arguments of an action."""
        fields = fields_of(action.tool)
        arguments = (
            dict(action.preset) if action.preset is not None else fill(action.tool, action.text, self.today).arguments
        )
        for field in fields:
            if field.name not in arguments and field.name in self.facts.asked:
                arguments[field.name] = self.facts.asked[field.name]
        if is_chain:
            for field in fields:
                value = None if field.name in arguments else self._known(field, action)
                if value is not None and value != "":
                    arguments[field.name] = value
        missing = [
            each for each in fields if each.is_required and each.name not in arguments and "default" not in each.schema
        ]
        if action.leg:
            arguments = self._turned(fields, arguments)
        return Ready(arguments, missing)

    def _known(self, field: Field, action: Action) -> object:
        """Find a value that the sentence does not tell."""
        facts = self.facts
        if field.kind in {"date", "moment"}:
            is_told = not field.is_required and (field.role != "end" or dates.find(action.text, self.today))
            return None if is_told else self._day(field, action)
        if field.kind in {"integer", "number"}:
            return self._number(field, action)
        if not field.is_required:
            return None
        if field.kind == "place" and field.role != "start":
            return facts.place
        if field.kind == "email":
            return facts.email() if not finding.EMAIL.search(action.text) else None
        found = facts.from_results(field)
        return self._written(field, action.text) if found is None else found

    def _written(self, field: Field, text: str) -> str | None:
        """Write a title or a text by what was done."""
        if field.kind == "title":
            is_trip = self.facts.place and _TRIP.search(" ".join(self.talk.context()))
            return self.facts.latest("title") or (f"{self.facts.place} trip" if is_trip else None)
        return self._letter(text) if field.kind == "text" else None

    def _day(self, field: Field, action: Action) -> str:
        if (
            not self.facts.start
            and self.facts.wants_free_days
            and {"free", "available"} & set(words_of(action.tool.name))
        ):
            return self.facts.window[field.role == "end"]
        return self.facts.day(field, 0)

    def _number(self, field: Field, action: Action) -> object:
        """Find a number: what is left of the budget, how many days, or what was said under its name."""
        if field.words & _LIMITS and _LEFT.search(action.text):
            rest = self._rest(field)
            return rest if rest is None or rest > 0 else None
        if field.words & {"min", "minimum"} and "days" in field.words:
            return self.facts.nights + 1 if self.facts.wants_free_days else None
        if field.words & {"limit", "max", "offset", "page"} or field.role:
            return None
        return self.facts.number(field)

    def _rest(self, field: Field) -> float | None:
        """Tell what is left of the budget after what was found so far; for one night, if the field is about that."""
        budget = self.facts.number(field)
        if not isinstance(budget, int | float):
            return None
        spent = sum(answers.cost(each) or 0.0 for each in self.facts.done)
        left = budget - spent
        return round(left / self.facts.nights, 2) if "night" in field.about else left

    def _letter(self, text: str) -> str | None:
        """Write what a mail or file says: the last result, where the sentence says "it"; else what was done."""
        if _IT.search(text) and self.facts.done:
            return self.facts.done[-1].text or None
        done = next((each for each in reversed(self.facts.done) if mapping(each.value).get("reference")), None)
        lines = [done.text] if done else [answers.brief(each) for each in self.facts.done if each.name != READ_RESOURCE]
        return "\n".join(lines)[:4000] or None

    def _turned(self, fields: list[Field], arguments: Arguments) -> Arguments:
        """Make the way back of the way there: the ends change places, and the day is the last one."""
        ends = {each.role: each.name for each in fields if each.kind == "place" and each.role}
        turned = dict(arguments)
        if "start" in ends and "end" in ends:
            turned[ends["start"]], turned[ends["end"]] = arguments.get(ends["end"]), arguments.get(ends["start"])
        for field in fields:
            if field.kind in {"date", "moment"} and field.is_required:
                turned[field.name] = self.facts.day(field, 1)
        return {name: value for name, value in turned.items() if value not in (None, "")}

    def _goes(self, tool: Tool) -> bool:
        return {each.role for each in fields_of(tool) if each.kind == "place"} >= {"start", "end"}

    def _wider(self, action: Action) -> Action | None:
        """Make the call without its limit, once it found nothing within."""
        done = self.talk.outcome(action.key)
        if done is None or not done.is_ok or any(items(each) for each in mapping(done.value).values()):
            return None
        limits = [each.name for each in fields_of(action.tool) if each.words & _LIMITS and each.name in done.arguments]
        kept = {name: value for name, value in done.arguments.items() if name not in limits}
        return Action(f"{action.key}-wider", action.tool, action.text, 0, kept) if limits else None

    def _mentioned(self, key: str, text: str, tool: Tool) -> list[Action]:
        """Read the resources that a step speaks of: "in the style of my past trips"."""
        reader, server = self.shelf.tools.get(READ_RESOURCE), tool.name.rpartition("__")[0]
        if reader is None or not server or " my " not in f" {text} ":
            return []
        words = set(terms(text.rpartition(" my ")[2]))
        uris = dict.fromkeys(uri for said in self._said() for uri in finding.URL.findall(said))
        fits = [uri for uri in uris if words & set(terms(uri)) and not uri.startswith("http")]
        return [
            Action(f"{key}-read{place}", reader, text, 0, {"server": server, "uri": uri})
            for place, uri in enumerate(fits[:MAX_READ])
        ]

    def _said(self) -> list[str]:
        return [text for at, text in self.talk.said if at <= self.talk.task_at]
