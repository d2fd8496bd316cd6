"""Arguments that do not fit their schema as models often write them, turned into what was clearly meant.

Three mistakes are repaired: JSON in a string where an object, array, number or boolean is wanted, which covers `"5"`
for 5; and one value where a list of such values is wanted. A string stays one wherever the schema takes a string.
Whether the repaired arguments are good, only decoding them can tell.
"""

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from splice.schema.schemas import Schema, is_array, is_object, resolved, whole

MAX_SIZE = 100_000
"""Up to how many bytes of arguments are looked through; it takes microseconds for each value in them."""

MAX_SHOWN = 80
"""How many characters of a path or a value a report quotes."""

MAX_TOLD = 20
"""How many repairs a report lists."""

Repairs: TypeAlias = list[dict[str, str]]
"""The path of each repaired value, and its JSON before (`from`) and after (`to`), cut."""

_ANY: Schema = {}
_NAMES: dict[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}


def repaired(schema: Schema, json: bytes) -> tuple[bytes, Repairs]:
    """Repair arguments along their schema; the list of repairs is empty where nothing can be done."""
    if len(json) > MAX_SIZE:
        return json, []
    repairing = _Repairing(schema.get("$defs", {}))
    try:
        new = msgspec.json.encode(repairing.value(schema, msgspec.json.decode(json), ""))
    except (ValueError, LookupError, RecursionError):  # unreadable, or a reference that leads elsewhere or in circles
        return json, []
    return new, repairing.done


class _Repairing:
    """Repairs one value."""

    def __init__(self, defs: Mapping[str, Schema]) -> None:
        self._defs = defs
        self._known: dict[int, dict[str, Schema]] = {}
        self.done: Repairs = []

    def value(self, schema: Schema, given: Any, path: str) -> Any:
        """Repair a value and all that is in it."""
        wanted = self._wanted(schema)
        new = self._meant(wanted, given)
        if new is not given and len(self.done) < MAX_TOLD:
            self.done.append({"path": path or "arguments", "from": _shown(given), "to": _shown(new)})
        own = wanted.get(_NAMES[type(new)], {})
        if is_object(new):
            inner, rest = own.get("properties", {}), own.get("additionalProperties")
            return {
                name: self.value(_schema(inner.get(name, rest)), each, _cut(f"{path}.{name}" if path else name))
                for name, each in new.items()
            }
        if is_array(new):
            items = _schema(own.get("items"))
            return [self.value(items, each, _cut(f"{path}[{place}]")) for place, each in enumerate(new)]
        return new

    def _meant(self, wanted: Mapping[str, Schema], given: Any) -> Any:
        """Tell what was meant by a value; the value itself if it is of a type that is wanted, or nobody knows."""
        if not wanted or _is(given, wanted):
            return given
        if isinstance(given, str) and (read := _read(given)) is not None and _is(read, wanted):
            return read
        if "array" in wanted:
            items = self._wanted(_schema(wanted["array"].get("items")))
            if _is(given, items) or (isinstance(given, str) and _is(_read(given), items)):
                return [given]
        return given

    def _wanted(self, schema: Schema) -> dict[str, Schema]:
        """Tell which types a schema takes, and the schema of each."""
        if id(schema) not in self._known:
            types = {name: each for each in self._alternatives(schema) for name in _types(each)}
            self._known[id(schema)] = types
        return self._known[id(schema)]

    def _alternatives(self, schema: Schema) -> Iterator[Schema]:
        schema = resolved(schema, self._defs)
        members: list[Any] = schema.get("anyOf") or schema.get("oneOf") or []
        for each in members:
            yield from self._alternatives(_schema(each))
        yield schema


def _types(schema: Schema) -> list[str]:
    named: object = schema.get("type", ())
    return list(map(str, named)) if is_array(named) else [str(named)]


def _schema(value: Any) -> Schema:
    return value if is_object(value) else _ANY


def _is(value: Any, wanted: Any) -> bool:
    """Tell whether a value is of one of these types."""
    name = _NAMES[type(value)]
    return name in wanted or (name == "integer" and "number" in wanted)


def _read(text: str) -> Any:
    """Read JSON; None if it is not."""
    try:
        return whole(msgspec.json.decode(text))
    except ValueError:
        return None


def _shown(value: Any) -> str:
    return _cut(msgspec.json.encode(value).decode())


def _cut(text: str) -> str:
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."
