"""Anthropic's Messages format: what is sent. What comes back is shown over a connection in tests/faces/models."""

from typing import Any

import pytest

from splice.host.models.base import ModelEvent, ModelFailed, Stop, Use
from splice.host.models.messages import _MUST_CALL, Answer, request
from splice.host.models.schemas import portable_name
from splice.types import AudioContent, ImageContent, SamplingMessage, TextContent, ToolChoice, ToolResultContent
from splice.types import ToolUseContent as ToolUse
from support.model_server import WEATHER, asking


def test_results_come_first_and_neighbours_are_one() -> None:
    png = ImageContent(data="AAAA", mime_type="image/png")
    result = ToolResultContent(tool_use_id="functions.t:0", content=[png], is_error=True)
    sent = request(
        asking(
            "Go.",
            SamplingMessage(
                role="assistant", content=[TextContent(text=""), ToolUse(id="functions.t:0", name="t", input={})]
            ),
            SamplingMessage(role="user", content=[TextContent(text="And then?"), TextContent(text=" "), result]),
            SamplingMessage(role="user", content=AudioContent(data="A", mime_type="audio/wav")),
            system_prompt=" ",
            temperature=0.5,
            tools=[WEATHER, WEATHER],
            tool_choice=ToolChoice(mode="required"),
            stop_sequences=["END", "\n"],
        ),
        "claude",
    )
    user, model, after = sent["messages"]
    assert user == {"role": "user", "content": [{"type": "text", "text": "Go."}]}
    id = portable_name("functions.t:0")
    assert model["content"] == [{"type": "tool_use", "id": id, "name": "t", "input": {}}]
    assert [block["type"] for block in after["content"]] == ["tool_result", "text", "text"]
    assert after["content"][0] == {
        "type": "tool_result",
        "tool_use_id": id,
        "content": [{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}}],
        "is_error": True,
    }
    assert (sent["system"], sent["stop_sequences"]) == ([_MUST_CALL], ["END"])
    assert ["cache_control" in block for block in after["content"]] == [False, False, True]
    assert [("cache_control" in tool) for tool in sent["tools"]] == [False, True]
    assert not {"tool_choice", "temperature", "metadata"} & set(sent)


def use(index: int, name: str) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": {"type": "tool_use", "name": name}}


def read(*chunks: Any) -> list[ModelEvent]:
    answer = Answer(asking("Go."))
    return [event for chunk in chunks for event in answer.read(chunk)] + list(answer.end())


def test_a_use_whose_end_is_left_out_is_not_lost() -> None:
    more = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": '{"a":1}'}}
    over = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
    one, two, stop = read(use(0, "one"), more, use(0, "two"), over)
    assert isinstance(one, Use)
    assert isinstance(two, Use)
    assert (one.name, one.input, two.name, two.input, stop) == ("one", {"a": 1}, "two", {}, Stop("toolUse"))


def test_uses_that_never_end_are_counted_when_they_begin() -> None:
    with pytest.raises(ModelFailed, match="more than 128 tools"):
        read(*(use(index, "t") for index in range(129)))
