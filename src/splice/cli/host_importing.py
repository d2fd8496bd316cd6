"""`splice host mcp import`: servers that another host uses. What may be done unasked is never taken over."""

from typing import Any

import click

from splice.cli.host_adding import debug_option, give_trust, scope_option, tell_hidden, written
from splice.cli.host_failing import Refused, note, print_json, tell_try, warn
from splice.cli.host_files import Known, known, quoted
from splice.cli.host_listing import NONE
from splice.cli.host_table import table
from splice.cli.outcomes import FAILED, OK, USAGE
from splice.cli.reaching import files
from splice.host.config import importing
from splice.host.config.entries import Entry, Scope
from splice.host.config.importing import FROM, Offer
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import entry_of, project_of
from splice.host.text import listed, one_line


@click.command()
@click.argument("names", nargs=-1)
@click.option(
    "--from", "source", metavar="HOST|FILE", shell_complete=files, help=f"One of {', '.join(FROM)}, or a file."
)
@click.option("--all", "takes_all", is_flag=True, help="Take all of them.")
@click.option("--force", is_flag=True, help="Replace servers of the same names.")
@click.option("--json", "as_json", is_flag=True, help="Print what is there, or was done, as JSON.")
@scope_option
@debug_option
def command(
    names: tuple[str, ...], source: str | None, scope: Scope, takes_all: bool, force: bool, as_json: bool
) -> int:
    """Take servers over from another host: shows what there is; with NAMES or --all, takes it.

    Approvals that the other host was given are not taken: what a server may do unasked is yours to say here.
    """
    if source is None:
        raise Refused(USAGE, f"from which host? --from {', '.join(FROM)}, or a file")
    here = known()
    offers = _offers(source, here)
    wanted = [_named(offers, name) for name in names] if names else offers
    if not (names or takes_all):
        return _show(source, offers, here, as_json=as_json)
    taken, left = _take(wanted, here, scope, force=force)
    if as_json:
        print_json({"ok": not left, "taken": [each.entry.name for each in taken], "left": left})
    else:
        for each in taken:
            print(f"Took {each.entry.name} over: {one_line(each.entry.runs)}")
    return FAILED if left else OK


def _offers(source: str, here: Known) -> list[Offer]:
    """Read what a host has. Raises `Refused`."""
    paths = importing.files_of(source, here.cwd) if source in FROM else [here.cwd / source]
    there = [each for each in paths if each.exists()]
    if not there:
        looked = " and ".join(map(here.shown, paths))
        raise Refused(USAGE, f"there is no file {looked}", mend=f"name a file, or one of {', '.join(FROM)}")
    offers, problems = importing.offers(there, here.cwd)
    for problem in problems:
        warn(problem)
    return offers


def _named(offers: list[Offer], name: str) -> Offer:
    for each in offers:
        if name in (each.entry.name, each.entry.key):
            return each
    raise Refused(USAGE, listed(f"there is no server {name!r}", [each.entry.name for each in offers]))


def _show(source: str, offers: list[Offer], here: Known, *, as_json: bool) -> int:
    if as_json:
        print_json({"ok": True, "servers": [_described(each, here) for each in offers]})
        return OK
    if not offers:
        note(f"{source} has no servers")
        return OK
    rows = [_row(each, here) for each in offers]
    marks = [("✕", "red") if each.entry.problem else ("○", "dim") for each in offers]
    table(("Server", "From", "Not taken", "Started by"), rows, marks=marks)
    tell_try(f"splice host mcp import --from {quoted(source)} --all")
    return OK


def _row(offer: Offer, here: Known) -> list[str]:
    entry = offer.entry
    return [
        entry.name,
        here.shown(entry.source),
        "; ".join(entry.ignored) or NONE,
        one_line(entry.runs) or entry.problem,
    ]


def _described(offer: Offer, here: Known) -> dict[str, Any]:
    entry = offer.entry
    told = {"name": entry.name, "file": here.shown(entry.source), "runs": entry.runs, "variables": entry.variables}
    return {**told, "ignored": list(entry.ignored), "problem": entry.problem}


def _take(wanted: list[Offer], here: Known, scope: Scope, *, force: bool) -> tuple[list[Offer], dict[str, str]]:
    """Write servers into the file of a scope. Returns those, and why others were left."""
    path = here.places.servers if scope == "user" else here.cwd / ".mcp.json"
    taken: list[Offer] = []
    left: dict[str, str] = {}
    for offer in wanted:
        folder = project_of(path) if scope == "project" else None
        entry = entry_of(offer.entry.key, offer.raw, scope=scope, source=path, folder=folder)
        try:
            _check(entry)
            written(here, entry, offer.raw, force=force)
            importing.take_inputs(offer.entry, path)
        except (Refused, BadConfiguration, OSError) as error:
            left[entry.name] = str(error)
            warn(f"{entry.name} is left: {error}")
            continue
        give_trust(here, entry)
        tell_hidden(here, entry)
        taken.append(offer)
    return taken, left


def _check(entry: Entry) -> None:
    if entry.problem:
        raise Refused(USAGE, entry.problem)
