"""Tools, and what calling one takes and gives."""

from typing import Any

import msgspec
import pytest
from msgspec import Raw

from protocol.wire import stable
from splice.protocol.content import ImageContent, TextContent
from splice.protocol.jsonrpc import NULL
from splice.protocol.tools import CallToolParams, CallToolResult, ListToolsResult, Tool

TOOL = {
    "name": "add",
    "title": "Add",
    "description": "Adds.",
    "inputSchema": {
        "$schema": "x",
        "type": "object",
        "properties": {"a": {"anyOf": [{}]}},
        "additionalProperties": False,
    },
    "outputSchema": {"type": "array"},
    "annotations": {
        "title": "A",
        "readOnlyHint": True,
        "destructiveHint": False,
        "idempotentHint": True,
        "openWorldHint": False,
    },
    "execution": {"taskSupport": "optional"},
    "icons": [{"src": "data:,"}],
    "_meta": {"ui": {"resourceUri": "ui://a"}},
}


def test_a_tool_keeps_its_schemas_word_for_word() -> None:
    page = stable(ListToolsResult, {"tools": [TOOL, {"name": "b", "inputSchema": {}}], "nextCursor": "c"})
    assert page.tools[0].input_schema == TOOL["inputSchema"]
    assert page.tools[1] == Tool(name="b", input_schema={})


def test_arguments_are_not_read() -> None:
    text = b'{"name":"t","arguments": {"a" : 1e2, "b": null} }'
    params = msgspec.json.decode(text, type=CallToolParams)
    assert isinstance(params.arguments, Raw)
    assert bytes(params.arguments) == b'{"a" : 1e2, "b": null}'
    assert msgspec.json.encode(params) == b'{"name":"t","arguments":{"a" : 1e2, "b": null}}'


def test_answers_of_the_client_are_not_read() -> None:
    value = {"name": "t", "inputResponses": {"k": {"action": "accept"}}, "requestState": "s", "task": {"ttl": 5}}
    params = stable(CallToolParams, value)
    assert params.request_state == "s"
    assert isinstance(params.input_responses, dict)
    assert bytes(params.input_responses["k"]) == b'{"action": "accept"}'
    assert stable(CallToolParams, {"name": "t"}).arguments is None


@pytest.mark.parametrize("structured", [0, False, "", [], {}, {"a": 1}, [{"b": None}]])
def test_structured_content_is_any_json(structured: Any) -> None:
    result = stable(CallToolResult, {"content": [], "structuredContent": structured, "isError": True})
    assert result.structured_content == structured


def test_absent_and_null_read_alike_in_a_result_but_null_can_be_sent() -> None:
    for text in (b'{"content":[]}', b'{"content":[],"structuredContent":null}'):
        read = msgspec.json.decode(text, type=CallToolResult)
        assert (read.structured_content, read.is_error) == (None, False)
        assert msgspec.json.encode(read) == b'{"content":[]}'
    sent = CallToolResult(content=[], structured_content=NULL)
    assert msgspec.json.encode(sent) == b'{"content":[],"structuredContent":null}'


def test_text_is_what_the_text_blocks_say() -> None:
    picture = ImageContent(data="", mime_type="image/png")
    result = CallToolResult(content=[TextContent(text="a"), picture, TextContent(text="b\n"), TextContent(text="c")])
    assert result.text == "a\nb\n\nc"
    assert CallToolResult(content=[picture]).text == ""


@pytest.mark.parametrize("value", [{}, {"content": None}, {"content": [{"type": "tool_use"}]}, {"content": "x"}])
def test_a_result_has_content(value: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match="content"):
        msgspec.json.decode(msgspec.json.encode(value), type=CallToolResult)
