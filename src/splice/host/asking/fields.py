"""One field of a form, as data that a face shows."""

from typing import Literal, TypeAlias

from msgspec import Struct

from splice.host.asked import Json

Kind: TypeAlias = Literal[
    "text", "long", "email", "uri", "date", "datetime", "time", "integer", "number", "tick", "switch", "one", "many",
    "json",
]  # fmt: skip
"""How a field is filled in. ``tick``: a yes that the form needs. ``switch``: on or off. ``one`` and ``many`` have
choices. ``json``: a shape that is no field, written as JSON."""


class Field(Struct, frozen=True, omit_defaults=True):
    """One field of a form."""

    name: str
    """Its key among the values."""
    title: str
    """In the server's words, as all of the description; the name if it gave no title."""
    description: str = ""
    kind: Kind = "text"
    is_required: bool = False
    default: Json = None
    choices: list[tuple[Json, str]] = []
    """Values and their labels."""
    min: float | None = None
    """The least number; for text, the fewest characters."""
    max: float | None = None
    min_items: int | None = None
    max_items: int | None = None
    pattern: str = ""
    is_secret: bool = False
    """It looks as if it asked for a secret."""
    hint: str = ""
    """What is allowed, in the host's words; empty if anything is."""
    example: str = ""
    """From the schema, if it has any."""
    schema: Json = None
    """Of a field that is written as JSON: what it may be."""
