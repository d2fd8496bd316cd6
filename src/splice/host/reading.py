"""Commands of the host about resources and prompts of servers."""

from collections.abc import Mapping

from msgspec import Struct

from splice import MCPError
from splice.host.connecting.hooks import Unavailable
from splice.host.engine import Engine
from splice.host.failing import HostError
from splice.host.text import one_line
from splice.host.turns import fetching
from splice.types import (
    PromptMessage,
    PromptReference,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
)

COMPLETE_SECONDS = 5.0
"""How long a completion may take: somebody is typing."""


class Listing(Struct, frozen=True):
    """The resources of a server."""

    resources: list[Resource] = []
    templates: list[ResourceTemplate] = []
    problem: str = ""
    """Why there are none, or only those of the last time; empty: all is well."""


class Reading(Engine):
    """The commands about resources and prompts."""

    async def resources(self, server: str) -> Listing:
        """List the resources of a server, which is started for that. What is known from before is better than none."""
        problem = ""
        try:
            await self.parts.connections[server].client()
        except Unavailable as error:
            problem = str(error)
        manifest = self.parts.connections[server].manifest if server in self.parts.connections else None
        return (
            Listing(problem=problem) if manifest is None else Listing(manifest.resources, manifest.templates, problem)
        )

    async def read(self, server: str, uri: str) -> ReadResourceResult:
        """Read a resource, for the user to look at."""
        return await fetching.resource(self.parts.connections, server, uri)

    async def complete(
        self, server: str, ref: PromptReference | ResourceTemplateReference, name: str, value: str,
        known: Mapping[str, str] | None = None,
    ) -> list[str]:  # fmt: skip
        """Complete an argument of a prompt, or a variable of a template; none if the server cannot."""
        try:
            async with self.parts.connections.use(server) as client:
                if client.capabilities.completions is None:
                    return []
                found = await client.complete(ref, name, value, known, timeout=COMPLETE_SECONDS)
        except (Unavailable, MCPError) as error:
            raise HostError(f"{server} proposes nothing: {one_line(str(error))}") from error
        return found.values[:100]

    async def attach(self, server: str, uri: str) -> None:
        """Send a resource along with the next message."""
        shown = await self.attachments.attach(server, uri)
        self.activity.record("attach", server=server, chat=self.chat.id, uri=uri, bytes=shown.bytes)

    def detach(self, uri: str) -> None:
        """Do not send a resource along after all."""
        self.attachments.detach(uri)

    async def refresh(self, uri: str) -> None:
        """Read a resource anew that has changed since, and attach it."""
        await self.attachments.refresh(uri)

    async def preview(self, server: str, prompt: str, arguments: dict[str, str]) -> list[PromptMessage]:
        """Get a prompt with its arguments, to look at it before it is said."""
        return (await fetching.prompt(self.parts.connections, server, prompt, arguments)).messages
