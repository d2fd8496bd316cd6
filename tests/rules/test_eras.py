"""The two eras, verb by verb."""

import json
from typing import Any

import msgspec
import pytest
from msgspec import Raw

from protocol.wire import methods
from splice.errors import (
    InvalidParams,
    LocalProtocolError,
    MethodNotFound,
    RPCError,
    UnsupportedProtocolVersion,
)
from splice.protocol.capabilities import ClientCapabilities, RootsCapability
from splice.protocol.jsonrpc import Request, raw
from splice.protocol.lifecycle import (
    INITIALIZE,
    META_CLIENT_CAPABILITIES,
    META_CLIENT_INFO,
    META_LOG_LEVEL,
    META_PROTOCOL_VERSION,
    META_SERVER_INFO,
    PING,
    InitializeParams,
    RequestMeta,
)
from splice.protocol.methods import Method
from splice.protocol.questions import ROOTS_LIST, InputRequest, InputRequiredResult
from splice.protocol.resources import ReadResourceResult
from splice.protocol.tools import TOOLS_CALL, TOOLS_LIST, CallToolParams, CallToolResult, ListToolsResult, TaskMetadata
from splice.protocol.versions import FACTS, HANDSHAKE_VERSIONS, LATEST_HANDSHAKE, LATEST_MODERN, VERSIONS
from splice.protocol.wire import EmptyResult, Implementation, NoParams, PageParams, Params
from splice.rules.eras import (
    EVERY_PROTOCOL,
    LEGACY,
    MODERN,
    Admitted,
    Stamp,
    Suspend,
    admit,
    era_of,
    is_version_of_requests,
    names_its_version,
)
from splice.rules.sessions import NO_CAPABILITIES, Session
from support.tables import rows
from support.wire import JSON, meta

INFO = Implementation(name="server", version="1")
CLIENT = Implementation(name="client", version="2")
ROWS = methods()


def unconfirmed(version: str | None, row: Method[Any, Any] | None, params: Params) -> None:
    """Nothing was carried beside the body."""


def request(method: str, params: JSON = None) -> Request:
    return Request(1, method, None if params is None else Raw(json.dumps(params).encode()))


def session(version: str | None = LATEST_HANDSHAKE) -> Session:
    opened = Session()
    if version is not None:
        opened.open(version)
    return opened


def admitted(method: str, params: JSON, at: Session | None) -> Admitted:
    return admit(request(method, params), at, ROWS.get(method), unconfirmed)


def refusal(method: str, params: JSON, at: Session | None) -> RPCError:
    with pytest.raises(RPCError) as caught:
        admitted(method, params, at)
    return caught.value


# admit


@rows("at", [None, session(None)], ids=["no session", "not initialized"])
@rows("method", sorted({*ROWS, "no/such"} - {"initialize", "ping"}))
@pytest.mark.requirement(39)
def test_nothing_runs_before_initialize(method: str, at: Session | None) -> None:
    """Requirement 39: required fields that are missing are invalid params."""
    assert isinstance(refusal(method, {}, at), InvalidParams)
    if method in {"tools/list", "no/such"}:
        told = refusal(method, {}, at).message
        assert "initialize" in told
        assert META_PROTOCOL_VERSION in told
        assert META_CLIENT_CAPABILITIES in told
    assert at is None or not at.ready


@pytest.mark.parametrize("at", [None, session(None), session()], ids=["no session", "not initialized", "initialized"])
@pytest.mark.parametrize("missing", [META_PROTOCOL_VERSION, META_CLIENT_CAPABILITIES])
@pytest.mark.requirement(39)
def test_half_of_what_a_request_must_say_of_itself_is_refused_by_name(missing: str, at: Session | None) -> None:
    said = {META_PROTOCOL_VERSION: LATEST_MODERN, META_CLIENT_CAPABILITIES: {}}
    del said[missing]
    error = refusal("tools/list", {"_meta": said}, at)
    assert isinstance(error, InvalidParams)
    assert missing in error.message


