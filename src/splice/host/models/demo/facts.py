"""What a conversation knows that the next call needs: dates, places and numbers that were said, and earlier results."""

import re
from collections.abc import Iterator, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from splice.host.models.demo import dates, finding
from splice.host.models.demo.fields import Field, items, mapping, words_of
from splice.host.models.demo.finding import Sentence
from splice.host.models.demo.slots import coerced
from splice.host.models.demo.talk import Done, Talk
from splice.host.tools.search import terms

EARLIEST_DAYS, LATEST_DAYS = 25, 120
"""How many days ahead free days are looked for when nobody says when."""

NIGHTS = 7
"""How long a journey is when nobody says it."""

MAX_LEAVES = 3000
"""How many values of a result are looked at."""

SATURDAY = 5
_LABEL = re.compile(r"\b([A-Z][a-z]+(?: [a-z]+){0,2}):[ \t]+([^\n;]{1,200}?)(?=\.\s|\.$|\n|;|$)")
_FREE = re.compile(r"\bdates?\b.{0,30}\bfree\b|\bfree (?:dates?|week|days)\b|\bdates that we still\b", re.IGNORECASE)
_IDS = {"id", "reference", "key", "uuid", "slug", "number"}
_GENERIC = {"search", "find", "get", "list", "best", "id", "take", "what", "one", "look", "reference", "option"}


class Leaf(NamedTuple):
    """A value within a result, and the way to it."""

    path: tuple[str, ...]
    value: Any
    is_first: bool
    """It is in no list, or in the first entry of each."""


class Facts:
    """The facts of a conversation."""

    def __init__(self, talk: Talk, today: date) -> None:
        self.today = today
        self.done = [each for each in talk.done if each.is_ok and each.key and not each.key.startswith("ask-")]
        self.asked = dict(_asked(talk.done))
        said = talk.context()
        self.labels = [(set(words_of(match[1])), match[2]) for text in said for match in _LABEL.finditer(text)]
        self.wants_free_days = any(_FREE.search(text) for text in said)
        told = next((found for text in said if (found := dates.days(dates.find(text, today)))), list[str]())
        told = list(dict.fromkeys(told))
        self.start, self.end = (told[0] if told else ""), (told[1] if len(told) > 1 else "")
        self.place = next((part for text in reversed(said) if (part := _place(text, today))), "")
        if not self.start and self.wants_free_days:
            self._choose_days()

    @property
    def nights(self) -> int:
        """How long it takes: as it was said, or as the dates tell."""
        for words, value in self.labels:
            found = re.match(r"\d{1,3}", value)
            if words & {"duration", "nights", "days", "length"} and found:
                return int(found[0])
        if self.start and self.end:
            return max((date.fromisoformat(self.end) - date.fromisoformat(self.start)).days, 1)
        return NIGHTS

    @property
    def window(self) -> tuple[str, str]:
        """The days among which free ones are looked for."""
        return str(self.today + timedelta(EARLIEST_DAYS)), str(self.today + timedelta(LATEST_DAYS))

    def number(self, field: Field) -> Any:
        """Find a number that was said under a name that means this field."""
        for words, value in self.labels:
            found = finding.NUMBER.search(value) if words & field.words else None
            if found:
                return coerced(field, found[1])
        return None

    def day(self, field: Field, leg: int) -> str:
        """Find the day for a field: that of the flights for a stay, else the first or last of what was said."""
        stay = self._stay(field)
        if stay:
            return stay
        if field.role == "end" or (leg and field.role != "start"):
            return self.end or (self.start if field.is_required else "")
        return self.start

    def email(self) -> str:
        """Find the user's own address, as it was given for a booking or an earlier question."""
        for value in (self.asked, *(each.value for each in reversed(self.done))):
            for leaf in leaves(value):
                if leaf.path[-1:] == ("email",) and isinstance(leaf.value, str) and finding.EMAIL.fullmatch(leaf.value):
                    return leaf.value
        return ""

    def from_results(self, field: Field) -> Any:
        """Find a value for a field in earlier results: under its own name, or the id of what the field is about."""
        best, chosen = 0.0, None
        about = set(terms(f"{field.name} {field.about}")) - _GENERIC
        wants_id = bool({"id", "reference"} & {*terms(field.about), *words_of(field.name)})
        order = self.done if field.role == "start" else self.done[::-1]
        for done in order:
            around = set(terms(done.name.rpartition("__")[2]))
            for leaf in leaves(done.value):
                score = _score(leaf, field, about, around) if wants_id or leaf.path[-1:] == (field.name,) else 0.0
                if score > best and _is_of(leaf.value, field):
                    best, chosen = score, leaf.value
        return chosen

    def latest(self, *names: str) -> str:
        """Find the last text that a result has under one of these names."""
        for done in reversed(self.done):
            for leaf in leaves(done.value):
                if leaf.path[-1] in names and isinstance(leaf.value, str) and leaf.is_first:
                    return leaf.value
        return ""

    def _stay(self, field: Field) -> str:
        """Find the night on which a stay begins or ends, by the journeys there and back."""
        stem = next((word[:5] for word in words_of(field.name) if word[:5] in {"arriv", "depar", "check"}), "")
        if not stem or field.role not in {"start", "end"}:
            return ""
        wanted = "arriv" if field.role == "start" else "depar"
        for done in self.done if field.role == "start" else self.done[::-1]:
            for leaf in leaves(done.value):
                if leaf.is_first and leaf.path[-1].startswith(wanted) and (day := _day(leaf.value)):
                    return str(day)
        return ""

    def _choose_days(self) -> None:
        """Choose among the free days of a result: the first stay from a Saturday that fits, or else the first."""
        for done in self.done:
            runs = [mapping(each) for each in _first_list(done.value)]
            spans = [(each.get("startDate"), each.get("endDate")) for each in runs]
            read = [(_day(a), _day(b)) for a, b in spans]
            found = [(a, b) for a, b in read if a is not None and b is not None]
            shifted = [(a + timedelta((SATURDAY - a.weekday()) % 7), b) for a, b in found]
            for start, last in [*shifted, *found]:
                if start + timedelta(self.nights) <= last:
                    self.start, self.end = str(start), str(start + timedelta(self.nights))
                    return


