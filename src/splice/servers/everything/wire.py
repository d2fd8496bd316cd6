"""Tools for what the others do not show of a result or a request: sound, errors, and arguments that headers repeat.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

import math
import struct
from typing import Annotated, Literal

from msgspec import Meta

from splice import Audio, Header, Server, ToolError
from splice.servers.everything.hints import READS

_RATE = 8000
_BEEP = bytes(128 + round(100 * math.sin(2 * math.pi * 440 * at / _RATE)) for at in range(_RATE // 10))
"""A tenth of a second of the concert pitch, eight bits a sample."""

SOUND = (
    struct.pack(
        "<4sI4s4sIHHIIHH4sI",
        *(b"RIFF", 36 + len(_BEEP), b"WAVE", b"fmt ", 16),
        *(1, 1, _RATE, _RATE, 1, 8),  # uncompressed, one channel, and how many bytes a second and a sample have
        *(b"data", len(_BEEP)),
    )
    + _BEEP
)
"""The same as a WAV file."""


def get_tiny_sound() -> list[str | Audio]:
    """Give a very short sound. Shows audio, which clients before 2025-03-26 read about instead."""
    return ["Here's the sound you requested:", Audio(SOUND, mime_type="audio/wav")]


def echo_mirrored_header(
    region: Annotated[str, Header("Region"), Meta(description="Where to route the call", max_length=100)],
) -> str:
    """Repeat a region. Shows an argument that clients repeat in the HTTP header Mcp-Param-Region since 2026-07-28."""
    return f"Region: {region}"


def trigger_error(
    kind: Annotated[
        Literal["told", "unforeseen"], Meta(description="An error with words for the model, or one nobody thought of")
    ] = "told",
) -> str:
    """Fail. Shows errors: a result that the model can read, with advice, or with a reference to the server's log."""
    if kind == "told":
        raise ToolError("This tool was asked to fail. To see it fail in another way, pass kind=unforeseen.")
    raise LookupError("nobody thought of this")


def add(server: Server) -> None:
    """Add the tools."""
    for fn, title in (
        (get_tiny_sound, "Tiny sound"),
        (echo_mirrored_header, "Mirrored header"),
        (trigger_error, "Error"),
    ):
        server.add_tool(fn, name=fn.__name__.replace("_", "-"), title=title, annotations=READS, blocking=False)
