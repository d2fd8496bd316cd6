"""Tools as providers take them: names and schemas made plainer for the model, with a note for each thing left out.

Providers refuse a whole request for one schema that they do not support. So references are put in place, `oneOf`
becomes `anyOf`, and keywords beyond the common ones go. Arguments are checked elsewhere, by the schema as the server
wrote it.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Struct

from splice.schema.schemas import Schema, cut, is_array, is_object
from splice.types import Tool

MAX_NAME = 64
MAX_DEPTH = 10
MAX_SCHEMAS = 2_000
"""How many schemas one tool may have in it, references put in place."""
MAX_BYTES = 48_000
MAX_TEXT = 16_000
MAX_VALUES = 500
"""How many values of an `enum`, and members of a union, are told."""

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_KEY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
_TYPES = {"string", "integer", "number", "boolean", "array", "object", "null"}
_NUMBERS = {
    "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength",
    "minItems", "maxItems", "minProperties", "maxProperties",
}  # fmt: skip
_SILENT = {
    "$schema", "$id", "$comment", "$defs", "definitions", "$anchor", "$dynamicAnchor", "$vocabulary", "title",
    "deprecated", "readOnly", "writeOnly", "examples", "$ref", "allOf", "required", "anyOf", "oneOf", "const",
    "items", "prefixItems", "properties",
}  # fmt: skip
"""Keywords that say nothing to a model, or that are rewritten elsewhere."""


class Portable(Struct, frozen=True):
    """A tool as a provider gets it. It is shared: do not change the schema."""

    name: str
    description: str
    schema: Schema
    notes: list[str]
    """What the model is not told, in sentences for people."""


def portable(tool: Tool, *, has_plain_keys: bool = False) -> Portable:
    """Make a tool plainer. With `has_plain_keys`, properties with unusual names go: Anthropic refuses them."""
    written = msgspec.json.encode(tool.input_schema)
    return _portable(tool.name, tool.description or tool.title or "", written, has_plain_keys)


def portable_name(name: str) -> str:
    """Make a name, or an id of a call, that every provider takes. Different ones stay different.

    One that is fine stays as it is. Ids need it when a conversation goes on with the model of another provider.
    """
    if _NAME.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:6]
    return f"{re.sub('[^a-zA-Z0-9_-]', '_', name)[: MAX_NAME - 7]}_{digest}"


class Names:
    """The names of the tools of one request, both ways."""

    def __init__(self, tools: list[Tool]) -> None:
        self._back = {portable_name(tool.name): tool.name for tool in tools}

    def back(self, name: str) -> str:
        """Tell which tool the model means; a name that was not offered stays as it is."""
        return self._back.get(name, name)


@lru_cache(maxsize=2_000)
def _portable(name: str, description: str, written: bytes, has_plain_keys: bool) -> Portable:
    root: Any = msgspec.json.decode(written)
    notes: list[str] = []
    taken = portable_name(name)
    if taken != name:
        notes.append(f"The model sees it as {taken}: its name is too long or has unusual characters.")
    if len(description) > MAX_TEXT:
        notes.append(f"The description is cut after {MAX_TEXT:,} characters.")
    for depth in (MAX_DEPTH, 5, 3, 2, 1):
        plainer = _Plainer(root, depth, has_plain_keys=has_plain_keys)
        schema = plainer.of_arguments()
        if len(msgspec.json.encode(schema)) <= MAX_BYTES:
            return Portable(taken, cut(description, MAX_TEXT), schema, [*notes, *plainer.notes])
    notes.append("The schema is too large: the model sees no arguments.")
    return Portable(taken, cut(description, MAX_TEXT), {"type": "object", "properties": {}}, notes)


class _Plainer:
    """Rewrites one schema. It is bounded in depth and number, whatever the references in it do."""

    def __init__(self, root: Any, most_deep: int, *, has_plain_keys: bool) -> None:
        self.root = root
        self.notes: dict[str, None] = {}
        self._most_deep = most_deep
        self._left = MAX_SCHEMAS
        self._has_plain_keys = has_plain_keys

    def of_arguments(self) -> Schema:
        """Rewrite the root, which must be an object for every provider."""
        given, opened = self._flat(self.root if is_object(self.root) else {}, ("#",), 0)
        given = self._without_choice(given, opened)
        kind: Any = given.get("type", "object")
        if kind != "object" and not (is_array(kind) and "object" in kind):
            self._note("It does not take an object: the model sees no arguments.")
            return {"type": "object", "properties": {}}
        made: Schema = {"type": "object", "properties": {}}
        return made | self._rewritten(given | {"type": "object"}, opened, 0)

    def _note(self, note: str) -> None:
        self.notes[note] = None

    def _schema(self, given: Any, opened: tuple[str, ...], depth: int) -> Schema:
        self._left -= 1
        if not is_object(given):
            return {}
        if depth > self._most_deep or self._left < 0:
            self._note("Parts that are nested too deeply, or too many, are told without their details.")
            return _stub(given)
        given, opened = self._flat(given, opened, depth)
        return self._rewritten(given, opened, depth)

    def _flat(self, given: Schema, opened: tuple[str, ...], depth: int) -> tuple[Schema, tuple[str, ...]]:
        """Put references in place, and `allOf` together."""
        while "$ref" in given:
            target = self._target(given["$ref"], opened)
            opened = (*opened, str(given["$ref"]))
            given = target | {word: value for word, value in given.items() if word != "$ref"}
        members: Any = given.get("allOf")
        if is_array(members):
            given = {word: value for word, value in given.items() if word != "allOf"}
            for member in members[:MAX_VALUES] if depth < self._most_deep else []:
                self._left -= 1
                if is_object(member) and self._left > 0:
                    part, opened = self._flat(member, opened, depth + 1)
                    given = _both(given, part)
        return given, opened

    def _target(self, reference: Any, opened: tuple[str, ...]) -> Schema:
        shown = cut(str(reference), 100)
        if not isinstance(reference, str) or not reference.startswith("#"):
            self._note(f"{shown} is another document: what it says is left out.")
            return {}
        if reference in opened:
            self._note(f"{shown} contains itself: it is told once.")
            return {}
        found = self.root
        for step in reference.removeprefix("#").split("/")[1:]:
            name = step.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if is_object(found) else None
        if not is_object(found) or reference.removeprefix("#")[:1] not in ("", "/"):
            self._note(f"{shown} leads nowhere.")
            return {}
        return found if "$ref" not in found or len(opened) < MAX_VALUES else {}

    def _without_choice(self, given: Schema, opened: tuple[str, ...]) -> Schema:
        """Tell all properties of a root that is a union: no provider takes one there."""
        members = _union(given)
        if not members:
            return given
        self._note("Its arguments have one of several shapes: the model sees the properties of all.")
        shapes = [self._flat(member, opened, 1)[0] for member in members[:MAX_VALUES] if is_object(member)]
        needed = [set(_names(shape.get("required"))) for shape in shapes]
        common = sorted(name for name in needed[0] if all(name in names for names in needed)) if needed else []
        rest = {word: value for word, value in given.items() if word not in ("anyOf", "oneOf")}
        for shape in shapes:
            rest = _both(rest, {"properties": shape.get("properties", {})})
        return _both(rest, {"required": common, "type": "object"})

    def _rewritten(self, given: Schema, opened: tuple[str, ...], depth: int) -> Schema:
        def inner(schema: Any) -> Schema:
            return self._schema(schema, opened, depth + 1)

        made: Schema = {}
        for word, value in given.items():
            if word not in _SILENT:
                self._keep(made, word, value, inner)
        if "const" in given:
            made["enum"] = [given["const"]]
        if members := _union(given):
            if "oneOf" in given:
                self._note("Exactly one of several schemas must fit: the model is told that any may.")
            made["anyOf"] = [inner(member) for member in members[:MAX_VALUES]]
        if made.get("type") == "array" or "items" in given or "prefixItems" in given:
            made["items"] = self._items(given, inner)
        if is_object(given.get("properties")):
            self._properties(made, given, inner)
        return made

    def _keep(self, made: Schema, word: str, value: Any, inner: Callable[[Any], Schema]) -> None:
        """Take over a keyword that all providers know, if its value is what it must be."""
        if word == "type":
            kinds = [
                kind for kind in (value if is_array(value) else [value]) if isinstance(kind, str) and kind in _TYPES
            ]
            made |= {"type": kinds[0] if len(kinds) == 1 else kinds} if kinds else {}
        elif word == "additionalProperties":
            made[word] = inner(value) if is_object(value) else value is not False
        elif word == "description":
            made[word] = cut(str(value), MAX_TEXT)
        elif _is_common(word, value):
            made[word] = value
        else:
            self._note(f"The model is not told of {cut(word, 40)}.")

    def _items(self, given: Schema, inner: Callable[[Any], Schema]) -> Schema:
        items: Any = given.get("items", {})
        first: Any = given.get("prefixItems", items)
        if not is_array(first):
            return inner(items)
        self._note("Items have a schema each, by their place: the model is told that any may fit.")
        rest = [items] if is_object(items) else []
        return {"anyOf": [inner(item) for item in [*first, *rest][:MAX_VALUES]]} if first or rest else {}

    def _properties(self, made: Schema, given: Schema, inner: Callable[[Any], Schema]) -> None:
        known = {name: value for name, value in given["properties"].items() if value is not False}
        plain = {name for name in known if _KEY.fullmatch(name)} if self._has_plain_keys else set(known)
        if plain != set(known):
            self._note("Arguments whose names have unusual characters are left out.")
        made["properties"] = {name: inner(value) for name, value in known.items() if name in plain}
        if needed := [name for name in _names(given.get("required")) if name in plain]:
            made["required"] = needed
        others = {"additionalProperties", "patternProperties", "unevaluatedProperties"}
        if plain == set(known) != set() and not others & set(given):
            made["additionalProperties"] = False  # some providers want it said; nobody misses others


def _is_common(word: str, value: Any) -> bool:
    if word == "enum":
        return is_array(value) and 0 < len(value) <= MAX_VALUES
    if word == "pattern":  # programs that turn it into a grammar know no groups of this kind
        return isinstance(value, str) and "(?" not in value
    return word in {"default", "format", "uniqueItems"} or (word in _NUMBERS and isinstance(value, int | float))


def _union(given: Schema) -> list[Any]:
    members: list[Any] = []
    for word in ("anyOf", "oneOf"):
        more: Any = given.get(word)
        members += more if is_array(more) else []
    return members


def _names(value: Any) -> list[str]:
    return [name for name in value if isinstance(name, str)] if is_array(value) else []


def _both(first: Schema, second: Schema) -> Schema:
    """Put two schemas together, of which both must fit. Where they differ, the first counts."""
    made = second | first
    one, other = first.get("properties"), second.get("properties")
    if is_object(one) and is_object(other):
        made["properties"] = other | one
    if needed := list(dict.fromkeys(_names(first.get("required")) + _names(second.get("required")))):
        made["required"] = needed
    return made


def _stub(given: Schema) -> Schema:
    """Tell the type and the description of a schema."""
    kind, said = given.get("type"), given.get("description")
    made: Schema = {"type": kind} if isinstance(kind, str) and kind in _TYPES else {}
    made |= {"items": {}} if kind == "array" else {}
    return made | ({"description": cut(said, 500)} if isinstance(said, str) else {})
