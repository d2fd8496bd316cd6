"""What a server offered last time: kept on disk, so that its tools are known before it is started.

A manifest is found by the fingerprint of its entry: another command, or another URL, offers something else.
"""

from contextlib import suppress
from pathlib import Path

import msgspec
from msgspec import Struct

from splice.host.places import keep, private
from splice.types import Implementation, Prompt, Resource, ResourceTemplate, ServerCapabilities, Tool

MAX_BYTES = 8 * 2**20
"""A larger manifest is not kept."""

MAX_FILES = 300
"""How many are kept; the oldest go."""


class Manifest(Struct, frozen=True, omit_defaults=True):
    """All that a server offers."""

    tools: list[Tool] = []
    prompts: list[Prompt] = []
    resources: list[Resource] = []
    templates: list[ResourceTemplate] = []
    instructions: str = ""
    protocol: str = ""
    server: Implementation | None = None
    """What it calls itself."""
    capabilities: ServerCapabilities = msgspec.field(default_factory=ServerCapabilities)


_decoder = msgspec.json.Decoder(Manifest)


class Manifests:
    """The manifests of a folder, in one file for each entry."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def load(self, fingerprint: str) -> Manifest | None:
        """Return what is kept; None if that is nothing, or cannot be used: the server will tell again."""
        try:
            with self._file(fingerprint).open("rb") as file:
                data = file.read(MAX_BYTES + 1)
            return _decoder.decode(data) if len(data) <= MAX_BYTES else None
        except (OSError, ValueError, RecursionError):
            return None

    def save(self, fingerprint: str, manifest: Manifest) -> None:
        """Keep it. What is too large is not kept. Raises `OSError`."""
        data = msgspec.json.encode(manifest)
        path = self._file(fingerprint)
        if len(data) > MAX_BYTES:
            path.unlink(missing_ok=True)
            return
        private(self._folder)
        if not path.exists():
            self._forget_old()
        keep(path, data)

    def _file(self, fingerprint: str) -> Path:
        return self._folder / f"{fingerprint[:40]}.json"

    def _forget_old(self) -> None:
        found = list(self._folder.glob("*.json"))
        if len(found) >= MAX_FILES:
            for path in sorted(found, key=lambda each: each.stat().st_mtime)[: len(found) - MAX_FILES + 1]:
                with suppress(OSError):
                    path.unlink()
