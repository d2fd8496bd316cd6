"""The tools of all servers: what the model gets of them, what waits for the user, and what changed.

A tool that changed since the user saw it is held: the model does not get it until the user accepts. A new tool of a
server that is known is held if it shows something grave, if it looks like one that was held or off, or if the user
set that new ones wait. A server that is seen for the first time is announced with what is to be looked at.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#list-changed-notification
"""

from collections.abc import Callable, Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial
from typing import Protocol

from msgspec import Struct
from msgspec.structs import replace

from splice.host import items
from splice.host.board import Board
from splice.host.text import one_line
from splice.host.tools import offering
from splice.host.tools.drafts import EDITION, Drafts, Known, known_of
from splice.host.tools.instructions import Instructions
from splice.host.tools.lint import mentions
from splice.host.tools.names import Names
from splice.host.tools.pins import Definition, Gone, Pin, Pins, definition, fingerprint
from splice.host.tools.words import Budget, difference
from splice.types import Prompt, ResourceTemplate, Tool

MAX_TOOLS = 1_000
"""How many tools of one server are taken. The user is told of more."""

_UNUSABLE = ("off", "failed")
"""States of a server whose tools the model does not get."""


class Offers(Protocol):
    """What a server offers: a manifest."""

    @property
    def tools(self) -> list[Tool]:
        """For the model."""
        ...

    @property
    def prompts(self) -> list[Prompt]:
        """For the user."""
        ...

    @property
    def templates(self) -> list[ResourceTemplate]:
        """Families of resources."""
        ...

    @property
    def instructions(self) -> str:
        """How to use all that, for the model."""
        ...


class Found(Struct, frozen=True):
    """A tool that may be called."""

    server: str
    tool: Tool
    """As the server listed it."""
    item: items.Tool


class Wanted(Struct, frozen=True):
    """A server as it is configured, as far as its tools go."""

    identity: str = ""
    """Tells its configuration from any other: the fingerprint of its entry."""
    include: Sequence[str] | None = None
    """Patterns of the tools that are wanted, such as ``get_*``; None: all."""
    exclude: Sequence[str] = ()

    def takes(self, tool: str) -> bool:
        """Tell whether a tool is wanted."""
        included = self.include is None or any(fnmatchcase(tool, each) for each in self.include)
        return included and not any(fnmatchcase(tool, each) for each in self.exclude)


class Counted(Struct):
    """How a list changed."""

    new: int = 0
    gone: int = 0
    changed: int = 0

    def words(self, kind: str) -> list[str]:
        """Write it: ``+2 \u22121 tools``; nothing if the list is as it was."""
        counts = [("+", self.new), ("\u2212", self.gone), ("~", self.changed)]
        parts = [f"{sign}{count}" for sign, count in counts if count]
        return [f"{' '.join(parts)} {kind}"] if parts else []


class _Hearing:
    """One look at all that a server offers."""

    def __init__(self, server: str, pins: Pins, tools: list[Tool], *, is_known: bool) -> None:
        listed = {tool.name for tool in tools}
        self.server, self.tools, self.is_known = server, tools, is_known
        self.budget = Budget()
        gone = {name: pin for name, pin in pins.all(server, "tool").items() if name not in listed}
        self.gone = Gone(gone if is_known else {})


