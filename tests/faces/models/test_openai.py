"""The chat completions format over a real connection, by OpenAI's own SDK."""

import asyncio
import gzip
from typing import Any

import pytest

from splice.host.models.base import ModelEvent, ModelFailed, Stop, Text, Usage, Use, closing
from splice.host.models.openai import OpenAIModel
from support.model_server import KEY, WEATHER, Provider, Reply, asking, call, data, delta, provider, refusing


async def ask(given: Provider, **more: Any) -> list[ModelEvent]:
    model = OpenAIModel("small", KEY, id="openai/small", base_url=f"{given.url}/v1")
    async with closing(model.stream(asking(**more))) as events:
        return [event async for event in events]


def failure(*replies: Reply, timeout: float = 5) -> ModelFailed:
    async def main() -> ModelFailed:
        async with provider(*replies) as given:
            model = OpenAIModel("small", KEY, base_url=f"{given.url}/v1")
            model.timeout = timeout
            with pytest.raises(ModelFailed) as caught:
                [event async for event in model.stream(asking())]
            return caught.value

    failed = asyncio.run(main())
    assert KEY not in f"{failed!r} {failed.__cause__!r}"
    assert failed.__context__ is None or failed.__suppress_context__
    return failed


def test_text_calls_and_usage_come_as_events() -> None:
    async def main() -> None:
        async with provider(
            data(
                delta("It may "),
                delta("rain."),
                delta(tool_calls=[call(0, "a", "travel_check"), call(1, "b", "other", "{}")]),
                delta(tool_calls=[call(0, None, "Weather", '{"ci')]),
                delta(tool_calls=[call(0, None, None, 'ty": "Oslo"}')]),
                delta(finish="tool_calls"),
                {"choices": [], "usage": {"prompt_tokens": 11, "completion_tokens": 7}},
            )
        ) as given:
            assert await ask(given, tools=[WEATHER], system_prompt="Be short.") == [
                Text("It may "),
                Text("rain."),
                Usage(11, 7),
                Use("a", "travel_checkWeather", {"city": "Oslo"}),
                Use("b", "other", {}),
                Stop("toolUse"),
            ]
            sent = given.asked[0]
            assert given.paths == ["POST /v1/chat/completions HTTP/1.1"]
            assert given.headers[0]["authorization"] == f"bearer {KEY}"
            assert [message["role"] for message in sent["messages"]] == ["system", "user"]
            assert sent["tools"][0]["function"]["name"] == "travel_checkWeather"

    asyncio.run(main())


def test_a_refusal_and_arguments_that_are_no_object_come_as_what_they_are() -> None:
    async def main() -> None:
        refused = data(delta(refusal="I will "), delta(refusal="not."), delta(finish="stop"))
        wrong = data(
            delta(tool_calls=[call(0, "a", "travel_checkWeather", '{"city": ')]),
            delta(tool_calls=[call(1, "b", "travel_checkWeather", '["Oslo"]')]),
            delta(finish="tool_calls"),
        )
        async with provider(refused, wrong) as given:
            assert await ask(given) == [Text("I will "), Text("not."), Stop("refusal")]
            assert await ask(given, tools=[WEATHER]) == [
                Use("a", "travel_checkWeather", {}, malformed='{"city": '),
                Use("b", "travel_checkWeather", {}, malformed='["Oslo"]'),
                Stop("toolUse"),
            ]

    asyncio.run(main())


def test_a_request_that_is_cancelled_closes_its_connection() -> None:
    async def main() -> None:
        async with provider(Reply([b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'], end="hangs")) as given:
            begun = asyncio.Event()

            async def read() -> None:
                async for _ in OpenAIModel("small", base_url=given.url).stream(asking()):
                    begun.set()

            task = asyncio.create_task(read())
            await asyncio.wait_for(begun.wait(), 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(given.left.wait(), 5)

    asyncio.run(main())


@pytest.mark.parametrize(
    ("reply", "kind", "words"),
    [
        (refusing(429, {"error": {"message": "slow down"}}, retry_after="7"), "limit", "slow down"),
        (refusing(401, {"error": {"message": f"Incorrect API key: {KEY}"}}), "login", "Check the key"),
        (refusing(503, "busy"), "overloaded", "Try again later"),
        (refusing(400, {"error": {"code": "context_length_exceeded", "message": "x"}}), "too long", "too long"),
        (refusing(307, {}, location="http://127.0.0.1:9/"), "wrong request", "leads elsewhere"),
        (Reply([b'data: {"choices": [{"delta": {"content": "a"}}]}\n\n'], end="cut"), "connection", "failed"),
        (data(delta("half"), done=False), "connection", "cut off"),
        (Reply([b"data: {nonsense\n\n"]), "wrong answer", "does not understand"),
        (data({"error": {"message": "out of memory"}}), "overloaded", "out of memory"),
    ],
)
def test_what_goes_wrong_is_said_without_keys(reply: Reply, kind: str, words: str) -> None:
    failed = failure(reply)
    assert (failed.kind, words in failed.message) == (kind, True), failed.message
    assert failed.retry_after == (7 if kind == "limit" else None)


def test_an_endpoint_that_says_nothing_is_left_in_time() -> None:
    assert failure(Reply(end="hangs"), timeout=0.1).kind == "connection"


def test_an_endpoint_that_is_not_there_is_told() -> None:
    async def main() -> None:
        with pytest.raises(ModelFailed, match="The connection to the program on this computer failed") as caught:
            [event async for event in OpenAIModel("a", KEY, base_url="http://127.0.0.1:9/v1").stream(asking())]
        assert caught.value.kind == "connection"

    asyncio.run(main())


def test_a_key_is_sent_by_https_only() -> None:
    with pytest.raises(ModelFailed, match="no key is sent"):
        OpenAIModel("a", KEY, base_url="http://models.example.com/v1")
    assert KEY not in repr(OpenAIModel("a", KEY))


def test_what_the_environment_says_to_the_provider_is_not_said_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ORG_ID", "PROJECT_ID", "API_KEY", "ADMIN_KEY"):
        monkeypatch.setenv(f"OPENAI_{name}", f"private-{name}")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: private\nAuthorization: Bearer private")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")

    async def main() -> None:
        async with provider(data(delta("a", finish="stop")), data(delta("a", finish="stop"))) as given:
            for key in (KEY, ""):
                model = OpenAIModel("small", key, base_url=f"{given.url}/v1")
                assert [event async for event in model.stream(asking())] == [Text("a"), Stop("endTurn")]
            assert "private" not in str(given.headers)
            assert [headers.get("authorization") for headers in given.headers] == [f"bearer {KEY}", None]

    asyncio.run(main())


@pytest.mark.parametrize(
    ("reply", "most"),
    [
        (Reply([b"data: " + b"x" * 2_000]), 10_000),
        (Reply([b": ping\n\n" * 2_000]), 10_000),
        (refusing(500, "x" * 2_000), 10_000),
        (Reply([gzip.compress(b"data: {}\n\n" * 100)], headers={"content-encoding": "gzip"}), 10_000),
    ],
    ids=["a line", "all", "an error", "packed"],
)
def test_an_endpoint_cannot_fill_the_memory(monkeypatch: pytest.MonkeyPatch, reply: Reply, most: int) -> None:
    monkeypatch.setattr("splice.host.models.bounds.MAX_ANSWER_BYTES", 1_000)
    monkeypatch.setattr("splice.host.models.bounds.MAX_STREAM_BYTES", most)
    assert failure(reply).kind == "wrong answer"
