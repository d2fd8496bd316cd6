"""How much of the model's window is filled, and with what: estimates, which every face shows as such.

Only the provider knows its tokens. Four bytes of English and of JSON are about one; other scripts take more bytes for
a character and more tokens too.
"""

from collections.abc import Iterable

import msgspec

from splice.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    SamplingMessage,
    TextContent,
    Tool,
    ToolResultContent,
    ToolUseContent,
)

BYTES_PER_TOKEN = 4

IMAGE_TOKENS = 1_200
"""What a picture costs: between what providers count for a small one and for a large one."""


def of_text(text: str) -> int:
    """Estimate the tokens of a text."""
    return -(-len(text.encode(errors="replace")) // BYTES_PER_TOKEN)


def of_json(value: object) -> int:
    """Estimate the tokens of a value written as JSON."""
    return -(-len(msgspec.json.encode(value)) // BYTES_PER_TOKEN)


def of_tools(tools: Iterable[Tool]) -> int:
    """Estimate the tokens of the definitions of tools, of which a model gets name, description and schema."""
    return sum(of_json((tool.name, tool.description, tool.input_schema)) for tool in tools)


def of_block(block: object) -> int:
    """Estimate the tokens of a block of a message."""
    match block:
        case TextContent():
            return of_text(block.text)
        case ImageContent() | AudioContent():
            return IMAGE_TOKENS
        case ToolUseContent():
            return of_json(block.input) + of_text(block.name)
        case ToolResultContent():
            return sum(map(of_block, block.content))
        case EmbeddedResource():
            return of_text(block.resource.text or block.resource.blob or "")
        case _:
            return of_json(block)


def of_messages(messages: Iterable[SamplingMessage]) -> tuple[int, int]:
    """Estimate the tokens of a conversation, and of the results of tools within it."""
    said = results = 0
    for message in messages:
        for block in message.blocks:
            if isinstance(block, ToolResultContent):
                results += of_block(block)
            else:
                said += of_block(block)
    return said, results
