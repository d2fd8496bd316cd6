"""The instructions of servers: the model gets those that the user saw last.

https://modelcontextprotocol.io/specification/2026-07-28/basic/lifecycle#initialization
"""

from typing import NamedTuple

from splice.host.items import Change, Finding
from splice.host.tools.lint import lint, strip
from splice.host.tools.offering import cut, cuts
from splice.host.tools.pins import Pin, Pins, definition, fingerprint
from splice.host.tools.words import Budget, difference

_KIND = "instructions"


class Held(NamedTuple):
    """Instructions that wait for the user."""

    text: str
    changes: list[Change]


class Instructions:
    """The instructions of all servers."""

    def __init__(self, pins: Pins) -> None:
        self._pins = pins
        self._given: dict[str, str] = {}
        self._held: dict[str, Held] = {}
        self._heard: dict[str, str] = {}
        self._findings: dict[str, list[Finding]] = {}

    def hear(self, server: str, text: str, budget: Budget, *, is_known: bool) -> bool:
        """Take what a server says. Return whether it is other than before, and so held.

        A server that is known and said nothing until now changed, too.
        """
        pin, written = self._pins.get(server, _KIND), definition(text)
        if self._heard.get(server, "") != text:
            self._heard[server], self._findings[server] = text, [*lint(written), *cuts(_KIND, text)]
        is_same = pin is not None and pin.fingerprint == fingerprint(written)
        if not text or is_same or (pin is None and not is_known and not self._pins.was_lost(server)):
            if text and not is_same:
                self._pins.pin(server, _KIND, Pin(fingerprint(written), written))
            self._given[server] = text
            self._held.pop(server, None)
            return False
        old = pin.definition if pin else {}
        self._given[server] = str(old.get(_KIND, ""))
        if server in self._held and self._held[server].text == text:
            return False
        self._held[server] = Held(text, difference(old, written, budget))
        return True

    def given(self, server: str) -> str:
        """Return what the model gets: clean, and cut if it is long."""
        return cut(strip(self._given.get(server, "")))

    def held(self, server: str) -> list[Change] | None:
        """Tell how the instructions changed, if they wait for the user."""
        return self._held[server].changes if server in self._held else None

    def findings(self, server: str) -> list[Finding]:
        """List what a person should look at in what the server says now."""
        return self._findings.get(server, [])

    def accept(self, server: str) -> None:
        """Take those that wait for seen."""
        held = self._held.pop(server, None)
        if held is not None:
            written = definition(held.text)
            self._pins.pin(server, _KIND, Pin(fingerprint(written), written, is_looked_at=True))
            self._given[server] = held.text

    def forget(self, server: str) -> None:
        """Drop what a server said that is not configured any more."""
        self._given.pop(server, None)
        self._held.pop(server, None)
        self._heard.pop(server, None)
        self._findings.pop(server, None)
