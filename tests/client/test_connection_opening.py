"""Coming to terms, with servers of every kind."""

import asyncio
from importlib.metadata import version
from typing import Any

import pytest

from client.scripted import (
    CAPABILITIES,
    NEWEST,
    OLD,
    SERVER_INFO,
    HTTPTarget,
    OwnTarget,
    ScriptedTarget,
    StdioTarget,
    discover,
    forever,
    initialize,
    legacy,
    modern,
    raising,
    returning,
)
from splice import Client
from splice.client import connection
from splice.client.options import INFO
from splice.errors import (
    ConnectionClosed,
    HeaderMismatch,
    HTTPRefused,
    InvalidRequest,
    MethodNotFound,
    RemoteProtocolError,
    RequestTimeout,
    RPCError,
    UnsupportedProtocolVersion,
)
from splice.protocol.jsonrpc import ErrorObject, Failure
from splice.protocol.wire import Implementation
from splice.rules.extensions import Extension

PROBE = "server/discover"


def unsupported(*versions: str) -> UnsupportedProtocolVersion:
    return UnsupportedProtocolVersion("no", {"supported": list(versions), "requested": "x"})


def test_we_say_which_version_of_the_package_we_are() -> None:
    assert INFO.version == version("splice")


async def test_a_modern_server() -> None:
    target = modern(HTTPTarget)
    async with Client(target, on_elicit=lambda _: None, can=["elicitation.url"]) as client:
        assert client.protocol_version == NEWEST
        assert client.server_info.name == "scripted"
        assert client.instructions == "do"
        assert client.capabilities.logging == {}
    (probe,) = target.sent
    meta = probe["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == NEWEST
    assert meta["io.modelcontextprotocol/clientCapabilities"] == {"elicitation": {"form": {}, "url": {}}}
    assert meta["io.modelcontextprotocol/clientInfo"]["name"] == "splice"
    assert target.link.story == [f"agree {NEWEST}", PROBE, f"agree {NEWEST}", "listen"]


async def test_a_modern_server_that_says_nothing_about_itself() -> None:
    target = ScriptedTarget(server__discover=returning({"supportedVersions": [NEWEST], "capabilities": {}}))
    async with Client(target) as client:
        assert client.server_info.name == ""
        assert client.instructions is None


@pytest.mark.parametrize(
    "probe",
    [
        MethodNotFound("no"),
        RPCError("no", code=-32000),
        unsupported(OLD),
        HTTPRefused("no", 400),
        HTTPRefused("no", 404),
        RemoteProtocolError("no JSON"),
    ],
)
async def test_a_legacy_server_is_opened_as_if_there_had_been_no_probe(probe: Exception) -> None:
    target = legacy(HTTPTarget, server__discover=raising(probe))
    async with Client(target, roots=["/x"], on_sample=lambda _: None) as client:
        assert client.protocol_version == OLD
        assert client.server_info.name == SERVER_INFO["name"]
        assert client.instructions == "do"
    plain = legacy(HTTPTarget)
    async with Client(plain, roots=["/x"], on_sample=lambda _: None, protocol="legacy"):
        pass
    assert [message["method"] for message in plain.sent] == ["initialize", "notifications/initialized"]
    for message in (target.sent[1], plain.sent[0]):
        del message["id"]
    assert target.sent[1:] == plain.sent
    first = plain.sent[0]
    assert first["params"] == {
        "protocolVersion": OLD,
        "capabilities": {"roots": {"listChanged": True}, "sampling": {}},
        "clientInfo": {"name": "splice", "version": INFO.version},
    }


async def test_the_link_is_told_what_was_agreed_before_it_is_used_for_it() -> None:
    target = legacy()
    async with Client(target):
        pass
    handshake = ["agree None", "initialize", f"agree {OLD}", "notifications/initialized", "listen"]
    assert target.link.story == [f"agree {NEWEST}", PROBE, *handshake]


async def test_a_client_introduces_itself_as_it_is_told_to() -> None:
    info = Implementation(name="host", version="7", title="The Host", website_url="https://h/")
    async with Client(target := modern(), info=info):
        said = target.sent[0]["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]
        assert said == {"name": "host", "version": "7", "title": "The Host", "websiteUrl": "https://h/"}
    async with Client(target := legacy(), info=info, protocol="2025-06-18"):
        assert target.sent[0]["params"]["clientInfo"] == {"name": "host", "version": "7", "title": "The Host"}


async def test_extensions_are_declared() -> None:
    extension = Extension[Any]("com.example/x", settings={"a": 1})
    async with Client(target := modern(), extensions=[extension]):
        said = target.sent[0]["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert said == {"extensions": {"com.example/x": {"a": 1}}}
    async with Client(target := legacy(), extensions=[extension], protocol="legacy"):
        assert target.sent[0]["params"]["capabilities"] == {"extensions": {"com.example/x": {"a": 1}}}


async def test_capabilities_are_those_the_offered_version_has() -> None:
    target = legacy()
    async with Client(target, on_elicit=lambda _: None, roots=[], protocol="2024-11-05"):
        assert target.sent[0]["params"]["capabilities"] == {"roots": {"listChanged": True}}
    target = legacy()
    async with Client(target, on_elicit=lambda _: None, protocol="2025-06-18") as client:
        assert target.sent[0]["params"]["capabilities"] == {"elicitation": {}}
        assert client.protocol_version == "2025-06-18"


async def test_a_discovery_that_names_only_old_versions() -> None:
    target = legacy(server__discover=returning({"supportedVersions": [OLD], "capabilities": {}}))
    async with Client(target) as client:
        assert client.protocol_version == OLD


@pytest.mark.requirement(66)
async def test_a_refused_first_probe_is_repeated_once() -> None:
    async def picky(message: Any, link: Any) -> Any:
        if len(target.calls(PROBE)) == 1:
            raise unsupported(NEWEST)
        return await discover(message, link)

    target = ScriptedTarget(server__discover=picky)
    async with Client(target) as client:
        assert client.protocol_version == NEWEST
    assert len(target.sent) == 2


@pytest.mark.parametrize(
    ("probe", "expected", "said"),
    [
        (unsupported(NEWEST), UnsupportedProtocolVersion, "no"),
        (unsupported("2031-01-01"), UnsupportedProtocolVersion, "no"),
        (HeaderMismatch("altered"), HeaderMismatch, "altered"),
        (HTTPRefused("HTTP 401", 401), HTTPRefused, "401"),
        (HTTPRefused("HTTP 503", 503, Failure(ErrorObject(-32603, "m"), 1)), HTTPRefused, "503"),
        (ConnectionClosed("refused"), ConnectionClosed, "refused"),
    ],
)
@pytest.mark.requirement(90)
async def test_no_way_to_come_to_terms(probe: Exception, expected: type[Exception], said: str) -> None:
    target = legacy(HTTPTarget, server__discover=raising(probe))
    with pytest.raises(expected, match=said):
        await Client(target).open()
    assert target.calls("initialize") == []
    assert target.link.closed


@pytest.mark.requirement(66)
async def test_a_discovery_without_a_common_version_names_both_sides() -> None:
    target = legacy(server__discover=returning({"supportedVersions": ["2031-01-01"], "capabilities": {}}))
    with pytest.raises(RemoteProtocolError, match=rf"scripted: no common protocol version.*2031-01-01.*{NEWEST}"):
        await Client(target).open()


@pytest.mark.parametrize("protocol", ["modern", NEWEST])
async def test_only_modern_is_wanted(protocol: str) -> None:
    async with Client(modern(), protocol=protocol) as client:
        assert client.protocol_version == NEWEST
    target = legacy(server__discover=raising(MethodNotFound("no")))
    with pytest.raises(RemoteProtocolError, match="error -32601") as caught:
        await Client(target, protocol=protocol).open()
    assert isinstance(caught.value.__cause__, MethodNotFound)
    assert target.calls("initialize") == []


async def test_silence_on_a_pipe_is_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PROBE_SECONDS", 0.01)
    async with Client(legacy(StdioTarget, server__discover=forever)) as client:
        assert client.protocol_version == OLD


async def test_silence_over_http_is_none() -> None:
    target = legacy(HTTPTarget, server__discover=forever)
    with pytest.raises(RequestTimeout, match="did not answer"):
        await Client(target, timeout=0.01).open()
    assert target.calls("initialize") == []


@pytest.mark.parametrize("kind", [StdioTarget, OwnTarget])
async def test_a_child_that_dies_of_the_probe_is_started_again(kind: type[ScriptedTarget]) -> None:
    target = legacy(kind, server__discover=raising(ConnectionClosed("exited with code 1")))
    async with Client(target) as client:
        assert client.protocol_version == OLD
        assert len(target.links) == 2
        assert target.links[0].closed
    assert target.links[1].closed


async def test_a_child_that_dies_of_everything() -> None:
    died = raising(ConnectionClosed("exited with code 1: no config"))
    with pytest.raises(ConnectionClosed, match="no config"):
        await Client(StdioTarget(server__discover=died, initialize=died)).open()


async def test_a_child_that_dies_where_only_modern_will_do() -> None:
    target = StdioTarget(server__discover=raising(ConnectionClosed("exited with code 1")))
    with pytest.raises(RemoteProtocolError, match="the server left") as caught:
        await Client(target, protocol="modern").open()
    assert isinstance(caught.value.__cause__, ConnectionClosed)


# The handshake.


async def test_any_known_counter_offer_is_accepted() -> None:
    async def older(message: Any, link: Any) -> Any:
        return {**await initialize(message, link), "protocolVersion": "2024-11-05"}

    async with Client(ScriptedTarget(initialize=older)) as client:
        assert client.protocol_version == "2024-11-05"


@pytest.mark.parametrize("answered", [NEWEST, "1999-01-01"])
@pytest.mark.requirement(85)
async def test_any_other_ends_the_connection(answered: str) -> None:
    async def odd(message: Any, link: Any) -> Any:
        return {**await initialize(message, link), "protocolVersion": answered}

    target = ScriptedTarget(initialize=odd)
    with pytest.raises(RemoteProtocolError, match=answered):
        await Client(target).open()
    assert target.link.closed
    assert target.calls("notifications/initialized") == []


@pytest.mark.parametrize("result", [{}, [], {"protocolVersion": OLD, "capabilities": {}, "serverInfo": 5}])
async def test_a_malformed_handshake(result: Any) -> None:
    with pytest.raises(RemoteProtocolError, match="malformed"):
        await Client(ScriptedTarget(initialize=returning(result))).open()


async def test_a_refused_handshake_says_who_refused_what() -> None:
    with pytest.raises(InvalidRequest, match="scripted refused to initialize: not today") as caught:
        await Client(ScriptedTarget(initialize=raising(InvalidRequest("not today")))).open()
    assert isinstance(caught.value.__cause__, InvalidRequest)


async def test_a_refused_handshake_says_what_the_server_speaks() -> None:
    target = ScriptedTarget(initialize=raising(unsupported(NEWEST, "2031-01-01")))
    with pytest.raises(UnsupportedProtocolVersion, match=f"initialize: no; it speaks {NEWEST}, 2031-01-01$"):
        await Client(target, protocol="legacy").open()


# Programs that a probe spoils, and what is remembered of them.


class Spoilt(ScriptedTarget):
    """Answers `initialize` only if it is the first that a link brings."""

    kind = "stdio"

    def __init__(self, probe: Any, handshake: Any) -> None:
        super().__init__(server__discover=probe, initialize=self.shake)
        self.handshake = handshake

    async def shake(self, message: Any, link: Any) -> Any:
        return await (self.handshake if PROBE in link.story else initialize)(message, link)


@pytest.mark.parametrize("probe", [forever, raising(MethodNotFound("no"))])
@pytest.mark.parametrize(
    "handshake", [forever, raising(ConnectionClosed("exited with code 1")), raising(InvalidRequest("HTTP 400"))]
)
async def test_a_child_spoilt_by_the_probe_is_started_again(
    monkeypatch: pytest.MonkeyPatch, probe: Any, handshake: Any
) -> None:
    monkeypatch.setattr(connection, "PROBE_SECONDS", 0.01)
    target = Spoilt(probe, handshake)
    async with asyncio.timeout(5), Client(target, timeout=0.4) as client:
        assert client.protocol_version == OLD
    first, second = target.links
    assert first.closed
    assert second.story[:2] == ["agree None", "initialize"]


async def test_a_program_that_needs_a_handshake_is_not_probed_again() -> None:
    target = legacy(StdioTarget, server__discover=raising(MethodNotFound("no")))
    client = Client(target)
    for probes in (1, 1, 1):
        async with client:
            assert client.protocol_version == OLD
        assert len(target.calls(PROBE)) == probes
    target.methods = modern().methods  # another program, under the same name
    with pytest.raises(MethodNotFound):
        await client.open()
    async with client:
        assert client.protocol_version == NEWEST


async def test_a_handshake_that_takes_too_long() -> None:
    target = ScriptedTarget(initialize=forever)
    with pytest.raises(RequestTimeout, match=r"^scripted did not answer within 0.01 s$"):
        await Client(target, timeout=0.01, protocol="legacy").open()
    assert target.link.closed


@pytest.mark.requirement(5)
async def test_a_server_that_turns_out_to_be_modern_at_the_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "PROBE_SECONDS", 0.01)

    async def late(message: Any, link: Any) -> Any:
        if len(target.calls(PROBE)) == 1:
            await forever(message, link)
        return await discover(message, link)

    target = StdioTarget(server__discover=late, initialize=raising(unsupported(NEWEST)))
    async with Client(target) as client:
        assert client.protocol_version == NEWEST
        assert client.capabilities.tools
    ids = [message["id"] for message in target.sent if "id" in message]
    assert len(set(ids)) == len(ids) == 3


async def test_a_server_that_cannot_make_up_its_mind() -> None:
    target = ScriptedTarget(server__discover=raising(MethodNotFound("no")), initialize=raising(unsupported(NEWEST)))
    with pytest.raises(UnsupportedProtocolVersion, match="refused to initialize"):
        await Client(target).open()
    assert len(target.calls(PROBE)) == 2


def test_what_the_script_declares_is_what_the_tests_rely_on() -> None:
    assert CAPABILITIES["resources"]["subscribe"]
