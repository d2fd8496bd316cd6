"""`splice install`: let a host use a server."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import click

from splice.cli.arguments import pairs
from splice.cli.loading import is_code, split
from splice.cli.outcomes import FAILED, OK, USAGE, Stop
from splice.cli.reaching import files
from splice.cli.targets import this_splice
from splice.host.config import writing
from splice.host.config.hosts import HOSTS, written_for
from splice.host.config.jsonc import BadConfiguration
from splice.host.text import as_json, one_line


@click.command(
    epilog="TARGET is a URL, a .py file with a Splice server, module:name, or a command after `--`: "
    "splice install files --to cursor -- npx -y @modelcontextprotocol/server-filesystem ."
)
@click.argument("words", nargs=-1, metavar="NAME TARGET", shell_complete=files)
@click.option("--to", "host", type=click.Choice(list(HOSTS)), required=True, help="The host that shall use it.")
@click.option("--env", multiple=True, metavar="KEY=VALUE", help="A variable for the server's environment. Repeatable.")
@click.option("--force", is_flag=True, help="Replace an entry of that name.")
@click.option("--print", "only_print", is_flag=True, help="Print what would be added, and change nothing.")
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
@click.pass_obj
def command(
    tail: list[str], words: tuple[str, ...], host: str, env: tuple[str, ...], force: bool, only_print: bool
) -> int:
    """Add a server to the configuration file of a host.

    The file keeps all else that is in it, comments too. One that cannot be read is not touched.
    """
    name, *rest = words or ("",)
    if not name or len(rest) != (0 if tail else 1):
        raise Stop(USAGE, "give a name for the server and the TARGET: splice install letters server.py --to cursor")
    to = HOSTS[host]
    path = to.path().expanduser()
    try:
        entry = written_for(to, _entry(rest, tail, pairs(env)))
    except BadConfiguration as error:
        raise Stop(USAGE, str(error)) from error
    if only_print:
        print(as_json({to.key: {name: entry}}))
        return OK
    try:
        writing.put(path, name, entry, key=[to.key], force=force)
    except writing.Taken as error:
        raise Stop(USAGE, f"{error}; --force replaces it") from error
    except BadConfiguration as error:
        raise Stop(FAILED, f"{error}: see `splice install --print` for the entry, and add it by hand") from error
    print(f"{to.title} has {one_line(name)} now, in {path}. Restart it to make it look.")
    return OK


def _entry(rest: list[str], tail: list[str], env: dict[str, str]) -> dict[str, Any]:
    """Describe the server: by its URL, or by a command that works from any directory. Raises `Stop`."""
    if not tail and rest[0].startswith(("http://", "https://")):
        if env:
            raise Stop(USAGE, "--env is for programs; a URL has none")
        return {"url": rest[0]}
    command, *args = tail or _run(rest[0])
    found = shutil.which(command) if tail else command
    if found is None:
        print(f"splice: warning: there is no program {one_line(command)!r} here", file=sys.stderr)
    return {"command": command, "args": args, **({"env": env} if env else {})}


def _run(target: str) -> list[str]:
    """Make the command that runs the Python code of a target, whatever the directory it is started in."""
    place, name = split(target)
    if not is_code(target):
        raise Stop(
            USAGE, f"{json.dumps(target)} is not a server: name a URL, a .py file, module:name, or a command after `--`"
        )
    path = Path(place if place.endswith(".py") else f"{place.replace('.', '/')}.py").absolute()
    if path.is_file():
        return this_splice("run", str(path) if name is None else f"{path}:{name}")
    if place.endswith(".py"):
        raise Stop(USAGE, f"there is no file {place!r}")
    return this_splice("run", target)  # a module that is installed
