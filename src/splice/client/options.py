"""What a user gives a client: its options and the arguments of tools, each checked where it is given.

Callers pass what they have as arguments: dataclasses, attrs classes, Structs and pydantic models, at any depth. What
JSON cannot say is refused by the name of its argument; a float that is not a number would leave as null.
"""

import json
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import Raw

from splice.client import calls, lives, notices, questions
from splice.errors import LocalProtocolError
from splice.protocol.wire import Implementation
from splice.rules.options import Option, option_table

VERSION = "0.1.0"
"""This package's. A constant, since asking the package's metadata takes longer than all other imports."""

INFO = Implementation(name="splice", version=VERSION)
"""How a client introduces itself that was not told how."""


_TEXT = Option(str, "text")


class ClientOptions(questions.AnswerOptions, total=False):
    """Everything a `Client` may be told besides its target. The class says what each one does."""

    on_log: Annotated[notices.OnLog | None, notices.FUNCTION]
    on_change: Annotated[notices.OnChange | None, notices.FUNCTION]
    protocol: Annotated[str, _TEXT]
    timeout: Annotated[float | None, calls.TIMEOUT]
    cache: Annotated[bool, Option(bool, "True or False")]
    info: Annotated[Implementation | None, Option(Implementation, "an Implementation; name= and version= make one")]
    name: Annotated[str | None, _TEXT]
    version: Annotated[str | None, _TEXT]
    on_state: Annotated[lives.OnState | None, notices.FUNCTION]
    restart: Annotated[bool, Option(bool, "True or False")]
    retries: Annotated[int, Option(int, "how often, 0 or more", lambda often: often >= 0)]
    auth: Annotated[Any, Option(object, "a token, a function or a policy: OAuth()", lambda a: not isinstance(a, type))]
    max_message: Annotated[int | None, Option(int, "a number of bytes above 0", lambda size: size > 0)]


OPTIONS = option_table(ClientOptions)


def info_of(options: ClientOptions) -> Implementation:
    """Tell how a client introduces itself. Raises `TypeError` for a name said twice, or a version of nothing."""
    name, version, info = options.get("name"), options.get("version"), options.get("info")
    if (version and not name) or (name and info):
        raise TypeError("a client introduces itself by name= (and version=), or by info= that has both")
    return Implementation(name=name, version=version or "") if name else info or INFO


_encoder = msgspec.json.Encoder(enc_hook=questions.plain)


def written(tool: str, arguments: Mapping[str, Any]) -> Raw:
    """Write the arguments of a tool as JSON. Raises `LocalProtocolError`."""
    try:
        text = _encoder.encode(arguments)
        if text.find(b"null") >= 0:  # `in` is slow: it tries a number first
            _check_numbers(arguments)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        for name, value in arguments.items() if len(arguments) > 1 else ():
            written(tool, {name: value})
        what = f"Cannot call {tool}: argument {next(iter(arguments))!r} cannot be written as JSON ({error})"
        advice = "pass JSON values without NaN or infinity, a dataclass, an attrs class, a Struct or a pydantic model"
        raise LocalProtocolError(f"{what}; {advice}") from error
    return Raw(text)


def _check_numbers(arguments: Mapping[str, Any]) -> None:
    """Raise `ValueError` for NaN and infinity. `Raw` is JSON already, and has neither."""
    plain = msgspec.to_builtins(arguments, enc_hook=lambda it: None if isinstance(it, Raw) else questions.plain(it))
    json.dumps(plain, allow_nan=False)
