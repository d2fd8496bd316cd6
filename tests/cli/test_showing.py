"""Results and signatures as text for people."""

from typing import Any

import pytest

from splice.cli.showing import block_text, contents_text, prompt_signature, result_text, tool_signature
from splice.types import (
    AudioContent,
    CallToolResult,
    ContentBlock,
    EmbeddedResource,
    ImageContent,
    Prompt,
    PromptArgument,
    ResourceContents,
    ResourceLink,
    TextContent,
    Tool,
)


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (TextContent(text="a\x1bb"), "a\\x1bb"),
        (ImageContent(data="MTIz", mime_type="image/png\n"), "[image: image/png, 3 bytes]"),
        (AudioContent(data="MQ==", mime_type="audio/wav"), "[audio: audio/wav, 1 bytes]"),
        (ResourceLink(uri="a://\x1b", name="A\nB"), "[link to a://\\x1b: A B]"),
        (EmbeddedResource(resource=ResourceContents(uri="a://b", text="c\x07")), "c\\x07"),
        (EmbeddedResource(resource=ResourceContents(uri="a://b", blob="")), "[a://b: data, 0 bytes]"),
    ],
)
def test_content_blocks(block: ContentBlock, text: str) -> None:
    assert block_text(block) == text


def test_contents_that_are_bytes() -> None:
    contents = ResourceContents(uri="a://b", blob="MTI=", mime_type="image/png")
    assert contents_text(contents) == "[a://b: image/png, 2 bytes]"


def test_a_result_that_is_structured_only() -> None:
    assert result_text(CallToolResult(content=[], structured_content=0)) == "0"
    assert result_text(CallToolResult(content=[])) == ""


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ({}, "t()"),
        ({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, "t(a: integer)"),
        ({"properties": {"a": {"type": ["integer", "null"]}}}, "t(a?: integer | null)"),
        ({"properties": {"a": {"type": "string", "default": "x\n"}}}, 't(a: string = "x\\n")'),
        ({"properties": {"a": {"enum": ["x", 1]}}}, 't(a?: "x" | 1)'),
        ({"properties": {"a\x1b": True}}, "t(a\\x1b?: any)"),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "object"}}}, "t(a?: object)"),
    ],
)
def test_how_a_tool_is_called(schema: dict[str, Any], text: str) -> None:
    assert tool_signature(Tool(name="t", input_schema=schema)) == text


def test_how_a_prompt_is_filled_in() -> None:
    arguments = [PromptArgument(name="a", required=True), PromptArgument(name="b")]
    assert prompt_signature(Prompt(name="p", arguments=arguments)) == "p(a, b?)"
    assert prompt_signature(Prompt(name="p")) == "p()"
