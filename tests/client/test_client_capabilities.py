"""A client asks a server only for what it declared, and says which option of ours a server misses."""

import asyncio
from typing import Any

import pytest

from client.scripted import forever, initialize, legacy, modern, raising, returning
from splice import Client, Context, Server
from splice.errors import LocalProtocolError, MethodNotFound, MissingClientCapability, RequestTimeout, RPCError
from splice.protocol.completion import PromptReference

LISTS = ["list_tools", "list_resources", "list_resource_templates", "list_prompts"]


async def nothing_declared(message: Any, link: Any) -> Any:
    return {**await initialize(message, link), "capabilities": {}}


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.requirement(88, 308)
async def test_what_is_not_declared_is_empty_and_not_asked_for(name: str) -> None:
    async with Client(target := legacy(), protocol="legacy") as client:
        assert await getattr(client, name)() == []  # declared, and answered with -32601
        asked = len(target.sent)
    target.methods["initialize"] = nothing_declared
    async with client:
        assert await getattr(client, name)() == []
    assert len(target.sent) == asked + 2
    failing = legacy(**{f"{kind}__list": raising(RPCError("no", code=-32000)) for kind in ("tools", "prompts")})
    async with Client(failing) as client:
        with pytest.raises(RPCError, match="no"):
            await client.list_tools()


@pytest.mark.parametrize(
    ("use", "capability"),
    [
        (lambda client: client.read_resource("x://a"), "resources"),
        (lambda client: client.get_prompt("p"), "prompts"),
        (lambda client: client.complete(PromptReference(name="p"), "n", "v"), "completions"),
        (lambda client: client.set_log_level("info"), "logging"),
    ],
)
@pytest.mark.requirement(88, 308)
async def test_what_is_not_declared_is_not_sent(use: Any, capability: str) -> None:
    target = legacy()
    target.methods["initialize"] = nothing_declared
    async with Client(target, protocol="legacy") as client:
        with pytest.raises(LocalProtocolError, match=f"scripted did not declare the capability `{capability}`"):
            await use(client)
    assert len(target.sent) == 2


async def test_a_version_without_a_capability_needs_none() -> None:
    target = legacy(completion__complete=returning({"completion": {"values": ["a"]}}))
    target.methods["initialize"] = nothing_declared
    async with Client(target, protocol="2024-11-05") as client:
        assert (await client.complete(PromptReference(name="p"), "n", "v")).values == ["a"]


@pytest.mark.parametrize("make", [legacy, modern])
@pytest.mark.requirement(88)
async def test_roots_that_were_not_declared_do_not_change(make: Any) -> None:
    async with Client(target := make()) as client:
        with pytest.raises(LocalProtocolError, match="pass roots= to Client"):
            await client.roots_changed()
    assert not target.calls("notifications/roots/list_changed")


async def test_declared_but_not_served_lists_are_empty_after_the_first_page_too() -> None:
    async def once(message: Any, link: Any) -> Any:
        if "cursor" in message["params"]:
            raise MethodNotFound("no")
        return {"prompts": [{"name": "a"}], "nextCursor": "x"}

    async with Client(legacy(prompts__list=once)) as client:
        assert [prompt.name for prompt in await client.list_prompts()] == ["a"]


# What a server misses.

MISSING = MissingClientCapability("The client cannot", {"requiredCapabilities": {"elicitation": {}}})


async def test_a_missing_capability_names_the_option() -> None:
    async with Client(modern(tools__call=raising(MISSING))) as client:
        with pytest.raises(MissingClientCapability, match="The client cannot; pass on_elicit= to Client") as caught:
            await client.call_tool("t")
        assert caught.value.message == "The client cannot"
    async with Client(modern(tools__call=raising(MISSING)), on_elicit=lambda _: None) as client:
        with pytest.raises(MissingClientCapability, match=r"The client cannot$"):  # it was declared: no advice helps
            await client.call_tool("t")


@pytest.mark.parametrize("data", [None, 5, {}, {"requiredCapabilities": 5}, {"requiredCapabilities": {"x": {}}}])
async def test_other_errors_are_as_they_came(data: Any) -> None:
    async with Client(modern(tools__call=raising(RPCError("no", data, code=-32021)))) as client:
        with pytest.raises(RPCError, match=r"^no$"):
            await client.call_tool("t")


# Options of a single request.


@pytest.mark.parametrize(
    ("method", "use"),
    [
        ("tools/list", lambda client, **o: client.list_tools(**o)),
        ("resources/list", lambda client, **o: client.list_resources(**o)),
        ("resources/templates/list", lambda client, **o: client.list_resource_templates(**o)),
        ("prompts/list", lambda client, **o: client.list_prompts(**o)),
        ("completion/complete", lambda client, **o: client.complete(PromptReference(name="p"), "n", "v", **o)),
        ("ping", lambda client, **o: client.ping(**o)),
        ("resources/subscribe", lambda client, **o: client.subscribe("x://a", **o)),
        ("resources/unsubscribe", lambda client, **o: client.unsubscribe("x://a", **o)),
    ],
)
@pytest.mark.requirement(92)
async def test_every_verb_takes_options(method: str, use: Any) -> None:
    target = legacy()
    target.methods[method] = forever
    async with asyncio.timeout(5), Client(target, protocol="legacy") as client:
        with pytest.raises(RequestTimeout, match=rf"{method} within 0\.01 s"):
            await use(client, timeout=0.01, meta={"a": 1}, progress=lambda *_: None)
    (sent,) = target.calls(method)
    assert sent["params"]["_meta"] == {"a": 1, "progressToken": sent["id"]}


async def test_a_real_server_that_asks_says_which_option_is_missing() -> None:
    server = Server("s")

    @server.tool
    async def ask(ctx: Context) -> str:
        return (await ctx.sample("?", max_tokens=5)).text

    async with Client(server, protocol="modern") as client:
        with pytest.raises(RPCError, match="pass on_sample= to Client"):
            await client.call_tool("ask")
    async with Client(server, protocol="legacy") as client:  # there it is the model that reads of it
        result = await client.call_tool("ask")
        assert result.is_error
        assert result.text.endswith("sampling/createMessage needs")
