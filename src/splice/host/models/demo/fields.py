"""The arguments of a tool, as its schema tells them: of which kind each is, and by which words people name it."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple, cast

from splice.types import Tool

MAX_FIELDS = 60
"""How many arguments of a tool are looked at."""

MAX_DEPTH = 8
"""How far references in a schema are followed."""


def words_in(text: str) -> frozenset[str]:
    """Take the words of a list that is written with spaces."""
    return frozenset(text.split())


_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")

_FORMATS = {
    "date": "date",
    "date-time": "moment",
    "time": "time",
    "email": "email",
    "uri": "url",
    "url": "url",
    "uri-reference": "url",
}

_NAMES: dict[str, str] = {
    "url uri link href website": "url",
    "timezone zone tz": "zone",
    "path paths file files filename directory dir folder root workspace repo repository": "path",
    "email mail recipient recipients cc bcc attendee attendees to addresses": "email",
    "date day arrival departure checkin checkout since until start end begin timestamp": "moment",
    "time": "time",
    "city location place origin destination country town region airport address": "place",
    "body message content text description note comment contents details": "text",
    "title subject label heading": "title",
    "name names branch entity": "name",
    "pattern glob regex": "pattern",
    "query q search keyword keywords term terms question": "query",
    "id reference ref key revision hash sha number code identifier": "id",
}
_KIND_OF = {word: kind for words, kind in _NAMES.items() for word in words.split()}

_SYNONYMS: tuple[frozenset[str], ...] = tuple(
    frozenset(words.split())
    for words in (
        "people persons person guests guest travelers traveler travellers passengers adults seats",
        "head first top",
        "tail last bottom",
        "limit count max most results commits entries",
        "budget price cost dollars under below",
        "subject title about",
        "body message text content saying",
        "duration days nights length",
        "id number event",
        "stops layovers changes",
        "sort sorted order ordered",
        "origin from",
        "to recipient email",
    )
)

STARTS = words_in("start begin from arrival checkin first since after outbound source origin old")
ENDS = words_in("end until return checkout last till before inbound back target destination new")


class Field(NamedTuple):
    """An argument: `kind` is one of its JSON type, or for strings what they are: ``date``, ``path``, ``place``."""

    name: str
    kind: str
    schema: Mapping[str, Any]
    is_required: bool
    words: frozenset[str]
    """The words of its name, and those that mean the same."""
    choices: tuple[Any, ...] = ()
    role: str = ""
    """``start`` or ``end`` for one of two that belong together, as origin and destination."""

    @property
    def about(self) -> str:
        """Its description, in small letters."""
        text = self.schema.get("description")
        return text[:500].casefold() if isinstance(text, str) else ""


def words_of(name: str) -> list[str]:
    """Split a name: ``startDate`` and ``start_date`` are start and date."""
    return [each.casefold() for each in _PART.findall(name[:200])]


def mapping(value: Any) -> Mapping[str, Any]:
    """Take what should be an object; anything else is an empty one."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def items(value: Any) -> list[Any]:
    """Take what should be an array; anything else is an empty one."""
    return list(cast("Sequence[Any]", value)) if isinstance(value, list) else []


def fields_of(tool: Tool) -> list[Field]:
    """Read the arguments of a tool, the required ones first."""
    root = mapping(tool.input_schema)
    required = [each for each in items(root.get("required")) if isinstance(each, str)]
    given = sorted(mapping(root.get("properties")).items(), key=lambda each: each[0] not in required)
    text = f"{tool.name} {tool.description or ''}".casefold()
    names = {each for name, _ in given for each in words_of(name)}
    return [_field(name, schema, root, name in required, (text, names)) for name, schema in given[:MAX_FIELDS]]


def plain(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """Follow references, and take the first alternative that is not null."""
    here, nothing = mapping(schema), mapping(None)
    for _ in range(MAX_DEPTH):
        target = here.get("$ref")
        branches = [mapping(each) for name in ("anyOf", "oneOf", "allOf") for each in items(here.get(name))]
        chosen = next((each for each in branches if each.get("type") != "null"), nothing)
        if isinstance(target, str) and target.startswith("#/"):
            chosen = root
            for part in target[2:].split("/"):
                chosen = mapping(chosen.get(part))
        if not chosen or "enum" in here or (branches and all("const" in each for each in branches)):
            return here
        here = {
            **chosen,
            **{name: value for name, value in here.items() if name not in {"$ref", "anyOf", "oneOf", "allOf"}},
        }
    return here


def choices_of(schema: Mapping[str, Any]) -> tuple[Any, ...]:
    """Tell what a value may be, where it may be only some."""
    consts = [mapping(each).get("const") for name in ("oneOf", "anyOf") for each in items(schema.get(name))]
    found = items(schema.get("enum")) or [each for each in consts if each is not None]
    return tuple(each for each in found[:200] if isinstance(each, str | int | float))


def _field(name: str, schema: Any, root: Mapping[str, Any], is_required: bool, around: tuple[str, set[str]]) -> Field:
    here = plain(schema, root)
    parts, choices = words_of(name), choices_of(here)
    kind = "enum" if choices else _kind(here, parts, around[0])
    return Field(name, kind, here, is_required, _meaning(tuple(parts)), choices, _role(parts, around[1], here))


def _kind(schema: Mapping[str, Any], parts: list[str], about: str) -> str:
    told: Any = schema.get("type")
    kinds = [each for each in (told, *items(told)) if isinstance(each, str) and each != "null"]
    if kinds and kinds[0] != "string":
        return kinds[0]
    form = schema.get("format")
    if isinstance(form, str) and form in _FORMATS:
        return _FORMATS[form]
    described = schema.get("description")
    return _named_kind(parts, described.casefold() if isinstance(described, str) else "", about)


def _named_kind(parts: list[str], described: str, about: str) -> str:
    """Tell by its name what a string is, the last word first: ``branch_name`` is a name."""
    if parts[-1:] in (["source"], ["destination"], ["target"], ["origin"]) and "file" in f"{described} {about[:200]}":
        return "path" if "name" not in parts else "name"
    for part in reversed(parts):
        kind = _KIND_OF.get(part, "")
        if part == "to" and "mail" not in f"{described} {about}":
            kind = ""
        if kind:
            return kind
    return "string"


@lru_cache(maxsize=5000)
def _meaning(parts: tuple[str, ...]) -> frozenset[str]:
    near = [each for each in _SYNONYMS if each & set(parts)]
    return frozenset(parts).union(*near)


def _role(parts: list[str], beside: set[str], schema: Mapping[str, Any]) -> str:
    """Tell which of two that belong together this is: the departure after an arrival ends a stay."""
    if "departure" in parts:
        return "end" if "arrival" in beside or "leaving" in str(schema.get("description", "")) else "start"
    if set(parts) & ENDS or (parts == ["to"] and "from" in beside):
        return "end"
    return "start" if set(parts) & STARTS else ""
