"""The names by which a model calls tools: ``server__tool``, of letters that all providers take.

OpenAI takes 64 of ``A-Z a-z 0-9 _ -``, and others no more. Whoever comes second with a name that is taken gets a
suffix; it is made of a hash, so it is the same in each session. A name once given stays while the host runs: no
server that comes or goes changes what the model calls the tools of another. What a server says its own name is counts
for nothing.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
"""

import re
from collections.abc import Iterable
from hashlib import sha256

MAX_LENGTH = 64
MAX_REMEMBERED = 5_000
"""How many names of one server are remembered; beyond, those of tools that are gone are forgotten."""

_SERVER_LENGTH = 20
"""How much of a long server name stays when both are too long: the tool's says more."""
_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


class Names:
    """Gives names to tools, and knows whose they are."""

    def __init__(self) -> None:
        self._given: dict[str, dict[str, str]] = {}
        self._owners: dict[str, tuple[str, str]] = {}

    def give(self, server: str, tools: Iterable[str]) -> dict[str, str]:
        """Tell what the model calls the tools of a server."""
        given = self._given.setdefault(server, {})
        names = {tool: given.get(tool) or self._new(server, tool) for tool in tools}
        given.update(names)
        if len(given) > MAX_REMEMBERED:
            gone = [tool for tool in given if tool not in names][: len(given) - MAX_REMEMBERED]
            for tool in gone:
                del self._owners[given.pop(tool)]
        return names

    def owner(self, called: str) -> tuple[str, str] | None:
        """Tell which tool has a name, as server and tool; None if it was never given."""
        return self._owners.get(called)

    def _new(self, server: str, tool: str) -> str:
        name, length = called(server, tool), 6
        while len(name) > MAX_LENGTH or self._owners.get(name, (server, tool)) != (server, tool):
            name = _with_suffix(server, tool, length)
            length += 2  # somebody called a tool as another one's suffix would be
        self._owners[name] = (server, tool)
        return name


def called(server: str, tool: str) -> str:
    """Write the name of a tool for a model, if nothing is in its way."""
    return _ILLEGAL.sub("_", f"{server}__{tool}")


def _with_suffix(server: str, tool: str, length: int) -> str:
    digest = sha256(f"{len(server)} {server} {tool}".encode("utf-8", "backslashreplace")).hexdigest()[:length]
    room = MAX_LENGTH - length - 1
    kept = server[: max(_SERVER_LENGTH, room - 2 - len(tool))]
    return f"{_ILLEGAL.sub('_', f'{kept}__{tool}')[:room]}_{digest}"
