"""How much work a JSON Schema can cause, measured before `validate.py` uses it. This is a security bound.

A schema of a few hundred bytes can keep a validator busy for years: definitions that refer to the next one twice, each
of them, double the work at every step; and one that applies itself twice to the same member doubles it at every level
of the value. Whoever sends a tool's schema often sends its results too, so both are bounded here.

https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
"""

import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from typing import Any
from urllib.parse import unquote

from msgspec import Struct

from splice.schema.schemas import Schema, is_array, is_object

MAX_DEPTH = 64
"""How deep subschemas may nest."""

MAX_SUBSCHEMAS = 10_000
"""How many subschemas a schema may have."""

MAX_WORK = 100_000
"""How many subschemas may be applied to one value when every reference is followed, with all they compare it to."""

MAX_PATTERNS = 200
"""How many regular expressions a schema may have: each is compiled, and kept as long as the schema is."""

MAX_PATTERN_TEXT = 10_000
"""How many characters they may have altogether, and how many repetitions they may ask for: `x{9}` is nine."""

_COUNTS = re.compile(r"[{,](\d+)\}")

_SAME, _ITEM, _NAMED, _ANY_MEMBER = "", "[]", ".", "*"
_APPLIED = {
    **dict.fromkeys(("not", "if", "then", "else", "allOf", "anyOf", "oneOf"), _SAME),
    **dict.fromkeys(("dependentSchemas", "dependencies"), _SAME),
    **dict.fromkeys(("items", "prefixItems", "additionalItems", "contains", "unevaluatedItems"), _ITEM),
    **dict.fromkeys(("additionalProperties", "unevaluatedProperties", "propertyNames"), _ANY_MEMBER),
    "patternProperties": _ANY_MEMBER,
}
"""The keywords that apply subschemas, and the part of the value that they apply them to."""
_MAPS = ("dependentSchemas", "dependencies", "patternProperties")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


class BadSchema(ValueError):
    """A schema is invalid, uses a dialect we do not speak, refers to something outside, or breaks a bound."""


class OverBudget(BadSchema):
    """A schema is refused unused, or a value of this size with it: nobody knows whether they fit."""


class Cost(Struct, frozen=True):
    """The work that a schema can cause."""

    work: int
    """How many subschemas may be applied to one value, and how many values it may be compared to."""
    branching: int
    """How many times a recursive schema may apply itself to one member of a value."""


def cost(schema: Schema) -> Cost:
    """Measure a schema. Raises `OverBudget`, and `BadSchema` for one that refers to something it does not have."""
    try:
        survey = _Survey(schema)
        work, _ = survey.follow(schema, 0)
        return Cost(work, max(map(survey.branching, survey.looping), default=0))
    except RecursionError:
        raise OverBudget(f"the schema nests deeper than {MAX_DEPTH} levels") from None


def _objects(root: Schema) -> list[Schema]:
    """List all objects in a schema, level by level, whatever they mean, and hold its bare size against the bounds."""
    found: list[Schema] = []
    level: list[Any] = [root]
    for _ in range(2 * MAX_DEPTH):  # every second level of a schema is a map or a list of schemas
        found += filter(is_object, level)
        if len(found) > MAX_SUBSCHEMAS:
            raise OverBudget(f"the schema has more than {MAX_SUBSCHEMAS} subschemas")
        level = [inner for node in level for inner in _inside(node) if is_object(inner) or is_array(inner)]
    if level:
        raise OverBudget(f"the schema nests deeper than {MAX_DEPTH} levels")
    patterns = [text for node in found for text in _patterns(node)]
    if len(patterns) > MAX_PATTERNS or sum(map(_pattern_size, patterns)) > MAX_PATTERN_TEXT:
        most = f"{MAX_PATTERNS} patterns, or {MAX_PATTERN_TEXT} characters and repetitions of them"
        raise OverBudget(f"the schema has more than {most}")
    return found


def _anchors(root: Schema, objects: list[Schema]) -> dict[str, Schema]:
    """Collect the names that subschemas give themselves."""
    found: dict[str, Schema] = {}
    for node in objects:
        if isinstance(node.get("$id"), str) and node is not root:
            raise OverBudget(f"a subschema has the $id {node['$id']!r}; only the whole may have one")
        for name in (node.get("$anchor"), node.get("$dynamicAnchor")):
            if isinstance(name, str) and found.setdefault(name, node) is not node:
                raise OverBudget(f"two subschemas have the anchor {name!r}")
    return found


