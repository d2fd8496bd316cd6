"""A stream of events becomes one answer."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from splice.host.models.base import ModelEvent, ModelFailed, Stop, Text, Usage, Use, collect
from splice.types import TextContent, ToolUseContent


async def said(*events: ModelEvent) -> AsyncIterator[ModelEvent]:
    for event in events:
        yield event


def test_an_answer_is_collected() -> None:
    async def main() -> None:
        plain = await collect(said(Text("a"), Text("b"), Usage(1, 2), Stop("endTurn")), "small")
        assert (plain.content, plain.stop_reason, plain.model) == (TextContent(text="ab"), "endTurn", "small")
        calling = await collect(said(Text("a"), Use("1", "t", {"x": 1}), Stop("toolUse")))
        assert calling.content == [TextContent(text="a"), ToolUseContent(id="1", name="t", input={"x": 1})]
        assert (await collect(said(Stop("refusal")))).content == TextContent(text="")

    asyncio.run(main())


@pytest.mark.parametrize(
    ("events", "words"),
    [([Text("a")], "ended too early"), ([Use("1", "t", {}, malformed="{"), Stop("toolUse")], "not a JSON object")],
)
def test_half_an_answer_is_none(events: list[ModelEvent], words: str) -> None:
    with pytest.raises(ModelFailed, match=words):
        asyncio.run(collect(said(*events)))
