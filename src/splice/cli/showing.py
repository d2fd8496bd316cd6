"""Results as text for people: content blocks, resource contents, signatures."""

import json
from typing import Any

from splice.cli.arguments import choices_of, kinds_of
from splice.cli.text import as_json, one_line, safe, size
from splice.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    Prompt,
    ResourceContents,
    ResourceLink,
    TextContent,
    Tool,
)


def result_text(result: CallToolResult) -> str:
    """Write a tool's result: its content, or its structured content where that is all there is."""
    if not result.content and result.structured_content is not None:
        return as_json(result.structured_content)
    return "\n".join(block_text(block) for block in result.content)


def block_text(block: ContentBlock) -> str:
    """Write one content block; what is not text is described."""
    match block:
        case TextContent():
            return safe(block.text)
        case ImageContent() | AudioContent():
            return f"[{block.type}: {one_line(block.mime_type)}, {_decoded_size(block.data)}]"
        case ResourceLink():
            return f"[link to {one_line(block.uri)}: {one_line(block.name)}]"
        case EmbeddedResource():
            return contents_text(block.resource)


def contents_text(contents: ResourceContents) -> str:
    """Write the contents of a resource; bytes are described."""
    if contents.text is not None:
        return safe(contents.text)
    kind = "data" if contents.mime_type is None else one_line(contents.mime_type)
    return f"[{one_line(contents.uri)}: {kind}, {_decoded_size(str(contents.blob))}]"


def tool_signature(tool: Tool) -> str:
    """Write how a tool is called: `add(a: integer, b: integer = 1)`."""
    schema = tool.input_schema
    required = schema.get("required", ())
    properties = schema.get("properties", {})
    parameters = (_parameter(name, each, schema, needed=name in required) for name, each in properties.items())
    return f"{one_line(tool.name)}({', '.join(parameters)})"


def prompt_signature(prompt: Prompt) -> str:
    """Write how a prompt is filled in: `review(code, language?)`."""
    arguments = prompt.arguments or []
    words = (one_line(each.name) + ("" if each.required is True else "?") for each in arguments)
    return f"{one_line(prompt.name)}({', '.join(words)})"


def _parameter(name: str, schema: Any, root: dict[str, Any], *, needed: bool) -> str:
    choices = choices_of(schema, root)
    kind = " | ".join(json.dumps(each) for each in choices) or " | ".join(kinds_of(schema, root)) or "any"
    default = f" = {json.dumps(schema['default'])}" if isinstance(schema, dict) and "default" in schema else ""
    return one_line(f"{name}{'' if needed or default else '?'}: {kind}{default}")


def _decoded_size(base64: str) -> str:
    return size(len(base64) * 3 // 4 - base64.count("=", -2))
