"""The arguments of a tool on their way to JSON.

Callers pass what they have: dataclasses, attrs classes, msgspec Structs and pydantic models, at any depth. What JSON
cannot say is refused by the name of its argument; a float that is not a number would leave as null.
"""

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Raw

from splice.errors import LocalProtocolError


def _plain(value: Any) -> Any:
    if not hasattr(value, "model_dump"):
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return value.model_dump(mode="json", by_alias=True)


_encoder = msgspec.json.Encoder(enc_hook=_plain)


def written(tool: str, arguments: Mapping[str, Any]) -> Raw:
    """Write the arguments of a tool as JSON. Raises `LocalProtocolError`."""
    try:
        text = _encoder.encode(arguments)
        if b"null" in text:
            _check_numbers(arguments)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        for name, value in arguments.items() if len(arguments) > 1 else ():
            written(tool, {name: value})
        raise LocalProtocolError(
            f"Cannot call {tool}: argument {next(iter(arguments))!r} cannot be written as JSON ({error}); pass JSON "
            "values without NaN or infinity, a dataclass, an attrs class, a Struct or a pydantic model"
        ) from error
    return Raw(text)


def _check_numbers(arguments: Mapping[str, Any]) -> None:
    """Raise `ValueError` for NaN and infinity. `Raw` is JSON already, and has neither."""
    plain = msgspec.to_builtins(arguments, enc_hook=lambda it: None if isinstance(it, Raw) else _plain(it))
    json.dumps(plain, allow_nan=False)
