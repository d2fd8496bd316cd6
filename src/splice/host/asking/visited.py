"""To which hosts a server has sent the user before: one that it never used is said to be new.

A host counts once the user finished there. It belongs to the server as it is configured, by its fingerprint: the same
name under another command is another server.
"""

from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from splice.host.places import keep, locked, private, set_aside

MAX_HOSTS = 200
"""How many hosts of a server are remembered, the last ones."""


class _File(Struct):
    version: int = 1
    hosts: dict[str, list[str]] = {}
    """By the fingerprint of a server."""


class Visited:
    """Hosts that servers have sent the user to, in a file. A file that is damaged is set aside: then all are new."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def has(self, server: str, host: str) -> bool:
        """Tell whether the user went to a host because this server asked for it."""
        return host in self._load().hosts.get(server, ())

    def add(self, server: str, host: str) -> None:
        """Remember that the user went there. If the disk refuses, the host stays new: that is the careful side."""
        with suppress(OSError):
            private(self._path.parent)
            with locked(self._path):
                found = self._load()
                others = [each for each in found.hosts.get(server, []) if each != host]
                found.hosts[server] = [*others, host][-MAX_HOSTS:]
                keep(self._path, msgspec.json.encode(found))

    def _load(self) -> _File:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=_File)
        except OSError:
            return _File()
        except (ValueError, RecursionError):
            with suppress(OSError):
                set_aside(self._path)
            return _File()
