"""The options of a client, each checked where it is given."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

from splice.client.notices import OnChange, OnLog
from splice.client.questions import OnElicit, OnSample, Question, Roots
from splice.protocol.wire import Implementation
from splice.rules.extensions import Extension
from splice.rules.negotiation import preference

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


class _Check(NamedTuple):
    fits: Callable[[Any], bool]
    wanted: str


def _is_a(*kinds: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kinds) and not isinstance(value, bool)


_TEXT = _Check(_is_a(str), "a text")
_FUNCTION = _Check(callable, "a function, `def` or `async def`")
_CHECKS: Mapping[str, _Check] = {
    **dict.fromkeys(("on_elicit", "on_sample", "on_log", "on_change"), _FUNCTION),
    **dict.fromkeys(("name", "version", "protocol"), _TEXT),
    "roots": _Check(lambda it: callable(it) or isinstance(it, Sequence), "a list of places, or a function"),
    "timeout": _Check(_is_a(int, float), "a number of seconds, or None for ever"),
    "info": _Check(_is_a(Implementation), "an Implementation; name= and version= make one"),
    "extensions": _Check(
        lambda it: isinstance(it, Sequence) and all(isinstance(each, Extension) for each in it), "a list of Extension"
    ),
}


def check(options: ClientOptions) -> None:
    """Check what a client was told. Raises `TypeError` and `ValueError`, which name the option and what is wanted."""
    unknown = options.keys() - _CHECKS.keys()
    if unknown:
        raise TypeError(f"Client has no option {', '.join(sorted(unknown))}; there are {', '.join(_CHECKS)}")
    for name, value in options.items():
        if value is not None and not _CHECKS[name].fits(value):
            raise TypeError(f"{name} must be {_CHECKS[name].wanted}, not {value!r}")
    timeout = options.get("timeout")
    if timeout is not None:
        check_timeout(timeout)
    if options.get("info") and (options.get("name") or options.get("version")):
        raise TypeError("info= says the name and the version already: give either info=, or name= and version=")
    if options.get("version") and not options.get("name"):
        raise TypeError("version= is that of the program that name= names: give both")
    preference(options.get("protocol", "auto"))


def check_timeout(seconds: float) -> None:
    """Check a time limit. Raises `ValueError`."""
    if not seconds > 0:
        raise ValueError(f"timeout must be more than 0 seconds, not {seconds!r}; None waits for ever")


def info_of(options: ClientOptions) -> Implementation:
    """Tell how a client introduces itself."""
    name = options.get("name")
    own = options.get("info") or INFO
    return own if name is None else Implementation(name=name, version=options.get("version") or "")
