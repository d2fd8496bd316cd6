"""What the commands that talk to a server share: their options, the client, and how they fail."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypedDict, TypeVar, Unpack

import click

from splice import Client, MCPError, RequestTimeout, RPCError
from splice.cli.asking import answer
from splice.cli.outcomes import FAILED, UNREACHABLE, USAGE, Stop
from splice.cli.targets import Target, take_target
from splice.cli.text import as_json, one_line, safe
from splice.types import VERSIONS, LogParams

F = TypeVar("F", bound=Callable[..., Any])
PROTOCOLS = ("auto", "legacy", "modern", *VERSIONS)
TARGET_HELP = "TARGET is a URL, a .py file with a Splice server, or a command after `--`."


class Reach(TypedDict):
    """The options of every command that talks to a server."""

    protocol: str
    timeout: float
    header: tuple[str, ...]
    as_json: bool


def reach_options(command: F) -> F:
    """Add those options to a command."""
    options = (
        click.option(
            "--protocol", default="auto", show_default=True, metavar="VERSION",
            type=click.Choice(PROTOCOLS), help=f"One of {', '.join(PROTOCOLS)}.",
        ),
        click.option(
            "--timeout", default=60.0, show_default=True, metavar="SECONDS",
            type=click.FloatRange(min=0, min_open=True), help="How long to wait for an answer.",
        ),
        click.option("--header", multiple=True, metavar="'NAME: VALUE'", help="HTTP header to send. Repeatable."),
        click.option("--json", "as_json", is_flag=True, help="Print the result as JSON, all of it."),
        click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


def talk(
    words: tuple[str, ...],
    tail: list[str],
    work: Callable[[Client, list[str]], Awaitable[int]],
    **reach: Unpack[Reach],
) -> int:
    """Connect to the target in `words` or `tail`, do the work with what is left, and return the exit code.

    Raises `Stop`.
    """
    target, rest = take_target(words, tail, reach["header"])
    return asyncio.run(_talk(target, lambda client: work(client, rest), reach))


async def _talk(target: Target, work: Callable[[Client], Awaitable[int]], reach: Reach) -> int:
    client = Client(
        target.place, on_elicit=answer, on_log=show_log, protocol=reach["protocol"], timeout=reach["timeout"]
    )
    try:
        await client.open()
    except (MCPError, OSError, TimeoutError) as error:
        why = told(error).removeprefix(target.name).lstrip(" :")
        raise Stop(UNREACHABLE, f"could not connect to {target.name}: {why}") from error
    except ValueError as error:
        raise Stop(USAGE, f"{target.name}: {error}") from error
    try:
        return await work(client)
    except RPCError as error:
        if reach["as_json"]:
            print(as_json({"error": {"code": error.code, "message": error.message, "data": error.data}}))
        raise Stop(FAILED, f"{target.name} answered with an error: {told(error)}") from error
    except MCPError as error:
        raise Stop(FAILED, f"{target.name}: {told(error)}") from error
    finally:
        await client.close()


def told(error: BaseException) -> str:
    """Say what happened, and what to do where we know."""
    text = safe(str(error)) or type(error).__name__
    if isinstance(error, RPCError):
        return f"{text} (code {error.code})"
    if isinstance(error, RequestTimeout):
        return f"{text}; --timeout allows more"
    return text


def show_log(params: LogParams) -> None:
    """Print a log message of the server's on stderr."""
    data = params.data if isinstance(params.data, str) else as_json(params.data)
    print(f"[{params.level}] {one_line(data)}", file=sys.stderr)
