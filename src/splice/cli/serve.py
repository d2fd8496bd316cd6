"""`splice serve NAME`: run a reference server. Its own command reads the rest of the line."""

from importlib import import_module

import click

from splice.cli.outcomes import OK, USAGE, Stop
from splice.host.text import listed
from splice.schema.schemas import meant

SERVERS = {
    "everything": "show every feature of the protocol",
    "fetch": "read pages of the web, as Markdown",
    "filesystem": "read, search and change files in allowed directories",
    "git": "look at and change git repositories",
    "memory": "a knowledge graph that outlives the conversation",
    "postgres": "ask a PostgreSQL database",
    "sequential-thinking": "think step by step, revise and branch",
    "sqlite": "ask and change a SQLite file",
    "time": "tell the time, convert it between zones",
}

HELP = f"""Usage: splice serve NAME [SETTINGS]

Run a reference server, on stdin and stdout or with --http.

Servers:
{chr(10).join(f"  {name:<21}{summary}" for name, summary in SERVERS.items())}

`splice serve NAME --help` tells its settings; `splice serve NAME --print-config` prints the entry for a host's file;
`splice serve NAME --debug` shows tracebacks.
"""


def _complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    del parameter
    return [] if context.params.get("words") else [name for name in SERVERS if name.startswith(incomplete)]


@click.command(context_settings={"ignore_unknown_options": True, "help_option_names": []})
@click.argument("words", nargs=-1, type=click.UNPROCESSED, shell_complete=_complete)
@click.pass_obj
def command(behind: list[str], /, words: tuple[str, ...]) -> int:
    """Run a reference server. Raises `Stop`, and `SystemExit` as the server's own command does."""
    match (*words, "--", *behind) if behind else words:
        case [name, *rest] if name in SERVERS:
            status: int = import_module(f"splice.servers.{name.replace('-', '_')}.__main__").COMMAND.main(rest)
            return status
        case ["--help" | "-h", *_]:
            print(HELP, end="")
            return OK
        case [name, *_]:
            raise Stop(USAGE, listed(f"there is no reference server {name!r}{meant(name, SERVERS)}", SERVERS))
        case _:
            raise Stop(USAGE, listed("name a reference server", SERVERS))
