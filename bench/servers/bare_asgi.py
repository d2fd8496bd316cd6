"""Floor: the smallest ASGI application that answers, on uvicorn with httptools and uvloop."""

import sys
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, TypeAlias

import uvicorn

from bench.servers.answers import answer

Message: TypeAlias = MutableMapping[str, Any]

ACKNOWLEDGED = b'data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{}}\n\n'


async def app(
    scope: Message, receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]
) -> None:
    assert scope["type"] == "http"
    body, more = b"", True
    while more:
        part = await receive()
        body += part.get("body", b"")
        more = part.get("more_body", False)
    if b'"subscriptions/listen"' in body:
        await stream(receive, send)
        return
    reply = answer(body)
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(reply))]
    if b'"initialize"' in body:
        headers.append((b"mcp-session-id", b"floor"))
    await send({"type": "http.response.start", "status": 200 if reply else 202, "headers": headers})
    await send({"type": "http.response.body", "body": reply})


async def stream(receive: Callable[[], Awaitable[Message]], send: Callable[[Message], Awaitable[None]]) -> None:
    """Acknowledge, and stay open until the client leaves."""
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/event-stream")]})
    await send({"type": "http.response.body", "body": ACKNOWLEDGED, "more_body": True})
    await receive()


if __name__ == "__main__":
    options = dict(option.removeprefix("--").split("=") for option in sys.argv[1:])
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=int(options["port"]),
        http="httptools",
        loop="uvloop",
        lifespan="off",
        log_level="warning",
    )