def test_initialize_may_carry_capabilities_in_its_meta() -> None:
    params = {"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    params["_meta"] = {META_CLIENT_CAPABILITIES: {}}
    assert admitted("initialize", params, session(None)).era is LEGACY


def test_initialize_and_ping_run_before_initialize() -> None:
    params = {"protocolVersion": "x", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}
    found = admitted("initialize", params, session(None))
    assert isinstance(found.params, InitializeParams)
    assert found.declared.facts.version == LATEST_HANDSHAKE
    assert found.declared.capabilities == NO_CAPABILITIES
    assert admitted("ping", None, session(None)).params == NoParams()
    assert admitted("ping", None, None).era is LEGACY


def test_a_request_of_a_session_declares_what_the_session_does() -> None:
    at = Session()
    at.open("2025-06-18", ClientCapabilities(roots=RootsCapability()), CLIENT)
    found = admitted("tools/call", {"name": "t", "_meta": {"progressToken": "p", "com.example/a": 1}}, at)
    assert found.era is LEGACY
    assert found.declared is at.declared
    assert found.meta.progress_token == "p"
    assert isinstance(found.params, CallToolParams)
    assert isinstance(found.params.meta, Raw)
    assert msgspec.json.decode(found.params.meta) == {"progressToken": "p", "com.example/a": 1}


def test_a_request_but_no_ping_shows_that_the_client_is_ready() -> None:
    at = session()
    admitted("ping", None, at)
    assert not at.ready
    admitted("tools/list", None, at)
    assert at.ready


def test_a_request_that_names_its_version_declares_for_itself() -> None:
    said = {**meta(capabilities={"roots": {}}, level="debug", token=7), "com.example/tenant": "acme"}
    at = session("2024-11-05")
    found = admitted("tools/call", {"name": "t", "_meta": said}, at)
    assert found.era is MODERN
    assert found.declared.facts.version == LATEST_MODERN
    assert found.declared.capabilities.roots is not None
    assert found.declared.client_info == Implementation(name="tests", version="1")
    assert found.declared.log_level == "debug"
    assert found.meta.progress_token == 7
    assert msgspec.json.decode(found.params.meta) == said
    assert not at.ready  # it does not belong to the session


@rows(
    ("said", "error"),
    [
        ({META_PROTOCOL_VERSION: LATEST_MODERN}, InvalidParams),
        ({META_PROTOCOL_VERSION: LATEST_MODERN, META_CLIENT_CAPABILITIES: None}, InvalidParams),
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
@rows("method", ["tools/list", "server/discover", "no/such"])
def test_a_request_that_names_its_version_must_declare_the_rest(said: JSON, error: type[RPCError], method: str) -> None:
    assert isinstance(refusal(method, {"_meta": said}, None), error)


def test_a_modern_request_without_a_version_is_invalid() -> None:
    with pytest.raises(InvalidParams, match=META_PROTOCOL_VERSION):
        MODERN.admit(TOOLS_LIST, RequestMeta(client_capabilities=ClientCapabilities()), EVERY_PROTOCOL)


@pytest.mark.requirement(65)
def test_an_unsupported_version_is_answered_with_those_that_are() -> None:
    said = {META_PROTOCOL_VERSION: "2099-01-01", META_CLIENT_CAPABILITIES: {}}
    data = refusal("tools/list", {"_meta": said}, None).data
    assert data == {"supported": [LATEST_MODERN], "requested": "2099-01-01"}


@rows("version", VERSIONS)
@rows("method", sorted(ROWS))
def test_a_method_runs_in_the_versions_that_have_it(method: str, version: str) -> None:
    said = meta() if FACTS[version].request_meta else {}
    at = None if FACTS[version].request_meta else session(version)
    row = ROWS[method]
    try:
        found = admitted(method, {"_meta": said}, at)
    except MethodNotFound:
        assert not row.exists(version)
    except InvalidParams:
        assert row.exists(version)
    else:
        assert row.exists(version)
        assert isinstance(found.params, row.params)


@pytest.mark.parametrize("at", [session(), None], ids=["legacy", "modern"])
def test_a_method_that_is_not_answered_is_not_found_whatever_its_params(at: Session | None) -> None:
    said = {} if at else meta()
    for params in ({"_meta": said}, {"_meta": said, "x": 1}):
        assert isinstance(refusal("no/such", params, at), MethodNotFound)


@rows("method", ["no/such", "tools/call"])
@rows("params", [[], "x", 1, True, {"_meta": []}, {"_meta": "x"}])
def test_params_that_are_not_an_object_are_invalid(method: str, params: JSON) -> None:
    assert isinstance(refusal(method, params, session()), InvalidParams)


@pytest.mark.parametrize("params", [{"name": 1}, {"name": "t", "_meta": []}, {}, {"name": None}])
def test_params_of_the_wrong_shape_are_invalid(params: JSON) -> None:
    assert isinstance(refusal("tools/call", params, session()), InvalidParams)


def test_meta_that_is_null_is_absent() -> None:
    found = admitted("tools/call", {"name": "t", "_meta": None, "arguments": None}, session())
    assert found.params == CallToolParams(name="t")
    assert found.meta == RequestMeta()
    found = admitted("tools/list", {"_meta": {META_PROTOCOL_VERSION: None, "progressToken": None}}, session())
    assert found.era is LEGACY


ODD = {"inputResponses": {"a": 5}, "requestState": "of another", "task": {"ttl": 1}}


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS[:-1])
def test_members_that_the_version_of_the_session_lacks_are_not_read(version: str) -> None:
    params = {"name": "t", "arguments": {"a": 1}, **ODD}
    found = admitted("tools/call", params, session(version)).params
    assert found == CallToolParams(name="t", arguments=Raw(b'{"a": 1}'))
    error = refusal("tools/call", {**ODD, "name": 5}, session(version))
    assert "$.name" in error.message


def test_a_task_is_read_only_where_the_version_has_it() -> None:
    found = admitted("tools/call", {"name": "t", **ODD}, session()).params
    assert found == CallToolParams(name="t", task=TaskMetadata(ttl=1))
    assert isinstance(refusal("tools/call", {"name": "t", "task": 5}, session()), InvalidParams)
    assert isinstance(refusal("tools/call", {"name": "t", "_meta": meta(), "requestState": 5}, None), InvalidParams)


def test_params_that_nest_for_ever_are_invalid() -> None:
    deep = b'{"name":"t","_meta":' + b'{"progressToken":' * 3000 + b"1" + b"}" * 3001
    with pytest.raises(InvalidParams):
        admit(Request(1, "tools/call", Raw(deep)), session(), TOOLS_CALL, unconfirmed)
    with pytest.raises(InvalidParams):
        admit(Request(1, "no/such", Raw(deep)), session(), None, unconfirmed)


def test_of_several_faults_the_one_of_meta_comes_first() -> None:
    said = {META_PROTOCOL_VERSION: "2099-01-01", META_CLIENT_CAPABILITIES: {}}
    assert isinstance(refusal("tools/call", {"_meta": said}, None), UnsupportedProtocolVersion)
    assert isinstance(refusal("resources/subscribe", {"_meta": meta()}, None), MethodNotFound)
    assert isinstance(refusal("tools/call", {}, None), InvalidParams)


# finish


def finished(result: Any, version: str) -> JSON:
    facts = FACTS[version]
    return json.loads(bytes(raw(era_of(facts).finish(result, facts, raw(INFO)))))


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


@pytest.mark.requirement(331)
def test_a_time_to_live_is_never_negative() -> None:
    assert finished(ReadResourceResult(contents=[], ttl_ms=-1), LATEST_MODERN)["ttlMs"] == 0


def test_what_a_result_says_of_itself_stays() -> None:
    result = CallToolResult(content=[], meta={"a": 1})
    assert finished(result, LATEST_MODERN)["_meta"] == {META_SERVER_INFO: {"name": "server", "version": "1"}, "a": 1}


def test_a_result_that_asks_says_so() -> None:
    result = InputRequiredResult(request_state="s")
    wire = finished(result, LATEST_MODERN)
    assert wire["resultType"] == "input_required"
    assert META_SERVER_INFO in wire["_meta"]


# stamp


def informed(version: str) -> Stamp:
    """Make a stamp that asks for log messages."""
    stamp = Stamp(version, ClientCapabilities(), CLIENT)
    stamp.log_level = "info"
    return stamp


def legacy_meta(token: Any = None, more: Any = None) -> JSON:
    said = LEGACY.stamp(informed("2025-11-25"), token, more)
    return None if said is None else json.loads(bytes(said))


def modern_meta(token: Any = None, more: Any = None) -> JSON:
    said = MODERN.stamp(informed(LATEST_MODERN), token, more)
    assert said is not None
    return json.loads(bytes(said))


OURS = {
    META_PROTOCOL_VERSION: LATEST_MODERN,
    META_CLIENT_CAPABILITIES: {},
    META_CLIENT_INFO: {"name": "client", "version": "2"},
    META_LOG_LEVEL: "info",
}


def test_a_legacy_request_carries_a_progress_token_and_what_the_caller_adds() -> None:
    assert legacy_meta() is None
    assert legacy_meta(more={}) is None
    assert legacy_meta(3) == {"progressToken": 3}
    assert legacy_meta(0) == {"progressToken": 0}
    assert legacy_meta(more={"a": None}) == {"a": None}
    assert legacy_meta("p", {"a": 1, "progressToken": "theirs"}) == {"a": 1, "progressToken": "p"}


def test_a_modern_request_carries_everything() -> None:
    assert modern_meta() == OURS
    assert modern_meta("p") == {**OURS, "progressToken": "p"}
    assert modern_meta(more={"com.example/tenant": "acme"}) == {**OURS, "com.example/tenant": "acme"}


def test_what_the_caller_adds_never_replaces_a_key_of_the_protocol() -> None:
    more = {META_PROTOCOL_VERSION: "x", META_LOG_LEVEL: "y", "progressToken": "z", "a": 1}
    assert modern_meta(7, more) == {**OURS, "progressToken": 7, "a": 1}


def test_a_stamp_follows_the_log_level() -> None:
    stamp = Stamp(LATEST_MODERN, ClientCapabilities(), CLIENT)
    assert META_LOG_LEVEL not in msgspec.json.decode(stamp.meta())
    assert stamp.meta() is stamp.meta()
    stamp.log_level = "error"
    assert msgspec.json.decode(stamp.meta())[META_LOG_LEVEL] == "error"


def test_a_stamp_declares_only_what_the_version_has() -> None:
    capabilities = ClientCapabilities(roots=RootsCapability(list_changed=True))
    assert Stamp(LATEST_MODERN, capabilities, CLIENT).capabilities == ClientCapabilities(roots=RootsCapability())
    assert Stamp(LATEST_HANDSHAKE, capabilities, CLIENT).capabilities == capabilities


def test_what_a_modern_client_stamps_a_server_admits() -> None:
    stamp = informed(LATEST_MODERN)
    params = CallToolParams(name="t", meta=MODERN.stamp(stamp, 5, {"a": 1}))
    found = admit(Request(1, "tools/call", raw(params)), None, TOOLS_CALL, unconfirmed)
    declared = found.declared
    assert (found.meta.progress_token, declared.log_level, declared.client_info) == (5, "info", CLIENT)


# suspend


QUESTION = InputRequest(method=ROOTS_LIST.name)


def test_questions_without_an_answer_end_the_run_in_one_era_and_are_sent_in_the_other() -> None:
    LEGACY.suspend(TOOLS_CALL, {"k": QUESTION})
    with pytest.raises(Suspend) as caught:
        MODERN.suspend(TOOLS_CALL, {"k": QUESTION})
    assert caught.value.requests == {"k": QUESTION}
    assert str(caught.value) == "k"


@pytest.mark.requirement(212)
def test_a_modern_question_is_only_asked_where_the_method_allows_it() -> None:
    LEGACY.suspend(TOOLS_LIST, {"q1": QUESTION})
    with pytest.raises(LocalProtocolError, match="while tools/list is answered"):
        MODERN.suspend(TOOLS_LIST, {"q1": QUESTION})


def test_no_handler_catches_a_suspension_by_accident() -> None:
    assert not issubclass(Suspend, Exception)


# Questions about versions.


@pytest.mark.parametrize("version", ['"1"', "42", "[]", f'"{LATEST_MODERN}"'])
def test_a_version_of_any_type_is_a_version_of_its_own(version: str) -> None:
    assert names_its_version(Raw(f'{{"name":"a","_meta":{{"{META_PROTOCOL_VERSION}":{version}}}}}'.encode()))


@pytest.mark.parametrize(
    "params",
    [
        *("{}", "[]", "3", '{"_meta":[]}', '{"_meta":null}', '{"_meta":{}}', '{"name":"a"}'),
        f'{{"_meta":{{"{META_PROTOCOL_VERSION}":null}}}}',
        f'{{"name":"{META_PROTOCOL_VERSION}"}}',
        f'{{"arguments":{{"_meta":{{"{META_PROTOCOL_VERSION}":"x"}}}}}}',
        f'{{"_meta":["{META_PROTOCOL_VERSION}"]}}',
    ],
)
def test_everything_else_belongs_to_a_session(params: str) -> None:
    assert not names_its_version(Raw(params.encode()))
    assert not names_its_version(None)


def test_what_is_stamped_tells_the_same() -> None:
    stamp = Stamp(LATEST_MODERN, ClientCapabilities(), CLIENT)
    assert names_its_version(raw(PageParams(meta=MODERN.stamp(stamp, None, None))))
    assert not names_its_version(raw(PageParams(meta=LEGACY.stamp(stamp, 1, None))))


@pytest.mark.parametrize("version", VERSIONS)
def test_a_version_is_opened_by_a_handshake_or_named_by_each_request(version: str) -> None:
    assert is_version_of_requests(version) is (version not in HANDSHAKE_VERSIONS)
    assert era_of(FACTS[version]) is (LEGACY if version in HANDSHAKE_VERSIONS else MODERN)
    assert INITIALIZE.exists(version) is PING.exists(version) is (version in HANDSHAKE_VERSIONS)


@pytest.mark.parametrize("offered", [*VERSIONS, "1999-01-01", "", "2025-11-25 "])
def test_initialize_is_answered_with_the_offered_version_or_our_latest(offered: str) -> None:
    expected = offered if offered in HANDSHAKE_VERSIONS else LATEST_HANDSHAKE
    assert EVERY_PROTOCOL.counter_offer(offered) == expected
