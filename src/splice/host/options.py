"""What a host may be told when it is made."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypedDict

from splice.host.asking.unattended import Prepared
from splice.host.failing import HostError
from splice.host.models.base import Model
from splice.host.text import listed


class HostOptions(TypedDict, total=False):
    """Everything that `Host.from_config` takes besides the files of servers."""

    model: str | Model
    """The id of a model, a model, ``FILE.py:NAME`` of one's own, or a cassette ``FILE.jsonl`` to be played again; else
    the one that the user chose last."""
    home: str | Path
    """Where the host keeps its files; else in the folders of the system."""
    policy: Literal["ask", "headless"]
    """``ask``: a person answers, in any face. ``headless``: nobody does, so what would be asked is denied."""
    answers: Prepared
    """Answers that were prepared, for a host that nobody watches."""
    cwd: str | Path
    """The folder that the host works in; else the current one."""
    roots: Sequence[str | Path]
    """Folders that servers are told of, besides those that the user added."""
    servers: Mapping[str, Any]
    """More servers by their names: an entry of a configuration file, a `Server` of this process, a URL."""
    record: str | Path
    """A cassette: what models answer is appended to it."""


def check_names(given: Iterable[str]) -> None:
    """Refuse options that there are not: a host with a misspelt `home` would write into the user's own folders.

    Raises `HostError`.
    """
    known = list(HostOptions.__annotations__)
    for name in given:
        if name not in known:
            raise HostError(listed(f"There is no option {name!r} of a host", known))
