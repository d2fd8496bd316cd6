"""Arguments for a tool out of a sentence: each field of the schema takes what fits its kind, the required ones first.

Nothing is made up: a required field for which the sentence has nothing stays empty, and the user is asked for it.
"""

import re
from collections.abc import Callable
from datetime import date
from difflib import get_close_matches
from typing import Any, NamedTuple

from splice.host.models.demo import dates, finding
from splice.host.models.demo.fields import Field, fields_of, items, mapping, words_in, words_of
from splice.host.models.demo.finding import Sentence
from splice.types import Tool

Arguments = dict[str, Any]

_WORDS_OF_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9}
_NO = words_in("no not without don't never")
_NAMED = "named|called|titled|entitled"
_LIST = re.compile(r"\s*(?:,|\band\b|&)\s*")
_CLOSE = 0.86


class Filled(NamedTuple):
    """The arguments that a sentence has for a tool, and what it lacks."""

    arguments: Arguments
    missing: list[Field]
    used: int
    """How many typed things of the sentence it has a place for: dates, addresses, paths, places, codes."""
    left: int
    """How many it has not."""
    rest: str
    """The words that say what to do."""


class _Filling:
    """One tool and one sentence."""

    def __init__(self, tool: Tool, sentence: Sentence) -> None:
        self.fields = fields_of(tool)
        self.of = sentence
        self.arguments: Arguments = {}
        self.nouns = set(words_of(tool.name.rpartition("__")[2]))
        self._days = sentence.days()
        self._moments = dates.moments(sentence.whens)
        self._times = [each.value for each in sentence.whens if each.kind == "time"]

    def run(self) -> None:
        """Fill what can be filled: what is named first, then pairs, then the rest by its kind."""
        for field in self.fields:
            self._put(field, self._named(field))
        self._pairs()
        for step in (True, False):
            for field in self.fields:
                if field.is_required is step and field.name not in self.arguments:
                    self._put(field, self._by_kind(field))

    def _put(self, field: Field, value: Any) -> None:
        if value not in (None, "", []):
            self.arguments[field.name] = value

    def _named(self, field: Field) -> Any:
        """Read ``name=value`` or ``name: value``, or quoted text behind the field's name."""
        pattern = re.compile(rf"(?<!\w){re.escape(field.name)}\s*[=:]\s*([^\s,;]{{1,300}})", re.IGNORECASE)
        if found := self.of.first(pattern):
            return coerced(field, found.strip("\"'"))
        if field.kind in {"text", "title", "name", "string", "query", "pattern", "id"}:
            quoted = self.of.labelled({*field.words, field.name})
            return self._beside(field) if quoted is None else quoted
        return None

    def _beside(self, field: Field) -> str:
        """Read the word behind the field's own name: "the channel general"."""
        if (
            field.kind not in {"string", "name"}
            or not field.is_required
            or not (own := set(words_of(field.name)) - {"name"})
        ):
            return ""
        for part in self.of.find(re.compile(rf"\b(?:{'|'.join(sorted(own))})\s+([A-Za-z][\w./-]*)", re.IGNORECASE)):
            if part.value.casefold() not in _NO_NAMES | _SMALL:
                self.of.take(part.start, part.end)
                return part.value
        return ""

    def _pairs(self) -> None:
        """Fill two fields that are the ends of something: origin and destination, source and target."""
        free = [each for each in self.fields if each.is_required and each.kind in {"place", "path", "zone", "string"}]
        start, end = (next((each for each in free if each.role == role), None) for role in ("start", "end"))
        found = self.of.ends(by_to=start.kind != "place") if start and end and start.kind == end.kind else None
        if start is None or end is None or found is None or {start.name, end.name} & set(self.arguments):
            return
        for field, part in zip((start, end), found, strict=True):
            self._put(field, part.value)
            self.of.take(part.start, part.end)

    def _by_kind(self, field: Field) -> Any:
        fills: dict[str, Callable[[Field], Any]] = {
            "enum": self._choice,
            "boolean": self._switch,
            "integer": self._number,
            "number": self._number,
            "date": self._moment,
            "moment": self._moment,
            "time": self._time,
            "url": self._url,
            "email": self._email,
            "zone": self._zone,
            "path": self._path,
            "place": self._place,
            "pattern": self._pattern,
            "array": self._array,
            "id": self._id,
            "title": self._title,
            "name": self._title,
            "text": self._text,
            "query": self._query,
            "string": self._string,
        }
        return fills[field.kind](field) if field.kind in fills else None

    def _time(self, _field: Field) -> str:
        return self._times[0] if self._times else ""

    def _url(self, _field: Field) -> str:
        return self.of.first(finding.URL)

    def _zone(self, _field: Field) -> str:
        return self.of.first(finding.ZONE)

    def _choice(self, field: Field) -> Any:
        """Find a choice by its words; one that is nearly written so counts too."""
        spoken = [each.casefold() for each in re.findall(r"[\w-]+", self.of.rest())]
        for choice in field.choices:
            parts = words_of(str(choice)) or [str(choice).casefold()]
            if all(part in spoken for part in parts):
                self.of.first(re.compile(rf"\b{re.escape(str(choice))}\b", re.IGNORECASE))
                return choice
        for choice in field.choices if field.is_required else ():
            if get_close_matches(str(choice).casefold(), spoken, 1, _CLOSE):
                return choice
        return None

    def _switch(self, field: Field) -> bool | None:
        spoken = [each.casefold() for each in re.findall(r"[\w'-]+", self.of.text)]
        parts = words_of(field.name)
        if not parts or not all(part in spoken for part in parts):
            return None
        at = spoken.index(parts[0])
        return not _NO & set(spoken[max(0, at - 2) : at])

    def _number(self, field: Field) -> Any:
        """Take the number that stands beside a word of the field."""
        if field.name == "stops" and re.search(r"\b(?:direct|non-?stop)\b", self.of.text, re.IGNORECASE):
            return 0
        best, chosen = 0, None
        for part in [*self.of.find(finding.NUMBER), *self.of.find(_SPELT)]:
            if any(each.start < part.end and part.start < each.end for each in self.of.whens):
                continue
            score = self._nearness(field, part)
            if score > best:
                best, chosen = score, part
        if chosen is None:
            return None
        self.of.take(chosen.start, chosen.end)
        return coerced(field, chosen.value)

    def _nearness(self, field: Field, part: finding.Part) -> int:
        """Tell how well a number fits: its neighbours are words of the field, or it is the only thing that may."""
        before = re.findall(r"\w+", self.of.text[: part.start].casefold())[-2:]
        after = re.findall(r"\w+", self.of.text[part.end :].casefold())[:2]
        near = {*before, *after} | {each[:-1] for each in after if each.endswith("s")}
        is_money = (
            self.of.text[part.start - 1 : part.start] in {"$", "€", "£"} or "$" in self.of.text[part.start : part.end]
        )
        if is_money:
            return 3 if field.words & {"budget", "price", "cost", "amount", "max"} else 0
        if "lines" in near and field.words & {"head", "tail"}:
            return 2 if field.words & set(before) else 0
        return 2 if near & field.words else int(field.is_required)

    def _moment(self, field: Field) -> str | None:
        """Take the first day for what begins, the second for what ends; a required end falls on the only day."""
        pool = self._moments if field.kind == "moment" and self._times else self._days
        if field.kind == "moment" and not (field.is_required or len(pool) > 1):
            return None
        if not pool:
            return None
        if field.role != "end":
            return pool[0]
        return pool[1] if len(pool) > 1 else pool[0] if field.is_required else None

    def _email(self, field: Field) -> str:
        found = self.of.all(finding.EMAIL)
        return ", ".join(found) if "comma" in field.about or len(found) < 2 else found[0]

    def _path(self, field: Field) -> str:
        """Take a path: that of a repository or directory stands behind "in" or "of"."""
        if "repo" in words_of(field.name):
            return self.of.first(_REPOSITORY)
        if found := self.of.first(finding.PATH):
            return found
        if not field.is_required:
            return ""
        for words in (_NAMED, "in|of|under|inside|below", "to|directory|folder|file", "list|tree"):
            part = self.of.behind(words)
            if part and not set(" *") & set(part.value) and part.value.casefold() not in _NO_NAMES:
                self.of.take(part.start, part.end)
                return part.value
        return ""

    def _place(self, field: Field) -> str:
        if not field.is_required and field.kind == "place":
            return ""
        if field.role == "start":  # without "from" a lone place is where somebody goes to
            return self.of.first(_FROM)
        for part in self.of.places():
            self.of.take(part.start, part.end)
            return part.value
        return ""

    def _pattern(self, field: Field) -> str:
        if found := self.of.first(finding.GLOB, among_quoted=True):
            return found
        return self._title(field) if field.is_required else ""

    def _array(self, field: Field) -> list[Any]:
        """Take several: paths where the field is of files, else names that stand in a row."""
        each_is = mapping(field.schema.get("items"))
        if each_is.get("type", "string") != "string" or "$ref" in each_is:
            return []
        if set(words_of(field.name)) & {"file", "files", "path", "paths"}:
            return self.of.all(finding.PATH)
        if not field.is_required:
            return []
        quoted = [each.value for each in self.of.quoted]
        return quoted or [each for part in self.of.find(_ROW) if part.start for each in _LIST.split(part.value) if each]

    def _id(self, field: Field) -> str:
        return self.of.first(finding.CODE) if field.is_required else ""

    def _title(self, field: Field) -> str:
        if not field.is_required:
            return ""
        quoted = self.of.next_quoted()
        if quoted is not None:
            return quoted
        words = [_NAMED]
        if field.words & {"subject", "title"} and self.nouns & {"email", "mail", "message"}:
            words.append("about|regarding")
        if field.kind == "name":
            words.append("|".join(map(re.escape, sorted(field.words - {"name"}))) or _NAMED)
        for each in words:
            if (part := self.of.behind(each)) and part.value.casefold() not in _NO_NAMES:
                self.of.take(part.start, part.end)
                return part.value
        return ""

    def _text(self, field: Field) -> str:
        if not field.is_required:
            return ""
        quoted = self.of.next_quoted()
        if quoted is not None:
            return quoted
        part = self.of.behind(r"saying|says|that says|with the text|reading", r"$")
        if part:
            self.of.take(part.start, part.end)
        return part.value if part else ""

    def _string(self, field: Field) -> str:
        """Take quoted text, or else where or what something is said to be for: "in the kitchen"."""
        found = self._text(field)
        part = self.of.behind("in|at|for|of") if field.is_required and not found and not field.role else None
        if part is None or " " in part.value or part.value.casefold() in _NO_NAMES:
            return found
        self.of.take(part.start, part.end)
        return part.value

    def _query(self, field: Field) -> str:
        if not field.is_required:
            return ""
        quoted = self.of.next_quoted()
        part = None if quoted is not None else self.of.behind(r"about|for|matching|containing|regarding", r"$|[?!;]")
        if part:
            self.of.take(part.start, part.end)
        return quoted if quoted is not None else part.value if part else ""


