"""A server as a person looks at it, before it may run or while it does: exactly what is started, and from where.

Secrets are not in it: variables are named, and values of headers and environments only where no name speaks of one.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from msgspec import Struct

from splice.host.asked import Trust
from splice.host.config import importing
from splice.host.config.entries import Entry, Scope
from splice.host.config.hosts import HOSTS
from splice.host.places import as_typed
from splice.host.tools.words import Budget, compare


class Look(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What a server is."""

    name: str
    asked: Trust
    scope: Scope
    is_trusted: bool = False
    """It may be started: it is the user's own, or the user trusts exactly this."""
    problem: str = ""
    """Why it cannot be used."""
    host: str = ""
    """Which host it can be taken over from: a name of `importing.FROM`; empty if it is not of another host."""
    host_title: str = ""
    is_known: bool = False
    """There is a server of this name here already."""


def trust_of(entry: Entry, before: list[str] | None = None) -> Trust:
    """Tell what runs; and if another command was trusted before, how it differs."""
    return Trust(
        runs=entry.runs,
        words=entry.words,
        source="" if entry.source is None else as_typed(entry.source),
        folder=entry.works_in,
        variables=entry.variables,
        ignored=list(entry.ignored),
        fingerprint=entry.fingerprint,
        is_own=entry.scope != "project",
        is_remote=bool(entry.url),
        before=None if before is None else compare(" ".join(before), " ".join(entry.words), Budget()),
    )


def offered(cwd: Path, is_known: Callable[[str], bool]) -> Iterator[Look]:
    """Look at what can be taken over from other hosts. What this host reads anyway is left out."""
    for host in importing.FROM:
        found, _ = importing.offers([each for each in importing.files_of(host, cwd) if each.exists()], cwd)
        for entry, _ in found:
            yield Look(
                name=entry.name,
                asked=trust_of(entry),
                scope="user",
                problem=entry.problem,
                host=host,
                host_title=HOSTS[host].title.partition(",")[0],
                is_known=is_known(entry.name),
            )
