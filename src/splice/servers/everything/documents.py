"""The resources that are there for everybody: seven documents, and two families of resources made when they are read.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated

from msgspec import Meta

from splice import Server
from splice.servers.everything.dynamic import MAX_ID, TEMPLATES, Kind, contents_of
from splice.types import ResourceContents

FOLDER = Path(__file__).with_name("documents")

PREFIX = "demo://resource/static/document/"

HOUR = 3600.0
"""How long clients may keep a document, in seconds."""

DOCUMENTS = {
    "architecture.md": "How Splice is built, from the bytes up",
    "extension.md": "How to add tools, resources and prompts of your own",
    "features.md": "Every feature of the protocol, and what shows it here",
    "how-it-works.md": "What happens to a call, in both eras",
    "instructions.md": "How to try out a client with this server",
    "startup.md": "How the server is started, and its settings",
    "structure.md": "Which file of this server shows what",
}
"""By name: what it is about."""

Number = Annotated[int, Meta(ge=1, le=MAX_ID)]


def text_resource(resourceId: Number) -> ResourceContents:
    """Make a line of text, by number: a whole one from 1 on."""
    return contents_of("Text", resourceId)


def blob_resource(resourceId: Number) -> ResourceContents:
    """Make the bytes of such a line, in base64, by number: a whole one from 1 on."""
    return contents_of("Blob", resourceId)


def add(server: Server) -> None:
    """Add the resources."""
    for name, about in DOCUMENTS.items():
        # The same for everybody, and for as long as the server runs: anybody may keep it for a while.
        server.add_resource(
            _reader(FOLDER / name),
            PREFIX + name,
            name=name,
            description=about,
            mime_type="text/markdown",
            ttl=HOUR,
            scope="public",
        )
    families: dict[Kind, tuple[Callable[[Number], ResourceContents], str, str]] = {
        "Text": (text_resource, "Dynamic Text Resource", "text/plain"),
        "Blob": (blob_resource, "Dynamic Blob Resource", "application/octet-stream"),
    }
    for kind, (fn, name, mime_type) in families.items():
        server.add_resource(fn, TEMPLATES[kind], name=name, mime_type=mime_type, blocking=False)


def _reader(path: Path) -> Callable[[], str]:
    def read() -> str:
        return path.read_text(encoding="utf-8")

    return read
