"""The options of a client, each checked where it is given."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict

from splice.client.notices import OnChange, OnLog
from splice.client.questions import OnElicit, OnSample, Question, Roots
from splice.protocol.wire import Implementation
from splice.rules.extensions import Extension

VERSION = "0.1.0"
"""This package's. A constant, since asking the package's metadata takes longer than all other imports."""

INFO = Implementation(name="splice", version=VERSION)
"""How a client introduces itself that was not told how."""


class ClientOptions(TypedDict, total=False):
    """Everything a `Client` may be told besides its target. The class says what each one does."""

    on_elicit: OnElicit | None
    on_sample: OnSample | None
    roots: Roots | None
    on_log: OnLog | None
    on_change: OnChange | None
    protocol: str
    timeout: float | None
    info: Implementation | None
    name: str | None
    version: str | None
    extensions: Sequence[Extension[Question]]


_KINDS: Mapping[str, tuple[tuple[Any, ...], str]] = {
    **dict.fromkeys(
        ("on_elicit", "on_sample", "on_log", "on_change"), ((Callable,), "a function, `def` or `async def`")
    ),
    **dict.fromkeys(("name", "version", "protocol"), ((str,), "a text")),
    "roots": ((Sequence, Callable), "a list of places, or a function"),
    "timeout": ((int, float), "a number of seconds, or None for ever"),
    "info": ((Implementation,), "an Implementation; name= and version= make one"),
    "extensions": ((Sequence,), "a list of Extension"),
}


def check(options: ClientOptions) -> None:
    """Check what a client was told. Raises `TypeError` and `ValueError`, which name the option and what is wanted."""
    for name, value in options.items():
        if name not in _KINDS:
            raise TypeError(f"Client has no option {name}; there are {', '.join(ClientOptions.__annotations__)}")
        kinds, wanted = _KINDS[name]
        if value is not None and (not isinstance(value, kinds) or isinstance(value, bool)):
            raise TypeError(f"{name} must be {wanted}, not {value!r}")
    check_timeout(options.get("timeout"))


def check_timeout(seconds: float | None) -> None:
    """Check a time limit. Raises `ValueError`."""
    if seconds is not None and not seconds > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {seconds!r}; None waits for ever")


def info_of(options: ClientOptions) -> Implementation:
    """Tell how a client introduces itself. Raises `TypeError` for a name said twice, or a version of nothing."""
    name, version, info = options.get("name"), options.get("version"), options.get("info")
    if (version and not name) or (name and info):
        raise TypeError("a client introduces itself by name= (and version=), or by info= that has both")
    return Implementation(name=name, version=version or "") if name else info or INFO
