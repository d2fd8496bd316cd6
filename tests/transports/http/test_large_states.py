"""What a handler keeps between its runs has to fit into the request that brings it back."""

import pytest

from splice import Client, Context, Server
from splice.errors import RPCError
from splice.protocol.versions import LATEST_MODERN
from support.listening import listening


async def test_a_state_that_the_endpoint_would_not_take_back_is_not_given() -> None:
    server, asked = Server("s"), list[str]()

    @server.tool
    async def keep(ctx: Context) -> str:
        text = await ctx.once(lambda: "x" * 10_000)
        await ctx.elicit("Go on?")
        return text

    def answer(_: object) -> str:
        asked.append("?")
        return "accept"

    app = server.http_app(max_body=5_000)
    async with listening(app) as url, Client(url, protocol=LATEST_MODERN, on_elicit=answer) as client:
        with pytest.raises(RPCError, match="requestState"):
            await client.call_tool("keep")
    assert asked == []  # nobody is asked what cannot be answered
