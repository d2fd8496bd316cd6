"""What is computed of a tool before anything is decided of it: hashed, linted, written for the model.

It takes a millisecond or two for each, and a server may list thousands. So for a long list it is done in a thread,
before the registry hears it.
"""

import asyncio
from collections.abc import Callable, Sequence

from msgspec import Struct
from msgspec.structs import replace

from splice.host import items
from splice.host.models.schemas import portable
from splice.host.tools import offering
from splice.host.tools.lint import lint, names_in
from splice.host.tools.pins import Pin, definition, fingerprint
from splice.types import Tool

EDITION = 3
"""Counts the editions of lint, `for_model` and `portable`: pins remember what those of one edition found."""

FEW = 20
"""So many tools are not worth a thread."""


class Draft(Struct):
    """A tool with what is computed of its definition alone."""

    tool: Tool
    hashed: str
    shown: Tool
    """As the model gets it, but for its name."""
    names: frozenset[str]
    """What may be names of other tools in its texts."""
    findings: list[items.Finding]
    notes: list[str]
    """What models are not told of it."""


class Known(Struct):
    """A tool of the registry."""

    tool: Tool
    shown: Tool
    """As the model gets it."""
    item: items.Tool
    """As the user sees it, but for what is decided of it."""
    findings: list[items.Finding]
    names: frozenset[str]
    """What may be names of other tools in its texts."""
    named: list[items.Finding] = []
    """Those that are names of tools of other servers."""

    def pin(self, *, is_looked_at: bool) -> Pin:
        """Take it for seen."""
        return Pin(
            self.item.fingerprint,
            definition(self.tool),
            is_looked_at,
            findings=self.findings,
            linted=EDITION,
            notes=self.item.notes,
            names=self.names,
            is_clean=self.shown.input_schema == self.tool.input_schema,
        )


PinOf = Callable[[str], Pin | None]
"""Finds the pin of a tool by its name."""


class Drafts:
    """Drafts that were made ahead, for one look at a server."""

    def __init__(self) -> None:
        self._made: dict[str, dict[str, Draft]] = {}

    async def make(self, server: str, tools: Sequence[Tool], pin_of: PinOf) -> None:
        """Make drafts of a long list in a thread."""
        if len(tools) > FEW:
            pins = {tool.name: pin_of(tool.name) for tool in tools}
            self._made[server] = await asyncio.to_thread(_drafts, tools, pins)

    def drop(self, server: str) -> None:
        """Forget the drafts of a server: they were for one look."""
        self._made.pop(server, None)

    def get(self, server: str, tool: Tool, pin_of: PinOf) -> Draft:
        """Return the draft of a tool; makes it if that was not done ahead."""
        made = self._made.get(server, {}).get(tool.name)
        return made if made is not None and made.tool is tool else draft(tool, pin_of(tool.name))


def draft(tool: Tool, pin: Pin | None) -> Draft:
    """Compute what follows from a definition. What its pin remembers is not looked for again."""
    written = definition(tool)
    hashed = fingerprint(written)
    if pin is not None and pin.fingerprint == hashed and pin.linted == EDITION:
        names = names_in(written) if pin.names is None else pin.names
        shown = offering.for_model(tool, tool.name, is_clean=pin.is_clean)
        return Draft(tool, hashed, shown, names, pin.findings, pin.notes)
    findings = [*lint(written), *offering.cuts("description", tool.description or "")]
    shown = offering.for_model(tool, tool.name)
    return Draft(tool, hashed, shown, names_in(written), findings, portable(tool).notes)


def known_of(server: str, made: Draft, called: str) -> Known:
    """Make a tool of the registry of a draft; `called` is its name for the model."""
    shown = replace(made.shown, name=called)
    item = replace(offering.for_user(server, made.tool, shown), fingerprint=made.hashed, notes=made.notes)
    return Known(made.tool, shown, item, made.findings, made.names)


def _drafts(tools: Sequence[Tool], pins: dict[str, Pin | None]) -> dict[str, Draft]:
    return {tool.name: draft(tool, pins[tool.name]) for tool in tools}
