"""What stands in a sentence: addresses, paths, quoted text, places, numbers, names. Each part of it is used once."""

import re
from collections.abc import Iterable
from datetime import date
from typing import NamedTuple

from splice.host.models.demo import dates

MAX_CLAUSE = 2000
"""How many characters of a sentence are read."""

QUOTED = re.compile(r"\"([^\"\n]*)\"|“([^”\n]*)”|\u2018([^\u2019\n]*)\u2019|`([^`\n]*)`|(?<!\w)'([^'\n]*)'(?!\w)")
URL = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://[^\s\"'<>)\]]*[^\s\"'<>)\].,;:!?]", re.IGNORECASE)
EMAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,64})+")
ZONE = re.compile(r"\b(?:UTC|GMT|[A-Z][A-Za-z]+/[A-Z][A-Za-z_]+(?:/[A-Z][A-Za-z_]+)?)\b")
GLOB = re.compile(r"[\w./-]*\*[\w.*/?-]*")
PATH = re.compile(
    r"(?:~|\.{1,2})?/[\w./@+-]*[\w/]|~|(?<![\w/.])[\w.@+-]+(?:/[\w.@+-]+)+|(?<![\w/.@])[\w-]+\.[A-Za-z]\w{0,9}(?![\w@])"
)
NUMBER = re.compile(r"(?<![\w.-])[$€£]?(-?\d[\d,]*(?:\.\d+)?)(?![\w/-])")
CODE = re.compile(
    r"\b(?=[A-Z0-9-]*[A-Z])(?=[A-Z-]*\d)[A-Z0-9][A-Z0-9-]{3,40}\b|\b[0-9a-f]{7,40}\b|\bHEAD(?:[~^]\d*)?\b"
)
_NAME = r"[A-Z][\w'\u2019.-]*(?:\s+(?:of|de|la|del|do|am|upon|[A-Z][\w'\u2019.-]*)){0,3}"
_PLACE = re.compile(rf"\b(?:[Ii]n|[Aa]t|[Ff]or|[Tt]o|[Oo]f|[Nn]ear|[Aa]round|[Ff]rom)\s+({_NAME})")
_CAPITAL = re.compile(rf"(?<!^)(?<![.!?]\s)\b({_NAME})")
_RANGE = re.compile(
    r"\b(?:from|between)\s+(\S.{0,80}?)\s+(?:to|and|until|till)\s+(\S.{0,80}?)(?=$|[,;.?!](?:\s|$)|\s+(?:on|for|in|at|with|sorted|by|from|under|and|leaving|tomorrow|today|next|this)\b)"
)
_TO = re.compile(r"\b(\S{1,200})\s+(?:to|into|as)\s+(\S{1,200})")


class Part(NamedTuple):
    """A part of a sentence: where it stands, and its value."""

    start: int
    end: int
    value: str


