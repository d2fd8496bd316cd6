"""A form with every kind of field that there is.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
"""

from typing import Any


def _choices(*titles: tuple[str, str]) -> list[dict[str, str]]:
    return [{"const": value, "title": title} for value, title in titles]


def _text(title: str, description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "title": title, "description": description, **more}


def _several(title: str, description: str, items: dict[str, Any], default: str) -> dict[str, Any]:
    limits = {"minItems": 1, "maxItems": 3}
    return {"type": "array", "title": title, "description": description, **limits, "items": items, "default": [default]}


_FISH = _choices(("fish-1", "Tuna"), ("fish-2", "Salmon"), ("fish-3", "Trout"))
_HEROES = _choices(("hero-1", "Superman"), ("hero-2", "Green Lantern"), ("hero-3", "Wonder Woman"))
_FRIENDS = ["Monica", "Rachel", "Joey", "Chandler", "Ross", "Phoebe"]
_INSTRUMENTS = ["Guitar", "Piano", "Violin", "Drums", "Bass"]
_PETS = ["pet-1", "pet-2", "pet-3", "pet-4", "pet-5"]
_PET_NAMES = ["Cats", "Dogs", "Birds", "Fish", "Reptiles"]
_INTEGER = "Your favorite integer (do not give us your phone number, pin, or other sensitive info)"
_EMAIL = "Your email address (will be verified, and never shared with anyone else)"

FIELDS: dict[str, dict[str, Any]] = {
    "name": _text("String", "Your full, legal name"),
    "check": {"type": "boolean", "title": "Boolean", "description": "Agree to the terms and conditions"},
    "firstLine": _text(
        "String with default", "Favorite first line of a story", default="It was a dark and stormy night."
    ),
    "email": _text("String with email format", _EMAIL, format="email"),
    "homepage": _text("String with uri format", "Portfolio / personal website", format="uri"),
    "birthdate": _text("String with date format", "Your date of birth", format="date"),
    "integer": {
        "type": "integer",
        "title": "Integer",
        "description": _INTEGER,
        "minimum": 1,
        "maximum": 100,
        "default": 42,
    },
    "number": {
        "type": "number",
        "title": "Number in range 1-1000",
        "description": "Favorite number (there are no wrong answers)",
        "minimum": 0,
        "maximum": 1000,
        "default": 3.14,
    },
    "untitledSingleSelectEnum": _text(
        "Untitled Single Select Enum", "Choose your favorite friend", enum=_FRIENDS, default="Monica"
    ),
    "untitledMultipleSelectEnum": _several(
        "Untitled Multiple Select Enum",
        "Choose your favorite instruments",
        {"type": "string", "enum": _INSTRUMENTS},
        "Guitar",
    ),
    "titledSingleSelectEnum": _text(
        "Titled Single Select Enum", "Choose your favorite hero", oneOf=_HEROES, default="hero-1"
    ),
    "titledMultipleSelectEnum": _several(
        "Titled Multiple Select Enum", "Choose your favorite types of fish", {"anyOf": _FISH}, "fish-1"
    ),
    "legacyTitledEnum": _text(
        "Legacy Titled Single Select Enum",
        "Choose your favorite type of pet",
        enum=_PETS,
        enumNames=_PET_NAMES,
        default="pet-1",
    ),
}
"""By name, as the recording of the original has them."""

LABELS = {
    "name": "Name",
    "check": "Agreed to terms",
    "firstLine": "Favorite first line",
    "email": "Email",
    "homepage": "Homepage",
    "birthdate": "Birthdate",
    "integer": "Favorite integer",
    "number": "Favorite number",
    "untitledSingleSelectEnum": "Favorite friend",
    "untitledMultipleSelectEnum": "Favorite instruments",
    "titledSingleSelectEnum": "Favorite hero",
    "titledMultipleSelectEnum": "Favorite fish",
    "legacyTitledEnum": "Favorite pet",
}
"""By name: how the result calls it."""


def form(*, lists: bool) -> dict[str, Any]:
    """Give the form, with or without lists of choices, which not every version has."""
    fields = {name: field for name, field in FIELDS.items() if lists or field["type"] != "array"}
    return {"type": "object", "properties": fields, "required": ["name"]}
