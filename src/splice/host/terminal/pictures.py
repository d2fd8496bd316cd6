"""A picture in the app: drawn on a thread once it is seen, or a sentence that says why it is not."""

import asyncio
import base64
from collections.abc import Sequence
from importlib import import_module

from textual.content import Content
from textual.widgets import Static

from splice.host.items import Block
from splice.host.terminal.face import face
from splice.host.terminal.theme import DARK, LIGHT

ROWS = 24
"""How many rows a picture has at most."""

MOST = 4
"""How many pictures of one result or message are drawn."""

MISSING = "Pictures are drawn with Pillow: pip install 'splice[host]'"

_MAX_BASE64 = 24 * 1024 * 1024
"""Longer base64 is not even decoded."""


class Picture(Static):
    """A picture, as wide as there is room."""

    def __init__(self, data: str, told: str) -> None:
        super().__init__(classes="picture")
        self.data = data
        """Base64, as it came."""
        self._told = told
        self._drawn_for = 0

    def on_mount(self) -> None:
        """Say what it is, until it is drawn."""
        self.update(face(self).line(self._told, "$muted"))

    def on_resize(self) -> None:
        """Draw it for this width."""
        width = self.size.width
        if width and width != self._drawn_for:
            self._drawn_for = width
            face(self).do(self._draw(width), self._show)

    async def _draw(self, width: int) -> Content | None:
        """Draw it, after those before; None: it is not wanted any more, or not in this width."""
        face_ = face(self)
        async with face_.drawing:
            if width != self._drawn_for or not self.is_attached:
                return None
            paper = DARK["ink"] if face_.current_theme.dark else LIGHT["ink"]
            try:
                return await asyncio.to_thread(drawn, self.data, width, paper=paper, ascii=face_.glyphs.is_ascii)
            except ValueError as error:
                return face_.line(f"{self._told} is not drawn: {error}.", "$muted")

    def _show(self, picture: Content | None) -> None:
        if picture is not None and self.is_attached:
            self.update(picture)


def drawn(data: str, width: int, *, paper: str, ascii: bool) -> Content:
    """Draw base64. Raises `ValueError` with a reason for the user."""
    try:
        halfblocks = import_module("splice.host.terminal.halfblocks")
    except ModuleNotFoundError:
        raise ValueError(MISSING) from None
    if len(data) > _MAX_BASE64:
        raise ValueError(f"it has {len(data) * 3 // 4:,} bytes, which are too many")
    try:
        decoded = base64.b64decode(data, validate=True)
    except ValueError:
        raise ValueError("its bytes are not base64") from None
    picture: Content = halfblocks.draw(decoded, width, ROWS, paper=paper, ascii=ascii)
    return picture


def of_blocks(blocks: Sequence[Block]) -> list[Picture]:
    """Make the pictures of a result."""
    images = [each for each in blocks if each.type == "image" and each.data]
    return [Picture(each.data, f"{each.mime_type or 'Image'}, {each.bytes:,} bytes") for each in images[:MOST]]


def of_urls(urls: Sequence[str]) -> list[Picture]:
    """Make the pictures of a message: `data:` URLs. Others are never fetched."""
    parted = [each.removeprefix("data:").partition(";base64,") for each in urls if each.startswith("data:")]
    return [Picture(data, mime_type) for mime_type, sign, data in parted[:MOST] if sign]
