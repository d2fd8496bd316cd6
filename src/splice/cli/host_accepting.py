"""`splice host mcp accept`: look at what a server changed since you saw it, word by word, and accept it."""

import sys
from collections.abc import Iterable
from hashlib import sha256

import click
import msgspec

from splice.cli.host_adding import debug_option
from splice.cli.host_failing import Refused, print_json, warn
from splice.cli.host_files import chosen, config_option, known, quoted
from splice.cli.host_opening import connect, options_of, talk
from splice.cli.host_trusting import decide, marked
from splice.cli.outcomes import FAILED, OK, USAGE
from splice.host.asking.permissions import server_in, tool_of
from splice.host.config.entries import Entry
from splice.host.host import Host
from splice.host.items import Change, Notice, Server, Tool
from splice.host.text import listed, one_line


@click.command()
@click.argument("what", metavar="SERVER[/TOOL]")
@click.option("--yes", metavar="FINGERPRINT", help="Accept what has this fingerprint, unasked: it is shown without.")
@config_option
@click.option("--json", "as_json", is_flag=True, help="Print what was accepted, or the error, as JSON.")
@debug_option
def command(what: str, configs: tuple[str, ...], yes: str | None, as_json: bool) -> int:
    """Start a server, show what it changed since you saw it, and accept that: all of it, or one tool.

    Until then the model does not get a tool that changed. What was always allowed for it has to be allowed anew.
    """
    here = known(configs)
    names = [each.name for each in here.found.entries]
    here = chosen(here, [what if what in names else server_in(what)])
    [entry] = here.found.entries

    async def work(host: Host) -> int:
        await connect(host, entry, here)
        for text in _bad(host):
            warn(text)
        waiting = _Waiting(host, entry, what if what != entry.key else entry.name)
        if waiting.parts:
            waiting.show()
            _decide(waiting, yes)
            _accept(host, waiting.id)  # what came meanwhile is not heard yet: nothing was awaited
        told = f"accepted: {', '.join(waiting.parts)}" if waiting.parts else f"nothing of {one_line(what)} waits"
        done = {"ok": True, "accepted": list(waiting.parts), "fingerprint": waiting.fingerprint}
        print_json(done) if as_json else print(told)
        return OK

    return talk(here, work, options_of(policy="headless"))


def _accept(host: Host, id: str) -> None:
    """Accept it. Raises `Refused` if that cannot be kept."""
    before = _bad(host)
    host.accept_tool(id)
    for text in _bad(host)[len(before) :]:
        raise Refused(FAILED, text)


def _bad(host: Host) -> list[str]:
    return [each.text for each in host.board.all(Notice) if each.level == "bad"]


class _Waiting:
    """What of a server, or of one tool, waits to be accepted. Raises `Refused` for a tool that there is not."""

    def __init__(self, host: Host, entry: Entry, what: str) -> None:
        self.what, self.id = what, f"server:{entry.name}"
        of_it = sorted((each for each in host.board.all(Tool) if each.server == entry.name), key=lambda each: each.name)
        tools = {tool_of(each.server, each.name): each for each in of_it}
        server = host.board.get(self.id, Server)
        instructions = server.held_instructions if server is not None else None
        if what != entry.name:
            if what not in tools:
                raise Refused(USAGE, listed(f"there is no tool {one_line(what)}", list(tools)))
            tools, instructions, self.id = {what: tools[what]}, None, tools[what].id
        self._tools = {name: each for name, each in tools.items() if each.held is not None}
        self.parts: dict[str, list[Change]] = {name: each.held or [] for name, each in self._tools.items()}
        """What changed, by tool, and of the server's instructions."""
        if instructions is not None:
            self.parts["its instructions"] = instructions
        seen = [(each.id, each.fingerprint, each.fingerprint_before) for each in self._tools.values()]
        self.fingerprint = sha256(msgspec.json.encode((seen, instructions))).hexdigest()

    def show(self) -> None:
        """Show all of it on stderr."""
        for name, changes in self.parts.items():
            print(f"{name} changed since you saw it:", file=sys.stderr)
            for line in self._lines(self._tools.get(name), changes):
                print(f"    {line}", file=sys.stderr)
        print(f"  fingerprint  {self.fingerprint[:16]}", file=sys.stderr)

    def _lines(self, tool: Tool | None, changes: list[Change]) -> Iterable[str]:
        for each in changes:
            yield f"{one_line(each.where)}: {marked(each.words)}"
        if tool is None:
            return
        if not changes:
            yield one_line(tool.description)
        if tool.resembles:
            yield f"it looks like {one_line(tool.resembles)}, which is gone: renamed?"
        for finding in tool.findings:
            yield f"warning: {one_line(finding.where)}: {one_line(finding.what)}"


def _decide(waiting: _Waiting, yes: str | None) -> None:
    what = one_line(waiting.what)
    decide(
        waiting.fingerprint,
        yes,
        attempt=f"splice host mcp accept {quoted(waiting.what)}",
        other=f"{what} changed otherwise than what has this fingerprint",
        waits=f"{what} changed",
        question="Accept it as it is now?",
        no="it is not accepted, so the model does not get it",
    )