def leaves(value: Any) -> Iterator[Leaf]:
    """Yield the single values of a result, breadth first, so that what is near the top comes first."""
    level: list[Leaf] = [Leaf((), value, is_first=True)]
    for _ in range(MAX_LEAVES):
        if not level:
            return
        path, here, is_first = level.pop(0)
        if isinstance(here, dict) and len(path) < 12:
            level += [Leaf((*path, str(name)), each, is_first) for name, each in list(mapping(here).items())[:100]]
        elif isinstance(here, list) and len(path) < 12:
            level += [Leaf(path, each, is_first and not place) for place, each in enumerate(items(here)[:50])]
        elif path:
            yield Leaf(path, here, is_first)


def _score(leaf: Leaf, field: Field, about: set[str], around: set[str]) -> float:
    if not leaf.is_first:
        return 0.0
    key = leaf.path[-1]
    if key.casefold() == field.name.casefold():
        return 10.0
    inside = set(terms(" ".join(leaf.path[:-1])))
    return 2.0 * len(about & (around | inside)) if key.casefold() in _IDS else 0.0


def _is_of(value: Any, field: Field) -> bool:
    kinds: dict[str, tuple[type, ...]] = {
        "integer": (int,),
        "number": (int, float),
        "boolean": (bool,),
        "array": (list,),
    }
    is_switch = isinstance(value, bool)
    return isinstance(value, kinds.get(field.kind, (str,))) and value != "" and is_switch is (field.kind == "boolean")


def _day(value: Any) -> date | None:
    """Read the day of a date or time in a result."""
    try:
        return date.fromisoformat(value[:10]) if isinstance(value, str) else None
    except ValueError:
        return None


def _first_list(value: Any) -> Sequence[Any]:
    return items(value) or next((items(each) for each in mapping(value).values() if items(each)), list[Any]())


def _place(text: str, today: date) -> str:
    months = {*dates.MONTHS, *dates.DAYS}
    return next(
        (part.value for part in Sentence(text, today).named_places() if part.value.casefold() not in months), ""
    )


def _asked(done: Sequence[Done]) -> Iterator[tuple[str, Any]]:
    """Yield what the user filled in when the model asked."""
    for each in done:
        if each.key.startswith("ask-") and each.result is not None and not each.result.is_error:
            value = mapping(each.value)
            yield from mapping(value.get("content") if "action" in value else value).items()
