"""Which command is meant, and how it ends.

Each command lives in a file of its own and is imported when it is called. `splice run FILE`, which hosts start over
and over, is recognized right here: no argument parser, no colours, no web server are loaded for it.
"""

import io
import os
import sys
from collections.abc import Sequence

import splice
from splice.cli.commands import COMMANDS, command_of
from splice.cli.failures import escape_logs, tell
from splice.cli.outcomes import FAILED, INTERRUPTED, OK, USAGE, Stop
from splice.host.text import listed
from splice.schema.schemas import meant

HELP = f"""Usage: splice COMMAND [ARGUMENTS]

Model Context Protocol servers and clients.

Commands:
{chr(10).join(f"  {name:<12}{summary}" for name, summary in COMMANDS.items())}

`splice COMMAND --help` tells more about one. `splice --version` prints the version.
A server is named by its URL, its .py file, or its command after `--`:

  splice list http://127.0.0.1:8000/mcp
  splice call server.py add a=2 b=3
  splice list -- npx -y @modelcontextprotocol/server-everything

Exit codes: 0 it worked, 1 the call failed, 2 wrong usage, 3 could not connect, 4 not allowed.
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code. Never raises, and prints no traceback without `--debug`."""
    words = sys.argv[1:] if argv is None else list(argv)
    _prepare_streams()
    escape_logs()
    if instruction := os.environ.get("_SPLICE_COMPLETE"):
        from splice.cli.completion import complete  # noqa: PLC0415 - only a shell that completes words needs it

        return complete(instruction)
    options = words[: words.index("--") if "--" in words else None]
    debug, json = not {"--debug", "--dev"}.isdisjoint(options), "--json" in options
    try:
        code = _dispatch(words)
        sys.stdout.flush()
    except Stop as stop:
        tell(stop, debug=debug, json=json)
        return stop.code
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or the interpreter complains when it ends
        return FAILED
    except Exception as error:  # noqa: BLE001 - the last resort: a defect of ours, told in one line
        tell(error, debug=debug, json=json)
        return FAILED
    return code


def _prepare_streams() -> None:
    """Open what whoever started us had closed, or the next file takes its place; and fail over no character."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            nothing = os.open(os.devnull, os.O_RDWR)
            if nothing != number:
                os.dup2(nothing, number)
            setattr(sys, name, os.fdopen(number, "r" if number == 0 else "w"))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _dispatch(words: list[str]) -> int:
    match words:
        case ["run", file] | ["run", file, "--debug"] if not file.startswith("-"):
            from splice.cli.loading import run_file  # noqa: PLC0415 - only this command loads a server

            run_file(file)
        case [name, *rest] if name in COMMANDS:
            return _command(name, rest)
        case ["--version" | "-V", *_]:
            print(f"splice {splice.__version__}")
        case ["--help" | "-h" | "help", *_]:
            print(HELP, end="")
        case [name, *_]:
            raise Stop(USAGE, listed(f"there is no command {name!r}{meant(name, COMMANDS)}", COMMANDS))
        case _:
            print(HELP, end="", file=sys.stderr)
            return USAGE
    return OK


def _command(name: str, words: list[str]) -> int:
    """Let click read the words up to `--`; what follows is a server's command line and reaches the command as it is."""
    import click  # noqa: PLC0415 - `splice run FILE` must start without it

    command = command_of(name)
    cut = words.index("--") if "--" in words else len(words)
    try:
        with command.make_context(f"splice {name}", words[:cut], obj=words[cut + 1 :]) as context:
            code: int = command.invoke(context)
            return code
    except click.exceptions.Exit as end:  # --help
        return end.exit_code
    except click.UsageError as error:
        message = " ".join(error.format_message().split())
        stop = "" if message.endswith((".", "?", "!")) else "."
        raise Stop(USAGE, f"{message}{stop} Try `splice {name} --help`") from error
