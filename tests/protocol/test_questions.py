"""What a server may ask, and what a client answers."""

from contextlib import nullcontext
from typing import Any

import msgspec
import pytest
from msgspec import Raw, Struct

from protocol.wire import stable
from splice.protocol.content import TextContent, ToolResultContent, ToolUseContent
from splice.protocol.questions import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitationCompleteParams,
    ElicitParams,
    ElicitResult,
    InputRequest,
    InputRequiredResult,
    ListRootsResult,
    SamplingMessage,
    check_sampling_messages,
)
from support.tables import rows

TEXT = {"type": "text", "text": "x"}


@rows(
    ("kind", "value"),
    [
        (
            CreateMessageParams,
            {
                "messages": [
                    {"role": "user", "content": TEXT},
                    {"role": "assistant", "content": [{"type": "tool_use", "id": "1", "name": "t", "input": {}}]},
                    {"role": "user", "content": [{"type": "tool_result", "toolUseId": "1", "content": [TEXT]}]},
                ],
                "maxTokens": 5,
                "systemPrompt": "s",
                "modelPreferences": {
                    "hints": [{"name": "m"}, {}],
                    "costPriority": 0.5,
                    "speedPriority": 0.25,
                    "intelligencePriority": 1,
                },
                "includeContext": "thisServer",
                "temperature": 0.1,
                "stopSequences": ["."],
                "metadata": {"a": None},
                "tools": [{"name": "t", "inputSchema": {"type": "object"}}],
                "toolChoice": {"mode": "required"},
                "task": {},
                "_meta": {"progressToken": 1},
            },
        ),
        (CreateMessageResult, {"role": "assistant", "content": TEXT, "model": "m", "stopReason": "endTurn"}),
        (CreateMessageResult, {"role": "assistant", "content": [], "model": "m", "stopReason": "toolUse", "_meta": {}}),
        (ElicitParams, {"message": "m", "requestedSchema": {"type": "object", "properties": {}}}),
        (ElicitParams, {"mode": "form", "message": "m", "requestedSchema": {}, "task": {"ttl": 1}}),
        (ElicitParams, {"mode": "url", "message": "m", "url": "https://a.example/", "elicitationId": "e"}),
        (ElicitParams, {"mode": "url", "message": "m", "url": "https://a.example/"}),
        (ElicitResult, {"action": "decline"}),
        (ElicitResult, {"action": "accept", "content": {"a": 3.5, "b": 1, "c": None, "d": True, "e": "x", "f": ["y"]}}),
        (ListRootsResult, {"roots": [{"uri": "file:///a", "name": "a", "_meta": {}}], "_meta": {"b": 1}}),
        (InputRequest, {"method": "roots/list"}),
        (InputRequest, {"method": "elicitation/create", "params": {"message": "m"}}),
        (InputRequiredResult, {"resultType": "input_required", "requestState": ""}),
        (
            InputRequiredResult,
            {"resultType": "input_required", "inputRequests": {"k": {"method": "roots/list"}}, "_meta": {"a": 1}},
        ),
        (InputRequiredResult, {"resultType": "input_required", "inputRequests": {}}),
        (ElicitationCompleteParams, {"elicitationId": "e"}),
    ],
)
def test_round_trips(kind: type[Struct], value: Any) -> None:
    stable(kind, value)


def test_content_as_a_list_however_it_was_written() -> None:
    block, use = TextContent(text="x"), ToolUseContent(id="1", name="t", input={})
    assert SamplingMessage(role="user", content=block).blocks == [block]
    assert SamplingMessage(role="user", content=[block, use]).blocks == [block, use]
    assert CreateMessageResult(role="assistant", content=block, model="m").blocks == [block]
    assert CreateMessageResult(role="assistant", content=[use], model="m").blocks == [use]
    assert CreateMessageResult(role="assistant", content=[block, use, block], model="m").text == "x\nx"


@pytest.mark.parametrize(
    ("value", "missing"),
    [
        ({"message": "m"}, "requestedSchema"),
        ({"message": "m", "url": "a:"}, "requestedSchema"),
        ({"message": "m", "mode": "form", "url": "a:"}, "requestedSchema"),
        ({"message": "m", "mode": "url", "requestedSchema": {}}, "url"),
        ({"mode": "url", "url": "a:"}, "message"),
        ({"message": "m", "mode": "song", "requestedSchema": {}}, "song"),
    ],
)
def test_an_elicitation_has_what_its_mode_needs(value: dict[str, Any], missing: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=missing):
        msgspec.json.decode(msgspec.json.encode(value), type=ElicitParams)


@pytest.mark.parametrize("value", [{"a": {}}, {"a": [1]}, {"a": [["x"]]}])
def test_a_filled_form_is_flat(value: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError, match="content"):
        msgspec.json.decode(msgspec.json.encode({"action": "accept", "content": value}), type=ElicitResult)


def test_an_input_required_result_always_says_so() -> None:
    result = InputRequiredResult(input_requests={"k": InputRequest(method="roots/list", params=Raw(b"{}"))})
    assert result.result_type == "input_required"
    assert msgspec.json.encode(result) == (
        b'{"resultType":"input_required","inputRequests":{"k":{"method":"roots/list","params":{}}}}'
    )
    assert result.request_state is None


@pytest.mark.parametrize(
    "value", [{}, {"resultType": "input_required"}, {"resultType": "complete", "requestState": "s"}]
)
def test_an_input_required_result_gives_something_to_come_back_with(value: dict[str, Any]) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(msgspec.json.encode(value), type=InputRequiredResult)


def test_null_is_absent_where_something_must_be_there() -> None:
    for value in ({"message": "m", "requestedSchema": None}, {"message": "m", "mode": "url", "url": None}):
        with pytest.raises(msgspec.ValidationError, match="Elicitation by"):
            msgspec.json.decode(msgspec.json.encode(value), type=ElicitParams)
    with pytest.raises(msgspec.ValidationError, match="input_required result"):
        msgspec.json.decode(
            b'{"resultType":"input_required","inputRequests":null,"requestState":null}', type=InputRequiredResult
        )
    assert msgspec.json.decode(b'{"method":"roots/list","params":null}', type=InputRequest).params is None


def use(*ids: str) -> SamplingMessage:
    return SamplingMessage(role="assistant", content=[ToolUseContent(id=id, name="t", input={}) for id in ids])


def results(*ids: str, text: bool = False) -> SamplingMessage:
    blocks: list[Any] = [ToolResultContent(tool_use_id=id, content=[]) for id in ids]
    return SamplingMessage(role="user", content=[*blocks, *([TextContent(text="and")] if text else [])])


SAID = SamplingMessage(role="user", content=TextContent(text="hi"))


@rows(
    ("messages", "told"),
    [
        ([], None),
        ([SAID, use("1"), results("1"), SAID], None),
        ([use("1", "2"), results("2", "1")], None),
        ([use("1"), results("1"), use("1"), results("1")], None),
        ([results("1")], "are due"),
        ([use("1")], "are due"),
        ([use("1"), SAID], "are due"),
        ([use("1"), SAID, results("1")], "are due"),
        ([use("1", "2"), results("1")], "are due"),
        ([use("1"), results("1", "1")], "are due"),
        ([use("1"), results("2")], "are due"),
        ([use("1"), results("1", text=True)], "mixed with other content"),
    ],
)
def test_each_use_of_a_tool_has_its_result_at_once(messages: list[SamplingMessage], told: str | None) -> None:
    """Requirements 358 and 359."""
    with nullcontext() if told is None else pytest.raises(ValueError, match=told):
        check_sampling_messages(messages)
