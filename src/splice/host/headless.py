"""One turn where nobody watches: the rules decide, prepared answers answer, and everything is told as lines of JSON.

Nothing waits for a person. What would be asked is denied with a reason, and the run then ends with a status of its own,
so that no script takes it for done. Servers that cannot be used are told of, and hide no others.
"""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from shlex import quote

import msgspec

from splice.host import items
from splice.host.asked import Json
from splice.host.asking.permissions import Effect, server_in, strange, tool_of
from splice.host.asking.unattended import Refusal
from splice.host.failing import HostError
from splice.host.host import Host
from splice.host.tools.names import called

DONE, FAILED, UNANSWERED = 0, 1, 4
"""Exit statuses: the turn came to its end; it did not; something was denied because nobody was there to answer."""

TURN_SECONDS = 3_600.0
"""How long a turn may take in all, unless the caller says otherwise."""

_UNUSABLE = ("failed", "crashed", "login", "untrusted")

_SHOWN = (items.Server, items.Notice, items.Call, items.Message)


async def run(
    host: Host,
    prompt: str,
    allow: Sequence[str] = (),
    deny: Sequence[str] = (),
    output: Callable[[str], object] | None = None,
    *,
    seconds: float = TURN_SECONDS,
    arguments: dict[str, str] | None = None,
) -> int:
    """Say a prompt, wait for the end of the turn, and return the exit status. The host has to be open and headless.

    With `arguments` the prompt is one of a server's: ``travel/plan-vacation``, filled in with them.
    `allow` and `deny` are rules for this run, such as ``travel/*``; each has to be about a server that there is.
    `output` gets the lines, one JSON object each: the items of messages, calls, servers and notices as they become
    final, and at last ``{"kind": "end", ...}``. A question that was refused counts only if the turn needed who asked
    it, or `allow` names it; the others stand in that last line. So does a tool that `allow` names and that is held.
    Raises `HostError` for rules and hosts that cannot be used.
    """
    if not host.is_headless:
        raise HostError("A host that runs by itself is opened with policy='headless'")
    if wrong := strange([*allow, *deny], [each.entry.name for each in host.parts.connections]):
        raise HostError(f"The rule {wrong}")
    _grant(host, "allow", allow)
    _grant(host, "deny", deny)
    told = _Told(output or (lambda _line: None))
    watching = asyncio.get_running_loop().create_task(_watch(host, told))
    try:
        status, why = await _turn(host, prompt, arguments, allow, seconds)
    finally:
        watching.cancel()
        with suppress(asyncio.CancelledError):
            await watching
    for item in _final(host):
        told.item(item)
    needed = _needed(host, "" if arguments is None else prompt, allow)
    unneeded: list[Json] = [str(each) for each in _refusals(host) if each not in needed]
    end: dict[str, Json] = {"kind": "end", "status": status, "why": why, "text": _text(host)}
    told.line({**end, "unusable": _unusable(host), "unanswered": unneeded})
    return status


async def _turn(
    host: Host, prompt: str, arguments: dict[str, str] | None, allow: Sequence[str], seconds: float
) -> tuple[int, str]:
    """Take the turn. Returns the status, and why it is not 0."""
    try:
        await (host.say(prompt) if arguments is None else host.say(prompt=prompt, arguments=arguments))
        async with asyncio.timeout(seconds):
            last = await host.wait()
    except TimeoutError:
        await host.stop()
        return FAILED, f"the turn did not end within {seconds:g} s"
    except HostError as error:
        return FAILED, str(error)
    denied = [each for each in _calls(host) if each.state == "denied"]
    refusals = [
        *map(str, _needed(host, "" if arguments is None else prompt, allow)),
        *(f"{name} changed since you saw it: splice host mcp accept {quote(name)}" for name in _held(host, allow)),
        *(each.word if name in each.word else f"{name}: {each.word}" for name, each in _named(denied)),
    ]
    if refusals:
        return UNANSWERED, "; ".join(refusals)
    return (DONE, "") if last.role == "model" and not last.stop else (FAILED, last.stop or last.text)