class Sentence:
    """A sentence of which parts are taken, each once."""

    def __init__(self, text: str, today: date) -> None:
        self.text = text[:MAX_CLAUSE]
        self.quoted = [_part(match) for match in QUOTED.finditer(self.text)]
        self._taken: list[tuple[int, int]] = []
        self.whens = [each for each in dates.find(self.text, today) if not self._is_quoted(each.start)]

    def take(self, start: int, end: int) -> None:
        """Use a part: it stands for one argument only."""
        self._taken.append((start, end))

    def is_free(self, start: int, end: int) -> bool:
        """Tell whether nothing of a part was used."""
        return all(end <= first or last <= start for first, last in self._taken)

    def find(self, pattern: re.Pattern[str], *, among_quoted: bool = False) -> list[Part]:
        """Find parts that are free; the first group of the pattern is the value, if it has one."""
        found = (_part(match) for match in pattern.finditer(self.text))
        return [
            each
            for each in found
            if each.value and self.is_free(each.start, each.end) and (among_quoted or not self._is_quoted(each.start))
        ]

    def first(self, pattern: re.Pattern[str], *, among_quoted: bool = False) -> str:
        """Use the first part that fits; empty if none does."""
        for each in self.find(pattern, among_quoted=among_quoted):
            self.take(each.start, each.end)
            return each.value
        return ""

    def all(self, pattern: re.Pattern[str]) -> list[str]:
        """Use all parts that fit."""
        found = self.find(pattern, among_quoted=True)
        for each in found:
            self.take(each.start, each.end)
        return [each.value for each in found]

    def next_quoted(self) -> str | None:
        """Use the first text in quotation marks that is free."""
        for each in self.quoted:
            if self.is_free(each.start, each.end):
                self.take(each.start, each.end)
                return each.value
        return None

    def labelled(self, words: Iterable[str]) -> str | None:
        """Use the text in quotation marks that stands behind one of these words."""
        known = {each.casefold() for each in words}
        for each in self.quoted:
            before = re.findall(r"[\w-]+", self.text[: each.start])[-3:]
            while before and before[-1].casefold() in {"is", "of", "as", "the", "a", "named", "called"}:
                before.pop()
            if before and before[-1].casefold() in known and self.is_free(each.start, each.end):
                self.take(each.start, each.end)
                return each.value
        return None

    def ends(self, *, by_to: bool) -> tuple[Part, Part] | None:
        """Find what stands in "from A to B", or else `by_to` around a "to"; dates are not meant."""
        for pattern in (_RANGE, _TO) if by_to else (_RANGE,):
            for match in pattern.finditer(self.text):
                parts = [Part(match.start(n), match.end(n), match[n].strip("\"'“”.,")) for n in (1, 2)]
                is_dated = any(each.start < part.end and part.start < each.end for each in self.whens for part in parts)
                if not is_dated and all(self.is_free(part.start, part.end) for part in parts):
                    return parts[0], parts[1]
        return None

    def places(self) -> list[Part]:
        """Find names of places that are free: those behind "in", "for" or "to", else other words with a capital."""
        found = [self._cut(each) for pattern in (_PLACE, _CAPITAL) for each in self.find(pattern)]
        return [each for each in found if each.value and self.is_free(each.start, each.end)]

    def named_places(self) -> list[Part]:
        """Find names of places behind "in", "for" or "to" only."""
        return [self._cut(each) for each in self.find(_PLACE)]

    def behind(
        self,
        words: str,
        ends: str = r"$|[,;?!]|\s(?:in|on|at|from|to|for|with|of|and|into|saying|under|tomorrow|today|by)\b",
    ) -> Part | None:
        """Find what stands behind one of these words, up to the next preposition."""
        pattern = re.compile(
            rf"\b(?:{words})\s+(?:the\s+|a\s+|an\s+|my\s+)?([^\s,;?!].{{0,200}}?)(?={ends}|\.$|\.\s)", re.IGNORECASE
        )
        for each in self.find(pattern):
            cut = self._cut(each)
            if cut.value:
                return cut
        return None

    def rest(self) -> str:
        """Give the text without what was used."""
        kept, at = list[str](), 0
        for start, end in sorted(self._taken):
            kept.append(self.text[at:start])
            at = max(at, end)
        return " ".join("".join([*kept, self.text[at:]]).split())

    def request(self) -> str:
        """Give the text without addresses, paths, dates and what is quoted: they are arguments, not what to do."""
        things = [(each.start, each.end) for each in self.quoted]
        things += [(each.start, each.end) for each in self.whens]
        for pattern in (URL, EMAIL, PATH, GLOB, ZONE, CODE):
            things += [each.span() for each in pattern.finditer(self.text)]
        kept = list(self.text)
        for start, end in things:
            kept[start:end] = " " * (end - start)
        return " ".join("".join(kept).split())

    def days(self) -> list[str]:
        """Give the days that are told."""
        return dates.days(self.whens)

    def _cut(self, part: Part) -> Part:
        """End a part where a date begins; a month or a weekday is no name of a place."""
        for each in self.whens:
            if each.start < part.end and part.start < each.end:
                value = self.text[part.start : max(each.start, part.start)].strip()
                return Part(part.start, part.start + len(value), value)
        return part._replace(value=part.value.strip("\"'“”.,"))

    def _is_quoted(self, at: int) -> bool:
        return any(each.start <= at < each.end for each in self.quoted)


def _part(match: re.Match[str]) -> Part:
    if match.re is QUOTED:
        return Part(match.start(), match.end(), next(each for each in match.groups() if each is not None))
    group = 1 if match.re.groups else 0
    return Part(match.start(group), match.end(group), match[group])
