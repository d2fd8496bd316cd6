"""What servers give the host for a model, as blocks of a message: text as data, with where it came from.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#data-types
"""

import base64
import binascii
from collections.abc import Iterable

from splice.host.tools.results import fenced
from splice.protocol.content import SamplingBlock
from splice.types import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    ResourceContents,
    ResourceLink,
    SamplingMessage,
    TextContent,
)

IMAGES = {"image/png", "image/jpeg", "image/gif", "image/webp"}
"""Pictures that models read."""


def of_contents(server: str, contents: ResourceContents) -> SamplingBlock:
    """Make a block of what a resource holds: text as data, a picture as such, anything else described."""
    kind = (contents.mime_type or "").partition(";")[0].strip().lower()
    if contents.text is not None:
        return TextContent(text=fenced(server, contents.text, f"The resource {contents.uri}:"))
    blob = contents.blob or ""
    if kind in IMAGES and _is_base64(blob):
        return ImageContent(data=blob, mime_type=kind)
    note = f"({kind or 'binary'}, about {len(blob) * 3 // 4:,} bytes, which cannot be shown to a model)"
    return TextContent(text=fenced(server, note, f"The resource {contents.uri}:"))


def of_block(server: str, block: ContentBlock) -> SamplingBlock:
    """Make a block of one that stands in a prompt. Its own text is what the user chose to say."""
    match block:
        case TextContent() | ImageContent() | AudioContent():
            return block
        case EmbeddedResource():
            return of_contents(server, block.resource)
        case ResourceLink():
            told = f"Resource {block.title or block.name}: {block.uri}\n{block.description or ''}".strip()
            return TextContent(text=fenced(server, told))
        case _:
            return TextContent(text=fenced(server, f"(content of the unknown type {block.type})"))


def of_prompt(server: str, prompt: GetPromptResult) -> list[SamplingMessage]:
    """Make messages of a prompt; neighbours of the same role become one."""
    messages: list[SamplingMessage] = []
    for each in prompt.messages:
        block = of_block(server, each.content)
        if messages and messages[-1].role == each.role:
            messages[-1] = SamplingMessage(role=each.role, content=[*messages[-1].blocks, block])
        else:
            messages.append(SamplingMessage(role=each.role, content=[block]))
    return messages


def text_of(blocks: Iterable[SamplingBlock]) -> str:
    """Join the text of blocks, for the board."""
    return "\n\n".join(block.text for block in blocks if isinstance(block, TextContent))


def pictures_of(blocks: Iterable[SamplingBlock]) -> list[str]:
    """List the pictures of blocks, as ``data:`` URLs."""
    return [f"data:{each.mime_type};base64,{each.data}" for each in blocks if isinstance(each, ImageContent)]


def _is_base64(text: str) -> bool:
    try:
        base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        return False
    return True
