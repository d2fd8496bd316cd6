"""Starting one server for a command: with the user at the terminal to say what is open, and nothing else answered."""

import sys
from typing import Any

import click

from splice.cli.asking import has_terminal
from splice.cli.host_failing import Refused
from splice.cli.host_files import Known, line_of, quoted
from splice.cli.host_trusting import show
from splice.cli.outcomes import DENIED, UNREACHABLE
from splice.host.board import Board
from splice.host.config.entries import Entry
from splice.host.config.inputs import Input, Inputs
from splice.host.connecting.connections import Connection, Connections
from splice.host.connecting.hooks import Unavailable
from splice.host.connecting.manifest import Manifest
from splice.host.connecting.trust import Trusted
from splice.host.items import Server
from splice.host.text import one_line
from splice.types import CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Root


class Asker:
    """What a connection may ask of a command: trust, and nothing else."""

    def __init__(self, here: Known) -> None:
        self._here = here
        self._trusted = Trusted(here.places.state / "trust.json")

    async def trusts(self, entry: Entry) -> bool:
        """Tell whether the command is trusted; ask at a terminal."""
        if self._trusted.is_trusted(entry):
            return True
        if not has_terminal():
            return False
        show(entry, self._trusted.before(entry), self._here)
        if not click.confirm("Trust this command?", err=True):
            return False
        self._trusted.give(entry)
        return True

    async def elicit(self, server: str, params: ElicitParams) -> ElicitResult:
        """Decline."""
        del server, params
        return ElicitResult(action="decline")

    async def sample(self, server: str, params: CreateMessageParams) -> CreateMessageResult | None:
        """Let no model answer."""
        del server, params
        return None

    async def roots(self, server: str) -> list[Root]:
        """Tell of no folder."""
        del server
        return []

    async def prepare(self, server: str, manifest: Manifest) -> None:
        """Do nothing: what it offers is not looked at."""

    def heard(self, server: str, manifest: Manifest) -> None:
        """Leave it with the connection, which keeps it."""

    def updated(self, server: str, uri: str) -> None:
        """Tell nobody."""

    def record(self, kind: str, server: str, **facts: Any) -> None:
        """Write nothing: a command is not a session."""


class Started:
    """The connections of one command, and their board."""

    def __init__(self, here: Known) -> None:
        self.board = Board()
        inputs = Inputs(here.places.state / "inputs.json", here.found.inputs, _typed)
        self.connections = Connections(self.board, Asker(here), here.places, inputs.value)
        self._here = here

    def add(self, entry: Entry) -> Connection:
        """Get ready to start a server."""
        return self.connections.add(entry)

    def refused(self, entry: Entry, error: Unavailable) -> Refused:
        """Say why a server cannot be used."""
        return refusal(entry, self.board.get(f"server:{entry.name}", Server), str(error), self._here)


def refusal(entry: Entry, item: Server | None, why: str, here: Known) -> Refused:
    """Say why a server cannot be used, with the last it wrote, and what to do."""
    state, word = (item.state, item.word) if item is not None else ("failed", why)
    lines = once(item.last_words) if item is not None else ()
    name, line = quoted(entry.name), line_of(entry)
    where = f"{here.shown(entry.source)}{f':{line}' if line else ''}" or "your configuration"
    if state == "untrusted":
        attempt = f"splice host mcp trust {name}"
        return Refused(DENIED, f"{entry.name} is not trusted yet, so it is not started", attempt=attempt)
    if state == "login":
        attempt = f"splice host mcp login {name}"
        return Refused(UNREACHABLE, f"{entry.name} wants a login", quoted=(word,), attempt=attempt)
    attempt = f"splice doctor {quoted(f'{entry.source}#{entry.key}')}" if entry.source and not entry.problem else ""
    told = f"{entry.name} cannot be started: {word or why}"
    return Refused(UNREACHABLE, told, quoted=lines, mend=mend(word, lines, entry, where), attempt=attempt)


def once(lines: list[str]) -> tuple[str, ...]:
    """Leave out what a program wrote again when it was started a second time."""
    half = len(lines) // 2
    return tuple(lines[half:] if lines[:half] == lines[half:] else lines)


def mend(word: str, lines: tuple[str, ...], entry: Entry, where: str) -> str:
    """Guess what to change, from why a server failed and the last it wrote; empty if nothing is known of that."""
    said = "\n".join((word, *lines))
    if variable := _variable_in(said):
        return f"set {variable}, or name it under env of {entry.name} in {where}"
    if entry.problem:
        return f"change {entry.name} in {where}"
    program = one_line(entry.command)
    remedies = {
        "can't open file": f"check the path of the script in {where}",
        "No such file": f"install {program}, or name it with its whole path in {where}",
        "not found": f"install {program}, or name it with its whole path in {where}",
        "ermission denied": f"let {program} be executed (chmod +x), or name its interpreter first in {where}",
        "nothing listens": f"start the server, or check the port in {where}",
        "no address is known": f"check the URL in {where}",
        "ModuleNotFoundError": "install what it says is missing, into the Python that runs it",
    }
    return next((remedy for sign, remedy in remedies.items() if sign in said), "")


def _variable_in(text: str) -> str:
    """Find the variable of the environment that a Python or Node program says it lacks."""
    for line in reversed(text.splitlines()):
        kind, _, rest = line.strip().partition("KeyError: ")
        name = rest.strip().strip("'\"")
        if not kind and name.isidentifier() and name.isupper():
            return name
    return ""


async def _typed(wanted: Input) -> str | None:
    """Let the user type a value that a file leaves open; None without a terminal."""
    if not has_terminal():
        return None
    told = one_line(wanted.description or wanted.id)
    kind = click.Choice(list(wanted.options)) if wanted.options else None
    value: str = click.prompt(told, default=wanted.default, type=kind, hide_input=wanted.password, err=True)
    sys.stderr.flush()
    return value
