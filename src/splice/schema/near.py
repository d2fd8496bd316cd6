"""Names that somebody may have meant."""

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import islice

MAX_LOOKED_AT = 500
"""How many names are compared, and how long the name that nobody knows may be: whoever sends it may mean harm."""

MAX_TOLD = 3


def meant(name: str, known: Iterable[str]) -> str:
    """Write what follows the message that `name` is not known: the names nearest to it, if any is near."""
    if len(name) > MAX_LOOKED_AT:
        return ""
    near = get_close_matches(name, islice(known, MAX_LOOKED_AT), MAX_TOLD)
    return f". Did you mean {' or '.join(map(repr, near))}?" if near else ""
