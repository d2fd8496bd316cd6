"""Completion, pages and what may be kept, over every transport and in every version."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from behaviour.conftest import Connect
from splice import Client, StdioServer
from splice.protocol.completion import CompletionContext
from splice.protocol.narrow import narrow
from splice.protocol.versions import VERSIONS, covers
from splice.protocol.wire import CacheableResult
from splice.types import PromptReference, ResourceTemplateReference
from support import offering_server
from support.listening import listening
from support.warm import warm_python

WITH_CONTEXT = [version for version in VERSIONS if covers(CompletionContext.span, version)]
KEPT = [version for version in VERSIONS if narrow(CacheableResult(ttl_ms=1), version).ttl_ms]


@pytest.fixture
def connect(transport: str, version: str) -> Connect:
    @asynccontextmanager
    async def connected() -> AsyncIterator[Client]:
        if transport == "http":
            async with (
                listening(offering_server.build().http_app()) as url,
                Client(url, protocol=version, timeout=5.0) as client,
            ):
                yield client
            return
        program = StdioServer(warm_python(), str(Path(offering_server.__file__)))
        server = program if transport == "stdio" else offering_server.build()
        async with Client(server, protocol=version, timeout=5.0) as client:
            yield client

    return connected


@pytest.mark.requirement(310, 312, 324)
async def test_what_a_server_offers(connect: Connect, version: str) -> None:
    async with connect() as client:
        seen: list[str] = []
        async for tool in client.tools():
            seen.append(tool.name)
            if tool.name == "n3":
                await client.call_tool("shrink")
        assert seen == ["n0", "n1", "n2", "n3", "n4", "shrink"]
        prompt, template = PromptReference(name="advert"), ResourceTemplateReference(uri="data://{day}/{open}")
        assert (await client.complete(prompt, "tone", "D")).values == ["dry", "dreamy"]
        assert (await client.complete(template, "day", "t")).values == ["Tuesday"]
        assert (await client.complete(template, "open", "")).values == ["true", "false"]
        known = "loud" if version in WITH_CONTEXT else None
        assert (await client.complete(prompt, "item", "te", {"tone": "loud"})).values == [f"te {known} {version}"]
        (contents,) = (await client.read_resource("data://monday/true")).contents
        assert contents.text == "monday True"
        read = await client.read_resource("data://hours")
        assert (read.ttl_ms, read.cache_scope) == ((1500, "public") if version in KEPT else (None, None))
