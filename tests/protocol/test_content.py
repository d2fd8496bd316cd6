"""Content blocks, told apart by `type`."""

from typing import Any, get_args

import msgspec
import pytest

from protocol.wire import stable
from splice.protocol.content import (
    AudioContent,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    SamplingBlock,
    TextContent,
    ToolResultContent,
    ToolUseContent,
)

ANNOTATIONS = {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2025-01-12T15:00:58Z"}

BLOCKS: list[tuple[type[Any], dict[str, Any]]] = [
    (TextContent, {"type": "text", "text": "", "annotations": ANNOTATIONS, "_meta": {"a": 1}}),
    (ImageContent, {"type": "image", "data": "AA==", "mimeType": "image/png"}),
    (AudioContent, {"type": "audio", "data": "AA==", "mimeType": "audio/wav", "annotations": {}}),
    (
        ResourceLink,
        {
            "type": "resource_link",
            "uri": "file:///r",
            "name": "r",
            "title": "R",
            "description": "d",
            "mimeType": "text/plain",
            "size": 5,
            "icons": [{"src": "data:,"}],
            "annotations": {"audience": []},
        },
    ),
    (EmbeddedResource, {"type": "resource", "resource": {"uri": "a:", "text": ""}}),
    (EmbeddedResource, {"type": "resource", "resource": {"uri": "a:", "blob": "", "mimeType": "x/y", "_meta": {}}}),
    (ToolUseContent, {"type": "tool_use", "id": "1", "name": "t", "input": {"a": None}}),
    (
        ToolResultContent,
        {
            "type": "tool_result",
            "toolUseId": "1",
            "content": [{"type": "text", "text": "x"}],
            "structuredContent": [1],
            "isError": True,
        },
    ),
]


@pytest.mark.parametrize(("kind", "value"), BLOCKS)
def test_each_block(kind: type[Any], value: dict[str, Any]) -> None:
    assert stable(kind, value).type == value["type"]
    for union in (ContentBlock, SamplingBlock):
        if kind in get_args(union):
            assert type(msgspec.json.decode(msgspec.json.encode(value), type=union)) is kind
        else:
            with pytest.raises(msgspec.ValidationError, match=value["type"]):
                msgspec.json.decode(msgspec.json.encode(value), type=union)


def test_the_type_is_always_written() -> None:
    assert msgspec.json.encode(TextContent(text="x")) == b'{"type":"text","text":"x"}'


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({"type": "hologram"}, r"hologram.*\$\[0\]\.type"),
        ({"text": "x"}, "type"),
        ({"type": "text"}, "text"),
        ({"type": "image", "data": ""}, "mimeType"),
        ({"type": "text", "text": "x", "annotations": {"audience": ["dog"]}}, "dog"),
    ],
)
def test_a_bad_block_is_told_with_its_path(value: dict[str, Any], message: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=message):
        msgspec.json.decode(msgspec.json.encode([value]), type=list[ContentBlock])


@pytest.mark.parametrize("extra", [{}, {"text": "a", "blob": "AA=="}])
def test_resource_contents_are_text_or_not(extra: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match="exactly one of"):
        msgspec.json.decode(msgspec.json.encode({"uri": "a:", **extra}), type=ResourceContents)
    with pytest.raises(ValueError, match="exactly one of"):
        ResourceContents(uri="a:", **extra)
