"""One connection for each configured server. None is started before it is needed, and one that fails hides no other.

connections = Connections(board, hooks, places())
connections.add(entry)                        # shown on the board, asleep; nothing runs
async with connections.use("travel") as client:  # starts it, after the user trusted its command
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager

from splice import Client, ConnectionClosed
from splice.client.targets import AnyTarget
from splice.host.board import Board
from splice.host.config.entries import Entry
from splice.host.config.variables import Ask
from splice.host.connecting.connection import Connection, Surroundings
from splice.host.connecting.hooks import Hooks, Unavailable
from splice.host.connecting.manifest import Manifests
from splice.host.items import Server
from splice.host.places import Places
from splice.host.text import listed

__all__ = ["Connection", "Connections", "Hooks", "Unavailable"]

HUES = 6

_QUIET = logging.NullHandler()
"""The board says what happens to servers; a log that nobody configured would be written across the terminal."""

CLOSE_SECONDS = 10.0
"""How long all servers together may take to end."""

SETTLE_SECONDS = 2.0
"""How long lists that changed are waited for. A server that takes longer is heard when it answers."""


class Connections:
    """All servers of the host, by their local names."""

    def __init__(self, board: Board, hooks: Hooks, places: Places, ask: Ask | None = None) -> None:
        logging.getLogger("splice").addHandler(_QUIET)
        self._around = Surroundings(board, hooks, Manifests(places.state / "manifests"), ask)
        self._all: dict[str, Connection] = {}
        self._added = 0

    def add(self, entry: Entry, *, target: AnyTarget | None = None) -> Connection:
        """Show a server; nothing is started. `target` is the server itself, such as a `Server` of this process.

        What it offered last time is told to the host at once. Raises `ValueError` if there is one of that name.
        """
        if entry.name in self._all:
            raise ValueError(f"there is a server {entry.name!r} already")
        found = self._all[entry.name] = Connection(entry, self._around, hue=self._added % HUES + 1, target=target)
        self._added += 1
        if found.manifest is not None:
            self._around.hooks.heard(entry.name, found.manifest)
        return found

    def __getitem__(self, name: str) -> Connection:
        """Find a server. Raises `Unavailable` if there is none of that name."""
        found = self._all.get(name)
        if found is None:
            raise Unavailable(listed(f"there is no server {name!r}", self._all))
        return found

    def __contains__(self, name: object) -> bool:
        return name in self._all

    def __iter__(self) -> Iterator[Connection]:
        return iter(tuple(self._all.values()))

    def __len__(self) -> int:
        return len(self._all)

    @asynccontextmanager
    async def use(self, name: str) -> AsyncGenerator[Client, None]:
        """Give an open client of a server; starts it if it is not running. Raises `Unavailable`.

        When the connection of a request within the block is lost, it is found out whether the server is gone: one
        behind a URL does not say so itself.
        """
        connection = self[name]
        client = await connection.client()
        try:
            yield client
        except ConnectionClosed as error:
            if connection.running is client:
                await connection.suspect()
            elif connection.state == "crashed" and client.state == "closed":  # by the host, after the crash
                shown = self._around.board.get(f"server:{name}", Server)
                raise ConnectionClosed(shown.word if shown is not None else str(error)) from error
            raise

    async def settled(self) -> None:
        """Wait until lists that are known to have changed were asked for, but not for ever."""
        asking = [each.relisting for each in self if each.relisting is not None and not each.relisting.done()]
        if asking:
            await asyncio.wait(asking, timeout=SETTLE_SECONDS)

    async def start_eager(self) -> None:
        """Start the servers that want to be started at once. Those that cannot be are shown on the board."""
        eager = [each.client() for each in self if each.entry.options.startup == "eager" and each.state == "asleep"]
        await asyncio.gather(*eager, return_exceptions=True)

    async def replace(self, entry: Entry) -> None:
        """Stop a server, and show it as it is configured now, in its old place and colour."""
        found = self[entry.name]
        shown = self._around.board.get(f"server:{entry.name}", Server)
        found.switch(on=False)  # whoever needs it meanwhile does not start the old one
        await found.close()
        if self._all.get(entry.name) is not found:
            return
        self._drop(entry.name)
        new = self._all[entry.name] = Connection(entry, self._around, hue=shown.hue if shown is not None else 1)
        if new.manifest is not None:
            self._around.hooks.heard(entry.name, new.manifest)

    async def remove(self, name: str) -> None:
        """Stop a server and forget it. Raises `Unavailable` if there is none of that name."""
        found = self[name]
        del self._all[name]
        await found.close()
        self._drop(name)

    def _drop(self, name: str) -> None:
        for kind in ("server", "output"):
            self._around.board.drop(f"{kind}:{name}")

    async def close(self) -> None:
        """Stop all servers at once."""
        closing = [asyncio.ensure_future(each.close()) for each in self]
        if closing:
            _, late = await asyncio.wait(closing, timeout=CLOSE_SECONDS)
            for each in late:
                each.cancel()
