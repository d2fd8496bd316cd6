"""The chat completions format: what is sent, and what odd endpoints send back."""

from typing import Any

import pytest

from splice.host.models.base import ModelEvent, ModelFailed, Stop, Text, Usage, Use
from splice.host.models.chat import Answer, request
from splice.host.models.schemas import portable_name
from splice.types import (
    AudioContent,
    EmbeddedResource,
    ImageContent,
    ResourceContents,
    ResourceLink,
    SamplingMessage,
    TextContent,
    Tool,
    ToolChoice,
    ToolResultContent,
    ToolUseContent,
    UnknownContent,
)
from support.model_server import WEATHER, asking, call, delta
from support.tables import rows

PNG = ImageContent(data="AAAA", mime_type="image/png")


def test_messages_are_written_in_the_order_that_the_format_wants() -> None:
    uses = [ToolUseContent(id="1", name="a tool!", input={"x": 1}), ToolUseContent(id="2", name="t", input={})]
    results = [
        ToolResultContent(tool_use_id="1", content=[TextContent(text="Here:"), PNG], is_error=True),
        ToolResultContent(tool_use_id="2", content=[], structured_content={"n": 1}),
    ]
    sent = request(
        asking(
            "Go.",
            SamplingMessage(role="assistant", content=[TextContent(text="Yes."), TextContent(text=""), *uses]),
            SamplingMessage(role="user", content=[*results, TextContent(text="  ")]),
            SamplingMessage(role="assistant", content=TextContent(text="")),
            system_prompt="Be short.",
            tools=[WEATHER],
            tool_choice=ToolChoice(mode="required"),
            stop_sequences=["END", ""],
            metadata={"user": "somebody"},
        ),
        "small",
    )
    system, user, model, first, second, seen = sent["messages"]
    assert (system["content"], user["content"], model["content"]) == ("Be short.", "Go.", "Yes.")
    assert model["tool_calls"][0]["function"]["name"].startswith("a_tool__")
    assert model["tool_calls"][0]["function"]["arguments"] == '{"x":1}'
    assert (first["role"], first["tool_call_id"]) == ("tool", "1")
    assert first["content"].startswith("The tool failed:\nHere:\n(What can be seen")
    assert second["content"] == '{"n":1}'
    assert seen["content"][1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    assert (sent["tool_choice"], sent["stop"], sent["max_tokens"]) == ("required", ["END"], 500)
    assert "metadata" not in sent


def test_openai_itself_is_told_in_its_own_words() -> None:
    sent = request(asking(temperature=0.5), "small", is_openai=True)
    assert (sent["max_completion_tokens"], set(sent) & {"max_tokens", "temperature"}) == (500, set())
    assert request(asking(temperature=0.5), "small")["temperature"] == 0.5


@pytest.mark.parametrize(
    ("block", "text"),
    [
        (ResourceLink(uri="a:b", name="n"), "Resource n: a:b"),
        (EmbeddedResource(resource=ResourceContents(uri="a:b", text="words")), "words"),
        (EmbeddedResource(resource=ResourceContents(uri="a:b", blob="AA==")), "which is not text"),
        (UnknownContent(type="hologram"), "(Content of type hologram left out.)"),
        (TextContent(text=" "), "(The tool returned nothing.)"),
    ],
)
def test_any_content_of_a_result_is_told(block: Any, text: str) -> None:
    result = SamplingMessage(role="user", content=[ToolResultContent(tool_use_id="1", content=[block])])
    assert text in request(asking("Go.", result), "small")["messages"][1]["content"]


def test_what_a_model_cannot_take_is_said_in_words() -> None:
    odd: list[Any] = [AudioContent(data="A", mime_type="audio/ogg"), ImageContent(data="A", mime_type="image/tiff")]
    heard = AudioContent(data="A", mime_type="audio/wav")
    sent = request(asking("", SamplingMessage(role="user", content=[*odd, heard])), "small")["messages"]
    assert [part["type"] for part in sent[0]["content"]] == ["text", "text", "input_audio"]
    assert "image/tiff" in sent[0]["content"][1]["text"]


def read(*chunks: Any, tools: list[Tool] | None = None, stops: list[str] | None = None) -> list[ModelEvent]:
    answer = Answer(asking(tools=tools, stop_sequences=stops))
    events = [event for chunk in chunks for event in answer.read(chunk)]
    return [*events, *answer.end()]


END = delta(finish="stop")
PARTS: Any = {"content": [{"type": "text", "text": "a"}, {"type": "thinking"}]}
"""Content as parts, which some providers send."""
ODD_NAME = Tool(name="weather/now", input_schema={})


@rows(
    ("chunks", "events"),
    [
        ([delta("a"), END], [Text("a"), Stop("endTurn")]),
        ([delta("a"), delta(finish="length")], [Text("a"), Stop("maxTokens")]),
        ([delta(refusal="I will not."), END], [Text("I will not."), Stop("refusal")]),
        ([delta(finish="content_filter")], [Stop("refusal")]),
        ([delta(finish="something new")], [Stop("endTurn")]),
        ([{"choices": [{"delta": {}, "finish_reason": "stop", "stop_reason": "END"}]}], [Stop("stopSequence")]),
        ([{"choices": []}, {"usage": {"prompt_tokens": 3}}, END], [Usage(3, 0), Stop("endTurn")]),
        ([delta(**PARTS), END], [Text("a"), Stop("endTurn")]),
        (  # without an index, or with the same for all
            [delta(tool_calls=[call(None, "1", "t", "{}"), call(None, "2", "t", '{"a": 1}')]), END],
            [Use("1", "t", {}), Use("2", "t", {"a": 1}), Stop("toolUse")],
        ),
        (
            [delta(tool_calls=[call(0, "1", "t", {"a": 1})]), delta(tool_calls=[call(0, "2", "u")]), END],
            [Use("1", "t", {"a": 1}), Use("2", "u", {}), Stop("toolUse")],
        ),
        (  # the whole name in each part
            [delta(tool_calls=[call(0, "1", "t", "{")]), delta(tool_calls=[call(0, None, "t", "}")]), END],
            [Use("1", "t", {}), Stop("toolUse")],
        ),
        (
            [delta(tool_calls=[call(0, "1", "t", '{"a"')]), delta(finish="length")],
            [Use("1", "t", {}, malformed='{"a"'), Stop("maxTokens")],
        ),
        ([delta(tool_calls=[call(0, "1", "t", "[1]")]), END], [Use("1", "t", {}, malformed="[1]"), Stop("toolUse")]),
        (
            [delta(tool_calls=[call(0, "1", portable_name("weather/now"))]), END],
            [Use("1", "weather/now", {}), Stop("toolUse")],
        ),
    ],
)
def test_an_answer_is_read_however_it_comes(chunks: list[Any], events: list[ModelEvent]) -> None:
    assert read(*chunks, tools=[ODD_NAME], stops=["END"]) == events


def test_calls_have_ids_of_their_own() -> None:
    events = read(delta(tool_calls=[call(0, None, "t"), call(1, "x", "t"), call(2, "x", "t")]), END)
    ids = [event.id for event in events if isinstance(event, Use)]
    assert len(set(ids)) == 3
    assert all(ids)


@pytest.mark.parametrize("chunk", ["text", {"choices": 7}, {"choices": [{"delta": {"content": 7}}]}, None, [END]])
def test_what_is_no_chunk_is_refused(chunk: Any) -> None:
    with pytest.raises(ModelFailed, match="not in the chat completions format"):
        read(chunk)


def test_an_answer_without_an_end_is_cut_off() -> None:
    with pytest.raises(ModelFailed, match="cut off"):
        read(delta("half"))


def test_an_answer_does_not_grow_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splice.host.models.pieces.MAX_ANSWER_BYTES", 10)
    with pytest.raises(ModelFailed, match="larger than"):
        read(delta("12345678901"))
    with pytest.raises(ModelFailed, match="more than 128 tools"):
        read(*(delta(tool_calls=[call(n, str(n))]) for n in range(129)))


def test_arguments_that_nest_too_deeply_are_not_called() -> None:
    deep = '{"a":' + "[" * 500 + "]" * 500 + "}"
    use, _ = read(delta(tool_calls=[call(0, "a", "t", deep)]), END)
    assert isinstance(use, Use)
    assert (use.input, use.malformed) == ({}, deep)