class Registry:
    """The tools of all servers. `announce` gets lines of the host for the chat, each with the server it is about."""

    def __init__(
        self,
        board: Board,
        pins: Pins,
        *,
        announce: Callable[[str, str], None] = lambda _server, _line: None,
        holds_new: Callable[[], bool] = lambda: False,
    ) -> None:
        self.number = 0
        """Counts the changes of what is offered."""
        self._board, self._pins, self._announce, self._holds_new = board, pins, announce, holds_new
        self._names = Names()
        self._wanted: dict[str, Wanted] = {}
        self._known: dict[str, dict[str, Known]] = {}
        self._instructions = Instructions(pins)
        self._drafts = Drafts()

    async def prepare(self, server: str, manifest: Offers) -> None:
        """Do what takes long before a server is heard, so that the event loop is not held up."""
        wanted = self._wanted.setdefault(server, Wanted())
        tools = [tool for tool in manifest.tools if wanted.takes(tool.name)][:MAX_TOOLS]
        await self._drafts.make(server, tools, partial(self._pins.kept, server, wanted.identity, "tool"))

    def configure(self, server: str, wanted: Wanted) -> None:
        """Say how a server is configured, before it is heard. The tools of servers are offered in this order."""
        self._wanted[server] = wanted

    def heard(self, server: str, manifest: Offers) -> None:
        """Take what a server offers, again whenever it changed."""
        wanted = self._wanted.setdefault(server, Wanted())
        is_first = server not in self._known
        is_known = self._pins.open(server, wanted.identity)
        hearing = _Hearing(server, self._pins, self._taken(server, manifest.tools), is_known=is_known)
        changes = self._hear_tools(hearing).words("tools")
        self._drafts.drop(server)
        changes += self._hear_prompts(server, manifest.prompts).words("prompts")
        if self._instructions.hear(server, manifest.instructions, hearing.budget, is_known=is_known):
            changes.append("other instructions")
        for template in manifest.templates:
            self._compared(server, "template", definition(template))
        self._mention()
        self._count(server)
        self._pins.save()
        if not is_known and is_first:
            self._welcome(server)
        elif changes:
            waiting = len(self._held(server))
            told = f"; {waiting} wait{'s' if waiting == 1 else ''} for you to look at" if waiting else ""
            self._announce(server, f"{', '.join(changes)} of {one_line(server)}{told}")

    def forget(self, server: str) -> None:
        """Take away all that a server offered: it is not configured any more."""
        for known in self._known.pop(server, {}).values():
            self._board.drop(known.item.id)
        for prompt in self._prompts(server):
            self._board.drop(prompt.id)
        self._wanted.pop(server, None)
        self._instructions.forget(server)
        self.number += 1

    def offered(self) -> list[Tool]:
        """List the tools that the model gets, under their names for it: those that are on and not held."""
        return [known.shown for server in self._wanted for known in self._usable(server)]

    def find(self, called: str) -> Found | None:
        """Find a tool that the model may call; None if it may not (`why_not`)."""
        owner = self._names.owner(called)
        return self._found(f"tool:{owner[0]}/{owner[1]}") if owner else None

    def named(self, id: str) -> Found | None:
        """Find a tool that may be called by its id on the board, ``tool:SERVER/NAME``."""
        return self._found(id)

    def why_not(self, called: str) -> str:
        """Tell the model why it cannot call a tool."""
        server, name = self._names.owner(called) or ("", "")
        item = self._board.get(f"tool:{server}/{name}", items.Tool)
        if item is None or item.called != called:
            return f"There is no tool {one_line(called)[:100]}."
        if item.held is not None:
            return f"{called} has changed. It can be called when the user has accepted it."
        return f"{called} is switched off." if not item.is_on else f"The server of {called} cannot be used now."

    def instructions(self, server: str) -> str:
        """Return a server's instructions for the model: those that the user saw last, cut and clean."""
        return self._instructions.given(server)

    def switch(self, id: str, on: bool) -> None:
        """Let the model have a tool or not; it is remembered. Raises `KeyError`."""
        known = self._by_id(id)
        self._pins.switch(known.item.server, known.tool.name, on)
        self._board.change(id, is_on=on)
        self._pins.save()
        self.number += 1

    def accept(self, id: str) -> None:
        """Take a definition for seen: of a tool, or all of a server with its instructions. Raises `KeyError`."""
        kind, _, server = id.partition(":")
        if kind == "server":
            self._instructions.accept(server)
            for known in list(self._known[server].values()):
                self._accept(known)
        else:
            known = self._by_id(id)
            server = known.item.server
            self._accept(known)
        self._count(server)
        self._pins.save()
        self.number += 1

    # Lists.

    def _taken(self, server: str, tools: list[Tool]) -> list[Tool]:
        """Choose the tools that are wanted. What cannot be taken is said."""
        wanted = [tool for tool in tools if self._wanted[server].takes(tool.name)]
        taken = list({tool.name: tool for tool in reversed(wanted)}.values())[::-1][:MAX_TOOLS]
        if len(taken) < len(wanted):
            line = f"{one_line(server)} lists {len(wanted)} tools, some twice or more than {MAX_TOOLS}"
            self._announce(server, f"{line}: {len(taken)} are taken")
        return taken

    def _hear_tools(self, hearing: _Hearing) -> Counted:
        server = hearing.server
        called = self._names.give(server, [tool.name for tool in hearing.tools])
        before = self._known.get(server)
        seen = set(before if before is not None else self._pins.all(server, "tool"))
        held = {item.id: item.fingerprint for item in self._held(server)}
        now = {tool.name: self._noted(server, tool, called[tool.name], before or {}) for tool in hearing.tools}
        self._known[server] = now
        counted = Counted(new=len(now.keys() - seen), gone=len((before or {}).keys() - now.keys()))
        for known in now.values():
            item = self._reviewed(known, hearing)
            is_again = held.get(item.id) == item.fingerprint
            counted.changed += item.held is not None and known.tool.name in seen and not is_again
            self._board.put(item)
        for name in (before or {}).keys() - now.keys():
            self._board.drop(f"tool:{server}/{name}")
        self.number += 1
        return counted

    def _noted(self, server: str, tool: Tool, called: str, before: dict[str, Known]) -> Known:
        """Prepare a tool, unless it is as it was."""
        draft = self._drafts.get(server, tool, partial(self._pins.get, server, "tool"))
        found = before.get(tool.name)
        if found is not None and found.item.fingerprint == draft.hashed:
            found.tool = tool
            return found
        return known_of(server, draft, called)

    def _reviewed(self, known: Known, hearing: _Hearing) -> items.Tool:
        """Decide whether a tool is held. One that is new and is not, is pinned."""
        server, name, hashed = hearing.server, known.tool.name, known.item.fingerprint
        findings, is_on = [*known.findings, *known.named], self._pins.is_on(server, name)
        item = replace(known.item, findings=findings, is_on=is_on)
        pin = self._pins.get(server, "tool", name)
        if pin is not None and pin.fingerprint == hashed:
            if pin.linted != EDITION:
                self._pins.pin(server, "tool", known.pin(is_looked_at=pin.is_looked_at))
            return replace(item, is_new=not pin.is_looked_at)
        written = definition(known.tool)
        resembles = hearing.gone.resembles(written) if pin is None else ""
        if pin is None and not self._must_wait(known, resembles, hearing):
            self._pins.pin(server, "tool", known.pin(is_looked_at=False))
            return replace(item, is_new=True)
        before = pin or self._pins.get(server, "tool", resembles)
        was = self._board.get(item.id, items.Tool)
        hashed_before = before.fingerprint if before else ""
        if was and was.held and (was.fingerprint, was.fingerprint_before) == (hashed, hashed_before):
            return replace(was, findings=findings, is_on=is_on)
        held = difference(before.definition if before else {}, written, hearing.budget)
        return replace(item, is_new=pin is None, resembles=resembles, held=held, fingerprint_before=hashed_before)

    def _must_wait(self, known: Known, resembles: str, hearing: _Hearing) -> bool:
        if self._pins.was_lost(hearing.server):
            return True
        is_grave = any(finding.is_grave for finding in known.findings)
        return hearing.is_known and (bool(resembles) or is_grave or self._holds_new())

    def _hear_prompts(self, server: str, prompts: list[Prompt]) -> Counted:
        counted = Counted()
        before = {prompt.name for prompt in self._prompts(server)}
        now = {prompt.name: prompt for prompt in prompts}
        for prompt in now.values():
            compared = self._compared(server, "prompt", definition(prompt))
            counted.new += compared == "new" or (bool(before) and prompt.name not in before)
            counted.changed += compared == "changed"
            self._board.put(offering.prompt_for_user(server, prompt))
        for name in before - now.keys():
            self._board.drop(f"prompt:{server}/{name}")
        counted.gone = len(before - now.keys())
        return counted

    def _compared(self, server: str, kind: str, written: Definition) -> str:
        """Compare what only the user chooses with its pin, and take it for seen: the change is announced."""
        compared = self._pins.check(server, kind, written)
        if compared != "same":
            self._pins.pin(server, kind, Pin(fingerprint(written), written))
        return compared

    # Decisions, and what is said of them.

    def _accept(self, known: Known) -> None:
        item = self._board.get(known.item.id, items.Tool)
        if item is not None and (item.held is not None or item.is_new):
            self._pins.pin(item.server, "tool", known.pin(is_looked_at=True))
            self._board.put(replace(item, held=None, is_new=False, fingerprint_before="", resembles=""))

    def _mention(self) -> None:
        """Find tools that speak of those of other servers: one may want to come before another."""
        owners = {name: server for server, tools in self._known.items() for name in tools}
        for tools in self._known.values():
            for known in tools.values():
                found = known.names & owners.keys()
                named = mentions(found - tools.keys(), owners) if found else []
                if named != known.named:
                    known.named = named
                    self._board.change(known.item.id, findings=[*known.findings, *named])

    def _count(self, server: str) -> None:
        if self._board.get(f"server:{server}", items.Server) is not None:
            held, changes = len(self._held(server)), self._instructions.held(server)
            findings = self._instructions.findings(server)
            self._board.change(f"server:{server}", held=held, held_instructions=changes, findings=findings)

    def _welcome(self, server: str) -> None:
        """List a server that is seen for the first time."""
        tools = self._items(server)
        marked = [one_line(item.name) for item in tools if item.findings]
        what = f"; look at {', '.join(marked[:10])}" if marked else ""
        more = f" and {len(marked) - 10} more" if len(marked) > 10 else ""
        waits = "; they wait until you accept them" if self._held(server) else ""
        if tools:
            count = f"{len(tools)} tool{'s' * (len(tools) > 1)}"
            self._announce(server, f"{one_line(server)} is new, with {count}{what}{more}{waits}")

    # Looking up.

    def _items(self, server: str) -> list[items.Tool]:
        found = (self._board.get(known.item.id, items.Tool) for known in self._known.get(server, {}).values())
        return [item for item in found if item is not None]

    def _held(self, server: str) -> list[items.Tool]:
        return [item for item in self._items(server) if item.held is not None]

    def _prompts(self, server: str) -> list[items.Prompt]:
        return [prompt for prompt in self._board.all(items.Prompt) if prompt.server == server]

    def _usable(self, server: str) -> Iterator[Known]:
        state = self._board.get(f"server:{server}", items.Server)
        if state is None or state.state not in _UNUSABLE:
            for known in self._known.get(server, {}).values():
                item = self._board.get(known.item.id, items.Tool)
                if item is not None and item.is_on and item.held is None:
                    yield known

    def _found(self, id: str) -> Found | None:
        server, _, name = id.removeprefix("tool:").partition("/")
        known = self._known.get(server, {}).get(name)
        item = self._board.get(id, items.Tool)
        if known is None or item is None or all(known is not each for each in self._usable(server)):
            return None
        return Found(server, known.tool, item)

    def _by_id(self, id: str) -> Known:
        server, _, name = id.removeprefix("tool:").partition("/")
        return self._known[server][name]
