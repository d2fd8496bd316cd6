"""`splice host run`: one turn where nobody watches. It never hangs, and never allows what nobody allowed."""

import shlex
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import click
import msgspec

from splice.cli.arguments import pairs
from splice.cli.host_adding import debug_option
from splice.cli.host_failing import Refused, note, print_json, warn
from splice.cli.host_files import Known, config_option, quoted, server_option
from splice.cli.host_opening import (
    answers_of,
    connect,
    found_for,
    model_option,
    options_of,
    record_option,
    say_model,
    talk,
)
from splice.cli.outcomes import DENIED, FAILED, OK, UNREACHABLE, USAGE, Stop
from splice.host import headless
from splice.host.asking.permissions import Effect, check, strange, tool_of
from splice.host.chats import START_SECONDS
from splice.host.host import Host, HostOptions
from splice.host.items import Call, Model, Prompt, Server, Tool
from splice.host.text import listed, one_line, safe

_UNUSABLE = ("failed", "crashed", "login", "untrusted")


@click.command(
    epilog="Exit codes: 0 the turn came to its end, 1 it did not, 2 wrong usage, 3 a server is not connected, "
    "4 something was not allowed, 130 interrupted."
)
@click.argument("words", nargs=-1, metavar="[KEY=VALUE]...")
@click.option(
    "-p", "--prompt", required=True, metavar="TEXT", help="What to say; `-` reads stdin; /NAME is a server's prompt."
)
@config_option
@server_option
@model_option
@record_option
@click.option(
    "--allow",
    multiple=True,
    metavar="'SERVER/TOOL'",
    help="Allow it in this run; SERVER/* is all of its tools. Repeatable.",
)
@click.option("--deny", multiple=True, metavar="'SERVER/TOOL'", help="Deny it, whatever allows it. Repeatable.")
@click.option("--answers", metavar="FILE", help="Prepared answers to what servers ask, as JSON.")
@click.option("--max-calls", type=click.IntRange(1, 1000), metavar="N", help="End the turn after so many calls.")
@click.option(
    "--timeout", type=click.FloatRange(min=0, min_open=True), default=3600.0, show_default=True, help="Seconds."
)
@click.option("--output", type=click.Choice(["text", "json", "stream-json"]), default="text", show_default=True)
@debug_option
def command(words: tuple[str, ...], configs: tuple[str, ...], servers: tuple[str, ...], **given: Any) -> int:
    """Say one thing to the model, and print what it answers in the end.

    Nobody is asked: what no rule and no --allow allows is denied, and then the exit code is 4.
    """
    answers = answers_of(given["answers"])
    text = sys.stdin.read() if given["prompt"] == "-" else given["prompt"]
    if not text.strip():
        raise Refused(USAGE, "there is nothing to say: the prompt is empty")
    _checked("allow", given["allow"])
    _checked("deny", given["deny"])
    here = found_for(configs, servers)
    _check_servers(here, given)
    running = _Run(here, servers, [text, *words], given)
    try:
        return talk(here, running.run, _options(answers, given))
    except KeyboardInterrupt:
        print("stopped; the servers were told", file=sys.stderr)
        raise


def _options(answers: dict[str, Any] | None, given: dict[str, Any]) -> HostOptions:
    return options_of(policy="headless", answers=answers, model=given["model"], record=given["record"])