_ALONE = "\0"
"""Marks a list of one: another tool may take it as such."""

_SPELT = re.compile(rf"\b({'|'.join(_WORDS_OF_NUMBERS)})\b", re.IGNORECASE)
_REPOSITORY = re.compile(r"\b(?:in|of|at|for|repository|repo)\s+((?:~|\.{1,2})?/[\w./@+-]*[\w]|[\w.-]+/[\w./-]+)")
_FROM = re.compile(r"\b[Ff]rom\s+([A-Z][\w'\u2019-]*(?:\s+[A-Z][\w'\u2019-]*){0,2})")
_ROW = re.compile(r"\b([A-Z]\w*(?:(?:\s*,\s*|\s+and\s+)[A-Z]\w*)*)(?=[.?!]?$|\s)")
_SMALL = words_in("is named called in on of from to for with at by and or as titled")
_NO_NAMES = words_in("a the my all it this that them files file directory folder everything there")


def fill(tool: Tool, text: str, today: date) -> Filled:
    """Fill the arguments of a tool from a sentence."""
    filling = _Filling(tool, Sentence(text, today))
    filling.run()
    missing = [each for each in filling.fields if each.is_required and each.name not in filling.arguments]
    missing = [each for each in missing if "default" not in each.schema]
    used, left = _weighed(filling)
    return Filled(filling.arguments, missing, used, left, filling.of.rest())


