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
    """Name a type for people."""
    if hasattr(kind, "__metadata__"):
        return name_of(kind.__origin__)
    if isinstance(kind, type):
        return kind.__name__
    origin = getattr(kind, "__origin__", None)
    if isinstance(origin, type):
        return "_".join([origin.__name__, *map(name_of, kind.__args__)])
    return repr(kind).replace("typing.", "")
