"""What the commands that talk to a server share: their options, the client, and how they fail."""

import asyncio
import re
import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypedDict, TypeVar, Unpack

import click
from click.shell_completion import CompletionItem

from splice import Client, InternalError, MCPError, RequestTimeout, RPCError
from splice.cli.asking import Terminal, has_terminal
from splice.cli.outcomes import FAILED, UNREACHABLE, USAGE, Stop
from splice.cli.stderr import has_reference
from splice.cli.targets import Target, take_target
from splice.errors import URLElicitationRequired
from splice.host.text import as_json, one_line, safe
from splice.transports.processes import how_it_ended
from splice.types import VERSIONS, LogParams

F = TypeVar("F", bound=Callable[..., Any])
PROTOCOLS = ("auto", "legacy", "modern", *VERSIONS)
TARGET_HELP = (
    "TARGET is a URL, a .py file with a Splice server (server.py, server.py:name), module:name, an entry of a host's "
    "configuration (mcp.json#name), or a command after `--`."
)

_NOT_OFFERED = {
    "on_sample": "to answer for a model yourself, run this where stdin and stderr are a terminal",
    "roots": "the command line offers none",
}
"""What to say in place of the option of `Client` that would answer the server's question."""


class Reach(TypedDict):
    """The options of every command that talks to a server."""

    protocol: str
    timeout: float
    header: tuple[str, ...]
    as_json: bool
    debug: bool


def files(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Let the shell complete a TARGET as the file that it may be."""
    del context, parameter
    return [CompletionItem(incomplete, type="file")]


def words_of(metavar: str) -> Callable[[F], F]:
    """Add the argument that a command's words are, the TARGET first."""
    return click.argument("words", nargs=-1, metavar=metavar, shell_complete=files)


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
        click.option("--json", "as_json", is_flag=True, help="Print the result, or the error, as JSON."),
        click.option("--debug", is_flag=True, help="Show tracebacks, and what the server writes to stderr."),
    )  # fmt: skip
    for option in reversed(options):
        command = option(command)
    return command


output_option = click.option(
    "--output", metavar="FILE", help="Write what is not text to FILE; several are numbered: FILE-1, FILE-2."
)
"""For the commands whose results may hold bytes."""


def talk(
    words: tuple[str, ...],
    tail: list[str],
    work: Callable[[Client, list[str]], Awaitable[int]],
    **reach: Unpack[Reach],
) -> int:
    """Connect to the target in `words` or `tail`, do the work with what is left, and return the exit code.

    Raises `Stop`.
    """
    target, rest = take_target(words, tail, reach["header"], debug=reach["debug"])
    try:
        return asyncio.run(_talk(target, lambda client: work(client, rest), reach))
    except Stop as stop:  # the server is gone, so all it wrote has arrived
        told = f"{stop.shown}\n{stop}"
        if stop.code == UNREACHABLE or isinstance(stop.__cause__, InternalError) or has_reference(told):
            stop.said = target.stderr.about(told)
        raise


async def _talk(target: Target, work: Callable[[Client], Awaitable[int]], reach: Reach) -> int:
    terminal = Terminal(target.name)
    client = Client(
        target.place,
        on_elicit=terminal.elicit,
        can=["elicitation.url"],
        on_elicit_complete=terminal.visited,
        on_sample=terminal.sample if has_terminal() else None,
        on_log=show_log,
        protocol=reach["protocol"],
        timeout=reach["timeout"],
    )
    try:
        await client.open()
    except (MCPError, OSError, TimeoutError) as error:
        raise _unreachable(target, error) from error
    except ValueError as error:
        raise Stop(USAGE, f"{target.name}: {error}") from error
    terminal.server = client.server_info.name
    try:
        return await work(client)
    except RPCError as error:
        raise Stop(FAILED, f"{target.name} answered with an error: {told(error)}") from error
    except MCPError as error:
        raise Stop(FAILED, f"{target.name}: {told_of(target.name, error)}") from error
    finally:
        await client.close()


def _unreachable(target: Target, error: Exception) -> Stop:
    """Say why there is no server; if it was a `splice run` that was used wrongly, in its words."""
    complaint = target.stderr.complaint()
    if complaint is not None and how_it_ended(USAGE) in str(error):
        return Stop(USAGE, complaint)
    return Stop(UNREACHABLE, f"could not connect to {target.name}: {told_of(target.name, error)}")


def told_of(name: str, error: BaseException) -> str:
    """Say what happened behind the name of a target, which errors of HTTP begin with too, as it is or quoted."""
    return told(error).removeprefix(name).removeprefix(ascii(name)).lstrip(" :")


def told(error: BaseException) -> str:
    """Say what happened, and what to do where we know."""
    text = safe(str(error)) or type(error).__name__
    if isinstance(error, RPCError):
        for option, why in _NOT_OFFERED.items():
            text = text.replace(f"pass {option}= to Client", why)
        text = re.sub(r"pass can=\[.*?\] to Client", "the command line does not offer that", text)
        required = error.elicitations if isinstance(error, URLElicitationRequired) else ()
        visits = "".join(f"\n  visit {one_line(each.url)} ({one_line(each.message)})" for each in required)
        return f"{text} (code {error.code}){visits}"
    if isinstance(error, RequestTimeout):
        return f"{text}; --timeout allows more"
    return text


def show_log(params: LogParams) -> None:
    """Print a log message of the server's on stderr."""
    data = params.data if isinstance(params.data, str) else as_json(params.data)
    print(f"[{params.level}] {one_line(data)}", file=sys.stderr)
