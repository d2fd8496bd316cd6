"""Pieces of messages that both wire formats share: results of tools as text and pictures, arguments as they came."""

import secrets
from typing import Any, TypeAlias

import msgspec

from splice.host.models.base import MAX_ANSWER_BYTES, ModelFailed, Use
from splice.protocol.jsonrpc import BadMessage, check_text
from splice.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceLink,
    TextContent,
    ToolResultContent,
    UnknownContent,
)

Piece: TypeAlias = TextContent | ImageContent | AudioContent

PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")
"""Formats of pictures that models see."""

MAX_USES = 128
"""How many tools one answer may call."""


def returned(result: ToolResultContent) -> list[Piece]:
    """Make text, pictures and recordings of what a tool returned; of nothing, the words that there is nothing."""
    pieces = [_piece(block) for block in result.content]
    if not result.content and result.structured_content is not None:
        pieces = [TextContent(text=msgspec.json.encode(result.structured_content).decode())]
    kept = [piece for piece in pieces if not isinstance(piece, TextContent) or piece.text.strip()]
    return kept or [TextContent(text="(The tool returned nothing.)")]


def in_words(piece: ImageContent | AudioContent) -> str:
    """Say that there is something that the model cannot see or hear."""
    return f"({piece.type.title()} of type {piece.mime_type}, which this model cannot take, left out.)"


def _piece(block: Any) -> Piece:
    if isinstance(block, TextContent | ImageContent | AudioContent):
        return block
    if isinstance(block, ResourceLink):
        return TextContent(text=f"Resource {block.title or block.name}: {block.uri}")
    if isinstance(block, EmbeddedResource):
        held = block.resource
        if held.text is not None:
            return TextContent(text=held.text)
        kind = held.mime_type or "application/octet-stream"
        if kind in PICTURES:
            return ImageContent(data=held.blob or "", mime_type=kind)
        return TextContent(text=f"(Resource {held.uri} of type {kind}, which is not text, left out.)")
    kind = block.type if isinstance(block, UnknownContent) else "unknown"
    return TextContent(text=f"(Content of type {kind} left out.)")


class Uses:
    """Makes uses of tools from their arguments as text; each gets an id of its own."""

    def __init__(self) -> None:
        self._known: set[str] = set()
        self._begun = 0
        self._bytes = 0

    def weigh(self, text: str) -> None:
        """Count a part of the answer. Raises `ModelFailed` when an answer grows without end."""
        self._bytes += len(text)
        if self._bytes > MAX_ANSWER_BYTES:
            raise ModelFailed("wrong answer", f"The model's answer is larger than {MAX_ANSWER_BYTES // 1_000_000} MB.")

    def begin(self) -> None:
        """Count a use whose arguments are to come. Raises `ModelFailed` for one too many."""
        self._begun += 1
        if self._begun > MAX_USES:
            raise ModelFailed("wrong answer", f"The model called more than {MAX_USES} tools at once.")

    def make(self, id: str, name: str, arguments: str) -> Use:
        """Make one use. No arguments are none: some models leave them out."""
        if not id or id in self._known:
            id = f"call_{secrets.token_hex(8)}"
        self._known.add(id)
        if not arguments.strip():
            return Use(id, name, {})
        try:
            check_text(arguments.encode())  # what nests too deeply could be decoded, but hardly anything else
            return Use(id, name, msgspec.json.decode(arguments, type=dict[str, Any]))
        except (ValueError, RecursionError, BadMessage):
            return Use(id, name, {}, malformed=arguments)
