"""A server that calls another one on behalf of its user does not hand the user's token on."""

import json
from typing import Any

import pytest

from auth.guard.guarded import ADA, Guest, auth
from splice import Client, Context, Server
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN
from transports.raw_http import Visit, raw_server

ALSO = {"cookie": "crumb=of-ada", "x-api-key": "key-of-ada", "x-forwarded-for": "10.9.8.7", "traceparent-x": "of-ada"}


@pytest.mark.requirement(480, 496)
@pytest.mark.parametrize("version", [LATEST_MODERN, LATEST_HANDSHAKE])
async def test_nothing_that_a_caller_sends_about_itself_is_passed_on(version: str) -> None:
    seen: list[Visit] = []

    async def backend(visit: Visit) -> None:
        seen.append(visit)
        await visit.reply(404)

    async with raw_server(backend) as server:
        front = Server("front", auth=auth())

        @front.tool
        async def ask(ctx: Context) -> str:
            try:
                async with Client(server.url) as client:
                    await client.list_tools()
            except Exception as error:  # noqa: BLE001 - of whatever kind: it was asked
                return f"{error!r} {ctx.principal!r}"
            raise AssertionError("there is nothing")

        guest = Guest(front.http_app(path="/mcp"), ADA, version)
        guest.defaults |= ALSO
        told: Any = await guest.result("tools/call", {"name": "ask"})
    assert seen
    for text in (json.dumps(told), *(f"{visit.path} {visit.headers} {visit.body!r}" for visit in seen)):
        assert not [each for each in (ADA, "of-ada", "10.9.8.7") if each in text]
