"""What a user gives a client: its options and the arguments of tools, each checked where it is given.

Callers pass what they have as arguments: dataclasses, attrs classes, Structs and pydantic models, at any depth. What
JSON cannot say is refused by the name of its argument; a float that is not a number would leave as null.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, TypedDict

import msgspec
from msgspec import Raw

from splice.client import calls, lives, notices, questions
from splice.errors import LocalProtocolError
from splice.protocol.wire import Implementation
from splice.rules.extensions import Extension
from splice.rules.options import Option, option_table

VERSION = "0.1.0"
"""This package's. A constant, since asking the package's metadata takes longer than all other imports."""

INFO = Implementation(name="splice", version=VERSION)
"""How a client introduces itself that was not told how."""


_FUNCTION = Option(Callable, "a function, `def` or `async def`")
_TEXT = Option(str, "text")
_EXTENSIONS = Option(Sequence, "a list of `Extension`", item=Extension)


_CAN = Option((list, tuple, set), f"a list of {', '.join(questions.CAN)}", lambda can: {*can} <= {*questions.CAN}, str)


class ClientOptions(TypedDict, total=False):
    """Everything a `Client` may be told besides its target. The class says what each one does."""

    on_elicit: Annotated[questions.OnElicit | None, _FUNCTION]
    on_sample: Annotated[questions.OnSample | None, _FUNCTION]
    roots: Annotated[questions.Roots | None, Option((Sequence, Callable), "a list of places, or a function")]
    can: Annotated[Collection[questions.Can] | None, _CAN]
    on_elicit_complete: Annotated[questions.OnElicitComplete | None, _FUNCTION]
    on_log: Annotated[notices.OnLog | None, _FUNCTION]
    on_change: Annotated[notices.OnChange | None, _FUNCTION]
    protocol: Annotated[str, _TEXT]
    timeout: Annotated[float | None, calls.TIMEOUT]
    cache: Annotated[bool, Option(bool, "True or False")]
    info: Annotated[Implementation | None, Option(Implementation, "an Implementation; name= and version= make one")]
    name: Annotated[str | None, _TEXT]
    version: Annotated[str | None, _TEXT]
    extensions: Annotated[Sequence[Extension[questions.Question]], _EXTENSIONS]
    on_state: Annotated[lives.OnState | None, _FUNCTION]
    restart: Annotated[bool, Option(bool, "True or False")]
    retries: Annotated[int, Option(int, "how often, 0 or more", lambda often: often >= 0)]
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
