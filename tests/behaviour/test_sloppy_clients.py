"""Clients that are careless, as old ones are: what is clear is answered, all else is refused under the id it came with.

The list of what is clear is in `docs/design/leniency.md`.
"""

import json

import pytest

from splice import Context, Server
from splice.rules.sessions import Session
from splice.transports.base import Sender
from splice.transports.lines import LineChannel
from support.tables import rows
from support.waiting import settle
from support.wire import JSON

server = Server("careful")


@server.tool
async def add(a: int = 1, b: int = 2) -> int:
    return a + b


@server.tool
async def level(ctx: Context) -> str:
    await ctx.progress(1)
    return "done"


@server.prompt
async def greet() -> str:
    return "hello"


class SloppyClient:
    """Writes lines to a server in this process, and reads what comes back."""

    def __init__(self) -> None:
        self.heard: list[JSON] = []
        sender = Sender(kind="stdio", session=Session())
        self.channel = LineChannel(self._take, server.service.handle, self._hear, sender)

    def _take(self, data: bytes) -> None:
        self.heard += map(json.loads, data.splitlines())

    async def _hear(self, note: object) -> None:
        """Take a notification."""

    async def say(self, text: str | bytes) -> JSON:
        self.channel.feed((text if isinstance(text, bytes) else text.encode()) + b"\n")
        await settle()
        (message,) = self.heard
        self.heard.clear()
        return message


OPEN = (
    '{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    '"clientInfo":{"name":"c","version":"1"}}}'
)


def call(members: str, *, id: str = "7") -> str:
    return '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{%s}}' % (id, members)  # noqa: UP031 - JSON has braces


def request(method: str, more: str) -> str:
    return f'{{"jsonrpc":"2.0","id":7,"method":"{method}"{more}}}'


THREE = {"content": [{"type": "text", "text": "3"}], "structuredContent": {"result": 3}}

ANSWERED: dict[str, tuple[str, JSON]] = {
    "params null": (request("ping", ',"params":null'), {}),
    "result and error null beside a method": (request("ping", ',"result":null,"error":null'), {}),
    "arguments null": (call('"name":"add","arguments":null'), THREE),
    "arguments absent": (call('"name":"add"'), THREE),
    "_meta null": (call('"name":"add","_meta":null'), THREE),
    "progressToken null": (call('"name":"add","_meta":{"progressToken":null}'), THREE),
    "progressToken 1.0": (call('"name":"add","_meta":{"progressToken":1.0}'), THREE),
    "task null": (call('"name":"add","task":null'), THREE),
    "unknown members": (call('"name":"add","verbose":true'), THREE),
    "integral float argument": (call('"name":"add","arguments":{"a":1.0}'), THREE),
    "cursor null": (request("tools/list", ',"params":{"cursor":null}'), ...),
    "arguments of a prompt null": (request("prompts/get", ',"params":{"name":"greet","arguments":null}'), ...),
}
"""A request, and its result; any result at all for `...`."""

REFUSED: dict[str, tuple[str | bytes, int, JSON]] = {
    "a name that is a number": (call('"name":5'), -32602, 7),
    "a cursor that is a number": (request("tools/list", ',"params":{"cursor":5}'), -32602, 7),
    "params that are a list": (request("tools/call", ',"params":[]'), -32602, 7),
    "NaN": (call('"name":"add","arguments":{"a":NaN}'), -32700, 7),
    "latin-1": (call('"name":"add","arguments":{"a":"\xe9"}').encode("latin-1"), -32700, 7),
    "no version": ('{"id":7,"method":"ping"}', -32600, 7),
    "an id that is a fraction": (call('"name":"add"', id="7.5"), -32600, None),
    "half a line": ('{"jsonrpc":"2.0","id":7,"method":"ping","params":{', -32700, 7),
}
"""A request, and the code and id of the error that answers it."""


@rows("name", ANSWERED)
async def test_what_is_clear_is_answered(name: str) -> None:
    text, expected = ANSWERED[name]
    client = SloppyClient()
    await client.say(OPEN)
    reply = await client.say(text)
    assert reply["id"] == 7
    assert "result" in reply, reply
    assert expected in (..., reply["result"])


@pytest.mark.parametrize("name", REFUSED)
async def test_what_is_not_is_refused_by_its_id(name: str) -> None:
    text, code, id = REFUSED[name]
    client = SloppyClient()
    await client.say(OPEN)
    reply = await client.say(text)
    assert (reply["error"]["code"], reply.get("id")) == (code, id)


@pytest.mark.parametrize("id", ["7.0", '"7"', '""', "-0.0", "1e3"])
async def test_an_id_goes_back_as_it_came(id: str) -> None:
    client = SloppyClient()
    await client.say(OPEN)
    reply = await client.say(call('"name":"add"', id=id))
    assert reply["id"] == json.loads(id)
    assert type(reply["id"]) is type(json.loads(id))


@pytest.mark.parametrize(
    "params",
    [
        '{"protocolVersion":"2025-06-18"}',
        '{"protocolVersion":"2025-06-18","capabilities":null,"clientInfo":null,"_meta":null}',
        '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c"}}',
        '{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":null}}',
        '{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":null},"sampling":null},"clientInfo":{}}',
        '{"protocolVersion":"2025-06-18","capabilities":{"roots":{"listChanged":"true"}},"clientInfo":{}}',
    ],
)
async def test_a_client_may_say_little_about_itself(params: str) -> None:
    reply = await SloppyClient().say(request("initialize", f',"params":{params}'))
    assert reply["result"]["protocolVersion"] == "2025-06-18"


async def test_progress_is_told_under_a_token_that_is_a_float() -> None:
    client = SloppyClient()
    await client.say(OPEN)
    client.channel.feed(call('"name":"level","_meta":{"progressToken":4.0}').encode() + b"\n")
    await settle()
    assert client.heard[0]["params"]["progressToken"] == 4
    assert client.heard[-1]["id"] == 7