def _inside(node: Any) -> list[Any]:
    return list(node.values() if is_object(node) else node if is_array(node) else ())


def _pattern_size(pattern: str) -> float:
    """Measure the text of a pattern, and what its counted repetitions make of it."""
    return len(pattern) + sum(float(count) for count in _COUNTS.findall(pattern))


def _patterns(node: Schema) -> list[str]:
    pattern, members = node.get("pattern"), node.get("patternProperties")
    return [*([pattern] if isinstance(pattern, str) else ()), *(members if is_object(members) else ())]


def _compared(schema: Schema) -> int:
    """Count what a value is compared to one by one: all in an `enum`, unless it is text and numbers only."""
    choices = _inside(schema.get("enum"))
    weight = _weight(schema.get("const")) + sum(map(_weight, choices))
    return weight and weight + len(choices)


def _weight(value: Any) -> int:
    inside = _inside(value)
    return len(inside) + sum(map(_weight, inside))


class _Survey:
    """Follows the references of one schema."""

    def __init__(self, root: Schema) -> None:
        self._root = root
        self._anchors = _anchors(root, _objects(root))
        self._works: dict[int, int] = {}
        self._open: dict[int, int] = {}
        """Subschemas being followed, and how many members of the value deep."""
        self.looping: dict[int, Schema] = {}
        """Subschemas that lead to one that applies itself."""
        self._members = cache(self._count_members)

    def follow(self, node: Any, deep: int) -> tuple[int, bool]:
        """Count the subschemas that may be applied, a definition once for each way to it; tell if one is a loop."""
        if not is_object(node):
            return 1, False
        key = id(node)
        if key in self._open:
            if self._open[key] == deep:
                raise OverBudget("a subschema applies itself to the same value, without end")
            return 1, True
        if key not in self._works:
            self._open[key] = deep
            self._works[key] = 1 + _compared(node)
            for step, inner in self._steps(node):
                work, loops = self.follow(inner, deep + bool(step))
                self._works[key] += work
                if loops:
                    self.looping[key] = node
            del self._open[key]
            if self._works[key] > MAX_WORK:
                raise OverBudget(f"the schema's references and choices amount to more than {MAX_WORK} subschemas")
        return self._works[key], key in self.looping

    def branching(self, key: int) -> int:
        """Count how many looping subschemas one applies to one member at most, with those it applies to the value."""
        times = self._members(key)
        named = max((count for step, count in times.items() if step.startswith(_NAMED)), default=0)
        # A member that is named may also be one of any name.
        return max(times[_ITEM], times[_ANY_MEMBER] + named)

    def _count_members(self, key: int) -> Counter[str]:
        found: Counter[str] = Counter()
        for step, inner in self._steps(self.looping[key]):
            if id(inner) in self.looping:
                found.update({step: 1} if step else self._members(id(inner)))
        return found

    def _steps(self, schema: Schema) -> Iterator[tuple[str, Any]]:
        """List the subschemas that are applied, and to which member of the value: "" is the value itself."""
        for word, inner in schema.items():
            if word in _REFERENCES:
                yield _SAME, self._target(inner)
            elif word == "properties" and is_object(inner):
                yield from ((_NAMED + name, each) for name, each in inner.items())
            elif word in _APPLIED:
                several = _inside(inner) if word in _MAPS or is_array(inner) else [inner]
                yield from ((_APPLIED[word], each) for each in several)

    def _target(self, reference: Any) -> Any:
        """Find what a reference refers to; only the schema itself is looked at."""
        text = unquote(str(reference)).removeprefix(str(self._root.get("$id", "")).removesuffix("#"))
        if not text.startswith("#"):
            raise BadSchema(f"the schema refers to {reference}, outside of itself; nothing is ever fetched")
        if text[1:] in self._anchors:
            return self._anchors[text[1:]]
        start, *steps = text[1:].split("/")
        try:
            node: Any = {"": self._root}[start]
            for step in steps:
                name = step.replace("~1", "/").replace("~0", "~")
                node = node[int(name)] if is_array(node) else node[name]
        except (LookupError, TypeError, ValueError):
            raise BadSchema(f"the schema refers to {text}, which it does not have") from None
        return node