def _weighed(filling: _Filling) -> tuple[int, int]:
    """Count the typed things of a sentence that became arguments, and those that did not."""
    given = " ".join(str(each) for each in filling.arguments.values()).casefold()
    of = filling.of
    things = [each.value for each in of.whens if each.kind != "time"]
    for pattern in (finding.URL, finding.EMAIL, finding.PATH, finding.CODE):
        things += [each[0] for each in pattern.finditer(of.text)]
    things += [
        each[1]
        for each in finding.NUMBER.finditer(of.text)
        if not any(w.start <= each.start() < w.end for w in of.whens)
    ]
    things = list(dict.fromkeys(things))
    given += " " + " ".join(
        _ALONE for value in filling.arguments.values() if isinstance(value, list) and len(items(value)) < 2
    )
    used = sum(each.casefold()[:10] in given or each.casefold() in given for each in things)
    return used, len(things) - used + given.count(_ALONE)


def coerced(field: Field, typed: str) -> Any:
    """Read what was typed as the field's type; None for what cannot be."""
    word = typed.strip().lstrip("$€£").replace(",", "")
    if field.kind in {"integer", "number"}:
        number = _WORDS_OF_NUMBERS.get(word.casefold())
        try:
            value = float(word) if number is None else number
        except ValueError:
            return None
        is_whole = abs(value) < 1e15 and value == int(value)
        return int(value) if is_whole else value if field.kind == "number" and abs(value) < 1e300 else None
    if field.kind == "boolean":
        return {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}.get(word.casefold())
    if field.kind == "enum":
        return next((each for each in field.choices if str(each).casefold() == typed.casefold()), None)
    if field.kind == "array":
        return [each for each in items(_LIST.split(typed)) if each]
    return None if field.kind in {"object", "null"} else typed
