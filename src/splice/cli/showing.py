"""Results as text for people: content blocks, resource contents, signatures."""

import json
from typing import Any

from splice.cli.arguments import MALFORMED, choices_of, kinds_of, resolved
from splice.host.text import as_json, one_line, safe, size
from splice.protocol.content import SamplingBlock
from splice.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    Implementation,
    Prompt,
    Resource,
    ResourceContents,
    ResourceLink,
    ResourceTemplate,
    TextContent,
    Tool,
    ToolAnnotations,
    UnknownContent,
)

MAX_DEPTH = 4
"""How deep types are shown inside of types."""


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
        case EmbeddedResource(resource=ResourceContents(text=str(text), uri=uri)):
            return f"[resource {one_line(uri)}]\n{safe(text)}"
        case EmbeddedResource():
            return contents_text(block.resource)
        case UnknownContent():
            return as_json(block)


def spoken_text(block: SamplingBlock) -> str:
    """Write a block of a message to a language model."""
    return block_text(block) if isinstance(block, TextContent | ImageContent | AudioContent) else f"[{block.type}]"


def contents_text(contents: ResourceContents) -> str:
    """Write the contents of a resource; bytes are described."""
    if contents.text is not None:
        return safe(contents.text)
    kind = "data" if contents.mime_type is None else one_line(contents.mime_type)
    return f"[{one_line(contents.uri)}: {kind}, {_decoded_size(str(contents.blob))}]"


def tool_signature(tool: Tool) -> str:
    """Write how a tool is called: `add(a: integer, b: integer = 1)`; `add(?)` if its schema is malformed."""
    try:
        parameters = _members(tool.input_schema, tool.input_schema, MAX_DEPTH)
    except MALFORMED:
        parameters = "?"
    return f"{one_line(tool.name)}({one_line(parameters)})"


def tool_marks(tool: Tool) -> str:
    """Write the hints that the server gives about a tool: `[read-only]`."""
    hints = tool.annotations or ToolAnnotations()
    said = {
        "read-only": hints.read_only_hint,
        "destructive": hints.destructive_hint and not hints.read_only_hint,
        "idempotent": hints.idempotent_hint and not hints.read_only_hint,
    }
    marks = ", ".join(name for name, value in said.items() if value)
    return f"[{marks}]" if marks else ""


def title_of(offer: Implementation | Tool | Prompt | Resource | ResourceTemplate) -> str:
    """Write the name for people; empty if there is none that says more than the other."""
    hints = offer.annotations if isinstance(offer, Tool) else None
    title = one_line(offer.title or (hints.title if hints else None) or "")
    return "" if title == offer.name else title


def prompt_signature(prompt: Prompt) -> str:
    """Write how a prompt is filled in: `review(code, language?)`."""
    arguments = prompt.arguments or []
    words = (one_line(each.name) + ("" if each.required is True else "?") for each in arguments)
    return f"{one_line(prompt.name)}({', '.join(words)})"


def _members(schema: dict[str, Any], root: dict[str, Any], depth: int) -> str:
    """Write the members of an object: `a: integer, b?: string`."""
    required, properties = schema.get("required", ()), schema.get("properties", {})
    return ", ".join(_parameter(name, each, root, name in required, depth) for name, each in properties.items())


def _parameter(name: str, schema: Any, root: dict[str, Any], needed: bool, depth: int) -> str:
    default = f" = {json.dumps(schema['default'])}" if isinstance(schema, dict) and "default" in schema else ""
    return f"{name}{'' if needed or default else '?'}: {_kind(schema, root, depth)}{default}"


def _kind(schema: Any, root: dict[str, Any], depth: int) -> str:
    """Write a type: `integer`, `"a" | "b"`, `[string]`, `{title: string, tags?: [string]}`."""
    if choices := choices_of(schema, root):
        return " | ".join(json.dumps(each) for each in choices)
    found = resolved(schema, root)
    branches = [] if found.get("type") else [*found.get("anyOf", ()), *found.get("oneOf", ())]
    if branches and depth:
        return " | ".join(dict.fromkeys(_kind(each, root, depth - 1) for each in branches))
    return " | ".join(_nested(kind, found, root, depth) for kind in kinds_of(found, root)) or "any"


def _nested(kind: str, schema: dict[str, Any], root: dict[str, Any], depth: int) -> str:
    if depth and kind == "object" and schema.get("properties"):
        return f"{{{_members(schema, root, depth - 1)}}}"
    if depth and kind == "array" and schema.get("items"):
        inner = _kind(schema["items"], root, depth - 1)
        return f"[{inner}]"
    return kind


def _decoded_size(base64: str) -> str:
    return size(len(base64) * 3 // 4 - base64.count("=", -2))
