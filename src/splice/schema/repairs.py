"""Arguments that do not fit their schema as models often write them, turned into what was clearly meant.

Three mistakes are repaired: JSON in a string where an object, array, number or boolean is wanted, which covers `"5"`
for 5; and one value where a list of such values is wanted. A string stays one wherever the schema takes a string.
Whether the repaired arguments are good, only decoding them can tell.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

import msgspec

from splice.schema.schemas import NAMES, Schema, cut, is_array, is_object, resolved, whole

MAX_SIZE = 100_000
"""Up to how many bytes of arguments are looked through; it takes microseconds for each value in them."""

MAX_SHOWN = 80
"""How many characters of a path or a value a report quotes."""

MAX_TOLD = 20
"""How many repairs a report lists."""

Repairs: TypeAlias = list[dict[str, str]]
"""The path of each repaired value, and its JSON before (`from`) and after (`to`), cut."""


def repaired(schema: Schema, json: bytes) -> tuple[bytes, Repairs]:
    """Repair arguments along their schema; the list of repairs is empty where nothing can be done."""
    if len(json) > MAX_SIZE:
        return json, []
    repairing = _Repairing(schema.get("$defs", {}))
    try:
        new = msgspec.json.encode(repairing.value(repairing.wanted(schema), msgspec.json.decode(json), ""))
    except (ValueError, LookupError, RecursionError):  # unreadable, or a reference that leads elsewhere or in circles
        return json, []
    return new, repairing.done


class _Repairing:
    """Repairs one value."""

    def __init__(self, defs: Mapping[str, Schema]) -> None:
        self._defs = defs
        self.done: Repairs = []

    def wanted(self, schema: Any) -> dict[str, Schema]:
        """Tell which types a schema takes, and the schema of each."""
        if not is_object(schema):
            return {}
        own: Schema = resolved(schema, self._defs)
        members: list[Any] = own.get("anyOf") or own.get("oneOf") or []
        types = {name: each for member in members for name, each in self.wanted(member).items()}
        named: object = own.get("type", [])
        return types | dict.fromkeys(map(str, named if is_array(named) else [named]), own)

    def value(self, wanted: Mapping[str, Schema], given: Any, path: str) -> Any:
        """Repair a value and all that is in it."""
        path = cut(path.removeprefix("."), MAX_SHOWN)
        new = self._meant(wanted, given)
        if new is not given and len(self.done) < MAX_TOLD:
            shown = [cut(msgspec.json.encode(each).decode(), MAX_SHOWN) for each in (given, new)]
            self.done.append({"path": path or "arguments", "from": shown[0], "to": shown[1]})
        own = wanted.get(NAMES[type(new)], {})
        if is_object(new):
            inner, rest = own.get("properties", {}), own.get("additionalProperties")
            members = {name: self.wanted(inner.get(name, rest)) for name in new}
            return {name: self.value(members[name], each, f"{path}.{name}") for name, each in new.items()}
        if is_array(new):
            items = self.wanted(own.get("items"))
            return [self.value(items, each, f"{path}[{place}]") for place, each in enumerate(new)]
        return new

    def _meant(self, wanted: Mapping[str, Schema], given: Any) -> Any:
        """Tell what was meant by a value; the value itself if it is of a type that is wanted, or nobody knows."""
        if not wanted or _is(given, wanted):
            return given
        read = _read(given) if isinstance(given, str) else given
        if read is not None and _is(read, wanted):
            return read
        if "array" in wanted:
            items = self.wanted(wanted["array"].get("items"))
            if _is(given, items) or _is(read, items):
                return [given]
        return given


def _is(value: Any, wanted: Mapping[str, Schema]) -> bool:
    """Tell whether a value is of one of these types."""
    name = NAMES[type(value)]
    return name in wanted or (name == "integer" and "number" in wanted)


def _read(text: str) -> Any:
    """Read JSON; what is none is only text."""
    try:
        return whole(msgspec.json.decode(text))
    except ValueError:
        return text
