"""Anthropic's Messages format: requests and answers. Nothing here sends anything.

https://docs.anthropic.com/en/api/messages
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from splice.host.models.base import ModelEvent, ModelFailed, Stop, StopReason, Text, Usage
from splice.host.models.pieces import PICTURES, Piece, Uses, in_words, returned
from splice.host.models.schemas import Names, portable, portable_name
from splice.schema.schemas import Schema
from splice.types import CreateMessageParams, ImageContent, SamplingMessage, TextContent, ToolResultContent
from splice.types import ToolUseContent as ToolUse

_CACHED: Schema = {"cache_control": {"type": "ephemeral"}}
"""Up to here a request is as the one before: it costs a tenth."""

_MUST_CALL: Schema = {"type": "text", "text": "Call at least one of the tools in this answer."}
"""Says `required` in words: models that think, as the present ones do, refuse a request that forces a call."""

_REASONS: dict[str, StopReason] = {
    "end_turn": "endTurn",
    "max_tokens": "maxTokens",
    "model_context_window_exceeded": "maxTokens",
    "stop_sequence": "stopSequence",
    "tool_use": "toolUse",
    "refusal": "refusal",
}


def request(params: CreateMessageParams, model: str) -> Schema:
    """Write the body of a request.

    `metadata` is left out: it is a server's, and would be sent in the user's name. So is `temperature`: since API
    version 2026-10-21 a request with one is refused.
    """
    body: Schema = {
        "model": model,
        "max_tokens": params.max_tokens,
        "messages": _messages(params.messages),
        "stream": True,
    }
    if system := list(_system(params)):
        body["system"] = system
    if stops := [each for each in params.stop_sequences or () if each.strip()]:
        body["stop_sequences"] = stops
    if params.tools:
        made = [portable(tool, has_plain_keys=True) for tool in params.tools]
        tools = [{"name": each.name, "description": each.description, "input_schema": each.schema} for each in made]
        body["tools"] = [*tools[:-1], tools[-1] | _CACHED]
        if params.tool_choice is not None and params.tool_choice.mode == "none":
            body["tool_choice"] = {"type": "none"}
        if body["messages"]:  # with tools there will be a next request, which begins with all of this one
            last: list[Schema] = body["messages"][-1]["content"]
            last[-1] = last[-1] | _CACHED
    return body


def _system(params: CreateMessageParams) -> Iterator[Schema]:
    if params.system_prompt and params.system_prompt.strip():
        yield {"type": "text", "text": params.system_prompt} | _CACHED
    if params.tools and params.tool_choice is not None and params.tool_choice.mode == "required":
        yield _MUST_CALL


def _messages(messages: list[SamplingMessage]) -> list[Schema]:
    """Write the messages. Neighbours of one role become one, in which results of tools come first."""
    made: list[Schema] = []
    for message in messages:
        if blocks := [block for given in message.blocks for block in _blocks(given)]:
            if made and made[-1]["role"] == message.role:
                made[-1]["content"] += blocks
            else:
                made.append({"role": message.role, "content": blocks})
    for each in made:
        each["content"].sort(key=_place)
    return made


def _place(block: Schema) -> bool:
    return str(block["type"]) != "tool_result"


def _blocks(block: Piece | ToolUse | ToolResultContent) -> Iterator[Schema]:
    if isinstance(block, ToolUse):
        id, name = portable_name(block.id), portable_name(block.name)
        yield {"type": "tool_use", "id": id, "name": name, "input": block.input}
    elif isinstance(block, ToolResultContent):
        content = [_piece(piece) for piece in returned(block)]
        failed = {"is_error": True} if block.is_error else {}
        yield {"type": "tool_result", "tool_use_id": portable_name(block.tool_use_id), "content": content} | failed
    elif not isinstance(block, TextContent) or block.text.strip():
        yield _piece(block)


def _piece(piece: Piece) -> Schema:
    if isinstance(piece, ImageContent) and piece.mime_type in PICTURES:
        source = {"type": "base64", "media_type": piece.mime_type, "data": piece.data}
        return {"type": "image", "source": source}
    return {"type": "text", "text": piece.text if isinstance(piece, TextContent) else in_words(piece)}


class _Tokens(Struct):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_creation_input_tokens: int | None = None
    cache_read_input_tokens: int | None = None


class _Message(Struct):
    usage: _Tokens | None = None


class _Block(Struct):
    type: str
    id: str = ""
    name: str = ""
    text: str = ""
    input: dict[str, Any] | None = None


class _Delta(Struct):
    type: str = ""
    text: str = ""
    partial_json: str = ""
    stop_reason: str | None = None


class _Event(Struct):
    type: str
    index: int = 0
    message: _Message | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Tokens | None = None


class _Pending(Struct):
    """A use whose arguments are still coming."""

    id: str
    name: str
    arguments: list[str] = field(default_factory=list)


class Answer:
    """Makes events of the events of one answer. Thinking, and what is not known here, is passed over."""

    def __init__(self, params: CreateMessageParams) -> None:
        self._names = Names(params.tools or [])
        self._uses = Uses()
        self._pending: dict[int, _Pending] = {}
        self._input = 0
        self.is_over = False
        self._reason: StopReason | None = None

    def read(self, data: object) -> Iterator[ModelEvent]:
        """Read one event. Raises `ModelFailed` for one that cannot be read."""
        try:
            event = msgspec.convert(data, _Event)
        except (ValueError, RecursionError) as error:
            raise ModelFailed("wrong answer", "The model's answer is not in the Messages format.") from error
        if event.type == "message_start" and event.message is not None:
            yield from self._tokens(event.message.usage)
        elif event.type == "content_block_start" and event.content_block is not None:
            yield from self._begin(event.index, event.content_block)
        elif event.type == "content_block_delta" and event.delta is not None:
            yield from self._more(event.index, event.delta)
        elif event.type == "content_block_stop" and event.index in self._pending:
            yield self._made(self._pending.pop(event.index))
        elif event.type == "message_delta":
            if event.delta is not None and event.delta.stop_reason:
                self._reason = _REASONS.get(event.delta.stop_reason, "endTurn")
            yield from self._tokens(event.usage)
        elif event.type == "message_stop":
            self.is_over = True

    def end(self) -> Iterator[ModelEvent]:
        """Tell what the end of the stream means. Raises `ModelFailed` when it was cut off."""
        if self._reason is None:
            raise ModelFailed("connection", "The model's answer was cut off: the connection ended. Try again.")
        for each in self._pending.values():
            yield self._made(each)
        yield Stop(self._reason)

    def _begin(self, index: int, block: _Block) -> Iterator[ModelEvent]:
        if block.type == "tool_use":
            if index in self._pending:  # its end was left out
                yield self._made(self._pending.pop(index))
            given = msgspec.json.encode(block.input).decode() if block.input else ""
            self._uses.begin()
            self._uses.weigh(block.id + block.name + given)
            self._pending[index] = _Pending(block.id, block.name, [given])
        elif block.type == "text" and block.text:
            self._uses.weigh(block.text)
            yield Text(block.text)

    def _more(self, index: int, delta: _Delta) -> Iterator[ModelEvent]:
        self._uses.weigh(delta.text + delta.partial_json)
        if delta.type == "text_delta" and delta.text:
            yield Text(delta.text)
        elif delta.type == "input_json_delta" and index in self._pending:
            self._pending[index].arguments += filter(None, [delta.partial_json])

    def _made(self, pending: _Pending) -> ModelEvent:
        return self._uses.make(pending.id, self._names.back(pending.name), "".join(pending.arguments))

    def _tokens(self, told: _Tokens | None) -> Iterator[ModelEvent]:
        if told is not None:
            cached = (told.cache_creation_input_tokens or 0) + (told.cache_read_input_tokens or 0)
            self._input = max(self._input, (told.input_tokens or 0) + cached)
            yield Usage(self._input, told.output_tokens or 0)
