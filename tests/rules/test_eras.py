"""The two eras, verb by verb."""

import json
from typing import Any

import pytest
from msgspec import UNSET, Raw

from splice.errors import (
    InvalidParams,
    InvalidRequest,
    MethodNotFound,
    MissingClientCapability,
    RPCError,
    UnsupportedProtocolVersion,
)
from splice.protocol.content import TextContent
from splice.protocol.input import CreateMessageParams, ElicitParams, InputRequiredResult, SamplingMessage, ToolChoice
from splice.protocol.jsonrpc import Notification, Request, raw
from splice.protocol.lifecycle import (
    META_CLIENT_CAPABILITIES,
    META_PROTOCOL_VERSION,
    META_SERVER_INFO,
    ClientCapabilities,
    ElicitationCapability,
    EmptyResult,
    Implementation,
    InitializeParams,
    PageParams,
    Params,
    RootsCapability,
    SamplingCapability,
)
from splice.protocol.methods import CLIENT_METHODS, CREATE_MESSAGE, ELICIT, ROOTS_LIST
from splice.protocol.resources import ReadResourceResult
from splice.protocol.tools import CallToolParams, CallToolResult, ListToolsResult
from splice.protocol.versions import FACTS, HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, LATEST_MODERN, VERSIONS
from splice.rules.eras import (
    LEGACY,
    MODERN,
    Admitted,
    Session,
    Stamp,
    admit,
    check_meta,
    era_of,
    handshake_version,
    is_modern,
    require,
)
from splice.rules.journal import Journal, Suspend
from support.wire import JSON, meta

INFO = Implementation(name="server", version="1")
CLIENT = Implementation(name="client", version="2")


def request(method: str, params: JSON = None) -> Request:
    return Request(1, method, UNSET if params is None else Raw(json.dumps(params).encode()))


def session(version: str | None = LATEST_HANDSHAKE, **fields: Any) -> Session:
    return Session(version=version, **fields)


def refusal(method: str, params: JSON, at: Session | None) -> RPCError:
    with pytest.raises(RPCError) as caught:
        admit(request(method, params), at)
    return caught.value


# admit


@pytest.mark.parametrize("at", [None, session(None)], ids=["no session", "not initialized"])
@pytest.mark.parametrize("method", sorted({*CLIENT_METHODS, "no/such"} - {"initialize", "ping"}))
def test_nothing_runs_before_initialize(method: str, at: Session | None) -> None:
    assert isinstance(refusal(method, {}, at), (InvalidRequest, InvalidParams))
    if method in {"tools/list", "no/such"}:
        assert "initialize" in refusal(method, {}, at).message


