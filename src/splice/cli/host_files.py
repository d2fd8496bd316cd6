"""Which servers a command of the host means: those of the project and the user's own, or those of the files it names.

A file that is named counts alone: nothing else is read then.
"""

import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
from msgspec.structs import replace

from splice.cli.host_failing import Refused, warn
from splice.cli.outcomes import USAGE
from splice.cli.reaching import files
from splice.host.config import jsonc
from splice.host.config.entries import Entry
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import Configuration
from splice.host.config.sources import Sources
from splice.host.config.variables import missing
from splice.host.places import Places, places
from splice.host.text import listed, one_line

F = TypeVar("F", bound=Callable[..., Any])

ADD = "splice host mcp add NAME -- COMMAND"


class Known(NamedTuple):
    """The servers, and where they were found."""

    found: Configuration
    sources: Sources
    """To read them again."""

    @property
    def places(self) -> Places:
        """Where the host keeps its files."""
        return self.sources.places

    @property
    def cwd(self) -> Path:
        """The folder that the host works in."""
        return self.sources.cwd

    def entry(self, name: str) -> Entry:
        """Find a server by the name that its file or the host gives it. Raises `Refused`."""
        for each in self.found.entries:
            if name in (each.name, each.key):
                return each
        names = [each.name for each in self.found.entries]
        if not names:
            raise Refused(USAGE, f"there is no server {name!r}, and no other", attempt=ADD)
        raise Refused(USAGE, listed(f"there is no server {name!r}", names), attempt="splice host mcp list")

    def shown(self, path: Path | None) -> str:
        """Write the place of a file as the user would."""
        if path is None:
            return ""
        if path.is_relative_to(self.cwd):
            return one_line(str(path.relative_to(self.cwd)))
        home = Path.home()
        return one_line(f"~/{path.relative_to(home)}" if path.is_relative_to(home) else str(path))


def config_option(command: F) -> F:
    """Add `--config` to a command."""
    return click.option(
        "--config",
        "configs",
        multiple=True,
        metavar="FILE",
        shell_complete=files,
        help="Read the servers of this file, and of no others. Repeatable.",
    )(command)


def server_option(command: F) -> F:
    """Add `--server` to a command."""
    text = "Use only this server of the configuration. Repeatable."
    return click.option("--server", "servers", multiple=True, metavar="NAME", help=text)(command)


def known(configs: Sequence[str] = ()) -> Known:
    """Read the files. What cannot be used is told on stderr. Raises `Refused` for a file that is not there."""
    cwd, kept = Path.cwd(), places()
    for each in configs:
        if not (cwd / each).exists():
            raise Refused(USAGE, f"there is no file {one_line(each)!r}", mend="name a file of servers, or leave it out")
    sources = Sources(cwd, kept, tuple(cwd / each for each in configs))
    return Known(sources.read(), sources)


def chosen(known: Known, servers: Iterable[str]) -> Known:
    """Leave only the servers that are named; all of them if none is. Raises `Refused`."""
    entries = [known.entry(name) for name in servers]
    if not entries:
        return known
    only = tuple(each.name for each in entries)
    return Known(replace(known.found, entries=entries), replace(known.sources, only=only))


def tell_problems(known: Known) -> None:
    """Warn of files that cannot be used."""
    for problem in known.found.problems:
        warn(problem)


def line_of(entry: Entry) -> int:
    """Find the line of its file that an entry begins in; 0: that is not known."""
    if entry.source is None:
        return 0
    try:
        text = jsonc.text_of(entry.source)
        node = jsonc.parse(text)
    except BadConfiguration:
        return 0
    found = next((each for each in _members(node) if each.name == entry.key), None)
    return 0 if found is None else text.count("\n", 0, found.start) + 1


def _members(node: jsonc.Node) -> Iterable[jsonc.Member]:
    """List what may be entries of servers, wherever hosts put them."""
    for each in node.members:
        if each.name in ("mcpServers", "servers"):
            yield from each.node.members
    for each in node.members:
        if each.name == "mcp":
            yield from _members(each.node)
        elif each.name == "projects":
            for folder in each.node.members:
                yield from _members(folder.node)


def trouble_of(entry: Entry) -> str:
    """Say why a server cannot be started, as far as its file and the environment tell."""
    if entry.problem:
        return entry.problem
    lacks = missing(entry)
    return f"{', '.join(lacks)} {'is' if len(lacks) == 1 else 'are'} not set" if lacks else ""


def quoted(name: str) -> str:
    """Write a name for a command that can be pasted."""
    return shlex.quote(one_line(name))
