"""`splice host mcp list`: the servers, as their files and what was kept of their last start tell. None is started."""

from typing import Any, NamedTuple

import click

from splice.cli.host_adding import debug_option
from splice.cli.host_failing import note, print_json, tell_try
from splice.cli.host_files import ADD, Known, config_option, known, quoted, tell_problems, trouble_of
from splice.cli.host_table import table
from splice.cli.outcomes import OK
from splice.host.config.entries import Entry
from splice.host.connecting.manifest import Manifest, Manifests
from splice.host.connecting.trust import Trusted
from splice.host.items import ServerState
from splice.host.text import one_line

NONE = "\u2013"
"""Stands for what is not known before a server was started."""

MARKS: dict[ServerState, tuple[str, str]] = {
    "asleep": ("○", "dim"),
    "untrusted": ("◆", "yellow"),
    "failed": ("✕", "red"),
    "off": ("○", "dim"),
}


class Seen(NamedTuple):
    """A server before it is started."""

    entry: Entry
    state: ServerState
    why: str
    manifest: Manifest | None


@click.command()
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print the list as JSON.")
@click.option("--no-header", is_flag=True, help="Leave out the headings.")
@debug_option
def command(configs: tuple[str, ...], as_json: bool, no_header: bool) -> int:
    """List the servers; none is started.

    Protocol and tools are those of the last start.
    """
    here = known(configs)
    servers = [seen(each, here) for each in here.found.entries]
    if as_json:
        told = {"ok": True, "servers": [described(each, here) for each in servers], "problems": here.found.problems}
        print_json(told)
        return OK
    tell_problems(here)
    if not servers:
        note("no servers are configured")
        tell_try(ADD)
        return OK
    headings = ("Server", "From", "State", "Protocol", "Tools", "Started by")
    marks = [MARKS.get(each.state, ("○", "dim")) for each in servers]
    table(headings, [_row(each, here) for each in servers], marks=marks, has_header=not no_header)
    _tell_next(servers)
    return OK


def seen(entry: Entry, here: Known) -> Seen:
    """Tell what is known of a server without starting it."""
    manifest = Manifests(here.places.state / "manifests").load(entry.fingerprint)
    if entry.disabled:
        return Seen(entry, "off", "its file says disabled", manifest)
    if why := trouble_of(entry):
        return Seen(entry, "failed", why, manifest)
    if not Trusted(here.places.state / "trust.json").is_trusted(entry):
        return Seen(entry, "untrusted", "it waits for you to trust its command", manifest)
    return Seen(entry, "asleep", "", manifest)


def described(each: Seen, here: Known) -> dict[str, Any]:
    """Describe a server for programs."""
    entry, manifest = each.entry, each.manifest
    return {
        "name": entry.name,
        "file": here.shown(entry.source),
        "scope": entry.scope,
        "state": each.state,
        "why": each.why,
        "transport": entry.transport,
        "runs": entry.runs,
        "protocol": None if manifest is None else manifest.protocol,
        "tools": None if manifest is None else [tool.name for tool in manifest.tools],
        "fingerprint": entry.fingerprint,
    }


def _row(each: Seen, here: Known) -> list[str]:
    entry, manifest = each.entry, each.manifest
    return [
        entry.name,
        "yours" if entry.scope == "user" else here.shown(entry.source),
        each.state,
        NONE if manifest is None else one_line(manifest.protocol),
        NONE if manifest is None else str(len(manifest.tools)),
        one_line(entry.runs.removeprefix("https://")) or NONE,
    ]


def _tell_next(servers: list[Seen]) -> None:
    """Name the command that goes on with the first server that cannot be used yet."""
    for state, word in (("failed", "test"), ("untrusted", "trust")):
        for each in servers:
            if each.state == state:
                tell_try(f"splice host mcp {word} {quoted(each.entry.name)}")
                return
