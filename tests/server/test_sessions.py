"""Opening: initialize, discover and ping."""

import pytest

from splice import Context, Server
from splice.protocol.versions import LATEST_HANDSHAKE, MODERN_VERSIONS, VERSIONS
from splice.protocol.wire import Implementation
from support.caller import LEGACY, MODERN, Caller
from support.wire import CLIENT, JSON, initialize


def example() -> Server:
    server = Server("example", version="1.2", instructions="Read me.")

    @server.tool
    async def echo(text: str, ctx: Context) -> str:
        await ctx.progress(2)
        return text

    server.add_prompt(lambda a="": a, name="p")
    server.add_resource(lambda: "", "data://x")
    server.completion("p", "a")(lambda value: [value])
    return server


@pytest.mark.parametrize("version", LEGACY)
async def test_initialize_tells_who_we_are_and_what_we_offer(version: str) -> None:
    caller = Caller(example(), version)
    result = (await caller.send("initialize", initialize(version)["params"]))["result"]
    assert result["protocolVersion"] == version
    assert result["serverInfo"] == {"name": "example", "version": "1.2"}
    assert result["instructions"] == "Read me."
    capabilities = result["capabilities"]
    assert capabilities["tools"] == capabilities["prompts"] == {"listChanged": True}
    assert capabilities["resources"] == {"subscribe": True, "listChanged": True}
    assert capabilities["logging"] == {}
    assert ("completions" in capabilities) == (VERSIONS.index(version) >= 1)
    assert "resultType" not in result


async def test_a_server_offers_what_it_has_and_tells_all_about_itself() -> None:
    info = Implementation(name="n", version="v", title="T", description="D", website_url="https://example.com")
    server = Server(info)
    assert server.name == "n"
    caller = Caller(server)
    result = (await caller.send("initialize", initialize(LATEST_HANDSHAKE)["params"]))["result"]
    assert result["capabilities"] == {"logging": {}}
    assert result["serverInfo"]["websiteUrl"] == "https://example.com"
    assert "instructions" not in result
    old = (await Caller(server).send("initialize", initialize(LEGACY[0])["params"]))["result"]
    assert old["serverInfo"] == {"name": "n", "version": "v"}


@pytest.mark.parametrize("offered", ["2026-07-28", "1999-12-31", ""])
async def test_a_version_we_cannot_negotiate_is_answered_with_our_latest(offered: str) -> None:
    result = (await Caller(example()).send("initialize", initialize(offered)["params"]))["result"]
    assert result["protocolVersion"] == LATEST_HANDSHAKE


async def test_a_session_is_initialized_once() -> None:
    caller = await Caller(example(), LEGACY[1]).open()
    error = await caller.error("initialize", initialize(LEGACY[2])["params"])
    assert error["code"] == -32600
    assert caller.session.facts is not None
    assert caller.session.facts.version == LEGACY[1]


@pytest.mark.parametrize(
    "params",
    [
        None,
        {},
        {"protocolVersion": 1, "capabilities": {}, "clientInfo": CLIENT},
        {"capabilities": {}, "clientInfo": CLIENT},
    ],
    ids=str,
)
async def test_a_bad_initialize_opens_nothing(params: JSON) -> None:
    caller = Caller(example())
    response = await caller.send("initialize", params)
    assert response["error"]["code"] == -32602
    assert caller.session.facts is None
    assert "result" in await caller.send("initialize", initialize()["params"])


@pytest.mark.parametrize("version", MODERN)
async def test_discover_tells_the_same_to_modern_clients(version: str) -> None:
    caller = Caller(example(), version)
    result = await caller.result("server/discover")
    assert result["supportedVersions"] == list(MODERN_VERSIONS)
    assert result["instructions"] == "Read me."
    assert result["_meta"]["io.modelcontextprotocol/serverInfo"] == {"name": "example", "version": "1.2"}
    assert result["ttlMs"] >= 0
    assert result["capabilities"]["completions"] == {}


async def test_a_transport_without_sessions_cannot_initialize() -> None:
    caller = Caller(example())
    caller.session = None  # type: ignore[assignment]  # as a stateless transport has it
    response = await caller.send("initialize", initialize()["params"])
    assert response["error"]["code"] == -32600


@pytest.mark.parametrize("version", LEGACY)
@pytest.mark.requirement(260)
async def test_ping_is_answered_with_nothing(version: str) -> None:
    caller = Caller(example(), version)
    assert (await caller.send("ping"))["result"] == {}
    await caller.open()
    assert await caller.result("ping") == {}


@pytest.mark.parametrize("uri", ["not a uri at all", "", "1x://y", "http://["])
@pytest.mark.requirement(295)
async def test_what_is_not_a_uri_cannot_be_subscribed_to(uri: str) -> None:
    caller = await Caller(example(), LEGACY[-1]).open()
    modern = Caller(example(), MODERN[0])
    for error in (
        await caller.error("resources/subscribe", {"uri": uri}),
        await caller.error("resources/unsubscribe", {"uri": uri}),
        await modern.error("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["x://a", uri]}}),
    ):
        assert (error["code"], error["message"]) == (-32602, f"{uri!r} is not a URI")
