"""How values arrive: most as the text that PostgreSQL writes, as Python has no year 0 and JSON no date.

PostgreSQL's JSON may say more than a peer can read: numbers of 100,000 digits, thousands of levels, half a character.
Such a value stays the text it is.
"""

from functools import reduce
from typing import Any

import msgspec
import psycopg
from psycopg.abc import Buffer
from psycopg.adapt import AdaptersMap, Loader

from splice.servers.records import MAX_CELL

LEVELS_LEFT = 100
"""How much deeper the JSON of a value may come to lie in a result."""

_NATIVE = {"bool", "int2", "int4", "int8", "float4", "float8", "oid"}
"""Types whose values are JSON, or made JSON here. All others but JSON itself are shown as PostgreSQL writes them."""


class Plain:
    """What the driver is to make of the types that PostgreSQL knows."""

    connection = None

    def __init__(self) -> None:
        self.adapters = AdaptersMap(psycopg.adapters)
        for known in psycopg.adapters.types:
            if known.name not in _NATIVE:
                self.adapters.register_loader(known.oid, Json if known.name in {"json", "jsonb"} else Text)
            if known.array_oid:
                self.adapters.register_loader(known.array_oid, Text)


class Text(Loader):
    """Reads text. A statement may change the encoding that it is sent in, and a database may not have any."""

    def load(self, data: Buffer) -> str:
        """Read a value."""
        return bytes(data).decode(errors="replace")


class Json(Text):
    """Reads JSON. What is too long to be shown whole stays text."""

    def load(self, data: Buffer) -> Any:
        """Read a value."""
        text = super().load(data)
        if len(text) > MAX_CELL:
            return text
        try:
            value = msgspec.json.decode(text)
            msgspec.json.encode(reduce(lambda inner, _: [inner], range(LEVELS_LEFT), value))
        except (msgspec.DecodeError, RecursionError):
            return text
        return value
