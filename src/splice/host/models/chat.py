"""The chat completions format, which OpenAI and most other providers and local programs speak: requests and answers.

Nothing here sends anything. A stream ends with a `finish_reason`; one that ends without was cut off.

https://platform.openai.com/docs/api-reference/chat
"""

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct, field

from splice.host.models.base import ModelEvent, ModelFailed, Stop, StopReason, Text, Usage
from splice.host.models.pieces import PICTURES, Piece, Uses, in_words, returned
from splice.host.models.schemas import Names, portable, portable_name
from splice.schema.schemas import Schema
from splice.types import (
    AudioContent,
    CreateMessageParams,
    ImageContent,
    SamplingMessage,
    TextContent,
    Tool,
    ToolResultContent,
    ToolUseContent,
)

_SOUNDS = {"audio/wav": "wav", "audio/x-wav": "wav", "audio/mpeg": "mp3", "audio/mp3": "mp3"}

_REASONS: dict[str, StopReason] = {
    "stop": "endTurn",
    "length": "maxTokens",
    "tool_calls": "toolUse",
    "function_call": "toolUse",
    "content_filter": "refusal",
}


def request(params: CreateMessageParams, model: str, *, is_openai: bool = False) -> Schema:
    """Write the body of a request.

    OpenAI itself has another word for the longest answer, and its models that think refuse a temperature. `metadata`
    is left out: it is a server's, and would be sent in the user's name.
    """
    body: Schema = {
        "model": model,
        "messages": list(_messages(params)),
        "stream": True,
        "stream_options": {"include_usage": True},
        "max_completion_tokens" if is_openai else "max_tokens": params.max_tokens,
    }
    if params.temperature is not None and not is_openai:
        body["temperature"] = params.temperature
    if stops := [each for each in params.stop_sequences or () if each]:
        body["stop"] = stops
    if params.tools:
        body["tools"] = [_tool(tool) for tool in params.tools]
        if params.tool_choice is not None and params.tool_choice.mode is not None:
            body["tool_choice"] = params.tool_choice.mode
    return body


def _tool(tool: Tool) -> Schema:
    made = portable(tool)
    return {
        "type": "function",
        "function": {"name": made.name, "description": made.description, "parameters": made.schema},
    }


def _messages(params: CreateMessageParams) -> Iterator[Schema]:
    if params.system_prompt:
        yield {"role": "system", "content": params.system_prompt}
    for message in params.messages:
        yield from _of_model(message) if message.role == "assistant" else _of_user(message)


def _of_model(message: SamplingMessage) -> Iterator[Schema]:
    text = "\n".join(block.text for block in message.blocks if isinstance(block, TextContent) and block.text)
    calls = [
        {
            "id": portable_name(block.id),
            "type": "function",
            "function": {"name": portable_name(block.name), "arguments": msgspec.json.encode(block.input).decode()},
        }
        for block in message.blocks
        if isinstance(block, ToolUseContent)
    ]
    if text or calls:
        yield {"role": "assistant", "content": text or None} | ({"tool_calls": calls} if calls else {})


def _of_user(message: SamplingMessage) -> Iterator[Schema]:
    """Write results first, each as a message of its own: they must follow the calls at once, and hold text only."""
    seen: list[Piece] = []
    for block in message.blocks:
        if isinstance(block, ToolResultContent):
            pieces = returned(block)
            words = [piece.text for piece in pieces if isinstance(piece, TextContent)]
            others = [piece for piece in pieces if not isinstance(piece, TextContent)]
            if others:
                words.append("(What can be seen or heard of this result follows in the next message.)")
                seen += [TextContent(text=f"From the result of {block.tool_use_id}:"), *others]
            if block.is_error:
                words.insert(0, "The tool failed:")
            yield {"role": "tool", "tool_call_id": portable_name(block.tool_use_id), "content": "\n".join(words)}
    spoken = [block for block in message.blocks if isinstance(block, TextContent | ImageContent | AudioContent)]
    parts = [_part(piece) for piece in [*seen, *spoken] if not isinstance(piece, TextContent) or piece.text.strip()]
    if all(part["type"] == "text" for part in parts):  # local programs with small models take a text only
        text = "\n\n".join(part["text"] for part in parts)
        parts = []
        if text:
            yield {"role": "user", "content": text}
    if parts:
        yield {"role": "user", "content": parts}


