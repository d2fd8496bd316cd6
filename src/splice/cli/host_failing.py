"""How the commands of the host fail: what happened, where, what to do; and groups whose commands load when called.

    error  calendar ended while it started       · exit code 1
    │  KeyError: 'CALENDAR_TOKEN'
    mend   set CALENDAR_TOKEN
    try    splice host mcp test calendar

With `--json` the same is an object on stdout.
"""

import sys
from importlib import import_module
from typing import Any, NamedTuple, TextIO

import click

from splice.cli.failures import trace
from splice.cli.host_table import painted
from splice.cli.outcomes import DENIED, FAILED, OK, UNREACHABLE, USAGE, Stop
from splice.host.text import as_json, safe

MAX_QUOTED = 20
"""How many lines of others are shown."""

_CODES = {FAILED: "failed", USAGE: "usage", UNREACHABLE: "not-connected", DENIED: "not-allowed"}


class Refused(Stop):
    """Ends a command. `aside` stands beside what happened, `quoted` below it: the peer's own words.

    `mend` says what to change, `attempt` is a command that can be pasted.
    """

    def __init__(
        self,
        code: int,
        what: str,
        *,
        aside: str = "",
        quoted: tuple[str, ...] = (),
        mend: str = "",
        attempt: str = "",
    ) -> None:
        super().__init__(code, what)
        self.aside, self.quoted, self.mend, self.attempt = aside, quoted, mend, attempt


def tell_refused(refused: Refused, *, json: bool, line: bool = False) -> None:
    """Say why a command ends: to people on stderr, to programs on stdout, on one line where they read lines."""
    if json:
        told = {"what": str(refused), "where": "\n".join(refused.quoted), "mend": refused.mend, "try": refused.attempt}
        error = {name: value for name, value in told.items() if value} | {"code": _CODES.get(refused.code, "failed")}
        text = as_json({**({"kind": "error"} if line else {}), "ok": False, "error": error})
        print(" ".join(part.strip() for part in text.split("\n")) if line else text)
        return
    err = sys.stderr
    aside = f"  {painted(f'· {safe(refused.aside)}', 'dim', err)}" if refused.aside else ""
    print(f"{painted('error', 'red', err)}  {safe(str(refused))}{aside}", file=err)
    for each in refused.quoted[-MAX_QUOTED:]:
        print(f"│  {safe(each)}", file=err)
    if len(refused.quoted) > MAX_QUOTED:
        print(f"│  and {len(refused.quoted) - MAX_QUOTED} more lines before", file=err)
    if refused.mend:
        print(f"mend   {safe(refused.mend)}", file=err)
    if refused.attempt:
        tell_try(refused.attempt, err)


def tell_try(attempt: str, stream: TextIO | None = None) -> None:
    """Name a command to go on with."""
    to = sys.stderr if stream is None else stream
    print(f"try    {painted(safe(attempt), 'cyan', to)}", file=to, flush=True)


def print_json(value: object) -> None:
    """Print the result for programs."""
    print(as_json(value))


def warn(text: str) -> None:
    """Say what does not end the command."""
    print(f"{painted('warning', 'yellow', sys.stderr)}  {safe(text)}", file=sys.stderr, flush=True)


def note(text: str) -> None:
    """Say something beside the result."""
    print(painted(f"note   {safe(text)}", "dim", sys.stderr), file=sys.stderr, flush=True)


class Row(NamedTuple):
    """A command of a group: where it is, as entry points are written, and a line about it."""

    place: str
    summary: str


class Lazy(click.Group):
    """A group that knows its commands by name, and imports the one that is called."""

    def __init__(self, *, table: dict[str, Row], **options: Any) -> None:
        debug = click.Option(["--debug"], is_flag=True, expose_value=False, help="Show tracebacks.")
        options.setdefault("params", [debug])
        options.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(callback=_help, invoke_without_command=True, no_args_is_help=False, **options)
        self._table = table

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands."""
        del ctx
        return list(self._table)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        del ctx
        row = self._table.get(cmd_name)
        if row is None:
            return None
        module, _, name = row.place.partition(":")
        found: click.Command = getattr(import_module(module), name)
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, row.summary) for name, row in self._table.items()])

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command that is meant, and tell how it failed."""
        if ctx.parent is not None:
            return super().invoke(ctx)
        debug, output = "--debug" in ctx.args, _output(ctx.args)
        wants = {"json": "--json" in ctx.args or "json" in output, "line": "stream-json" in output}
        try:
            return super().invoke(ctx)
        except Stop as stop:
            if debug:
                print(trace(stop.__cause__ or stop), end="", file=sys.stderr)
            refused = stop if isinstance(stop, Refused) else Refused(stop.code, str(stop))
            tell_refused(refused, **wants)
            return refused.code
        except click.UsageError as error:
            message = " ".join(error.format_message().split())
            at = error.ctx.command_path if error.ctx is not None else "splice host"
            tell_refused(Refused(USAGE, message, attempt=f"{at} --help"), **wants)
            return USAGE


@click.pass_context
def _help(context: click.Context) -> int:
    """Show what there is to somebody who named no command."""
    if context.invoked_subcommand is not None:
        return OK
    print(context.get_help(), file=sys.stderr)
    return USAGE


def _output(words: list[str]) -> str:
    """Find what `--output` says."""
    for number, word in enumerate(words):
        if word == "--output":
            return " ".join(words[number + 1 : number + 2])
        if word.startswith("--output="):
            return word
    return ""
