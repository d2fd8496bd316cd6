"""The demo model: rules in the place of an AI, always the same, offline, and labelled so in every face.

It is stateless: what it says follows from the messages and the tools of the request, and from the day that is today.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import UTC, date, datetime

from splice.host.models.base import DEMO_WINDOW, ModelEvent, Stop, StopReason, Text, Usage, Use
from splice.host.models.demo import discovery
from splice.host.models.demo.retrieval import Shelf
from splice.host.models.demo.sampling import Sampling, is_sampling
from splice.host.models.demo.talk import Talk
from splice.host.models.demo.turn import Reply, Turn
from splice.types import CreateMessageParams, TextContent, Tool

ID = "demo-rules-1"
CHARACTERS_PER_TOKEN = 4

_PIECE = re.compile(r"\S*\s*")


def local_today() -> date:
    """Tell what day it is here."""
    return datetime.now(UTC).astimezone().date()


class DemoModel:
    """A model that is none: it matches words with tools, and fills in what was said."""

    id = ID
    label = "Demo model · no AI"
    provider = "demo"
    is_ai = False
    where = "on this computer"
    window = DEMO_WINDOW

    def __init__(self, today: Callable[[], date] = local_today) -> None:
        self._today = today
        self._shelf: tuple[tuple[Tool, ...], Shelf] | None = None

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        """Answer, in pieces."""
        for event in self.events(params):
            yield event

    def events(self, params: CreateMessageParams) -> Iterator[ModelEvent]:
        """Make the whole answer."""
        talk = Talk(params.messages)
        reply = self._reply(params, talk)
        text, reason = limited(reply.text, params)
        calls = reply.calls if reason == "endTurn" else []
        for piece in _PIECE.findall(text):
            if piece:
                yield Text(piece)
        serial = len(talk.uses)
        for place, call in enumerate(calls, 1):
            yield Use(f"demo-{call.key}-{serial + place}", call.name, call.arguments)
        yield Usage(_tokens(params), -(-len(text) // CHARACTERS_PER_TOKEN))
        yield Stop("toolUse" if calls else reason)

    def _reply(self, params: CreateMessageParams, talk: Talk) -> Reply:
        tools = params.tools or []
        if is_sampling(params):
            return Sampling(params, self._indexed(tools), self._today()).reply()
        if not discovery.is_offered(tools):
            return Turn(talk, self._indexed(tools), self._today()).reply()
        offered = [tool for tool in tools if tool.name not in {discovery.SEARCH, discovery.DESCRIBE, discovery.CALL}]
        shelf = self._indexed([*offered, *discovery.known(talk)])
        names = [tool.name for tool in tools]
        return Turn(talk, shelf, self._today(), offered=names).reply()

    def _indexed(self, tools: Sequence[Tool]) -> Shelf:
        """Index tools; those of the last request are indexed already."""
        key = tuple(tools)
        if self._shelf is None or self._shelf[0] != key:
            self._shelf = key, Shelf(tools)
        return self._shelf[1]


def limited(text: str, params: CreateMessageParams) -> tuple[str, StopReason]:
    """Cut an answer where a stop sequence begins, or where it has as many tokens as it may."""
    found = [at for each in params.stop_sequences or [] if each and (at := text.find(each)) >= 0]
    most = max(params.max_tokens, 0) * CHARACTERS_PER_TOKEN
    if found and min(found) <= most:
        return text[: min(found)], "stopSequence"
    return (text[:most], "maxTokens") if len(text) > most else (text, "endTurn")


def _tokens(params: CreateMessageParams) -> int:
    said = (block.text for each in params.messages for block in each.blocks if isinstance(block, TextContent))
    return (sum(map(len, said)) + len(params.system_prompt or "")) // CHARACTERS_PER_TOKEN
