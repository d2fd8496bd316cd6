"""What a text asks for, in steps and clauses: "1. Check my calendar, and the weather in Rome." has two clauses."""

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

from splice.host.models.demo.fields import words_in
from splice.host.models.demo.finding import QUOTED

MAX_STEPS = 40
MAX_TEXT = 4000
"""How many characters of a step, or of a task without steps, are looked at."""
MAX_QUOTES = 40
MAX_CLAUSES = 12
"""How many parts of a step are looked at."""

VERBS = words_in(
    "read show list find search check look get fetch open write create make add put mark enter schedule book reserve "
    "cancel delete remove send mail email move rename copy set call convert commit stage unstage switch checkout "
    "compare choose plan save download update edit remember forget ask give tell wait say explain summarize summarise "
    "describe stop"
)
"""Words that begin a clause of their own."""

_STEP = re.compile(r"(?m)^[ \t]*(?:step\s+)?(\d{1,2})[.):][ \t]+(\S.*)$", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z])|;\s+|\n+")
_JOINT = re.compile(r",?\s+and\s+then\s+|,?\s+then\s+|,\s+and\s+|,\s+|\s+and\s+(?!back\b)", re.IGNORECASE)
_MODIFIES = re.compile(r"(?:for|in|on|at|to|from|with|by|until|within|under|between|after|before)\b", re.IGNORECASE)
_FIRST = re.compile(r"[A-Za-z]+")
_THING = re.compile(r"(?:the|my|a|its)\b", re.IGNORECASE)
_OURS = re.compile(
    r"(?:i(?!\s+(?:need|want|would like|am looking|wish)\b|'d like)|we|you|never|do not|don't|note|remember that)\b",
    re.IGNORECASE,
)
_WAITS = re.compile(
    r"\bwait\b.{0,60}\b(?:agree|confirm|approve|answer|say|ok|yes)|\bask me (?:before|first)", re.IGNORECASE
)
_TELLS = re.compile(r"(?:tell me|explain|summari[sz]e|say|describe|report|give me (?:a|the) summary)\b", re.IGNORECASE)


class Clause(NamedTuple):
    """A part of a step that asks for one thing."""

    text: str
    kind: Literal["call", "tell", "wait"] = "call"


class Step(NamedTuple):
    """A step of a task, with its clauses."""

    number: int
    text: str
    clauses: list[Clause]

    @property
    def waits(self) -> bool:
        """It ends when the user agrees."""
        return any(each.kind == "wait" for each in self.clauses)


Differs = Callable[[str, str], bool]
"""Whether two phrases mean different tools."""


def is_numbered(text: str) -> bool:
    """Tell whether a text has numbered steps."""
    return len(_STEP.findall(text)) > 1


def steps_of(text: str, differs: Differs) -> list[Step]:
    """Read the steps of a text: the numbered ones, or else its sentences."""
    numbered = [(int(match[1]), match[2].strip()) for match in _STEP.finditer(text)]
    if len(numbered) < 2:
        return [Step(place, each, clauses_of(each, differs)) for place, each in enumerate(_plain(text[:MAX_TEXT]), 1)][
            :MAX_STEPS
        ]
    return [Step(place, each, clauses_of(each, differs)) for place, (_, each) in enumerate(numbered[:MAX_STEPS], 1)]


def clauses_of(text: str, differs: Differs) -> list[Clause]:
    """Read the clauses of a step; what the user says of themselves asks for nothing."""
    found: list[Clause] = []
    for sentence in _SENTENCE.split(text[:MAX_TEXT])[: 2 * MAX_CLAUSES]:
        if sentence.strip() and not _OURS.match(sentence.strip()):
            found += [_clause(each) for each in _split(sentence.strip(), differs)]
    return found[:MAX_CLAUSES]


def _plain(text: str) -> Iterator[str]:
    """Yield the steps of a text without numbers: what follows a "then" is a step of its own."""
    spans, at = _quotes(text), 0
    joints = [match for match in _JOINT.finditer(text) if "then" in match[0].casefold()]
    for match in [each for each in joints if not _is_in(spans, each)][:MAX_STEPS]:
        yield text[at : match.start()].strip()
        at = match.end()
    yield text[at:].strip()


def _clause(text: str) -> Clause:
    if _WAITS.search(text):
        return Clause(text, "wait")
    return Clause(text, "tell" if _TELLS.match(text) else "call")


def _split(sentence: str, differs: Differs) -> list[str]:
    """Split a sentence where a verb follows, or a thing that another tool is for; what modifies it is for all."""
    parts, verb = list[str](), ""
    for joint, piece in _pieces(sentence):
        first = _FIRST.match(piece)
        if not parts or (first and first[0].casefold() in VERBS):
            verb = first[0].casefold() if first else verb
            parts.append(piece)
        elif _MODIFIES.match(piece) and joint.startswith(","):
            parts = [f"{each} {piece}" for each in parts]
        elif verb in VERBS and _THING.match(piece) and differs(parts[-1], f"{verb} {piece}"):
            parts.append(f"{verb} {piece}")
        else:
            parts[-1] += joint + piece
    return parts


def _pieces(sentence: str) -> Iterator[tuple[str, str]]:
    """Yield the parts between commas and "and", each with what stands before it. Quoted text is not divided."""
    spans, joint, at = _quotes(sentence), "", 0
    for match in _JOINT.finditer(sentence):
        if match.start() > at and not _is_in(spans, match):
            yield joint, sentence[at : match.start()]
            joint, at = match[0], match.end()
    yield joint, sentence[at:]


def _quotes(text: str) -> list[tuple[int, int]]:
    return [each.span() for each in QUOTED.finditer(text)][:MAX_QUOTES]


def _is_in(spans: list[tuple[int, int]], match: re.Match[str]) -> bool:
    return any(start < match.start() < end for start, end in spans)