def test_initialize_and_ping_run_before_initialize() -> None:
    params = {"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    admitted = admit(request("initialize", params), session(None))
    assert isinstance(admitted.params, InitializeParams)
    assert admitted.facts.version == LATEST_HANDSHAKE
    assert admit(request("ping"), session(None)).method.name == "ping"
    assert admit(request("ping"), None).session is None


def test_a_legacy_request_is_who_its_session_is() -> None:
    capabilities = ClientCapabilities(roots=RootsCapability())
    at = session("2025-06-18", capabilities=capabilities, client_info=CLIENT, log_level="error")
    admitted = admit(request("tools/call", {"name": "t", "_meta": {"progressToken": "p"}}), at)
    assert admitted.era is LEGACY
    assert admitted.facts is FACTS["2025-06-18"]
    assert admitted.capabilities is capabilities
    assert admitted.client_info is CLIENT
    assert admitted.log_level == "error"
    assert admitted.progress_token == "p"
    assert admitted.session is at
    assert isinstance(admitted.params, CallToolParams)


def test_a_modern_request_is_who_it_says_itself() -> None:
    said = meta(capabilities={"roots": {}}, level="debug", token=7)
    admitted = admit(request("tools/call", {"name": "t", "_meta": said}), session("2024-11-05", log_level="error"))
    assert admitted.era is MODERN
    assert admitted.facts.version == LATEST_MODERN
    assert admitted.capabilities.roots is not UNSET
    assert admitted.client_info is not None
    assert admitted.client_info.name == "tests"
    assert admitted.log_level == "debug"
    assert admitted.progress_token == 7
    assert admitted.session is None


@pytest.mark.parametrize(
    ("said", "error"),
    [
        ({META_PROTOCOL_VERSION: LATEST_MODERN}, InvalidParams),
        ({META_PROTOCOL_VERSION: "2099-01-01", META_CLIENT_CAPABILITIES: {}}, UnsupportedProtocolVersion),
        ({META_PROTOCOL_VERSION: "2025-11-25", META_CLIENT_CAPABILITIES: {}}, UnsupportedProtocolVersion),
        ({META_PROTOCOL_VERSION: "", META_CLIENT_CAPABILITIES: {}}, UnsupportedProtocolVersion),
        ({META_PROTOCOL_VERSION: 7, META_CLIENT_CAPABILITIES: {}}, InvalidParams),
        ({META_PROTOCOL_VERSION: LATEST_MODERN, META_CLIENT_CAPABILITIES: []}, InvalidParams),
        (meta(level="loud"), InvalidParams),
        (meta(token=1.5), InvalidParams),
        (meta(token={}), InvalidParams),
    ],
)
@pytest.mark.parametrize("method", ["tools/list", "server/discover", "no/such"])
def test_a_modern_request_must_say_who_it_is(said: JSON, error: type[RPCError], method: str) -> None:
    assert isinstance(refusal(method, {"_meta": said}, None), error)


def test_an_unsupported_version_is_answered_with_those_that_are() -> None:
    said = {META_PROTOCOL_VERSION: "2099-01-01", META_CLIENT_CAPABILITIES: {}}
    data = refusal("tools/list", {"_meta": said}, None).data
    assert data == {"supported": [LATEST_MODERN], "requested": "2099-01-01"}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("method", sorted(CLIENT_METHODS))
def test_a_method_runs_in_the_versions_that_have_it(method: str, version: str) -> None:
    said = meta() if FACTS[version].request_meta else {}
    at = None if FACTS[version].request_meta else session(version)
    row = CLIENT_METHODS[method]
    try:
        admitted = admit(request(method, {"_meta": said}), at)
    except MethodNotFound:
        assert not row.exists(version)
    except InvalidParams:
        assert row.exists(version)
    else:
        assert row.exists(version)
        assert admitted.method is row


@pytest.mark.parametrize("at", [session(), None], ids=["legacy", "modern"])
def test_an_unknown_method_is_not_found_whatever_its_params(at: Session | None) -> None:
    said = {} if at else meta()
    for params in ({"_meta": said}, {"_meta": said, "x": 1}):
        assert isinstance(refusal("no/such", params, at), MethodNotFound)
    assert isinstance(refusal("sampling/createMessage", {"_meta": said}, at), MethodNotFound)


@pytest.mark.parametrize("params", [[], "x", 1, True, None, {"name": 1}, {"name": "t", "_meta": []}, {}])
def test_params_of_the_wrong_shape_are_invalid(params: JSON) -> None:
    broken = Request(1, "tools/call", Raw(json.dumps(params).encode()))
    with pytest.raises(InvalidParams):
        admit(broken, session())


def test_params_that_nest_for_ever_are_invalid() -> None:
    deep = b'{"name":"t","_meta":' + b'{"progressToken":' * 3000 + b"1" + b"}" * 3001
    with pytest.raises(InvalidParams):
        admit(Request(1, "tools/call", Raw(deep)), session())


def test_of_several_faults_the_one_about_the_speaker_comes_first() -> None:
    said = {META_PROTOCOL_VERSION: "2099-01-01", META_CLIENT_CAPABILITIES: {}}
    assert isinstance(refusal("tools/call", {"_meta": said}, None), UnsupportedProtocolVersion)
    assert isinstance(refusal("resources/subscribe", {"_meta": meta()}, None), MethodNotFound)
    assert isinstance(refusal("tools/call", {}, None), InvalidRequest)


# finish


def admitted_at(version: str, **fields: Any) -> Admitted:
    method = CLIENT_METHODS["tools/call"]
    facts = FACTS[version]
    given: dict[str, Any] = {
        "capabilities": ClientCapabilities(),
        "client_info": None,
        "log_level": None,
        "progress_token": None,
        "session": None,
        **fields,
    }
    return Admitted(era_of(facts), method, Params(), facts, **given)


def finished(result: Any, version: str) -> JSON:
    admitted = admitted_at(version)
    return json.loads(bytes(raw(admitted.era.finish(result, admitted, raw(INFO)))))


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
def test_legacy_results_have_nothing_of_the_modern_ones(version: str) -> None:
    result = ReadResourceResult(contents=[], ttl_ms=5, cache_scope="public", result_type="complete")
    assert finished(result, version) == {"contents": []}


def test_modern_results_say_what_they_are_and_who_wrote_them() -> None:
    assert finished(EmptyResult(), LATEST_MODERN) == {
        "resultType": "complete",
        "_meta": {META_SERVER_INFO: {"name": "server", "version": "1"}},
    }


def test_modern_results_that_may_be_cached_say_for_how_long() -> None:
    plain = finished(ListToolsResult(tools=[]), LATEST_MODERN)
    assert (plain["ttlMs"], plain["cacheScope"]) == (0, "private")
    given = finished(ListToolsResult(tools=[], ttl_ms=60, cache_scope="public"), LATEST_MODERN)
    assert (given["ttlMs"], given["cacheScope"]) == (60, "public")


def test_a_time_to_live_is_never_negative() -> None:
    assert finished(ReadResourceResult(contents=[], ttl_ms=-1), LATEST_MODERN)["ttlMs"] == 0


def test_what_a_result_says_of_itself_stays() -> None:
    result = CallToolResult(content=[], meta={"a": 1})
    assert finished(result, LATEST_MODERN)["_meta"] == {META_SERVER_INFO: {"name": "server", "version": "1"}, "a": 1}


def test_a_result_that_asks_says_so() -> None:
    wire = finished(InputRequiredResult(request_state="s"), LATEST_MODERN)
    assert wire["resultType"] == "input_required"
    assert META_SERVER_INFO in wire["_meta"]


# stamp


def test_a_legacy_request_carries_a_progress_token_and_no_more() -> None:
    stamp = Stamp(version="2025-11-25", capabilities=ClientCapabilities(), client_info=CLIENT, log_level="info")
    assert LEGACY.stamp(PageParams(), stamp, None).meta is UNSET
    assert json.loads(bytes(raw(LEGACY.stamp(PageParams(), stamp, 3)))) == {"_meta": {"progressToken": 3}}


def test_a_modern_request_carries_everything() -> None:
    stamp = Stamp(version=LATEST_MODERN, capabilities=ClientCapabilities(), client_info=CLIENT, log_level="info")
    params = MODERN.stamp(PageParams(cursor="c"), stamp, "p")
    assert json.loads(bytes(raw(params))) == {
        "cursor": "c",
        "_meta": {
            "progressToken": "p",
            META_PROTOCOL_VERSION: LATEST_MODERN,
            META_CLIENT_CAPABILITIES: {},
            "io.modelcontextprotocol/clientInfo": {"name": "client", "version": "2"},
            "io.modelcontextprotocol/logLevel": "info",
        },
    }


def test_what_a_client_keeps_to_itself_is_left_out() -> None:
    params = MODERN.stamp(PageParams(), Stamp(version=LATEST_MODERN, capabilities=ClientCapabilities()), None)
    assert json.loads(bytes(raw(params))) == {
        "_meta": {META_PROTOCOL_VERSION: LATEST_MODERN, META_CLIENT_CAPABILITIES: {}}
    }


def test_what_a_modern_client_stamps_a_server_admits() -> None:
    stamp = Stamp(version=LATEST_MODERN, capabilities=ClientCapabilities(), client_info=CLIENT, log_level="info")
    params = MODERN.stamp(CallToolParams(name="t"), stamp, 5)
    admitted = admit(Request(1, "tools/call", raw(params)), None)
    assert (admitted.progress_token, admitted.log_level, admitted.client_info) == (5, "info", CLIENT)


# ask


def test_a_legacy_question_goes_out_once() -> None:
    journal = Journal()
    assert LEGACY.ask(journal, "q1", "roots/list", Params()) is None
    journal.answer("q1", raw({"roots": []}))
    assert LEGACY.ask(journal, "q1", "roots/list", Params()) == raw({"roots": []})


def test_a_modern_question_ends_the_run() -> None:
    with pytest.raises(Suspend):
        MODERN.ask(Journal(), "q1", "roots/list", Params())


# The small ones.


def test_only_a_version_of_its_own_makes_a_request_modern() -> None:
    assert not is_modern(UNSET)
    assert is_modern(MODERN.stamp(Params(), Stamp(version="x", capabilities=ClientCapabilities()), None).meta)
    assert not is_modern(LEGACY.stamp(Params(), Stamp(version="x", capabilities=ClientCapabilities()), 1).meta)
    with pytest.raises(InvalidParams):
        check_meta(UNSET)


@pytest.mark.parametrize("offered", [*VERSIONS, "1999-01-01", "", "2025-11-25 "])
def test_initialize_is_answered_with_the_offered_version_or_our_latest(offered: str) -> None:
    expected = offered if offered in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE
    assert handshake_version(offered) == expected


def test_a_session_without_a_stream_drops_what_it_is_told() -> None:
    Session().push(Notification("n"))


# require

FORM = ElicitParams(message="?", requested_schema={"type": "object"})
URL = ElicitParams(mode="url", message="?", url="https://example.com")
TALK = [SamplingMessage(role="user", content=TextContent(text="hi"))]
SAMPLE = CreateMessageParams(messages=TALK, max_tokens=1)
SAMPLE_TOOLS = CreateMessageParams(messages=TALK, max_tokens=1, tools=[])
SAMPLE_CHOICE = CreateMessageParams(messages=TALK, max_tokens=1, tool_choice=ToolChoice(mode="none"))

EMPTY = ClientCapabilities()
ROOTS = ClientCapabilities(roots=RootsCapability())
SAMPLING = ClientCapabilities(sampling=SamplingCapability())
SAMPLING_TOOLS = ClientCapabilities(sampling=SamplingCapability(tools={}))
ELICITATION = ClientCapabilities(elicitation=ElicitationCapability())
ONLY_FORM = ClientCapabilities(elicitation=ElicitationCapability(form={}))
ONLY_URL = ClientCapabilities(elicitation=ElicitationCapability(url={}))
BOTH = ClientCapabilities(elicitation=ElicitationCapability(form={}, url={}))

NEW, OLD = LATEST_MODERN, "2025-06-18"


@pytest.mark.parametrize(
    ("method", "params", "has", "version", "missing"),
    [
        (ROOTS_LIST, Params(), ROOTS, NEW, None),
        (ROOTS_LIST, Params(), EMPTY, NEW, {"roots": {}}),
        (CREATE_MESSAGE, SAMPLE, SAMPLING, OLD, None),
        (CREATE_MESSAGE, SAMPLE, EMPTY, OLD, {"sampling": {}}),
        (CREATE_MESSAGE, SAMPLE_TOOLS, EMPTY, NEW, {"sampling": {"tools": {}}}),
        (CREATE_MESSAGE, SAMPLE_TOOLS, SAMPLING, NEW, {"sampling": {"tools": {}}}),
        (CREATE_MESSAGE, SAMPLE_CHOICE, SAMPLING, NEW, {"sampling": {"tools": {}}}),
        (CREATE_MESSAGE, SAMPLE_TOOLS, SAMPLING_TOOLS, NEW, None),
        (CREATE_MESSAGE, SAMPLE_TOOLS, SAMPLING_TOOLS, OLD, {"sampling": {"tools": {}}}),
        (ELICIT, FORM, ELICITATION, NEW, None),
        (ELICIT, FORM, ONLY_FORM, NEW, None),
        (ELICIT, FORM, BOTH, NEW, None),
        (ELICIT, FORM, ONLY_URL, NEW, {"elicitation": {"form": {}}}),
        (ELICIT, FORM, EMPTY, NEW, {"elicitation": {"form": {}}}),
        (ELICIT, FORM, ELICITATION, OLD, None),
        (ELICIT, FORM, ELICITATION, "2025-03-26", {"elicitation": {"form": {}}}),
        (ELICIT, URL, BOTH, NEW, None),
        (ELICIT, URL, ONLY_URL, "2025-11-25", None),
        (ELICIT, URL, ELICITATION, NEW, {"elicitation": {"url": {}}}),
        (ELICIT, URL, ONLY_FORM, NEW, {"elicitation": {"url": {}}}),
        (ELICIT, URL, BOTH, OLD, {"elicitation": {"url": {}}}),
    ],
)
def test_a_question_needs_what_the_client_declared(
    method: Any, params: Any, has: ClientCapabilities, version: str, missing: JSON
) -> None:
    admitted = admitted_at(version, capabilities=has)
    if missing is None:
        require(admitted, method.name, params)
        return
    with pytest.raises(MissingClientCapability) as caught:
        require(admitted, method.name, params)
    assert caught.value.data == {"requiredCapabilities": missing}
