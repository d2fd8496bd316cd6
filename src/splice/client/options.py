"""The options of a client, each checked where it is given."""

from collections.abc import Callable, Sequence
from typing import TypedDict

from splice.client.notices import OnChange, OnLog
from splice.client.questions import OnElicit, OnSample, Question, Roots
from splice.protocol.wire import Implementation
from splice.rules.extensions import Extension
from splice.rules.options import Option, checked

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


_FUNCTION = Option(Callable, "a function, `def` or `async def`")

OPTIONS: dict[str, Option] = {
    **dict.fromkeys(("on_elicit", "on_sample", "on_log", "on_change"), _FUNCTION),
    "roots": Option((Sequence, Callable), "a list of places, or a function"),
    **dict.fromkeys(("name", "version", "protocol"), Option(str, "text")),
    "timeout": Option((int, float), "a number of seconds above 0, or None for ever", lambda seconds: seconds > 0),
    "info": Option(Implementation, "an Implementation; name= and version= make one"),
    "extensions": Option(Sequence, "a list of `Extension`", item=Extension),
}


def check_timeout(seconds: float | None) -> None:
    """Check the time limit of one request. Raises `TypeError` and `ValueError`."""
    checked("a request", {"timeout": seconds}, OPTIONS)


def info_of(options: ClientOptions) -> Implementation:
    """Tell how a client introduces itself. Raises `TypeError` for a name said twice, or a version of nothing."""
    name, version, info = options.get("name"), options.get("version"), options.get("info")
    if (version and not name) or (name and info):
        raise TypeError("a client introduces itself by name= (and version=), or by info= that has both")
    return Implementation(name=name, version=version or "") if name else info or INFO
