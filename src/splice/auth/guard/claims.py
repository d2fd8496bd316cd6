"""Reading what a token says, and whom it is to be for: nothing has the type that it should have until that was seen.

https://www.rfc-editor.org/rfc/rfc7519#section-4.1
"""

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite
from typing import Any, cast


def items(value: Any) -> Sequence[Any]:
    """Give the items of a list; nothing of anything else."""
    return cast("Sequence[Any]", value) if isinstance(value, list) else ()


def members(value: Any) -> Mapping[str, Any]:
    """Give the members of an object; nothing of anything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def texts(value: Any) -> list[str]:
    """Give a text, or the texts of a list; nothing of anything else."""
    return [each for each in ([value] if isinstance(value, str) else items(value)) if isinstance(each, str)]


def words(value: Any) -> list[str]:
    """Give the words of a text, or of the texts of a list: scopes come both ways."""
    return [word for text in texts(value) for word in text.split()]


def audiences(of: str, given: Any) -> frozenset[str]:
    """Read `audience=` of a verifier: whom tokens are to name in `aud`. Raises `TypeError` and `ValueError`."""
    is_list = isinstance(given, (list, tuple, set, frozenset))
    names = frozenset(cast("Iterable[Any]", given)) if is_list else frozenset([given])
    if not all(isinstance(each, str) for each in names):
        raise TypeError(f"audience= of {of} takes a name such as 'https://shop.example/mcp', or a list, not {given!r}")
    if not names or "" in names:
        raise ValueError(f"{of} needs an audience: else tokens for other servers would be taken")
    return names


def number(value: Any) -> float | None:
    """Give a number that a time can be; None for anything else, such as one beyond all bounds."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        return float(value) if isfinite(value) else None
    except OverflowError:
        return None
