"""Commands of the host about servers and their tools."""

import asyncio
from collections.abc import Mapping
from typing import Any

from splice.host.config import importing, writing
from splice.host.config.entering import NotRead, Typed, typed
from splice.host.config.entries import Entry
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import entry_of, read
from splice.host.connecting.output import Line
from splice.host.connecting.wire import Message
from splice.host.failing import HostError
from splice.host.items import Tool
from splice.host.looks import Look, offered, trust_of
from splice.host.places import private
from splice.host.reloading import Reloading
from splice.host.text import listed, one_line


class Serving(Reloading):
    """The commands about servers."""

    async def start_server(self, name: str) -> None:
        """Start a server now."""
        await self.parts.connections[name].client()

    async def stop_server(self, name: str) -> None:
        """Stop a server. It is started again when it is needed."""
        await self.parts.connections[name].stop()
        self.questions.withdraw_all(name, "its server was stopped")

    async def restart_server(self, name: str) -> None:
        """Stop a server and start it, however often it failed."""
        await self.parts.connections[name].restart()

    async def log_in(self, name: str) -> None:
        """Let the user log in at a server, with a browser."""
        await self.parts.connections[name].log_in()

    def switch_server(self, name: str, on: bool) -> None:
        """Let a server be used, or not."""
        self.parts.connections[name].switch(on)
        if not on:
            self.questions.withdraw_all(name, "its server was switched off")

    def look_at(self, name: str) -> Look:
        """Tell exactly what a server is: its command, its folder, its trust."""
        entry = self.parts.connections[name].entry
        return Look(
            name=name,
            asked=trust_of(entry, self.trusted.before(entry)),
            scope=entry.scope,
            is_trusted=self.trusted.is_trusted(entry),
            problem=entry.problem,
            is_known=True,
        )

    async def read_servers(self, text: str, name: str = "") -> list[Typed]:
        """Read servers as they are typed or pasted; `name` is for one that has none. Nothing is written or started."""
        taken = [each.entry.name for each in self.parts.connections]
        try:
            return await asyncio.to_thread(typed, text, name, taken)
        except NotRead as error:
            raise HostError(f"{error}.") from error

    def review_server(self, name: str, entry: Mapping[str, Any]) -> Look:
        """Tell what would run if this were added. Nothing is written, and nothing started."""
        found = self._as_own(name, entry)
        is_known = found.name in self.parts.connections
        return Look(name=found.name, asked=trust_of(found), scope="user", problem=found.problem, is_known=is_known)

    async def add_server(self, name: str, entry: Mapping[str, Any]) -> None:
        """Add a server to the user's own file, in the form of that file, and show it. It is not started."""
        found = self._as_own(name, entry)
        if found.problem:
            raise HostError(f"{name}: {found.problem}")
        if found.name in self.parts.connections:
            raise HostError(f"There is a server {found.name} already")
        try:
            private(self.places.servers.parent)
            writing.put(self.places.servers, name, entry)
        except (BadConfiguration, OSError) as error:
            raise HostError(f"{self.places.servers} cannot be changed: {error}") from error
        self.add_entry(found)
        self.activity.record("added", server=found.name, runs=found.runs, fingerprint=found.fingerprint)

    async def withdraw_trust(self, name: str) -> None:
        """Stop a project's server, and trust its command no more: the user is asked before it starts again."""
        connection = self.parts.connections[name]
        try:
            self.trusted.take(connection.entry)
        except OSError as error:
            raise HostError(f"The trust in {name} cannot be withdrawn: {error}") from error
        self.activity.record("trust", server=name, given=False)
        await self.stop_server(name)

    async def importable(self) -> list[Look]:
        """List the servers of other hosts on this computer. Files are read, and nothing is started."""
        return await asyncio.to_thread(lambda: list(offered(self.cwd, self.parts.connections.__contains__)))

    async def import_server(self, host: str, name: str, fingerprint: str) -> None:
        """Take a server over from another host, as it was looked at: not if it is another one by now."""
        if host not in importing.FROM:
            raise HostError(listed(f"There is no host {one_line(host)[:100]}", importing.FROM))
        paths = [each for each in importing.files_of(host, self.cwd) if each.exists()]
        found, _ = await asyncio.to_thread(importing.offers, paths, self.cwd)
        offer = next((each for each in found if each.entry.name == name), None)
        if offer is None or offer.entry.fingerprint != fingerprint:
            raise HostError(f"{one_line(name)[:100]} is not what it was when you looked at it. Look at it again")
        await self.add_server(offer.entry.key, offer.raw)
        try:
            importing.take_inputs(offer.entry, self.places.servers)
        except (BadConfiguration, OSError) as error:
            raise HostError(f"{name} was added, but not what it asks for: {error}") from error
        self.inputs.add(read(self.places.servers, "user", cwd=self.cwd).inputs)

    def _as_own(self, name: str, entry: Mapping[str, Any]) -> Entry:
        return entry_of(name, dict(entry), scope="user", source=self.places.servers, folder=self.cwd)

    async def remove_server(self, name: str) -> None:
        """Stop a server, forget it, and take it out of the user's own file. One of other files comes back."""
        try:
            source = self.parts.connections[name].entry.source
            await self.let_go(name, "its server was removed")
            if source == self.places.servers:
                writing.remove(self.places.servers, name)
        except (BadConfiguration, OSError) as error:
            raise HostError(f"{self.places.servers} cannot be changed: {error}") from error

    def output(self, server: str, after: int = 0) -> list[Line]:
        """List what a server wrote, after the line of a number."""
        return self.parts.connections[server].output.lines(after)

    def messages(self, server: str, after: int = 0) -> list[Message]:
        """List the JSON-RPC messages to and from a server, after the one of a number."""
        return self.parts.connections[server].output.wire.messages(after)

    def switch_tool(self, id: str, on: bool) -> None:
        """Let a tool be offered to the model, or not."""
        try:
            self.parts.registry.switch(id, on)
        except (KeyError, OSError) as error:
            raise HostError(f"{id} cannot be switched: {error}") from error
        self.activity.record("tool", tool=id, is_on=on)

    def accept_tool(self, id: str) -> None:
        """Accept the definition of a tool, or of a server with all its tools, as it is now.

        What was allowed for the definition before does not count for this one.
        """
        held = [
            tool for tool in self.board.all(Tool) if tool.held is not None and id in (tool.id, f"server:{tool.server}")
        ]
        try:
            for tool in held:
                self.permissions.void(tool.server, tool.name)
            self.parts.registry.accept(id)
        except (KeyError, OSError) as error:
            raise HostError(f"{id} cannot be accepted: {error}") from error
        self.activity.record("tool", tool=id, accepted=True)
