"""A script says what it was told to say, in its order, and says when it cannot."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from splice.host.models.base import ModelEvent, ModelFailed, Stop, Text, Use
from splice.host.models.script import ScriptModel
from splice.types import SamplingMessage, TextContent, ToolResultContent
from support.model_server import asking

TOML = """
[[turn]]
say = "I look  at the\\nweather."
call = [{name = "travel_checkWeather", arguments = {city = "Oslo"}}, {name = "broken", arguments = "{"}]

[[turn]]
after = "rain"
say = "Take an umbrella."
"""


def play(model: ScriptModel, **more: Any) -> list[ModelEvent]:
    async def main() -> list[ModelEvent]:
        return [event async for event in model.stream(asking(**more))]

    return asyncio.run(main())


def result(text: str) -> SamplingMessage:
    return SamplingMessage(role="user", content=[ToolResultContent(tool_use_id="1", content=[TextContent(text=text)])])


def test_a_script_is_played_turn_by_turn(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(TOML)
    model = ScriptModel.from_file(tmp_path / "a.toml")
    events = play(model)
    words = [event.text for event in events if isinstance(event, Text)]
    assert len(words) == 5
    assert "".join(words) == "I look  at the\nweather."
    assert [event for event in events if isinstance(event, Use | Stop)] == [
        Use("script_1", "travel_checkWeather", {"city": "Oslo"}),
        Use("script_2", "broken", {}, malformed="{"),
        Stop("toolUse"),
    ]

    async def second() -> list[ModelEvent]:
        return [event async for event in model.stream(asking("Go.", result("some rain")))]

    assert asyncio.run(second())[-1] == Stop("endTurn")
    with pytest.raises(ModelFailed, match="it has 2 turns"):
        play(model)
    assert not model.is_ai


def test_a_word_that_does_not_come_fails_the_script() -> None:
    with pytest.raises(ModelFailed, match=r"Turn 1 of the script waits for 'rain', but got: What is the weather\?"):
        play(ScriptModel([{"after": "rain", "say": "x"}]))


def test_a_script_can_fail_and_stop_as_models_do() -> None:
    model = ScriptModel([{"say": "I", "fail": {"kind": "limit", "retry_after": 3}}, {"say": "No.", "stop": "refusal"}])
    with pytest.raises(ModelFailed) as caught:
        play(model)
    assert (caught.value.kind, caught.value.retry_after) == ("limit", 3)
    assert play(model)[-1] == Stop("refusal")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.toml", "turn = 7", "Expected `array`"),
        ("a.toml", "[[turn", "not a script"),
        ("a.json", '{"turn": [{"says": "typo"}]}', "unknown field `says`"),
        ("a.json", '{"turn": [{"stop": "later"}]}', "Invalid enum value"),
    ],
)
def test_what_is_not_a_script_is_refused(tmp_path: Path, name: str, text: str, words: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=words):
        ScriptModel.from_file(tmp_path / name)
