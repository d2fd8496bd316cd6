"""Opening the host for a command that talks: with the servers that are meant, and its model."""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import click

from splice.cli.host_failing import Refused, note, tell_try, warn
from splice.cli.host_files import ADD, Known, chosen, known
from splice.cli.host_starting import refusal
from splice.cli.outcomes import FAILED, USAGE
from splice.host.config import jsonc
from splice.host.config.entries import Entry
from splice.host.config.jsonc import BadConfiguration
from splice.host.host import Host, HostError, HostOptions
from splice.host.items import Server
from splice.host.text import one_line
from splice.schema.schemas import is_object

model_option = click.option(
    "--model",
    metavar="ID",
    help="Which model; `splice host models` lists them, and FILE.py:CLASS is one of your own. "
    "Default: the one chosen last.",
)


record_option = click.option(
    "--record", metavar="FILE.jsonl", help="Append what the model answers to a cassette; --model FILE.jsonl plays it."
)


def found_for(configs: Sequence[str], servers: Sequence[str]) -> Known:
    """Read which servers there are, and say it when there are none. Raises `Refused`."""
    here = chosen(known(configs), servers)
    if not here.found.entries:
        for problem in here.found.problems:
            warn(problem)
        note("no servers are configured, so there is only the conversation")
        tell_try(ADD)
    return here


def talk(here: Known, work: Callable[[Host], Awaitable[int]], options: HostOptions) -> int:
    """Open the host, do the work, close it, and return the exit code. Raises `Refused`."""
    return asyncio.run(_talk(here, work, options))


async def _talk(here: Known, work: Callable[[Host], Awaitable[int]], options: HostOptions) -> int:
    is_open = False
    try:
        async with Host(here.found, options, here.sources) as host:
            is_open = True
            return await work(host)
    except HostError as error:
        attempt = "" if is_open or "model" not in options else "splice host models"
        raise Refused(FAILED if is_open else USAGE, str(error), attempt=attempt) from error
    except ValueError as error:  # prepared answers of kinds that there are not
        if is_open:
            raise
        raise Refused(USAGE, str(error)) from error


async def connect(host: Host, entry: Entry, here: Known) -> None:
    """Start a server. Raises `Refused` with why it cannot be used."""
    try:
        await host.start_server(entry.name)
    except HostError as error:
        raise refusal(entry, host.board.get(f"server:{entry.name}", Server), str(error), here) from error


def options_of(**given: Any) -> HostOptions:
    """Make the options of a host of those that were given."""
    options: Any = {name: value for name, value in given.items() if value}
    made: HostOptions = options
    return made


def answers_of(path: str | None) -> dict[str, Any] | None:
    """Read a file of prepared answers; None without one. Raises `Refused`."""
    if path is None:
        return None
    try:
        found: Any = jsonc.decode(jsonc.text_of(Path(path)) if Path(path).exists() else _missing(path))
    except BadConfiguration as error:
        raise Refused(USAGE, f"{one_line(path)}: {error}") from error
    if not is_object(found):
        raise Refused(
            USAGE, f"{one_line(path)} is not a JSON object, such as {json.dumps({'form': {'seat': 'aisle'}})}"
        )
    return found


def _missing(path: str) -> str:
    raise Refused(USAGE, f"there is no file {one_line(path)!r}")


def say_model(host: Host) -> None:
    """Say it when no AI answers."""
    if host.model_id == "demo":
        note("the demo model answers, by rules: it is no AI. --model takes another one; see splice host models")
        sys.stderr.flush()
