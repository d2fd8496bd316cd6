"""The `splice` command.

Each command lives in a file of its own and is imported when it is called. `splice run FILE`, which hosts start over
and over, is recognized right here: no argument parser, no colours, no web server are loaded for it.
"""

import os
import sys
import traceback
from collections.abc import Sequence
from importlib import import_module

from splice.cli.outcomes import FAILED, INTERRUPTED, OK, USAGE, Stop

COMMANDS = {
    "demo": "Show what Splice does: a server, a client, both eras, stdio and HTTP.",
    "run": "Run the server in a Python file, on stdin and stdout or as a web server.",
    "list": "List what a server offers.",
    "call": "Call a tool.",
    "read": "Read a resource.",
    "prompt": "Fill in a prompt.",
}

HELP = f"""Usage: splice COMMAND [ARGUMENTS]

Model Context Protocol servers and clients.

Commands:
{chr(10).join(f"  {name:<8}{summary}" for name, summary in COMMANDS.items())}

`splice COMMAND --help` tells more about one. `splice --version` prints the version.
A server is named by its URL, its .py file, or its command after `--`:

  splice list http://127.0.0.1:8000/mcp
  splice call server.py add a=2 b=3
  splice list -- npx -y @modelcontextprotocol/server-everything

Exit codes: 0 it worked, 1 the call failed, 2 wrong usage, 3 could not connect.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. Never raises, and prints no traceback without `--debug`."""
    words = sys.argv[1:] if argv is None else list(argv)
    debug = "--debug" in words[: words.index("--") if "--" in words else None]
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except Stop as stop:
        if debug:
            traceback.print_exc()
        print(f"splice: {stop}", file=sys.stderr)
        return stop.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains when it ends
        return FAILED
    except Exception as error:  # noqa: BLE001 - the last resort: a defect of ours, told in one line
        if debug:
            traceback.print_exc()
        hint = "" if debug else "; --debug shows where"
        print(f"splice: unexpected {type(error).__name__}: {error}{hint}", file=sys.stderr)
        return FAILED
    return code


def _dispatch(words: list[str]) -> int:
    match words:
        case []:
            print(HELP, end="", file=sys.stderr)
            return USAGE
        case ["--help" | "-h" | "help", *_]:
            print(HELP, end="")
            return OK
        case ["--version" | "-V", *_]:
            from importlib.metadata import version  # noqa: PLC0415 - slow to load, and nothing else needs it

            print(f"splice {version('splice')}")
            return OK
        case ["run", file] if not file.startswith("-"):
            from splice.cli.loading import load_server  # noqa: PLC0415 - only this command loads a server

            load_server(file).run()
            return OK
        case [name, *rest] if name in COMMANDS:
            return _command(name, rest)
    raise Stop(USAGE, f"there is no command {words[0]!r}; there are {', '.join(COMMANDS)}")


def _command(name: str, words: list[str]) -> int:
    """Let click read the words up to `--`; what follows is a server's command line and reaches the command as it is."""
    import click  # noqa: PLC0415 - `splice run FILE` must start without it

    command: click.Command = import_module(f"splice.cli.{name}").command
    cut = words.index("--") if "--" in words else len(words)
    try:
        code = command.main(words[:cut], f"splice {name}", standalone_mode=False, obj=words[cut + 1 :])
    except click.UsageError as error:
        usage = error.ctx.get_usage() + "\n" if error.ctx is not None else ""
        raise Stop(USAGE, f"{error.format_message()}\n{usage}Try `splice {name} --help`.") from error
    return int(code or OK)
