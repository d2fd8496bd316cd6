"""The two forms of a type: JSON Schema for the peer, a msgspec type for us."""

from typing import Any, NamedTuple, TypeAlias

import msgspec

Schema: TypeAlias = dict[str, Any]


class Shape(NamedTuple):
    """A type, in both forms."""

    wire: Any
    """What msgspec decodes: the type itself wherever msgspec knows it, else something with markers in it."""
    schema: Schema

    @property
    def is_null(self) -> bool:
        """Whether only null fits."""
        return self.wire is type(None)


def decodes(wire: Any) -> bool:
    """Tell whether msgspec can decode a type."""
    try:
        msgspec.json.Decoder(wire)
    except TypeError:
        return False
    return True


def name_of(kind: Any) -> str:
    """Name a type for people and for `$defs`: letters, digits, `_`, `.` and `-` only."""
    name = getattr(kind, "__name__", None) if isinstance(kind, type) else repr(kind).replace("typing.", "")
    if name is None or not isinstance(kind, type):
        origin, arguments = getattr(kind, "__origin__", None), getattr(kind, "__args__", ())
        if isinstance(origin, type):
            name = "_".join([origin.__name__, *map(name_of, arguments)])
    return str(name)
