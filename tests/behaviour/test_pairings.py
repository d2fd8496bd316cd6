"""Every client with every server: the version they come to terms on, or the error and its words, on every transport.

`OUTCOMES` is the whole truth, one row per client and one column per server; versions go by the last two digits that
tell them apart: 24 is 2024-11-05, 03 is 2025-03-26, 06 is 2025-06-18, 11 is 2025-11-25, 26 is 2026-07-28.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from splice import Client, StdioServer
from splice.errors import MCPError, RemoteProtocolError, UnsupportedProtocolVersion
from splice.types import VERSIONS
from support import limited_server
from support.listening import listening
from support.warm import warm_python

SHORT = dict(zip(("24", "03", "06", "11", "26"), VERSIONS, strict=True))

PATHS = {"http": "/mcp", "sse": "/sse"}

SERVERS: dict[str, list[str]] = {
    **{short: [version] for short, version in SHORT.items()},
    "24-11": list(VERSIONS[:-1]),
    "03+26": [SHORT["03"], SHORT["26"]],
    "all": list(VERSIONS),
}
"""What each server speaks."""

CLIENTS: dict[str, str] = {**SHORT, "auto": "auto", "legacy": "legacy", "modern": "modern"}
"""The `protocol` of each client."""

OUTCOMES = """
            24     03     06     11     26      24-11  03+26  all
    24      24     >03    >06    >11    refused 24     >03    24
    03      >24    03     >06    >11    refused 03     03     03
    06      >24    >03    06     >11    refused 06     >03    06
    11      >24    >03    >06    11     refused 11     >03    11
    26      never  never  never  never  26      never  26     26
    auto    24     03     06     11     26      11     26     26
    legacy  24     03     06     11     refused 11     03     11
    modern  never  never  never  never  26      never  26     26
"""
"""A version: that is spoken. `>` and a version: the server offers that in the place of the one that was pinned.
`refused`: the server has nothing to offer. `never`: the client does not shake hands, which is all that would help."""

OVER_SSE = """
            26      03+26  all
    26      never   never  never
    auto    refused 03     11
    modern  never   never  never
"""
"""Where HTTP+SSE differs: a request that names its own version belongs to the other endpoint, so all shake hands."""

ERRORS: dict[str, tuple[type[MCPError], str]] = {
    ">": (RemoteProtocolError, "protocol version '{offered}'; we speak {wanted} there"),
    "refused": (
        UnsupportedProtocolVersion,
        "{name} refused to initialize: Unsupported protocol version: {offer}; .* 2026",
    ),
    "never": (
        RemoteProtocolError,
        "Cannot come to terms with {name}: .*; it wants `initialize`, but protocol= allows 2026.* only",
    ),
}


def cells(table: str = OUTCOMES) -> list[tuple[str, str, str]]:
    """Read a table: client, server, outcome."""
    head, *rows = (line.split() for line in table.strip().splitlines())
    return [(client, server, each) for client, *row in rows for server, each in zip(head, row, strict=True)]


def cells_over_sse() -> list[tuple[str, str, str]]:
    """Read both tables."""
    different = {(client, server): outcome for client, server, outcome in cells(OVER_SSE)}
    return [(client, server, different.get((client, server), outcome)) for client, server, outcome in cells()]


@asynccontextmanager
async def connected(transport: str, server: str, **options: Any) -> AsyncIterator[Client]:
    """Open a client of a new server that is limited to some versions."""
    options, spoken = {"timeout": 5.0, **options}, SERVERS[server]
    if transport in ("http", "sse"):
        app = limited_server.build(spoken).http_app(sse=transport == "sse")
        async with listening(app) as url, Client(url.replace("/mcp", PATHS[transport]), **options) as client:
            yield client
        return
    program = StdioServer(warm_python(), str(Path(limited_server.__file__)), *spoken)
    async with Client(program if transport == "stdio" else limited_server.build(spoken), **options) as client:
        yield client


def test_the_table_is_complete() -> None:
    assert {(client, server) for client, server, _ in cells()} == {(c, s) for c in CLIENTS for s in SERVERS}
    assert {outcome.rstrip("0123456789") for *_, outcome in cells() + cells_over_sse()} <= {"", *ERRORS}


@pytest.mark.requirement(65, 66, 67, 73, 81, 82, 83, 84, 85, 87)
@pytest.mark.parametrize(("client", "server", "outcome"), cells())
@pytest.mark.requirement(1)
async def test_they_come_to_terms_or_say_why_not(client: str, server: str, outcome: str, transport: str) -> None:
    await come_to_terms(client, server, outcome, transport)


@pytest.mark.requirement(516, 517, 518)
@pytest.mark.parametrize(("client", "server", "outcome"), cells_over_sse())
async def test_so_they_do_over_http_sse(client: str, server: str, outcome: str) -> None:
    await come_to_terms(client, server, outcome, "sse")


async def come_to_terms(client: str, server: str, outcome: str, transport: str) -> None:
    wanted = CLIENTS[client]
    if outcome in SHORT:
        async with connected(transport, server, protocol=wanted) as opened:
            assert opened.protocol_version == SHORT[outcome]
            assert (await opened.call_tool("echo", {"text": "there"})).text == "there"
            await opened.ping()
        return
    expected, words = ERRORS[outcome.rstrip("0123456789")]
    offered = SHORT.get(outcome.removeprefix(">"))
    offer = wanted if client in SHORT else SHORT["11"]
    with pytest.raises(expected, match=words.format(name=".*", wanted=wanted, offered=offered, offer=offer)):
        async with connected(transport, server, protocol=wanted):
            pass