class _Run:
    """One run, and what was told of it."""

    def __init__(self, here: Known, servers: Sequence[str], said: list[str], given: dict[str, Any]) -> None:
        self._here, self._servers, self._said, self._given = here, servers, said, given
        self._output: str = given["output"]
        self._number = 0
        self._end: dict[str, Any] = {}

    async def run(self, host: Host) -> int:
        """Take the turn, print it, and return the exit code. Raises `HostError` and `Refused`."""
        if self._given["max_calls"]:
            host.settings.hold("max_calls", self._given["max_calls"])
        await self._connect(host)
        prompt, arguments = await _meant(host, self._said)
        if self._output == "text":
            say_model(host)
        allow, deny, seconds = self._given["allow"], self._given["deny"], self._given["timeout"]
        status = await headless.run(host, prompt, allow, deny, self._hear, seconds=seconds, arguments=arguments)
        code = self._code(host, status)
        _warn_of_tools(host, allow)
        if self._output == "json":
            print_json(self._described(host, code))
        elif self._output == "text":
            self._tell(host, code)
        return code

    async def _connect(self, host: Host) -> None:
        """Start the servers that were named: the run is about them. Raises `Refused`."""
        for name in self._servers:
            await connect(host, self._here.entry(name), self._here)

    def _hear(self, line: str) -> None:
        """Take a line of the turn."""
        self._number += 1
        if self._output == "stream-json":
            print(f'{{"number":{self._number},{line[1:]}', flush=True)
        if '"kind":"end"' in line:
            told: dict[str, Any] = msgspec.json.decode(line)
            if told.get("kind") == "end":
                self._end = told

    def _code(self, host: Host, status: int) -> int:
        """Make the exit code: a turn without any of its servers is none."""
        used = [each for each in host.board.all(Server) if each.state != "off"]
        if status in (OK, FAILED) and used and all(each.state in _UNUSABLE for each in used):
            return UNREACHABLE
        return status

    def _tell(self, host: Host, code: int) -> None:
        """Print what was said, and on stderr what went wrong."""
        text: str = self._end["text"]
        print(safe(text) if sys.stdout.isatty() else text)
        for name, why in self._end["unusable"].items():
            warn(f"{name}: {why}")
        for each in self._end["unanswered"]:
            note(f"nobody answered, and the turn went on without: {each}")
        why = self._end["why"]
        if code == DENIED:
            strange = next((each.name for each in host.board.all(Server) if each.state == "untrusted"), None)
            rule = "'SERVER/TOOL'" if self._given["deny"] else _wanting(host)
            mend = f"--allow {rule} allows a tool, --answers FILE answers a question"
            attempt = f"splice host mcp trust {quoted(strange)}" if strange is not None else ""
            raise Refused(code, f"not allowed: {why}", mend=mend, attempt=attempt)
        if code == UNREACHABLE:
            raise Refused(code, "no server is connected", attempt="splice host mcp list")
        if code != OK:
            raise Refused(code, f"the turn did not come to its end: {why}")

    def _described(self, host: Host, code: int) -> dict[str, Any]:
        model = next((each for each in host.board.all(Model) if each.is_chosen), None)
        calls = sorted(host.board.all(Call), key=lambda each: int(each.id.rpartition(":")[2]))
        described: dict[str, Any] = {
            "ok": code == OK,
            "code": code,
            "text": self._end["text"],
            "why": self._end["why"],
            "chat": host.chat.id,
            "model": None if model is None else {"id": host.model_id, "label": model.label, "is_ai": model.is_ai},
            "calls": [msgspec.to_builtins(each) for each in calls],
            "unusable": self._end["unusable"],
            "unanswered": self._end["unanswered"],
        }
        return described


def _checked(effect: Effect, rules: Sequence[str]) -> None:
    """Look at rules before anything is started. Raises `Refused`."""
    for rule in rules:
        try:
            check(effect, rule)
        except ValueError as error:
            raise Refused(USAGE, f"--{effect}: {one_line(str(error))}") from error


def _check_servers(here: Known, given: dict[str, Any]) -> None:
    """Refuse rules that are about no server there is: they were misspelt. Raises `Refused`."""
    names = [each.name for each in here.found.entries]
    for option in ("allow", "deny"):
        if wrong := strange(given[option], names):
            raise Refused(USAGE, f"--{option}: {wrong}", attempt="splice host mcp list")


def _warn_of_tools(host: Host, rules: Sequence[str]) -> None:
    """Warn of rules that name a tool which its server does not have."""
    known = {tool_of(each.server, each.name) for each in host.board.all(Tool)}
    for rule in rules:
        server, _, tool = rule.partition("/")
        tools = sorted(each for each in known if each.startswith(f"{server}/"))
        if tools and tool and tool != "*" and rule not in known:
            warn(listed(f"--allow {rule}: there is no such tool", get_close_matches(rule, tools, 3, 0.5) or tools))


def _wanting(host: Host) -> str:
    """Write the rule that a denied call lacked; without such a call, what a rule looks like."""
    denied = (each for each in host.board.all(Call) if each.state == "denied" and each.server)
    return next((quoted(tool_of(each.server, each.tool)) for each in denied), "'SERVER/TOOL'")


async def _meant(host: Host, said: list[str]) -> tuple[str, dict[str, str] | None]:
    """Find what to say: a text, or a server's prompt with its arguments. Raises `Refused`."""
    text, *words = said
    if not text.startswith("/"):
        if words:
            raise Refused(USAGE, f"what is {words[0]!r}? KEY=VALUE belongs to a prompt: -p /NAME KEY=VALUE")
        return text, None
    try:
        first, *rest = shlex.split(text)
        arguments = pairs([*rest, *words])
    except (ValueError, Stop) as error:
        raise Refused(USAGE, f"{one_line(text)}: {error}") from error
    await host.wake(START_SECONDS)
    return _named(host, first.removeprefix("/")), arguments


def _named(host: Host, name: str) -> str:
    """Find a prompt, as ``server/name``. Raises `Refused`."""
    known = [f"{each.server}/{each.name}" for each in host.board.all(Prompt)]
    fits = [each for each in known if name in (each, each.partition("/")[2])]
    if len(fits) == 1:
        return fits[0]
    if fits:
        raise Refused(USAGE, f"several servers have a prompt {name}", mend=f"say which: {', '.join(fits)}")
    if not known:
        raise Refused(USAGE, f"there is no prompt {name}, as no server offers any", attempt="splice host mcp list")
    raise Refused(USAGE, listed(f"there is no prompt {name}", known))
