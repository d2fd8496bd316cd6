"""Resources that the user gives to a chat: read, measured, watched, and sent along with the next message.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from contextlib import suppress

from msgspec import Struct
from msgspec.structs import replace

from splice import MCPError
from splice.host.board import Board
from splice.host.connecting.connections import Connections, Unavailable
from splice.host.failing import HostError
from splice.host.items import Attached, Context, Message
from splice.host.text import one_line, size
from splice.host.turns import meter
from splice.host.turns.fetching import resource
from splice.host.turns.quoting import of_contents
from splice.protocol.content import SamplingBlock
from splice.types import ResourceContents

MAX_BYTES = 4_000_000
"""How large a resource may be that is attached, before base64."""

MAX_ATTACHED = 50


class _Taken(Struct, frozen=True):
    """A resource as it was when it was read."""

    shown: Attached
    blocks: list[SamplingBlock]


class Attachments:
    """What goes along with the next message."""

    def __init__(self, board: Board, connections: Connections) -> None:
        self._board, self._connections = board, connections
        self._taken: dict[tuple[str, str], _Taken] = {}
        self._watched: set[tuple[str, str]] = set()
        """Of which changes the host wants to be told."""

    async def attach(self, server: str, uri: str) -> Attached:
        """Read a resource, and show it as attached. One that is attached is read anew. Raises `HostError`."""
        key = server, uri
        if key not in self._taken and len(self._taken) >= MAX_ATTACHED:
            raise HostError(f"{MAX_ATTACHED} resources are attached already: send your message, or take some away")
        result = await resource(self._connections, server, uri)
        length = sum(map(_bytes, result.contents))
        if length > MAX_BYTES:
            raise HostError(
                f"{one_line(uri)} is too large to attach: {size(length)}; {size(MAX_BYTES)} may be attached"
            )
        blocks = [of_contents(server, each) for each in result.contents]
        manifest = self._connections[server].manifest
        known = next((each for each in manifest.resources if each.uri == uri), None) if manifest else None
        shown = Attached(
            server=server,
            uri=uri,
            name=(known.title or known.name) if known else uri.rstrip("/").rpartition("/")[2] or uri,
            mime_type=next((each.mime_type for each in result.contents if each.mime_type), "") or "",
            bytes=length,
            tokens=sum(map(meter.of_block, blocks)),
        )
        self._taken[key] = _Taken(shown, blocks)
        self._show()
        await self._watch(server, uri)
        return shown

    def detach(self, uri: str) -> None:
        """Take a resource away. Raises `HostError` if it is not attached."""
        keys = [key for key in self._taken if key[1] == uri]
        if not keys:
            raise HostError(f"{one_line(uri)} is not attached")
        for key in keys:
            del self._taken[key]
        self._show()

    async def refresh(self, uri: str) -> None:
        """Read a resource anew that changed; one that went with an earlier message is attached again."""
        servers = [server for server, known in (*self._taken, *self._watched) if known == uri]
        if not servers:
            raise HostError(f"{one_line(uri)} is not attached")
        await self.attach(servers[0], uri)

    def take(self) -> tuple[list[SamplingBlock], list[Attached]]:
        """Give what is attached to a message; then nothing is attached."""
        taken, self._taken = list(self._taken.values()), {}
        self._show()
        return [block for each in taken for block in each.blocks], [each.shown for each in taken]

    def updated(self, server: str, uri: str) -> None:
        """Mark a resource as changed, wherever it is shown."""
        taken = self._taken.get((server, uri))
        if taken is not None:
            self._taken[server, uri] = replace(taken, shown=replace(taken.shown, is_stale=True))
            self._show()
        for message in self._board.all(Message):
            stale = [_stale(each, server, uri) for each in message.attached]
            if stale != message.attached:
                self._board.put(replace(message, attached=stale))

    def clear(self) -> None:
        """Let go of everything: another chat is open now."""
        self._taken.clear()
        self._show()

    async def _watch(self, server: str, uri: str) -> None:
        """Ask the server to tell when the resource changes, if it can."""
        with suppress(MCPError, Unavailable):
            connection = self._connections[server]
            client = await connection.client()
            resources = client.capabilities.resources
            is_watched = (server, uri) in self._watched
            self._watched.add((server, uri))
            if resources is not None and resources.subscribe and not is_watched:
                await connection.subscriptions.add(client, uri)

    def _show(self) -> None:
        self._board.put(Context(id="context:now", attached=[each.shown for each in self._taken.values()]))


def _bytes(contents: ResourceContents) -> int:
    return len((contents.text or "").encode(errors="replace")) + len(contents.blob or "") * 3 // 4


def _stale(attached: Attached, server: str, uri: str) -> Attached:
    return replace(attached, is_stale=True) if (attached.server, attached.uri) == (server, uri) else attached
