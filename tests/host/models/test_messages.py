"""Anthropic's Messages format: what is sent. What comes back is shown over a connection in tests/faces/models."""

from splice.host.models.messages import _MUST_CALL, request
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
