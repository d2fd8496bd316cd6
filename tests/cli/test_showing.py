"""Results and signatures as text for people."""

from typing import Any

import pytest

from splice.cli.showing import (
    block_text,
    contents_text,
    prompt_signature,
    result_text,
    title_of,
    tool_marks,
    tool_signature,
)
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
    ToolAnnotations,
)
from support.tables import rows


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (TextContent(text="a\x1bb"), "a\\x1bb"),
        (ImageContent(data="MTIz", mime_type="image/png\n"), "[image: image/png, 3 bytes]"),
        (AudioContent(data="MQ==", mime_type="audio/wav"), "[audio: audio/wav, 1 bytes]"),
        (ResourceLink(uri="a://\x1b", name="A\nB"), "[link to a://\\x1b: A B]"),
        (EmbeddedResource(resource=ResourceContents(uri="a://b", text="c\x07")), "[resource a://b]\nc\\x07"),
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


NOTE: dict[str, Any] = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "tags": {"type": "array", "items": {"type": "string"}},
        "next": {"type": "integer"},
    },
    "required": ["title"],
}


@rows(
    ("schema", "text"),
    [
        ({}, "t()"),
        ({"properties": {"a": {"type": "integer"}}, "required": ["a"]}, "t(a: integer)"),
        ({"properties": {"a": {"type": ["integer", "null"]}}}, "t(a?: integer | null)"),
        ({"properties": {"a": {"type": "string", "default": "x\n"}}}, 't(a: string = "x\\n")'),
        ({"properties": {"a": {"enum": ["x", 1]}}}, 't(a?: "x" | 1)'),
        ({"properties": {"a\x1b": True}}, "t(a\\x1b?: any)"),
        ({"properties": {"a": {"type": "array", "items": {"type": "string"}}}}, "t(a?: [string])"),
        ({"properties": {"a": {"type": "array", "items": {"enum": ["x"]}}}}, 't(a?: ["x"])'),
        (
            {"properties": {"a": {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}}},
            "t(a?: [integer] | null)",
        ),
        (
            {"properties": {"note": NOTE}, "required": ["note"]},
            "t(note: {title: string, tags?: [string], next?: integer})",
        ),
        (
            {
                "properties": {"a": {"$ref": "#/$defs/N"}},
                "$defs": {"N": {"type": "object", "properties": {"next": {"$ref": "#/$defs/N"}}}},
            },
            "t(a?: {next?: {next?: {next?: {next?: object}}}})",
        ),
        ({"properties": 5}, "t(?)"),
        ({"properties": {"a": {"enum": 5}}}, "t(?)"),
        ({"properties": {"a": {"anyOf": [{"$ref": "#/properties/a"}]}}}, "t(?)"),
        ({"properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "object"}}}, "t(a?: object)"),
    ],
)
def test_how_a_tool_is_called(schema: dict[str, Any], text: str) -> None:
    assert tool_signature(Tool(name="t", input_schema=schema)) == text


def test_how_a_prompt_is_filled_in() -> None:
    arguments = [PromptArgument(name="a", required=True), PromptArgument(name="b")]
    assert prompt_signature(Prompt(name="p", arguments=arguments)) == "p(a, b?)"
    assert prompt_signature(Prompt(name="p")) == "p()"


@pytest.mark.parametrize(
    ("hints", "marks"),
    [
        ({}, ""),
        ({"read_only_hint": True, "destructive_hint": True, "idempotent_hint": True}, "[read-only]"),
        ({"destructive_hint": True, "idempotent_hint": True}, "[destructive, idempotent]"),
        ({"destructive_hint": False}, ""),
    ],
)
def test_hints_about_a_tool(hints: dict[str, Any], marks: str) -> None:
    assert tool_marks(Tool(name="t", input_schema={}, annotations=ToolAnnotations(**hints))) == marks
    assert tool_marks(Tool(name="t", input_schema={})) == ""


def test_titles() -> None:
    hints = ToolAnnotations(title="Hinted")
    assert title_of(Tool(name="t", input_schema={}, title="The \x1b tool", annotations=hints)) == "The \\x1b tool"
    assert title_of(Tool(name="t", input_schema={}, annotations=hints)) == "Hinted"
    assert title_of(Tool(name="t", input_schema={}, title="t")) == ""
    assert title_of(Prompt(name="p")) == ""
