"""The Messages format over a real connection, by Anthropic's own SDK."""

import asyncio
from typing import Any

import pytest

from splice.host.models.anthropic import AnthropicModel
from splice.host.models.base import ModelFailed, Stop, Text, Usage, Use
from support.model_server import KEY, WEATHER, Reply, asking, named, provider, refusing

START = {"type": "message_start", "message": {"usage": {"input_tokens": 5, "cache_read_input_tokens": 20}}}


def block(index: int, **content: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": content}


def more(index: int, **delta: Any) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": delta}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def ended(reason: str) -> list[dict[str, Any]]:
    last = {"type": "message_delta", "delta": {"stop_reason": reason}, "usage": {"output_tokens": 9}}
    return [last, {"type": "message_stop"}]


def test_text_calls_and_usage_come_as_events() -> None:
    async def main() -> None:
        async with provider(
            named(
                START,
                {"type": "ping"},
                block(0, type="thinking", thinking=""),
                more(0, type="thinking_delta", thinking="Hm."),
                stop(0),
                block(1, type="text", text=""),
                more(1, type="text_delta", text="It may rain."),
                stop(1),
                block(2, type="tool_use", id="a", name="travel_checkWeather", input={}),
                more(2, type="input_json_delta", partial_json='{"city": '),
                more(2, type="input_json_delta", partial_json='"Oslo"}'),
                stop(2),
                block(3, type="tool_use", id="b", name="travel_checkWeather", input={}),
                more(3, type="input_json_delta", partial_json="[1"),
                stop(3),
                *ended("tool_use"),
            )
        ) as given:
            model = AnthropicModel("claude", KEY, base_url=given.url)
            events = [event async for event in model.stream(asking(tools=[WEATHER], system_prompt="Be short."))]
            assert events == [
                Usage(25, 0),
                Text("It may rain."),
                Use("a", "travel_checkWeather", {"city": "Oslo"}),
                Use("b", "travel_checkWeather", {}, malformed="[1"),
                Usage(25, 9),
                Stop("toolUse"),
            ]
            sent = given.asked[0]
            assert given.paths == ["POST /v1/messages HTTP/1.1"]
            assert KEY in given.headers[0]["authorization"]
            assert [sent["system"][-1], sent["tools"][-1]] == [
                {"type": "text", "text": "Be short.", "cache_control": {"type": "ephemeral"}},
                sent["tools"][-1] | {"cache_control": {"type": "ephemeral"}},
            ]

    asyncio.run(main())


def test_a_refusal_ends_the_answer_with_what_was_said() -> None:
    async def main() -> None:
        text = block(0, type="text", text=""), more(0, type="text_delta", text="I will not."), stop(0)
        async with provider(named(START, *text, *ended("refusal")), named(START, *ended("refusal"))) as given:
            model = AnthropicModel("claude", KEY, base_url=given.url)
            assert [event async for event in model.stream(asking())] == [
                Usage(25, 0), Text("I will not."), Usage(25, 9), Stop("refusal")
            ]  # fmt: skip
            assert [event async for event in model.stream(asking())] == [Usage(25, 0), Usage(25, 9), Stop("refusal")]

    asyncio.run(main())


ERROR = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (refusing(429, {"error": {"type": "rate_limit_error", "message": "slow"}}, retry_after="7"), "limit", "slow"),
        (refusing(401, {"error": {"message": f"bad {KEY}"}}), "login", "[key]"),
        (refusing(529, ERROR), "overloaded", "Overloaded"),
        (refusing(400, {"error": {"message": "prompt is too long: 9 > 8"}}), "too long", "too long"),
        (refusing(307, {}, location="http://127.0.0.1:9/"), "wrong request", "leads elsewhere"),
        (named(START, ERROR), "overloaded", "Overloaded"),
        (Reply(named(START).parts, end="cut"), "connection", "failed"),
        (named(START, block(0, type="text", text="half")), "connection", "cut off"),
        (named(START, more(0, type=["odd"])), "wrong answer", "format"),
        (Reply([b"event: message_start\ndata: {nonsense\n\n"]), "wrong answer", "does not understand"),
        (Reply(end="hangs"), "connection", "failed"),
        (Reply(named(START).parts, end="hangs"), "connection", "failed"),
        (None, "connection", "failed"),
    ],
)
def test_what_goes_wrong_is_said_without_keys(reply: Reply | None, kind: str, words: str) -> None:
    async def main() -> ModelFailed:
        async with provider(*[reply] if reply is not None else []) as given:
            url = given.url if reply is not None else "http://127.0.0.1:9"
            model = AnthropicModel("claude", KEY, base_url=url)
            model.timeout = 0.2 if reply is not None and reply.end == "hangs" else 5
            with pytest.raises(ModelFailed) as caught:
                [event async for event in model.stream(asking())]
            return caught.value

    failed = asyncio.run(main())
    assert (failed.kind, words in failed.message) == (kind, True), failed.message
    assert failed.retry_after == (7 if kind == "limit" else None)
    assert KEY not in f"{failed!r} {failed.__cause__!r}"


def test_an_endpoint_that_does_not_close_is_left_at_the_end() -> None:
    async def main() -> None:
        async with provider(Reply(named(START, *ended("end_turn")).parts, end="hangs")) as given:
            model = AnthropicModel("claude", KEY, base_url=given.url)
            async with asyncio.timeout(5):
                assert [event async for event in model.stream(asking())][-1] == Stop("endTurn")
            await asyncio.wait_for(given.left.wait(), 5)

    asyncio.run(main())


def test_a_stream_that_is_left_closes_its_connection() -> None:
    async def main() -> None:
        text = block(0, type="text", text="It")
        async with provider(Reply(named(START, text).parts, end="hangs")) as given:
            begun = asyncio.Event()

            async def read() -> None:
                async for _ in AnthropicModel("claude", KEY, base_url=given.url).stream(asking()):
                    begun.set()

            task = asyncio.create_task(read())
            await asyncio.wait_for(begun.wait(), 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(given.left.wait(), 5)

    asyncio.run(main())
