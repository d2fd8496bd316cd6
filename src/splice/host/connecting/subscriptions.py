"""The resources of a server whose changes are wanted. A server that is started again has forgotten; this has not.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources#subscriptions
"""

from collections.abc import Callable

from splice import Client, ConnectionClosed, MCPError


class Subscriptions:
    """What is subscribed to on one server. `updated` is told what may have changed while nobody listened."""

    def __init__(self, updated: Callable[[str], None], note: Callable[[str], None]) -> None:
        self._updated, self._note = updated, note
        self._wanted: dict[str, None] = {}

    async def add(self, client: Client, uri: str) -> None:
        """Hear of changes of a resource, until it is removed. Raises `MCPError`, also where a server does not tell."""
        await client.subscribe(uri)
        self._wanted[uri] = None

    async def remove(self, client: Client | None, uri: str) -> None:
        """Hear no more of it. `client` is None if the server does not run. Raises `MCPError`."""
        if self._wanted.pop(uri, uri) is None and client is not None:
            await client.unsubscribe(uri)

    async def renew(self, client: Client) -> None:
        """Subscribe anew, on a client that has just been opened. Raises `ConnectionClosed`."""
        for uri in tuple(self._wanted):
            try:
                await client.subscribe(uri)
            except ConnectionClosed:
                raise
            except MCPError as error:
                self._note(f"Changes of {uri} are no longer heard of: {error}")
            self._updated(uri)
