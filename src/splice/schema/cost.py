"""How much work a JSON Schema can cause, measured before `validate.py` uses it. This is a security bound.

A schema of a few hundred bytes can keep a validator busy for years: definitions that refer to the next one twice, each
of them, double the work at every step; and one that applies itself twice to the same member doubles it at every level
of the value. Whoever sends a tool's schema often sends its results too, so both are bounded here.

https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias
from urllib.parse import unquote

from msgspec import Struct

from splice.schema.schemas import is_array, is_object

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

_Node: TypeAlias = Mapping[str, Any]

_SAME, _ITEM, _ANY_MEMBER = "", "[]", "*"
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


class Costly(ValueError):
    """A schema breaks one of the bounds."""


class Unresolved(Costly):
    """A schema refers to something that it does not have."""


class Cost(Struct, frozen=True):
    """The work that a schema can cause."""

    work: int
    """How many subschemas may be applied to one value, and how many values it may be compared to."""
    branching: int
    """How many times a recursive schema may apply itself to one member of a value."""


def cost(schema: _Node) -> Cost:
    """Measure a schema.

    Raises `Costly`.
    """
    try:
        return _Survey(schema).cost()
    except RecursionError:
        raise Costly(f"subschemas nest deeper than {MAX_DEPTH} levels") from None


def _anchors(root: _Node) -> dict[str, _Node]:
    """Collect the names that subschemas give themselves, and hold the bare size against the bounds.

    All objects and arrays are walked, level by level, whatever they mean.
    """
    found: dict[str, _Node] = {}
    level: list[Any] = [root]
    nested = count = 0
    patterns: list[str] = []
    while level:
        nested += 1
        objects: list[_Node] = [node for node in level if is_object(node)]
        count += len(objects)
        # Every second level of a schema is a map or a list of schemas.
        if nested > 2 * MAX_DEPTH:
            raise Costly(f"subschemas nest deeper than {MAX_DEPTH} levels")
        if count > MAX_SUBSCHEMAS:
            raise Costly(f"more than {MAX_SUBSCHEMAS} subschemas")
        patterns += [text for node in objects for text in _patterns(node)]
        if len(patterns) > MAX_PATTERNS or sum(map(_pattern_size, patterns)) > MAX_PATTERN_TEXT:
            raise Costly(f"more than {MAX_PATTERNS} patterns, or {MAX_PATTERN_TEXT} characters and repetitions of them")
        for node in objects:
            if isinstance(node.get("$id"), str) and node is not root:
                raise Costly(f"a subschema has the $id {node['$id']!r}; only the whole may have one")
            for name in (node.get("$anchor"), node.get("$dynamicAnchor")):
                if isinstance(name, str) and found.setdefault(name, node) is not node:
                    raise Costly(f"two subschemas have the anchor {name!r}")
        level = [inner for node in level for inner in _inside(node) if is_object(inner) or is_array(inner)]
    return found


def _inside(node: Any) -> list[Any]:
    return list(node.values() if is_object(node) else node if is_array(node) else ())


def _pattern_size(pattern: str) -> float:
    """Measure the text of a pattern, and what its counted repetitions make of it."""
    return len(pattern) + sum(float(count) for count in _COUNTS.findall(pattern))


def _patterns(node: _Node) -> list[str]:
    pattern, members = node.get("pattern"), node.get("patternProperties")
    return [*([pattern] if isinstance(pattern, str) else ()), *(members if is_object(members) else ())]


def _compared(schema: _Node) -> int:
    """Count what a value is compared to one by one: all in an `enum`, unless it is text and numbers only."""
    choices = _inside(schema.get("enum"))
    weight = _weight(schema.get("const")) + sum(map(_weight, choices))
    return weight and weight + len(choices)


def _weight(value: Any) -> int:
    inside = _inside(value)
    return len(inside) + sum(map(_weight, inside))


class _Survey:
    """Follows the references of one schema."""

    def __init__(self, root: _Node) -> None:
        self._root = root
        self._anchors = _anchors(root)
        self._works: dict[int, int] = {}
        self._open: dict[int, int] = {}
        """Definitions being followed, and how many members of the value deep."""
        self._recursive: dict[int, _Node] = {}

    def cost(self) -> Cost:
        """Measure."""
        work = self._work(self._root, 0)
        branching = max((self._branching(node) for node in list(self._recursive.values())), default=0)
        return Cost(work, branching)

    def _work(self, node: Any, deep: int) -> int:
        """Count the subschemas that may be applied, a definition once for each way to it."""
        if not is_object(node):
            return 1
        schema: _Node = node
        key = id(schema)
        if key in self._open:
            if self._open[key] == deep:
                raise Costly("a subschema applies itself to the same value, without end")
            self._recursive[key] = schema
            return 1
        if key not in self._works:
            self._open[key] = deep
            work = 1 + _compared(schema)
            for step, inner in self._steps(schema):
                work += self._work(inner, deep + bool(step))
            del self._open[key]
            if work > MAX_WORK:
                raise Costly(f"its references and choices amount to more than {MAX_WORK} subschemas")
            self._works[key] = work
        return self._works[key]

    def _branching(self, start: _Node) -> int:
        found: Counter[tuple[str, ...]] = Counter()
        self._collect(start, (), found)
        if any(_ANY_MEMBER in path for path in found):
            # Members named one by one and members of any name may be the same ones.
            merged: Counter[tuple[str, ...]] = Counter()
            for path, times in found.items():
                merged[tuple(step if step == _ITEM else _ANY_MEMBER for step in path)] += times
            found = merged
        return max(found.values(), default=0)

    def _collect(self, schema: _Node, path: tuple[str, ...], found: Counter[tuple[str, ...]]) -> None:
        for step, inner in self._steps(schema):
            place = (*path, step) if step else path
            if id(inner) in self._recursive:
                found[place] += 1
            elif is_object(inner):
                self._collect(inner, place, found)

    def _steps(self, schema: _Node) -> Iterator[tuple[str, Any]]:
        """List the subschemas that are applied, and to which member of the value: "" is the value itself."""
        for word, inner in schema.items():
            if word in _REFERENCES:
                yield _SAME, self._target(inner)
            elif word == "properties" and is_object(inner):
                yield from ((f".{name}", each) for name, each in inner.items())
            elif word in _APPLIED:
                several = _inside(inner) if word in _MAPS or is_array(inner) else [inner]
                yield from ((_APPLIED[word], each) for each in several)

    def _target(self, reference: Any) -> Any:
        """Find what a reference refers to; only the schema itself is looked at."""
        text, own = unquote(str(reference)), str(self._root.get("$id", "")).removesuffix("#")
        if text.startswith(own + "#"):
            text = text.removeprefix(own)
        if not text.startswith("#"):
            raise Unresolved(f"it refers to {text}, outside of itself; nothing is ever fetched")
        if text[1:] in self._anchors:
            return self._anchors[text[1:]]
        anchor, *steps = text[1:].split("/")
        node: Any = {} if anchor else self._root
        try:
            for step in [anchor] if anchor else steps:
                name = step.replace("~1", "/").replace("~0", "~")
                node = node[int(name)] if is_array(node) else node[name]
        except (LookupError, TypeError, ValueError):
            raise Unresolved(f"it refers to {text}, which it does not have") from None
        return node