def _calls(host: Host) -> list[items.Call]:
    return [each for each in host.board.all(items.Call) if each.turn == host.chat.turn]


def _refusals(host: Host) -> list[Refusal]:
    return host.answers.refusals if host.answers is not None else []


def _held(host: Host, allow: Sequence[str]) -> list[str]:
    """List the tools that are allowed by their names, and held: their definitions are others than the user saw."""
    names = [tool_of(each.server, each.name) for each in host.board.all(items.Tool) if each.held is not None]
    return [name for name in names if name in allow]


def _needed(host: Host, prompt: str, allow: Sequence[str]) -> list[Refusal]:
    """List the refusals that the turn suffered from: of servers that it called, wanted to call or may, and of the host.

    What a server wants at its start, such as trust, matters to a turn that went on without it only if there was no
    other server.
    """
    servers = {each.name: each.state in _UNUSABLE for each in host.board.all(items.Server) if each.state != "off"}
    calls = _calls(host)
    used = {each.server for each in calls} | {prompt.partition("/")[0]} | set(map(server_in, allow))
    wanted = [each.tool for each in calls if not each.server and each.state == "failed"]
    used |= {name for name in servers if any(tool.startswith(called(name, "")) for tool in wanted)}
    is_alone = all(servers.values())
    return [
        each
        for each in _refusals(host)
        if is_alone or each.server in used or (not each.server and (each.kind == "goon" or wanted))
    ]


def _named(calls: Sequence[items.Call]) -> list[tuple[str, items.Call]]:
    """Name what was called, as a rule would."""
    return [(f"{each.server}/{each.tool}", each) for each in calls]


def _grant(host: Host, effect: Effect, rules: Sequence[str]) -> None:
    for rule in rules:
        try:
            host.permissions.grant(effect, rule, chat="")
        except ValueError as error:
            raise HostError(f"The rule {rule!r} cannot be used: {error}") from error


class _Told:
    """The lines that were told, each item once in each form."""

    def __init__(self, output: Callable[[str], object]) -> None:
        self._output = output
        self._known: dict[str, items.Item] = {}

    def item(self, item: items.Item) -> None:
        """Tell an item, unless it was told like this."""
        if self._known.get(item.id) != item:
            self._known[item.id] = item
            self._output(msgspec.json.encode(item).decode())

    def line(self, value: Json) -> None:
        """Tell something else."""
        self._output(msgspec.json.encode(value).decode())


async def _watch(host: Host, told: _Told) -> None:
    """Tell what has become final, as it does."""
    async for _ in host.board.watch(host.board.number):
        for item in _final(host):
            told.item(item)


def _final(host: Host) -> list[items.Item]:
    """List what no longer changes by itself: servers and notices, then calls and messages by the numbers they share."""
    found: list[items.Item] = []
    for kind in _SHOWN:
        found += [each for each in host.board.all(kind) if _is_final(each)]
    return sorted(found, key=_place)


def _place(item: items.Item) -> int:
    return int(item.id.rpartition(":")[2]) if isinstance(item, items.Message | items.Call) else 0


def _is_final(item: items.Item) -> bool:
    match item:
        case items.Message():
            return item.is_done
        case items.Call():
            return item.state not in ("waiting", "queued", "running")
        case items.Server():
            return item.state not in ("asleep", "starting")
        case _:
            return True


def _text(host: Host) -> str:
    said = [each for each in host.board.all(items.Message) if each.role == "model" and each.turn == host.chat.turn]
    return max(said, key=lambda each: int(each.id.rpartition(":")[2])).text if said else ""


def _unusable(host: Host) -> dict[str, str]:
    states = (*_UNUSABLE, "starting")
    return {each.name: each.word or each.state for each in host.board.all(items.Server) if each.state in states}
