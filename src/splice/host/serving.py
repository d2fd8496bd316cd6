"""Commands of the host about servers and their tools."""

from collections.abc import Mapping
from typing import Any

from splice.host.config import writing
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import entry_of
from splice.host.connecting.output import Line
from splice.host.engine import Engine
from splice.host.failing import HostError
from splice.host.items import Tool
from splice.host.places import private


class Serving(Engine):
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

    async def add_server(self, name: str, entry: Mapping[str, Any]) -> None:
        """Add a server to the user's own file, in the form of that file, and show it. It is not started."""
        found = entry_of(name, dict(entry), scope="user", source=self.places.servers, folder=self.cwd)
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

    async def remove_server(self, name: str) -> None:
        """Stop a server, forget it, and take it out of the user's own file. One of other files comes back."""
        try:
            source = self.parts.connections[name].entry.source
            await self.parts.connections.remove(name)
            if source == self.places.servers:
                writing.remove(self.places.servers, name)
        except (BadConfiguration, OSError) as error:
            raise HostError(f"{self.places.servers} cannot be changed: {error}") from error
        self.questions.withdraw_all(name, "its server was removed")
        self.forget(name)
        self.activity.record("removed", server=name)

    def output(self, server: str, after: int = 0) -> list[Line]:
        """List what a server wrote, after the line of a number."""
        return self.parts.connections[server].output.lines(after)

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
