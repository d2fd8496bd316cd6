"""TARGET: which server a command talks to. A URL, a `.py` file, or a command line after `--`.

A program started from here sees the whole environment, as it would if its command had been typed at the prompt.
"""

import os
import shlex
import sys
from pathlib import Path
from typing import NamedTuple, TypeAlias

from splice import HTTPServer, StdioServer
from splice.cli.loading import split
from splice.cli.outcomes import USAGE, Stop
from splice.cli.text import one_line

Place: TypeAlias = HTTPServer | StdioServer


class Target(NamedTuple):
    """A server to talk to."""

    name: str
    """What the user called it, for messages."""
    place: Place


def take_target(words: tuple[str, ...], tail: list[str], headers: tuple[str, ...]) -> tuple[Target, list[str]]:
    """Find the target in a command line; what is left of `words` is for the command. Raises `Stop`."""
    if tail:
        _no_headers(headers)
        return Target(one_line(shlex.join(tail)), StdioServer(*tail, env=os.environ)), list(words)
    if not words:
        raise Stop(USAGE, "which server? Name a URL, a .py file, or a command after `--`")
    first, *rest = words
    if first.startswith(("http://", "https://")):
        return Target(one_line(first), HTTPServer(first, headers=dict(_header(each) for each in headers))), rest
    file, _ = split(first)
    if file.endswith(".py"):
        _no_headers(headers)
        if not Path(file).is_file():
            raise Stop(USAGE, f"there is no file {file!r}")
        return Target(one_line(first), StdioServer(*this_splice("run", first), env=os.environ)), rest
    raise Stop(USAGE, f"{first!r} is not a server: name a URL (http://...), a .py file, or a command after `--`")


def this_splice(*words: str) -> list[str]:
    """Make the command line that runs `splice` with this very interpreter."""
    return [sys.executable, "-m", "splice.cli", *words]


def _header(text: str) -> tuple[str, str]:
    name, colon, value = text.partition(":")
    if not colon or not name.strip():
        raise Stop(USAGE, f"--header {text!r} is not of the form 'Name: value'")
    return name.strip(), value.strip()


def _no_headers(headers: tuple[str, ...]) -> None:
    if headers:
        raise Stop(USAGE, "--header is for URLs; this server is started as a program")
