"""The arguments of a tool on their way to JSON.

Callers pass what they have: dataclasses, attrs classes, msgspec Structs and pydantic models, at any depth. What JSON
cannot say is refused by the name of its argument; a float that is not a number would leave as null.
"""

import math
from collections.abc import Iterator, Mapping
from typing import Any, cast

import msgspec
from msgspec import Raw

from splice.errors import LocalProtocolError


def _plain(value: Any) -> Any:
    if isinstance(value, Raw):  # is JSON already, and has no number that JSON cannot say
        return None
    dump = getattr(value, "model_dump", None)
    if dump is None:
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return dump(mode="json", by_alias=True)


_encoder = msgspec.json.Encoder(enc_hook=_plain)
_UNWRITABLE = (TypeError, ValueError, OverflowError, RecursionError)


def written(tool: str, arguments: Mapping[str, Any]) -> Raw:
    """Write the arguments of a tool as JSON. Raises `LocalProtocolError`."""
    try:
        text = _encoder.encode(arguments)
    except _UNWRITABLE as error:
        name = next((name for name, value in arguments.items() if not _is_writable(value)), "a name")
        raise LocalProtocolError(
            f"Cannot call {tool}: argument {name!r} cannot be written as JSON ({error}); "
            "pass JSON values, a dataclass, an attrs class, a Struct or a pydantic model"
        ) from error
    if b"null" in text:
        for path in _not_finite(msgspec.to_builtins(arguments, enc_hook=_plain), ""):
            raise LocalProtocolError(f"Cannot call {tool}: argument {path} is NaN or infinite, which JSON cannot say")
    return Raw(text)


def _is_writable(value: Any) -> bool:
    try:
        _encoder.encode(value)
    except _UNWRITABLE:
        return False
    return True


def _not_finite(value: Any, path: str) -> Iterator[str]:
    """Find the numbers that JSON cannot say."""
    if isinstance(value, float) and not math.isfinite(value):
        yield path
    elif isinstance(value, Mapping):
        for name, each in cast("Mapping[str, Any]", value).items():
            yield from _not_finite(each, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list | tuple):
        for index, each in enumerate(cast("list[Any]", value)):
            yield from _not_finite(each, f"{path}[{index}]")
