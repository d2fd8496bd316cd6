"""A provider on this machine: it answers each request with the next of its replies, and keeps what it was asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import Any

from splice.types import CreateMessageParams, SamplingMessage, TextContent, Tool

KEY = "sk-secret-1234567890"

WEATHER = Tool(
    name="travel_checkWeather",
    description="Tells the weather.",
    input_schema={"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


@dataclass
class Reply:
    """One response. A stream is sent chunk by chunk; `cut`: the connection breaks after it; `hangs`: nothing more."""

    parts: list[bytes] = field(default_factory=list)
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    end: str = "whole"


@dataclass
class Provider:
    url: str = ""
    asked: list[Any] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """The client closed its connection."""


def data(*events: Any, done: bool = True) -> Reply:
    """Stream chunks of the chat completions format."""
    lines = [f"data: {json.dumps(event)}\n\n".encode() for event in events]
    return Reply(lines + ([b"data: [DONE]\n\n"] if done else []))


def named(*events: Any) -> Reply:
    """Stream events of the Messages format."""
    return Reply([f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events])


def refusing(status: int, body: Any, **headers: str) -> Reply:
    """Refuse a request; underscores in names of headers are hyphens."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Reply([json.dumps(body).encode()], status, {"content-type": "application/json"} | named)


def delta(content: str | None = None, *, finish: str | None = None, **more: Any) -> dict[str, Any]:
    """Write a chunk of the chat completions format."""
    said = {"content": content} if content is not None else {}
    return {"choices": [{"index": 0, "delta": said | more, "finish_reason": finish}]}


def call(index: int | None, id: str | None = None, name: str | None = None, arguments: Any = None) -> dict[str, Any]:
    """Write a part of a call in the chat completions format."""
    return {"index": index, "id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def asking(text: str = "What is the weather?", *messages: SamplingMessage, **more: Any) -> CreateMessageParams:
    first = SamplingMessage(role="user", content=TextContent(text=text))
    return CreateMessageParams(messages=[first, *messages], max_tokens=500, **more)


@asynccontextmanager
async def provider(*replies: Reply) -> AsyncIterator[Provider]:
    """Serve replies, in their order, for the length of the block."""
    made, waiting, tasks = Provider(), list(replies), set[asyncio.Task[None]]()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in head[1:] if line)
        body = await reader.readexactly(int(fields.get("content-length", 0)))
        made.paths.append(head[0])
        made.headers.append(fields)
        made.asked.append(json.loads(body) if body else None)
        await _send(writer, waiting.pop(0))
        await reader.read()
        made.left.set()
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield made
    finally:
        server.close()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 5)


async def _send(writer: asyncio.StreamWriter, reply: Reply) -> None:
    headers = {"content-type": "text/event-stream", "transfer-encoding": "chunked"} | dict(reply.headers)
    head = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in headers.items()), "", ""]
    writer.write("\r\n".join(head).encode())
    for part in reply.parts:
        half = len(part) // 2  # a part of the stream is not a part of the wire
        for piece in (part[:half], part[half:]):
            writer.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n" if piece else b"")
            await writer.drain()
    if reply.end == "whole":
        writer.write(b"0\r\n\r\n")
    if reply.end == "cut":
        writer.close()
