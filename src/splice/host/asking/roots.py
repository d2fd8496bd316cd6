"""The folders that servers are told of. They are a hint to servers, and no sandbox: nothing enforces them.

Before a server is told of any for the first time, the user is asked which. What they add later is told to all servers
that were allowed some, and to those that were not asked yet once they are.

https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

import asyncio
import os
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from splice.host import items
from splice.host.asked import Filled, RootsAsked
from splice.host.asking.during import call_of, chat_of
from splice.host.asking.questions import Questions
from splice.host.board import Board
from splice.host.text import one_line
from splice.types import Root

MAX_ROOTS = 100


class Roots:
    """The folders, on the board, and which server is told of which."""

    def __init__(self, board: Board, questions: Questions, changed: Callable[[str], None] = lambda _: None) -> None:
        """Make one that tells `changed` of each server whose folders changed since it was told."""
        self._board = board
        self._questions = questions
        self._changed = changed
        self._told: dict[str, set[str] | None] = {}
        """By server: the URIs it may know; None if the user refused."""
        self._asking: dict[str, asyncio.Lock] = {}

    def add(self, path: str | Path, *, name: str = "", servers: Sequence[str] | None = None) -> items.Root:
        """Add a folder, for some servers or all. Raises `ValueError` with a sentence."""
        # Without `..`, as servers compare paths to it; symbolic links are the user's, and stay.
        folder = Path(os.path.normpath(Path(path).expanduser().absolute()))
        if not folder.is_dir():
            raise ValueError(f"{one_line(str(folder))} is not a folder.")
        if len(self._board.all(items.Root)) >= MAX_ROOTS:
            raise ValueError(f"There are already {MAX_ROOTS} folders. Remove one first.")
        uri = folder.as_uri()
        named = list(servers) if servers is not None else None
        root = items.Root(id=f"root:{uri}", uri=uri, name=name or folder.name, servers=named)
        self._board.put(root)
        for server, known in self._told.items():
            if known is not None and uri not in known and _is_for(root, server):
                known.add(uri)
                self._changed(server)
        self._add_to_questions(root)
        return root

    def _add_to_questions(self, root: items.Root) -> None:
        """Let who is being asked which folders a server may know choose this one too."""
        for item in self._board.all(items.Question):
            asked = item.asked
            if isinstance(asked, RootsAsked) and root.uri not in asked.known and _is_for(root, item.server):
                self._board.put(replace(item, asked=RootsAsked([*asked.known, root.uri])))

    def remove(self, uri: str) -> None:
        """Remove a folder. Raises `KeyError` if there is none of this URI."""
        if self._board.get(f"root:{uri}", items.Root) is None:
            raise KeyError(uri)
        self._board.drop(f"root:{uri}")
        for server, known in self._told.items():
            if known is not None and uri in known:
                known.remove(uri)
                self._changed(server)

    async def tell(self, server: str, *, calls: Sequence[str] = ()) -> list[Root]:
        """List the folders that a server is told of; the first time the user is asked.

        `calls` are the ids of its calls under way. One who refused is not asked again, until `forget`.
        """
        async with self._asking.setdefault(server, asyncio.Lock()):  # several requests at once are one question
            known = self._known(server)
            if server not in self._told and known:
                chat = chat_of(self._board, call_of(self._board, server, calls))
                answer, _ = await self._questions.ask(server, RootsAsked([each.uri for each in known]), chat=chat)
                if not isinstance(answer, Filled) or answer.action == "cancel":
                    return []
                uris: list[str] = answer.content["uris"] if answer.action == "accept" else []
                self._told[server] = set(uris) if uris else None
        told = self._told.get(server) or ()
        return [Root(uri=each.uri, name=each.name or None) for each in self._known(server) if each.uri in told]

    def forget(self, server: str) -> None:
        """Forget what the user said of a server: it is told of nothing until they are asked again."""
        if self._told.pop(server, None) is not None:
            self._changed(server)

    def _known(self, server: str) -> list[items.Root]:
        roots = [each for each in self._board.all(items.Root) if _is_for(each, server)]
        return sorted(roots, key=lambda each: each.uri)


def _is_for(root: items.Root, server: str) -> bool:
    return root.servers is None or server in root.servers