def _part(piece: Piece) -> Schema:
    if isinstance(piece, ImageContent) and piece.mime_type in PICTURES:
        return {"type": "image_url", "image_url": {"url": f"data:{piece.mime_type};base64,{piece.data}"}}
    if isinstance(piece, AudioContent) and piece.mime_type in _SOUNDS:
        return {"type": "input_audio", "input_audio": {"data": piece.data, "format": _SOUNDS[piece.mime_type]}}
    return {"type": "text", "text": piece.text if isinstance(piece, TextContent) else in_words(piece)}


class _Function(Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class _Call(Struct):
    index: int | None = None
    id: str | None = None
    function: _Function | None = None


class _Delta(Struct):
    content: str | list[dict[str, Any]] | None = None
    refusal: str | None = None
    tool_calls: list[_Call] | None = None


class _Choice(Struct):
    index: int = 0
    delta: _Delta | None = None
    finish_reason: str | None = None
    stop_reason: Any = None
    """The stop sequence that was met, from the programs that say so."""


class _Tokens(Struct):
    prompt_tokens: int | None = None
    completion_tokens: int | None = None


class _Chunk(Struct):
    choices: list[_Choice] | None = None
    usage: _Tokens | None = None


class _Pending(Struct):
    """A call whose arguments are still coming."""

    index: int | None
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


class Answer:
    """Makes events of the chunks of one answer."""

    def __init__(self, params: CreateMessageParams) -> None:
        self._names = Names(params.tools or [])
        self._stops = params.stop_sequences or []
        self._uses = Uses()
        self._calls: list[_Pending] = []
        self._reason: StopReason | None = None

    def read(self, data: object) -> Iterator[ModelEvent]:
        """Read one chunk. Raises `ModelFailed` for one that cannot be read."""
        try:
            chunk = msgspec.convert(data, _Chunk)
        except (ValueError, RecursionError) as error:
            raise ModelFailed("wrong answer", "The model's answer is not in the chat completions format.") from error
        for choice in chunk.choices or ():
            if choice.index == 0:
                yield from self._choice(choice)
        if chunk.usage is not None:
            yield Usage(chunk.usage.prompt_tokens or 0, chunk.usage.completion_tokens or 0)

    def end(self) -> Iterator[ModelEvent]:
        """Tell what the end of the stream means. Raises `ModelFailed` when it was cut off."""
        if self._reason is None:
            raise ModelFailed("connection", "The model's answer was cut off: the connection ended. Try again.")
        for call in self._calls:
            yield self._uses.make(call.id, self._names.back(call.name), "".join(call.arguments))
        yield Stop("toolUse" if self._calls and self._reason == "endTurn" else self._reason)

    def _choice(self, choice: _Choice) -> Iterator[ModelEvent]:
        delta = choice.delta or _Delta()
        for text in (_joined(delta.content), delta.refusal):
            if text:
                self._uses.weigh(text)
                yield Text(text)
        for call in delta.tool_calls or ():
            self._call(call)
        if delta.refusal:
            self._reason = "refusal"
        elif choice.finish_reason and self._reason != "refusal":
            self._reason = _REASONS.get(choice.finish_reason, "endTurn")
            if self._reason == "endTurn" and choice.stop_reason in self._stops:
                self._reason = "stopSequence"

    def _call(self, delta: _Call) -> None:
        """Add to a call. Some programs give no index, some the same to all calls: then a new id begins a new call."""
        known = [call for call in self._calls if call.index == delta.index]
        is_new = not known or (delta.id and known[-1].id and delta.id != known[-1].id)
        call = _Pending(delta.index) if is_new else known[-1]
        if is_new:
            self._uses.begin()
            self._calls.append(call)
        call.id = call.id or delta.id or ""
        function = delta.function or _Function()
        if function.name and function.name != call.name:  # some repeat the whole name each time
            call.name += function.name
        arguments = function.arguments or ""
        text = arguments if isinstance(arguments, str) else msgspec.json.encode(arguments).decode()
        self._uses.weigh(text + (function.name or ""))
        if text:
            call.arguments.append(text)


def _joined(content: str | list[dict[str, Any]] | None) -> str:
    """Read text that comes as parts, as some providers send it; thinking is not text."""
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if part.get("type") == "text")
    return content or ""
