"""Answers are recorded and played again, and nothing but answers."""

import asyncio
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from splice.host.models.base import Model, ModelEvent, ModelFailed
from splice.host.models.replay import RecordingModel, ReplayModel, cassette, request_hash
from splice.host.models.script import ScriptModel
from splice.types import ModelPreferences, SamplingMessage, TextContent
from support.model_server import WEATHER, asking

TURNS: list[dict[str, Any]] = [
    {"say": "Hello there.", "call": [{"name": "t", "arguments": {"a": 1}}, {"name": "t", "arguments": "{"}]},
    {"say": "Once more."},
    {"say": "I", "fail": {"kind": "limit", "message": "slow", "retry_after": 2}},
]


def ask(model: Model, text: str, **more: Any) -> list[ModelEvent]:
    async def main() -> list[ModelEvent]:
        return [event async for event in model.stream(asking(text, **more))]

    return asyncio.run(main())


def test_what_was_recorded_is_played_again(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    recording = RecordingModel(ScriptModel(TURNS), tape)
    first, second = ask(recording, "my secret"), ask(recording, "my secret")
    with pytest.raises(ModelFailed):
        ask(recording, "third")
    model = ReplayModel(tape)
    assert [ask(model, "my secret") for _ in range(3)] == [first, second, second]
    with pytest.raises(ModelFailed, match="slow") as caught:
        ask(model, "third")
    assert (caught.value.kind, caught.value.retry_after) == ("limit", 2)
    with pytest.raises(ModelFailed, match=r"tape\.jsonl has no answer to this request \(\w{12}\)\. Record it again"):
        ask(model, "fourth")
    assert "secret" not in tape.read_text()
    assert stat.S_IMODE(tape.stat().st_mode) == 0o600
    assert (recording.id, recording.is_ai, model.is_ai) == ("script", False, False)


def test_an_answer_that_nobody_waits_for_is_not_recorded(tmp_path: Path) -> None:
    async def main() -> None:
        stream = RecordingModel(ScriptModel(TURNS), tmp_path / "tape.jsonl").stream(asking())
        await anext(stream)
        await stream.aclose()  # type: ignore[attr-defined]  # it is a generator

    asyncio.run(main())
    assert not (tmp_path / "tape.jsonl").exists()


def test_requests_are_the_same_when_a_model_reads_the_same() -> None:
    words = TextContent(text="a")
    one = asking("x", SamplingMessage(role="user", content=words))
    same = asking("x", SamplingMessage(role="user", content=[words]), model_preferences=ModelPreferences())
    assert request_hash(one) == request_hash(same)
    different = [asking("y"), asking("x"), asking("x", tools=[WEATHER]), asking("x", system_prompt="s"), one]
    assert len({request_hash(each) for each in different}) == 5


def test_a_cassette_that_was_there_becomes_private(tmp_path: Path) -> None:
    for record in (cassette, lambda tape: ask(RecordingModel(ScriptModel(TURNS), tape), "go")):
        tape = tmp_path / "tape.jsonl"
        tape.touch(mode=0o644)
        tape.chmod(0o644)
        record(tape)
        assert stat.S_IMODE(tape.stat().st_mode) == 0o600


@pytest.mark.parametrize("kind", ["link", "dangling", "folder", "pipe"])
def test_a_cassette_that_is_no_file_is_refused(tmp_path: Path, kind: str) -> None:
    tape, other = tmp_path / "tape.jsonl", tmp_path / "other"
    if kind == "link":
        other.write_text("kept")
        other.chmod(0o644)
    if kind in ("link", "dangling"):
        tape.symlink_to(other)
    elif kind == "folder":
        tape.mkdir()
    else:
        os.mkfifo(tape)
    for record in (cassette, lambda tape: ask(RecordingModel(ScriptModel(TURNS), tape), "go")):
        with pytest.raises(ValueError, match=r"tape\.jsonl is a link, a folder or a device; name a file"):
            record(tape)
    assert other.exists() == (kind == "link")
    assert kind != "link" or (other.read_text(), stat.S_IMODE(other.stat().st_mode)) == ("kept", 0o644)


def test_a_pipe_that_takes_the_place_of_a_cassette_gets_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tape = tmp_path / "tape.jsonl"
    os.mkfifo(tape)
    reader = os.open(tape, os.O_RDONLY | os.O_NONBLOCK)
    try:
        monkeypatch.setattr(Path, "exists", lambda _: False)  # as it was when it was looked at
        with pytest.raises(ValueError, match=r"tape\.jsonl is a link, a folder or a device; name a file"):
            ask(RecordingModel(ScriptModel(TURNS), tape), "go")
        assert os.read(reader, 1) == b""
    finally:
        os.close(reader)


def test_a_broken_cassette_is_told_with_its_line(tmp_path: Path) -> None:
    tape = tmp_path / "tape.jsonl"
    tape.write_text('{"request": "a", "events": []}\n{"request": 7}\n')
    with pytest.raises(ValueError, match=r"tape\.jsonl: line 2 is not a recorded answer"):
        ReplayModel(tape)
