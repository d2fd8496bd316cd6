"""`splice host mcp add`, `add-json` and `remove`: servers into files, and out of them. All else in a file stays.

What a user adds by hand is trusted as it was typed, also in a project's file.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import click

from splice.cli.arguments import pairs
from splice.cli.host_failing import Refused, note, print_json, tell_try, warn
from splice.cli.host_files import Known, known, quoted
from splice.cli.outcomes import FAILED, OK, USAGE
from splice.host.config import entering, writing
from splice.host.config.entering import NotRead
from splice.host.config.entries import Entry, Scope
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import entry_of, project_of, read, standard_files
from splice.host.config.variables import secrets_in
from splice.host.connecting.trust import Trusted
from splice.host.places import private
from splice.host.text import one_line

F = TypeVar("F", bound=Callable[..., Any])

_HELP = """Add a server: its command after `--`, or its URL.

\b
  splice host mcp add files -- npx -y @modelcontextprotocol/server-filesystem .
  splice host mcp add -H 'Authorization: Bearer ${KEY}' tickets https://api.example.com/mcp
"""

scope_option = click.option(
    "--scope",
    "-s",
    type=click.Choice(["user", "project"]),
    default="user",
    show_default=True,
    help="user: for you, in every folder. project: in .mcp.json, for everybody who has this folder.",
)
_force = click.option("--force", is_flag=True, help="Replace a server of that name.")
_json = click.option("--json", "as_json", is_flag=True, help="Print what was done, or the error, as JSON.")
debug_option = click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")


def shared(command: F) -> F:
    """Add the options of commands that write a file."""
    for option in (debug_option, _json, _force, scope_option):
        command = option(command)
    return command


@click.command(help=_HELP)
@click.argument("words", nargs=-1, metavar="NAME [URL]")
@click.option("--transport", "-t", type=click.Choice(["stdio", "http", "sse"]), help="Found by itself if left out.")
@click.option("--env", "-e", multiple=True, metavar="KEY=VALUE", help="For the server's environment. Repeatable.")
@click.option("--header", "-H", multiple=True, metavar="'NAME: VALUE'", help="HTTP header to send. Repeatable.")
@shared
@click.pass_obj
def add(tail: list[str], /, words: tuple[str, ...], scope: Scope, force: bool, as_json: bool, **given: Any) -> int:
    """Add a server: its command after `--`, or its URL."""
    if not words:
        raise Refused(USAGE, "which name shall the server have?", attempt="splice host mcp add NAME -- COMMAND")
    raw = _typed(words[1:], tail, given)
    return put(known(), words[0], raw, scope=scope, force=force, as_json=as_json)


@click.command("add-json")
@click.argument("name")
@click.argument("text", metavar="JSON")
@shared
def add_json(name: str, text: str, scope: Scope, force: bool, as_json: bool) -> int:
    """Add a server as it stands in a configuration file: '{"command": "uvx", "args": ["server"]}'."""
    try:
        found = entering.of_json(text)
    except NotRead as error:
        raise Refused(USAGE, error.what, mend=error.mend) from error
    if len(found) > 1:
        names = ", ".join(one_line(each) for each, _ in found)
        raise Refused(USAGE, f"it names {len(found)} servers: {names}", mend="give one of them at a time")
    return put(known(), name, found[0][1], scope=scope, force=force, as_json=as_json)


@click.command()
@click.argument("name")
@click.option("--scope", "-s", type=click.Choice(["user", "project"]), help="Whose file, if both have it.")
@_json
@debug_option
def remove(name: str, scope: Scope | None, as_json: bool) -> int:
    """Take a server out of its file. If you trusted its command, that is forgotten."""
    here = known()
    entry = _one(here, name, scope)
    try:
        is_gone = entry.source is not None and any(
            writing.remove(entry.source, entry.key, key=key) for key in _holders(entry)
        )
        Trusted(here.places.state / "trust.json").take(entry)
    except (BadConfiguration, OSError) as error:
        raise Refused(FAILED, str(error)) from error
    if not is_gone:
        raise Refused(FAILED, f"{here.shown(entry.source)} could not be changed", mend="take the server out by hand")
    if as_json:
        print_json(_told(entry, here))
    else:
        print(f"Removed {entry.name} from {here.shown(entry.source)}.")
    return OK


def _one(here: Known, name: str, scope: Scope | None) -> Entry:
    """Find the one server that is to be removed. Raises `Refused`."""
    found = [entry for each in _files(here) for entry in each if name in (entry.name, entry.key)]
    wanted = [each for each in found if scope in (None, each.scope)]
    if not wanted:
        here.entry(name)
        raise Refused(USAGE, f"the {scope} has no server {name!r}", attempt="splice host mcp list")
    if len({each.source for each in wanted}) > 1:
        places = " and ".join(here.shown(each.source) for each in wanted)
        told = f"{name} stands in {places}"
        if scope is not None:
            raise Refused(USAGE, told, mend="take it out of one of them by hand")
        attempt = f"splice host mcp remove {quoted(name)} --scope user"
        raise Refused(USAGE, told, mend="say whose: --scope user, or --scope project", attempt=attempt)
    return wanted[0]


def put(here: Known, name: str, raw: Mapping[str, Any], *, scope: Scope, force: bool, as_json: bool) -> int:
    """Write a server into the file of a scope, and say so. Raises `Refused`."""
    path = here.places.servers if scope == "user" else here.cwd / ".mcp.json"
    entry = entry_of(name, dict(raw), scope=scope, source=path, folder=project_of(path) if scope == "project" else None)
    if entry.problem:
        raise Refused(USAGE, f"{one_line(name)} cannot be used: {entry.problem}")
    written(here, entry, raw, force=force)
    give_trust(here, entry)
    if as_json:
        print_json(_told(entry, here))
        return OK
    print(f"Added {entry.name} to {here.shown(path)}: {one_line(entry.runs)}")
    for what in entry.ignored:
        warn(f"{entry.name}: {what} is not taken: what may be done is yours to say")
    if secrets_in(entry, entry):
        note(f"a secret stands in {here.shown(path)} as it is; ${{NAME}} takes it from the environment instead")
    tell_hidden(here, entry)
    tell_try(f"splice host mcp test {quoted(entry.name)}")
    return OK


def tell_hidden(here: Known, entry: Entry) -> None:
    """Warn if a server of the same name, in a file that goes before, is the one that is used here."""
    used = next((each for each in known().found.entries if each.name == entry.name), entry)
    if used.source != entry.source:
        warn(f"{entry.name} of {here.shown(used.source)} goes before it in this folder; take another name to have both")


def written(here: Known, entry: Entry, raw: Mapping[str, Any], *, force: bool) -> None:
    """Put an entry into its file. Raises `Refused`."""
    path = entry.source or here.places.servers
    try:
        if path == here.places.servers:
            private(path.parent)
        writing.put(path, entry.key, raw, force=force)
    except writing.Taken as error:
        file = here.shown(path)
        raise Refused(
            USAGE, f"{file} has a server {entry.name} already", mend="--force replaces it, or take another name"
        ) from error
    except (BadConfiguration, OSError) as error:
        raise Refused(FAILED, str(error)) from error


def give_trust(here: Known, entry: Entry) -> None:
    """Trust a command that the user has just typed, or was shown."""
    try:
        if entry.needs_trust:
            Trusted(here.places.state / "trust.json").give(entry)
    except OSError as error:
        warn(f"your trust could not be kept, so you are asked again: {error.strerror}")


def _typed(words: tuple[str, ...], tail: list[str], given: Mapping[str, Any]) -> dict[str, Any]:
    """Make an entry of what was typed after the name. Raises `Refused`."""
    transport, env, headers = given["transport"], pairs(given["env"]), given["header"]
    if tail and words:
        raise Refused(USAGE, f"what is {words[0]!r}? The command stands after `--`, whole")
    command = [*words, *tail]
    if not command:
        raise Refused(USAGE, "what is the server?", mend="give its URL, or `--` and its command")
    if not tail and entering.is_url(command[0]) and transport != "stdio":
        try:
            return entering.at_url(command, env, headers, transport or "http")
        except NotRead as error:
            raise Refused(USAGE, error.what, mend=error.mend) from error
    if transport in ("http", "sse"):
        raise Refused(USAGE, f"--transport {transport} needs a URL, not {command[0]!r}")
    if headers:
        raise Refused(USAGE, "--header is for URLs; a program gets --env")
    return entering.started(command, env)


def _files(here: Known) -> list[list[Entry]]:
    """Read each file by itself, so that one entry does not hide another of its name."""
    return [read(path, scope, cwd=here.cwd).entries for path, scope in standard_files(here.cwd, here.places)]


def _holders(entry: Entry) -> list[list[str]]:
    """List where in a file an entry may stand."""
    folder = str(Path.cwd())
    own = [["projects", folder, key] for key in ("mcpServers", "servers")] if entry.is_local else []
    return [*own, ["mcpServers"], ["servers"], ["mcp", "servers"], ["mcp", "mcpServers"]]


def _told(entry: Entry, here: Known) -> dict[str, Any]:
    return {"ok": True, "name": entry.name, "file": here.shown(entry.source), "runs": entry.runs}
