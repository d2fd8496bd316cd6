"""A model as the host knows it: one method, `stream`, which takes the params of `sampling/createMessage`.

The turns of the host and the sampling of a server ask a model in the same way. A stream ends with one `Stop`, or
raises `ModelFailed`. Whoever leaves it early closes it, as `collect` does.

https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
"""

from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from splice.types import CreateMessageParams, CreateMessageResult, TextContent, ToolUseContent

StopReason: TypeAlias = Literal["endTurn", "maxTokens", "stopSequence", "toolUse", "refusal"]

FailureKind: TypeAlias = Literal[
    "login", "limit", "overloaded", "connection", "refused", "too long", "wrong request", "wrong answer"
]
"""``login``: the key is missing or wrong. ``limit``: too many requests, or no credit. ``overloaded``: the provider
cannot answer now. ``connection``: it was not reached, or went away. ``refused``: it does not allow this request. ``too
long``: the messages do not fit in the window. ``wrong request``: it does not understand the request. ``wrong answer``:
the host does not understand the answer."""

MAX_ANSWER_BYTES = 16_000_000
"""How much text and arguments one answer may have: what an endpoint sends is not trusted."""


DEMO_WINDOW = 200_000
"""The window of the demo model, which is shown before that model is loaded."""


class Text(Struct, frozen=True, tag="text", tag_field="type"):
    """A part of what the model says. The parts joined are its text."""

    text: str


class Use(Struct, frozen=True, tag="use", tag_field="type", omit_defaults=True):
    """The model wants a tool to be called. It comes when its arguments are complete."""

    id: str
    name: str
    """The name under which the tool was offered."""
    input: dict[str, Any]
    malformed: str = ""
    """The arguments as they came, if they are not a JSON object; `input` is empty then. Do not call the tool: tell the
    model."""


class Usage(Struct, frozen=True, tag="usage", tag_field="type"):
    """How many tokens the request had and the answer has, so far; the last one counts."""

    input: int
    output: int


class Stop(Struct, frozen=True, tag="stop", tag_field="type"):
    """The end of the answer, and why."""

    reason: StopReason


ModelEvent: TypeAlias = Text | Use | Usage | Stop


class ModelFailed(Exception):
    """A model gave no answer, or not all of it. The message is a sentence for people, without keys."""

    def __init__(self, kind: FailureKind, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind: FailureKind = kind
        self.message = message
        self.retry_after = retry_after
        """After how many seconds the provider wants to be asked again, if it said so."""


class Model(Protocol):
    """A model that can be asked. Making one opens no connection."""

    @property
    def id(self) -> str:
        """Its key among all models: ``openai/gpt-5``, ``demo``."""
        ...

    @property
    def label(self) -> str:
        """Its name for people."""
        ...

    @property
    def provider(self) -> str:
        """Who serves it: ``openai``, ``anthropic``, ``demo``, ``local``."""
        ...

    @property
    def is_ai(self) -> bool:
        """False: a program that plays a model, and every face says so."""
        ...

    @property
    def where(self) -> str:
        """Where what it is told goes: ``on this computer``, ``api.example.com``."""
        ...

    @property
    def window(self) -> int:
        """How many tokens a request and its answer may have together."""
        ...

    def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        """Ask the model, and yield its answer as it comes. Raises `ModelFailed`."""
        ...


@asynccontextmanager
async def closing(stream: AsyncIterator[ModelEvent]) -> AsyncGenerator[AsyncIterator[ModelEvent]]:
    """Close a stream at the end of the block, also when it is left early: the provider stops generating."""
    try:
        yield stream
    finally:
        if isinstance(stream, AsyncGenerator):
            await stream.aclose()


async def collect(stream: AsyncIterator[ModelEvent], model: str = "") -> CreateMessageResult:
    """Wait for a whole answer, as a server's sampling needs it; `model` is the name that it is told.

    Raises `ModelFailed`, also when the arguments of a use are malformed: a server cannot tell the model.
    """
    said: list[str] = []
    uses: list[ToolUseContent] = []
    reason = ""
    async with closing(stream) as events:
        async for event in events:
            if isinstance(event, Text):
                said.append(event.text)
            elif isinstance(event, Use):
                uses.append(_use(event))
            elif isinstance(event, Stop):
                reason = event.reason
    if not reason:
        raise ModelFailed("connection", "The model's answer ended too early. Try again.")
    text = "".join(said)
    if not uses:
        return CreateMessageResult(role="assistant", content=TextContent(text=text), model=model, stop_reason=reason)
    spoken = [TextContent(text=text)] if text else []
    return CreateMessageResult(role="assistant", content=[*spoken, *uses], model=model, stop_reason=reason)


def _use(event: Use) -> ToolUseContent:
    if event.malformed:
        raise ModelFailed("wrong answer", f"The model called {event.name} with arguments that are not a JSON object.")
    return ToolUseContent(id=event.id, name=event.name, input=event.input)
