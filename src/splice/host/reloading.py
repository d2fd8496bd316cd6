"""Configuration files that were edited while the host runs: what is new in them, gone or other, and nothing else.

A file that cannot be read is one that somebody is still writing: its servers stay as they are. What was noticed and not
asked for may have been written by a program: such a server is started once the user trusts its command, and what its
block would permit by itself waits until the user asks for the files to be read.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, Literal

from msgspec.structs import replace

from splice.host.asking.permissions import reads_of
from splice.host.config.entries import Entry
from splice.host.config.reading import Configuration, without_favours
from splice.host.config.sources import Sources
from splice.host.engine import Engine
from splice.host.items import Rule
from splice.host.text import one_line

_NOTHING = "The files of servers are as they were."


class Reloading(Engine):
    """The command that reads the files of servers again."""

    def __init__(self, configured: Configuration, options: Any, sources: Sources | None = None) -> None:
        super().__init__(configured, options)
        self._sources = sources
        self._stamp = None if sources is None else sources.stamp()
        self._reading = asyncio.Lock()

    async def reload(self) -> str:
        """Read the files of servers again. Servers whose entries are as they were are left alone.

        Returns what came of it, in a sentence.
        """
        return await self._reload(is_noticed=False)

    async def notice_edits(self) -> None:
        """Read the files again if they are others than before."""
        if self._sources is not None and not self.is_headless and self._sources.stamp() != self._stamp:
            await self._reload(is_noticed=True)

    async def _reload(self, *, is_noticed: bool) -> str:
        """Read the files, and take over the difference."""
        sources = self._sources
        if sources is None:
            return "This host has no files of servers"
        async with self._reading:
            self._stamp = sources.stamp()  # before they are read: what is written meanwhile is noticed the next time
            found = await asyncio.to_thread(sources.read)
            for problem in found.problems:
                if problem not in self._configured.problems:
                    self.notice(problem, "warn")
            self._configured = found
            self.inputs.define(found.inputs)
            told = await self._take_over(found, sources, is_noticed=is_noticed)
            self.permissions.all()  # anew, as names may stand for other servers
        if told:
            self.announce("", told)
        elif not is_noticed:
            self.notice(_NOTHING)
        return told or _NOTHING

    async def _take_over(self, found: Configuration, sources: Sources, *, is_noticed: bool) -> str:
        """Add, change and remove servers. Returns what was done, as a sentence; nothing if that is nothing."""
        known = {each.entry.name: each.entry for each in self.parts.connections}
        entries = {each.name: each for each in found.entries}
        unread = set(found.unread)
        gone = [
            name for name, entry in known.items()
            if sources.has(entry) and entry.source not in unread and name not in entries
        ]  # fmt: skip
        new = [each for name, each in entries.items() if name not in known]
        other = [
            each for name, each in entries.items()
            if name in known and sources.has(known[name]) and _differs(known[name], each, is_noticed=is_noticed)
        ]  # fmt: skip
        if not is_noticed:  # the user asked for what is there, so it is theirs
            for connection in self.parts.connections:
                connection.entry = replace(connection.entry, is_noticed=False)
        for name in gone:
            await self.let_go(name, "its entry was removed")
        for each in other:
            await self._change(known[each.name], _noticed(each) if is_noticed else each)
        for each in new:
            self.add_entry(_noticed(each) if is_noticed else each)
            self._record("added", each)
        names = {"new": [each.name for each in new], "changed": [each.name for each in other], "gone": gone}
        parts = [f"{_listed(each)} {_be(each)} {word}" for word, each in names.items() if each]
        return f"The files of servers were edited: {', '.join(parts)}." if parts else ""

    async def _change(self, before: Entry, entry: Entry) -> None:
        """Stop a server, and put it there anew as it is configured now. It is started when it is needed."""
        name = entry.name
        self.questions.withdraw_all(name, "its configuration was edited")
        if before.options.trust_annotations:
            self._end_rule(reads_of(name))
        if before.fingerprint != entry.fingerprint:
            self.services.folders.forget(name)
        self.forget(name)
        self.configure(entry)
        await self.parts.connections.replace(entry)
        self._record("changed", entry)

    async def let_go(self, name: str, why: str) -> None:
        """Stop a server and forget it. Raises `Unavailable` if there is none of that name."""
        entry = self.parts.connections[name].entry
        await self.parts.connections.remove(name)
        self.questions.withdraw_all(name, why)
        if entry.options.trust_annotations:
            self._end_rule(reads_of(name))
        self.services.folders.forget(name)
        self.forget(name)
        self.activity.record("removed", server=name)

    def _end_rule(self, what: str) -> None:
        """Take back what an entry allowed by itself, for as long as it stood there."""
        for rule in self.board.all(Rule):
            if rule.what == what and rule.effect == "allow" and rule.scope == "chat" and not rule.chat:
                self.permissions.revoke(rule.id)

    def _record(self, kind: Literal["added", "changed"], entry: Entry) -> None:
        self.activity.record(kind, server=entry.name, runs=entry.runs, fingerprint=entry.fingerprint)


def _differs(known: Entry, now: Entry, *, is_noticed: bool) -> bool:
    """Tell whether a server is configured otherwise now."""
    return replace(known, is_noticed=False) != now and not (is_noticed and known == _noticed(now))


def _noticed(entry: Entry) -> Entry:
    """Return an entry as it is taken over while nobody asked for it."""
    return without_favours(replace(entry, is_noticed=True))


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(one_line, names))


def _be(names: Sequence[str]) -> str:
    return "is" if len(names) == 1 else "are"
