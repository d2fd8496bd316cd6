"""What in a JSON value a version of the protocol does not have, told from the official schemas, not from our types.

`strays` walks a value by what stands in `tests/data/facts.json`. Which type a field holds is not told there, so it
stands here, in `HOLDS`.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from splice.types import VERSIONS
from support.wire import JSON

FACTS: dict[str, Any] = json.loads((Path(__file__).parents[1] / "data/facts.json").read_text())
TYPES: dict[str, dict[str, str]] = FACTS["types"] | FACTS["params"]

BLOCKS = {
    "text": "TextContent",
    "image": "ImageContent",
    "audio": "AudioContent",
    "resource": "EmbeddedResource",
    "resource_link": "ResourceLink",
    "tool_use": "ToolUseContent",
    "tool_result": "ToolResultContent",
}
HOLDS: dict[str, dict[str, str]] = {
    "InitializeResult": {"capabilities": "ServerCapabilities", "serverInfo": "Implementation"},
    "DiscoverResult": {"capabilities": "ServerCapabilities"},
    "Implementation": {"icons": "Icon"},
    "ListToolsResult": {"tools": "Tool"},
    "Tool": {"annotations": "ToolAnnotations", "execution": "ToolExecution", "icons": "Icon"},
    "CallToolResult": {"content": "block"},
    "ListPromptsResult": {"prompts": "Prompt"},
    "Prompt": {"arguments": "PromptArgument", "icons": "Icon"},
    "GetPromptResult": {"messages": "PromptMessage"},
    "PromptMessage": {"content": "block"},
    "ListResourcesResult": {"resources": "Resource"},
    "ListResourceTemplatesResult": {"resourceTemplates": "ResourceTemplate"},
    "ReadResourceResult": {"contents": "contents"},
    "EmbeddedResource": {"resource": "contents"},
    "Resource": {"icons": "Icon"},
    "ResourceTemplate": {"icons": "Icon"},
    "ResourceLink": {"icons": "Icon"},
    "sampling/createMessage": {"messages": "SamplingMessage", "tools": "Tool", "toolChoice": "ToolChoice"},
    "SamplingMessage": {"content": "block"},
    "CreateMessageResult": {"content": "block"},
    "ToolResultContent": {"content": "block"},
    "elicitation/create": {"requestedSchema": "elicitation/create.requestedSchema"},
    "ListRootsResult": {"roots": "Root"},
    "initialize": {"capabilities": "ClientCapabilities", "clientInfo": "Implementation"},
    "ClientCapabilities": {each: f"ClientCapabilities.{each}" for each in ("elicitation", "roots", "sampling")},
    "ServerCapabilities": {each: f"ServerCapabilities.{each}" for each in ("prompts", "resources", "tools")},
    "completion/complete": {"ref": "ref"},
}
"""Type or method -> field -> type of what it holds; `block`, `contents` and `ref` stand for several."""

ONE_BLOCK = {"SamplingMessage", "CreateMessageResult"}
"""Hold several blocks only since tools may be used in sampling."""


def has(name: str, version: str) -> bool:
    """Tell whether a version has a type: any field of it."""
    place = VERSIONS.index(version)
    return any(marks[place] != "-" for marks in TYPES.get(name, {}).values())


def strays(name: str, value: JSON, version: str) -> Iterator[str]:
    """Name everything in a value of a type, or in the params of a method, that a version lacks or misses."""
    yield from _own_strays(name, value, version)
    for key, held in value.items():
        inner = HOLDS.get(name, {}).get(key)
        if key == "annotations" and inner is None:
            inner = "Annotations" if has("Annotations", version) else f"{name}.annotations"
        if inner is not None:
            for each in held if isinstance(held, list) else [held]:
                yield from strays(_chosen(inner, each), each, version)
    if name == "elicitation/create.requestedSchema":
        for field in value["properties"].values():
            yield from _form_strays(field, version)


def _own_strays(name: str, value: JSON, version: str) -> Iterator[str]:
    """Look at the value alone, not at what its fields hold."""
    place, row = VERSIONS.index(version), TYPES.get(name, {})
    if "." not in name and not has(name, version):
        yield name
    yield from (f"{name}.{key}" for key in value if row.get(key, "-----")[place] == "-")
    yield from (f"{name}.{key} is missing" for key in row if row[key][place] == "!" and key not in value)
    if not isinstance(value.get("structuredContent", {}), dict) and place < len(VERSIONS) - 1:
        yield f"{name}.structuredContent is not an object"
    if name in ONE_BLOCK and isinstance(value["content"], list) and not has("ToolUseContent", version):
        yield f"{name}.content is a list"


def _chosen(inner: str, value: JSON) -> str:
    """Choose among several types."""
    if inner == "block":
        return BLOCKS[value["type"]]
    if inner == "contents":
        return "TextResourceContents" if "text" in value else "BlobResourceContents"
    if inner == "ref":
        return "PromptReference" if value["type"] == "ref/prompt" else "ResourceTemplateReference"
    return inner


def _form_strays(field: JSON, version: str) -> Iterator[str]:
    """Find the kind of field that this one is, completely; none is a stray."""
    kinds = [name for name in TYPES if name.endswith("Schema") and has(name, version)]
    places = VERSIONS.index(version)
    fitting = [
        name
        for name in kinds
        if field["type"] in {each for each, marks in FACTS["values"][f"{name}.type"].items() if marks[places] != "-"}
        and not list(strays(name, field, version))
    ]
    if not fitting:
        yield f"a field {json.dumps(field)}"
