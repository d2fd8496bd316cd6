"""TARGET: which server a command talks to.

    http://..., https://...           a URL
    server.py, server.py:name         a Splice server in a file, or a function there that makes it
    package.module:name               the same in a module
    mcp.json, mcp.json#name           an entry of the configuration file of a host
    -- command arguments...           any program, at the end of the command line

A program started from here sees the whole environment, as it would if its command had been typed at the prompt.
"""

import os
import shlex
import sys
from pathlib import Path
from typing import NamedTuple, TypeAlias
from urllib.parse import urlsplit

from splice import HTTPServer, StdioServer
from splice.cli.loading import is_code, split
from splice.cli.outcomes import USAGE, Stop
from splice.cli.stderr import Stderr
from splice.host.config.entries import Entry
from splice.host.config.reading import read
from splice.host.config.variables import filled
from splice.host.connecting.logins import KeptLogin
from splice.host.places import at_home
from splice.host.text import one_line

Place: TypeAlias = HTTPServer | StdioServer


class Target(NamedTuple):
    """A server to talk to."""

    name: str
    """What the user called it, for messages."""
    place: Place
    stderr: Stderr
    """What it writes there, if we start it."""


def take_target(
    words: tuple[str, ...], tail: list[str], headers: tuple[str, ...], *, debug: bool = False
) -> tuple[Target, list[str]]:
    """Find the target in a command line; what is left of `words` is for the command. Raises `Stop`."""
    stderr = Stderr(live=debug)
    if tail:
        _no_headers(headers)
        return Target(one_line(shlex.join(tail)), StdioServer(*tail, env=os.environ, on_stderr=stderr), stderr), list(
            words
        )
    if not words:
        raise Stop(USAGE, "which server? Name a URL, a .py file, or a command after `--`")
    first, *rest = words
    name = one_line(first)
    if first.startswith(("http://", "https://")):
        return Target(name, _configured(Entry(name=name, url=first), first, headers, stderr), stderr), rest
    file, hash_sign, entry = first.partition("#")
    if file.endswith(".json"):
        found = _entry(file, entry if hash_sign else None)
        return Target(name, _configured(found, first, headers, stderr), stderr), rest
    if is_code(first):
        _no_headers(headers)
        place = split(first)[0]
        if place.endswith(".py") and not Path(place).is_file():
            raise Stop(USAGE, f"there is no file {place!r}")
        command = this_splice("run", first, *(["--debug"] if debug else []))
        child = StdioServer(*command, env=os.environ, on_stderr=stderr)
        child.name = name
        return Target(name, child, stderr), rest
    raise Stop(
        USAGE,
        f"{first!r} is not a server: name a URL (http://...), a .py file, module:name, an mcp.json, "
        "or a command after `--`",
    )


def this_splice(*words: str) -> list[str]:
    """Make the command line that runs `splice` with this very interpreter."""
    return [sys.executable, "-m", "splice.cli", *words]


def _entry(file: str, name: str | None) -> Entry:
    """Read an entry of a configuration file: the one of that name, or the only one. Raises `Stop`."""
    found = read(Path(file), "given")
    names = ", ".join(each.name for each in found.entries)
    if not found.entries:
        raise Stop(USAGE, found.problems[0] if found.problems else f"{file} has no servers")
    if name is None and len(found.entries) > 1:
        raise Stop(USAGE, f"{file} has several servers: {names}; say which, as in {file}#{found.entries[0].name}")
    entry = next((each for each in found.entries if name is None or name in (each.key, each.name)), None)
    if entry is None:
        raise Stop(USAGE, f"{file} has no server {name!r}; there are {names}")
    return entry


def _configured(entry: Entry, name: str, headers: tuple[str, ...], stderr: Stderr) -> Place:
    """Make the place that an entry describes; `headers` go before those that stand in it. Raises `Stop`."""
    if entry.problem:
        raise Stop(USAGE, f"{name}: {entry.problem}")
    try:
        entry = filled(entry, {})
        if not entry.url:
            _no_headers(headers)
            environment, cwd = {**os.environ, **entry.env}, at_home(entry.cwd) if entry.cwd else None
            child = StdioServer(entry.command, *entry.args, env=environment, cwd=cwd, on_stderr=stderr)
            child.name = one_line(name)
            return child
        fields = {**entry.headers, **dict(_header(each) for each in headers)}
        own = any(field.lower() == "authorization" for field in fields) or "@" in urlsplit(entry.url).netloc
        return HTTPServer(
            entry.url, headers=fields, auth=None if own else KeptLogin(f"splice login {shlex.quote(name)}")
        )
    except (TypeError, ValueError) as error:
        raise Stop(USAGE, f"{name}: {error}") from error


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise Stop(USAGE, f"--header {text!r} is not of the form 'Name: value'")
    return name.strip(), value.strip()


def _no_headers(headers: tuple[str, ...]) -> None:
    if headers:
        raise Stop(USAGE, "--header is for URLs; this server is started as a program")
