"""`splice host mcp import`: servers that another host uses. What may be done unasked is never taken over."""

import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple, cast

import click

from splice.cli.host_adding import debug_option, give_trust, scope_option, tell_hidden, written
from splice.cli.host_failing import Refused, note, print_json, tell_try, warn
from splice.cli.host_files import Known, known, quoted
from splice.cli.host_listing import NONE
from splice.cli.host_table import table
from splice.cli.outcomes import FAILED, OK, USAGE
from splice.cli.reaching import files
from splice.host.config import jsonc
from splice.host.config.entries import Entry, Scope
from splice.host.config.hosts import HOSTS
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import KEYS, entry_of, project_of, read
from splice.host.config.variables import inputs_of
from splice.host.places import keep
from splice.host.text import listed, one_line
from splice.schema.schemas import is_array

_URLS = ("serverUrl", "httpUrl")
_LEFT = ("autoApprove", "alwaysAllow", "trust", "disabled", "enabled", "dev")
"""Members that are not taken over: they give leave, or are about the other host."""


def _code_profile() -> Path:
    """Find the file of the user's own that VS Code has beside that of the folder."""
    if sys.platform == "darwin":
        return Path("~/Library/Application Support/Code/User/mcp.json")
    return Path("~/.config/Code/User/mcp.json")


FROM: dict[str, list[Callable[[], Path]]] = {
    "claude": [HOSTS["claude"].path],
    "claude-code": [lambda: Path("~/.claude.json"), HOSTS["claude-code"].path],
    "cursor": [lambda: Path(".cursor/mcp.json"), HOSTS["cursor"].path],
    "vscode": [HOSTS["vscode"].path, _code_profile],
    "windsurf": [HOSTS["windsurf"].path],
    "gemini": [lambda: Path(".gemini/settings.json"), HOSTS["gemini"].path],
}
"""Where each host keeps its servers; those of the folder count before those of the user."""


class Offer(NamedTuple):
    """A server that can be taken over."""

    entry: Entry
    raw: dict[str, Any]


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
    paths = [make().expanduser() for make in FROM[source]] if source in FROM else [Path(source)]
    there = [here.cwd / each for each in paths if (here.cwd / each).exists()]
    if not there:
        looked = " and ".join(here.shown(here.cwd / each) for each in paths)
        raise Refused(USAGE, f"there is no file {looked}", mend=f"name a file, or one of {', '.join(FROM)}")
    offers: dict[str, Offer] = {}
    for path in there:
        found = read(path, "user", cwd=here.cwd)
        for problem in found.problems:
            warn(problem)
        raw = dict(_raw(path, here.cwd)) if found.entries else {}
        for entry in found.entries:
            if entry.key in raw:
                offers.setdefault(entry.name, Offer(entry, raw[entry.key]))
    return list(offers.values())


def _raw(path: Path, cwd: Path) -> Iterable[tuple[str, dict[str, Any]]]:
    """List the entries of a file as they stand there; of those of one name the last one counts."""
    root = _object(jsonc.decode(jsonc.text_of(path)))
    local = _object(_object(root.get("projects")).get(str(cwd)))
    for members in (_object(root.get("mcp")), root, local):
        for key in KEYS:
            for name, entry in _object(members.get(key)).items():
                yield name, _ours(_object(entry))


def _ours(raw: dict[str, Any]) -> dict[str, Any]:
    """Write an entry as our files have it; members that nobody knows stay."""
    return {"url" if key in _URLS else key: value for key, value in raw.items() if key not in _LEFT}


def _object(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


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
            _take_inputs(offer.entry, path)
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


def _take_inputs(entry: Entry, path: Path) -> None:
    """Let the file ask for the inputs that an entry takes. Raises `BadConfiguration` and `OSError`."""
    wanted = set(inputs_of(entry))
    if not wanted or entry.source is None:
        return
    text = jsonc.text_of(path)
    there = _inputs(jsonc.decode(text))
    ids = {each.get("id") for each in there}
    from_there = _inputs(jsonc.decode(jsonc.text_of(entry.source)))
    new = [each for each in from_there if each.get("id") in wanted and each.get("id") not in ids]
    if new:
        keep(path, jsonc.put(text, ["inputs"], [*there, *new]).encode(), path.stat().st_mode & 0o7777)


def _inputs(root: Any) -> list[dict[str, Any]]:
    found: Any = _object(root).get("inputs")
    return [_object(each) for each in found] if is_array(found) else []
