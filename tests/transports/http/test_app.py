"""The MCP endpoint: who may call, what a request must look like, and the modern leg."""

import asyncio
import json
import logging
from typing import Any

import pytest

from splice.errors import LocalProtocolError, RPCError
from splice.protocol.jsonrpc import Notification, Request
from splice.protocol.lifecycle import PING
from splice.rules.principal import Principal
from splice.transports.base import Exchange, Sender
from splice.transports.http import visits
from splice.transports.http.app import HTTPApp, RequestExchange
from support.tables import rows
from support.waiting import until
from transports.asgi import LEGACY, META, MODERN, Browser, FakeService, Gate, call, modern, nothing_runs_on, within

METHODS = ["POST", "GET", "DELETE", "PUT", "OPTIONS", "HEAD"]


def endpoint(**options: Any) -> tuple[FakeService, Browser]:
    service = FakeService()
    return service, Browser(HTTPApp(service, **options))


# Who may call.


@rows("method", METHODS)
@rows(
    "foreign",
    [
        {"host": "evil.example.com", "origin": "http://evil.example.com"},
        {"host": "evil.example.com"},
        {"host": "localhost.evil.com:8000"},
        {"host": None},
        {"origin": "http://evil.example.com"},
        {"origin": "null"},
        {"origin": ""},
    ],
)
@pytest.mark.requirement(116, 117)
async def test_foreign_callers_are_refused_before_anything_else(method: str, foreign: dict[str, str | None]) -> None:
    service, browser = endpoint()
    body, headers = modern("echo")
    answer = await browser.send(method, body, headers | foreign)
    assert answer.status == 403
    assert "not allowed" in answer.json["error"]["message"] or "missing" in answer.json["error"]["message"]
    assert not any(name.startswith("access-control") for name in answer.headers)
    assert service.requests == []


@pytest.mark.parametrize("origin", ["http://localhost:8000", "http://127.0.0.1:3000", "https://[::1]"])
async def test_local_pages_are_welcome(origin: str) -> None:
    _, browser = endpoint()
    body, headers = modern("echo")
    answer = await browser.post(body, headers | {"origin": origin})
    assert answer.status == 200
    assert not any(name.startswith("access-control") for name in answer.headers)


async def test_named_hosts_and_origins() -> None:
    _, browser = endpoint(allowed_hosts=["mcp.example.com"], allowed_origins=["https://app.example.com"])
    body, headers = modern("echo")
    good = headers | {"host": "mcp.example.com", "origin": "https://app.example.com"}
    assert (await browser.post(body, good)).status == 200
    assert (await browser.post(body, headers)).status == 403
    assert (await browser.post(body, good | {"origin": "https://mcp.example.com"})).status == 403


# What HTTP says of the body.


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "text/plain;application/json", "application/x-www-form-urlencoded", "multipart/form-data", None],
)
async def test_a_page_cannot_call_without_a_preflight(content_type: str | None) -> None:
    service, browser = endpoint()
    body, headers = modern("echo")
    answer = await browser.post(body, headers | {"content-type": content_type})
    assert answer.status == 415
    assert "application/json" in answer.json["error"]["message"]
    assert service.requests == []


async def test_compressed_bodies_are_refused() -> None:
    _, browser = endpoint()
    assert (await browser.post(b"", {"content-encoding": "gzip"})).status == 415


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream", "text/html", ""])
async def test_both_answers_must_be_acceptable(accept: str) -> None:
    _, browser = endpoint()
    body, headers = modern("echo")
    answer = await browser.post(body, headers | {"accept": accept})
    assert answer.status == 406
    assert "text/event-stream" in answer.json["error"]["message"]


@pytest.mark.parametrize("accept", ["*/*", None])
async def test_a_client_that_takes_anything_is_served(accept: str | None) -> None:
    _, browser = endpoint()
    body, headers = modern("echo")
    assert (await browser.post(body, headers | {"accept": accept})).status == 200


@pytest.mark.parametrize("method", ["PUT", "PATCH", "HEAD", "OPTIONS"])
async def test_other_methods_are_not_allowed(method: str) -> None:
    _, browser = endpoint()
    answer = await browser.send(method)
    assert answer.status == 405
    assert answer.headers["allow"] == "GET, POST, DELETE"


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_a_modern_client_only_posts(method: str) -> None:
    _, browser = endpoint()
    answer = await browser.send(method, b"", {"mcp-protocol-version": MODERN, "mcp-session-id": "x"})
    assert answer.status == 405
    assert answer.headers["allow"] == "POST"


@rows(
    ("body", "code"),
    [
        (b"", -32700),
        (b"{", -32700),
        (b"\xff\xfe", -32700),
        (b'{"jsonrpc":"2.0","id":1,"method":"\xff"}', -32700),
        (b"\xef\xbb\xbf{}", -32700),
        (b"[" * 1000, -32700),
        (b"{}", -32600),
        (b"1", -32600),
        (b'"text"', -32600),
        (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}', -32600),
        (b'{"jsonrpc":"2.0","id":1}', -32600),
    ],
)
@rows("version", [MODERN, LEGACY, None])
async def test_bad_bodies_are_answered(body: bytes, code: int, version: str | None) -> None:
    service, browser = endpoint()
    if version == LEGACY:
        await browser.initialize()
        service.requests.clear()
    answer = await browser.post(body, {"mcp-protocol-version": version} if version != LEGACY else {})
    assert answer.status == 400
    if not (body.startswith(b"[") and version != MODERN):
        assert answer.json["error"]["code"] == (code if not body.startswith(b"[") else -32600)
    assert service.requests == []
    good, headers = modern("echo")
    browser.defaults = {}
    assert (await browser.post(good, headers)).status == 200


async def test_a_bad_message_is_answered_with_its_id() -> None:
    _, browser = endpoint()
    answer = await browser.post(b'{"jsonrpc":"2.0","id":"x","method":5}')
    assert answer.json["id"] == "x"


# Limits.


@pytest.mark.parametrize("size", [101, 150, 10_000])
async def test_a_declared_body_over_the_limit_is_refused(size: int) -> None:
    service, browser = endpoint(max_body=100)
    answer = await browser.post(b"x" * size, {"content-length": str(size)})
    assert answer.status == 413
    assert answer.headers["connection"] == "close"
    assert "100 bytes" in answer.json["error"]["message"]
    assert service.requests == []


async def test_a_body_over_the_limit_is_refused_whatever_was_declared() -> None:
    _, browser = endpoint(max_body=100)
    assert (await browser.post(b"x" * 101)).status == 413
    assert (await browser.post(b"x" * 101, {"content-length": "1"})).status == 413
    assert (await browser.post(b"", chunks=[b"x" * 30] * 5)).status == 413


async def test_a_body_of_just_the_limit_is_taken() -> None:
    body, headers = modern("echo")
    size = len(json.dumps(body))
    _, browser = endpoint(max_body=size)
    assert (await browser.post(body, headers | {"content-length": str(size)})).status == 200


async def test_an_endless_body_is_not_kept() -> None:
    _, browser = endpoint(max_body=100)
    visit = browser.begin("POST", chunks=[b"x" * 30] * 100, complete=False)
    await visit.ended()
    assert visit.status == 413
    assert visit._inbox.qsize() > 80


async def test_a_body_in_pieces_is_put_together() -> None:
    _, browser = endpoint()
    body, headers = modern("echo", text="hello")
    data = json.dumps(body).encode()
    answer = await browser.post(b"", headers, chunks=[data[:10], b"", data[10:50], data[50:]])
    assert answer.json["result"] == {"echo": {"text": "hello"}}


async def test_a_client_that_leaves_before_its_body_is_forgotten() -> None:
    service, browser = endpoint()
    visit = browser.begin("POST", chunks=[b'{"json'], complete=False)
    visit.disconnect()
    await visit.ended()
    assert visit.sent == []
    assert service.requests == []


async def test_a_slow_body_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "TICK_SECONDS", 0.001)
    monkeypatch.setattr(visits, "BODY_SECONDS", 0.01)
    _, browser = endpoint()
    visit = browser.begin("POST", chunks=[b'{"json'], complete=False)
    await visit.ended()
    assert visit.status == 408
    assert visit.headers["connection"] == "close"


async def test_a_slow_but_steady_body_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "TICK_SECONDS", 0.001)
    service, browser = endpoint()
    service.tools["slow"] = gate = Gate()
    body, headers = modern("slow")
    data = json.dumps(body).encode()
    visit = browser.begin("POST", b"", headers, chunks=[data[:10]], complete=False)
    await until(lambda: any(visit.ticks > 2 for visit in browser.app._visits._young))
    visit.more(data[10:], last=True)
    await within(gate.entered.wait())
    visit.disconnect()
    assert await within(gate.outcome) == "cancelled"
    await visit.ended()


async def test_refusals_of_http_2_do_not_speak_of_connections() -> None:
    _, browser = endpoint(max_body=10)
    sent: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 11}

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "http_version": "2", "method": "POST", "path": "/", "headers": headers}
    await browser.app(scope, receive, send)
    assert sent[0]["status"] == 413
    assert not any(name == b"connection" for name, _ in sent[0]["headers"])


# Options.


@pytest.mark.parametrize(
    ("option", "value", "error", "remedy"),
    [
        ("max_bdy", 1, TypeError, "max_body"),
        ("host", "0.0.0.0", TypeError, "there are allowed_hosts, allowed_origins"),
        ("allowed_hosts", "example.com", TypeError, "a list of names, such as"),
        ("allowed_hosts", ["https://example.com"], ValueError, "without a scheme"),
        ("allowed_origins", "https://example.com", TypeError, "a list of origins, such as"),
        ("json_response", "no", TypeError, "True or False"),
        ("stateless", 1, TypeError, "True or False"),
        ("max_body", -1, ValueError, "at least 1"),
        ("max_body", "4M", TypeError, "a number of bytes"),
        ("max_sessions", 0, ValueError, "at least 1"),
        ("path", "mcp", ValueError, "'/mcp'"),
    ],
)
def test_an_option_is_checked_where_it_is_given(option: str, value: Any, error: type[Exception], remedy: str) -> None:
    with pytest.raises(error, match=remedy) as raised:
        HTTPApp(FakeService(), **{option: value})
    assert option in str(raised.value) or repr(value[0]) in str(raised.value)


# The path.


@pytest.mark.parametrize(
    ("path", "root", "status"),
    [("/mcp", "", 200), ("/mcp/", "", 200), ("/api/mcp", "/api", 200), ("/", "", 404), ("/mcp/x", "", 404)],
)
@pytest.mark.requirement(115)
async def test_one_path_is_served(path: str, root: str, status: int) -> None:
    _, browser = endpoint(path="/mcp")
    body, headers = modern("echo")
    assert (await browser.post(body, headers, path=path, root_path=root)).status == status


async def test_any_path_is_served_unless_one_is_named() -> None:
    _, browser = endpoint()
    body, headers = modern("echo")
    assert (await browser.post(body, headers, path="/anything")).status == 200


# The modern ladder.


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in META.items() if not name.endswith(key)}


VERSION, CAPABILITIES = "protocolVersion", "clientCapabilities"


@rows(
    ("meta", "headers", "code", "says"),
    [
        (None, {}, -32602, VERSION),
        ({}, {}, -32602, VERSION),
        (without(VERSION), {}, -32602, VERSION),
        (without(CAPABILITIES), {}, -32602, CAPABILITIES),
        (META | {f"io.modelcontextprotocol/{VERSION}": 42}, {}, -32602, "str"),
        ([], {}, -32602, "_meta"),
        (META, {"mcp-protocol-version": None}, -32020, "MCP-Protocol-Version is missing"),
        (META, {"mcp-protocol-version": LEGACY}, -32020, "MCP-Protocol-Version"),
        (META | {f"io.modelcontextprotocol/{VERSION}": "v999"}, {}, -32020, "MCP-Protocol-Version"),
        (META | {f"io.modelcontextprotocol/{VERSION}": "v999"}, {"mcp-protocol-version": "v999"}, -32022, "v999"),
        (META, {"mcp-method": None}, -32020, "Mcp-Method is missing"),
        (META, {"mcp-method": "tools/list"}, -32020, "Mcp-Method"),
        (META, {"mcp-method": "TOOLS/CALL"}, -32020, "Mcp-Method"),
        (META, {"mcp-name": None}, -32020, "Mcp-Name is missing"),
        (META, {"mcp-name": "wrong"}, -32020, "Mcp-Name"),
        (META, {"mcp-name": "=?base64?ZWNobw?="}, -32020, "Mcp-Name"),
        (without(CAPABILITIES), {"mcp-name": "wrong"}, -32020, "Mcp-Name"),
    ],
)
async def test_the_first_broken_rule_answers(meta: Any, headers: dict[str, str | None], code: int, says: str) -> None:
    service, browser = endpoint()
    body, good = modern("echo", id="the-id")
    body["params"]["_meta"] = meta
    if meta is None:
        del body["params"]["_meta"]
    answer = await browser.post(body, good | headers)
    assert answer.status == 400
    assert answer.json["error"]["code"] == code
    assert says in answer.json["error"]["message"]
    assert answer.json["id"] == "the-id"
    assert service.requests == []


@pytest.mark.parametrize("params", [None, {"name": "echo"}])
async def test_params_without_meta_under_a_modern_header(params: Any) -> None:
    _, browser = endpoint()
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"} | ({} if params is None else {"params": params})
    answer = await browser.post(body, {"mcp-protocol-version": MODERN})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize("headers", [{}, {"mcp-name": "  echo  "}, {"mcp-name": "=?base64?ZWNobw==?="}])
@pytest.mark.requirement(125)
async def test_a_good_call_is_answered_as_json(headers: dict[str, str]) -> None:
    service, browser = endpoint()
    body, good = modern("echo", text="hi")
    answer = await browser.post(body, good | headers | {"mcp-session-id": "ignored", "last-event-id": "9"})
    assert answer.status == 200
    assert answer.json == {"jsonrpc": "2.0", "id": 1, "result": {"echo": {"text": "hi"}}}
    assert "mcp-session-id" not in answer.headers
    assert answer.headers["content-length"] == str(len(answer.body))
    sender = service.senders[0]
    assert (sender.kind, sender.session, sender.principal) == ("http", None, None)
    assert sender.headers["Mcp-Method"] == "tools/call"


async def test_the_principal_reaches_the_handler() -> None:
    service, browser = endpoint()
    browser.principal = "alice"
    await browser.post(*modern("echo"))
    assert service.senders[0].principal == Principal(subject="alice")


async def test_methods_without_a_name_need_no_name_header() -> None:
    service, browser = endpoint()
    service.tools["tools/list"] = service.tools["echo"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "tools/list"}
    assert (await browser.post(body, headers)).status == 200
    assert (
        await browser.post(body | {"method": "unknown/method"}, headers | {"mcp-method": "unknown/method"})
    ).status == 404


async def test_resources_are_named_by_uri() -> None:
    service, browser = endpoint()
    service.tools["resources/read"] = service.tools["echo"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": "a:b", "_meta": META}}
    headers = {"mcp-protocol-version": MODERN, "mcp-method": "resources/read", "mcp-name": "a:b"}
    assert (await browser.post(body, headers)).status == 200
    assert (await browser.post(body, headers | {"mcp-name": "a:c"})).status == 400
    body["params"] = {"uri": 5, "_meta": META}
    answer = await browser.post(body, headers | {"mcp-name": "a:c"})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)


@pytest.mark.parametrize(
    ("code", "status"),
    [(-32601, 404), (-32602, 400), (-32020, 400), (-32021, 400), (-32022, 400), (-32603, 200), (7, 200)],
)
@pytest.mark.requirement(40, 141, 170)
async def test_the_error_decides_the_status(code: int, status: int) -> None:
    service, browser = endpoint()

    async def bad(_: Exchange) -> Any:
        raise RPCError("bad", code=code)

    service.tools["bad"] = bad
    answer = await browser.post(*modern("bad"))
    assert answer.status == status
    assert answer.json["error"]["code"] == code


async def test_what_needs_no_session_gets_no_way_around_its_version() -> None:
    service, browser = endpoint()
    service.rows["ping"], service.tools["ping"] = PING, service.tools["echo"]
    body = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    answer = await browser.post(body, {"mcp-protocol-version": MODERN, "mcp-method": "ping"})
    assert (answer.status, answer.json["error"]["code"]) == (400, -32602)
    assert service.requests == []


async def test_the_body_decides_the_era() -> None:
    service, browser = endpoint()
    await browser.initialize()
    body, _ = modern("echo")
    answer = await browser.post(body)  # session header and legacy version, but a modern body
    assert (answer.status, answer.json["error"]["code"]) == (400, -32020)
    body, headers = modern("echo")
    assert (await browser.post(body, headers)).status == 200
    assert service.senders[-1].session is None


async def test_messages_that_only_the_header_calls_modern() -> None:
    service, browser = endpoint()
    headers = {"mcp-protocol-version": MODERN}
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    answer = await browser.post(note, headers)
    assert (answer.status, answer.body) == (202, b"")
    answer = await browser.post({"jsonrpc": "2.0", "id": 1, "result": {}}, headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    body, _ = modern("echo")
    answer = await browser.post([body], headers)
    assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    assert service.requests == []
    assert service.heard == []


# The reply, committed late.


@pytest.mark.requirement(125, 127, 132)
async def test_the_first_notification_makes_it_a_stream() -> None:
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate("notifications/a", "notifications/b")
    visit = browser.begin("POST", *modern("gate"))
    assert (await visit.event(2))["method"] == "notifications/b"
    assert visit.status == 200
    assert visit.headers["x-accel-buffering"] == "no"
    assert visit.headers["cache-control"] == "no-cache, no-transform"
    assert b"id:" not in visit.body
    gate.released.set()
    await visit.ended()
    assert visit.events[2:] == [{"jsonrpc": "2.0", "id": 1, "result": {"done": True}}]
    assert visit.complete.is_set()


async def test_nothing_is_sent_before_there_is_something_to_say() -> None:
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate()
    visit = browser.begin("POST", *modern("gate"))
    await within(gate.entered.wait())
    assert visit.sent == []
    gate.released.set()
    await visit.ended()
    assert visit.json["result"] == {"done": True}


async def test_an_error_after_a_notification_is_an_event() -> None:
    service, browser = endpoint()

    async def late(exchange: Exchange) -> Any:
        await exchange.notify(Notification("notifications/a"))
        raise RPCError("bad", code=-32602)

    service.tools["late"] = late
    answer = await browser.post(*modern("late"))
    assert answer.status == 200
    assert [event.get("error", {}).get("code") for event in answer.events] == [None, -32602]


async def test_nothing_follows_the_response() -> None:
    service, browser = endpoint()
    kept: list[Exchange] = []

    async def keep(exchange: Exchange) -> Any:
        kept.append(exchange)
        return {}

    service.tools["keep"] = keep
    answer = await browser.post(*modern("keep"))
    await kept[0].notify(Notification("notifications/late"))
    assert len(answer.sent) == 2


@pytest.mark.requirement(131)
async def test_a_modern_client_is_never_asked() -> None:
    service, browser = endpoint()

    async def asks(exchange: Exchange) -> Any:
        with pytest.raises(LocalProtocolError, match="sampling"):
            await exchange.ask("sampling/createMessage", None)
        return {}

    service.tools["asks"] = asks
    assert (await browser.post(*modern("asks"))).json["result"] == {}


async def test_a_result_that_is_no_json_is_an_error(caplog: pytest.LogCaptureFixture) -> None:
    service, browser = endpoint()

    async def odd(_: Exchange) -> Any:
        return {"odd": object()}

    service.tools["odd"] = odd
    with caplog.at_level(logging.CRITICAL):
        answer = await browser.post(*modern("odd"))
    assert answer.json["error"]["code"] == -32603


@pytest.mark.parametrize(("scope", "left"), [({}, 1), ({visits.CONNECTION: object()}, 0)])
def test_headers_are_dropped_only_where_nobody_else_can_miss_them(scope: dict[str, Any], left: int) -> None:
    async def send(_: Any) -> None:
        raise AssertionError

    scope["headers"] = [(b"host", b"localhost")]
    sender = Sender(kind="http", headers={"host": "localhost"})
    RequestExchange(Request(1, "x"), sender, visits.Reply(scope, send)).rest()
    assert (len(scope["headers"]), dict(sender.headers)) == (left, {})


# The client leaves.


@pytest.mark.parametrize("notes", [(), ("notifications/a",)])
async def test_leaving_cancels(notes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "TICK_SECONDS", 0.001)
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate(*notes)
    visit = browser.begin("POST", *modern("gate"))
    await within(gate.entered.wait())
    before = len(visit.sent)
    visit.disconnect()
    assert await within(gate.outcome) == "cancelled"
    await visit.ended()
    assert len(visit.sent) == before
    await nothing_runs_on()


async def test_a_handler_that_ignores_it_is_not_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "TICK_SECONDS", 0.001)
    service, browser = endpoint()
    gate = Gate()

    async def stubborn(exchange: Exchange) -> Any:
        try:
            await gate(exchange)
        except asyncio.CancelledError:
            await exchange.notify(Notification("notifications/still-here"))
            return {}

    service.tools["stubborn"] = stubborn
    visit = browser.begin("POST", *modern("stubborn"))
    await within(gate.entered.wait())
    visit.disconnect()
    await visit.ended()
    assert visit.sent == []
    assert visit.task.cancelling() == 0


async def test_a_quick_call_is_not_watched() -> None:
    _, browser = endpoint()
    visit = browser.begin("POST", *modern("echo"))
    await visit.ended()
    assert visit._inbox.qsize() == 1  # the news that the client left, which nobody fetched


async def test_others_may_still_cancel() -> None:
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate()
    visit = browser.begin("POST", *modern("gate"))
    await within(gate.entered.wait())
    visit.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await visit.ended()
    assert gate.outcome.result() == "cancelled"
    assert visit.status == 200
    assert b"the handler was cancelled" in visit.body  # perhaps it did that itself, which looks the same


async def test_a_send_that_fails_means_that_the_client_left() -> None:
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate()
    visit = browser.begin("POST", *modern("gate"))
    await within(gate.entered.wait())
    visit.broken = True
    gate.released.set()
    await visit.ended()
    assert visit.sent == []


async def test_notifying_a_client_that_left_is_no_error_of_the_handler() -> None:
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate("notifications/a")
    body, headers = modern("gate")
    visit = browser.begin("POST", body, headers)
    visit.broken = True
    await within(gate.entered.wait())
    gate.released.set()
    await visit.ended()
    assert gate.outcome.result() == "done"


async def test_an_id_that_cannot_be_written_is_refused() -> None:
    _, browser = endpoint()
    answer = await browser.post(b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}')
    assert (answer.status, answer.json["error"]["code"]) == (400, -32700)


async def test_a_client_that_left_before_it_was_watched_ends_the_work() -> None:
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate("notifications/a")
    visit = browser.begin("POST", *modern("gate"))
    visit.broken = True
    assert await within(gate.outcome) == "cancelled"
    await visit.ended()


async def test_quiet_streams_are_kept_alive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "KEEP_ALIVE_SECONDS", 0.0)
    monkeypatch.setattr(visits, "LOOK_SECONDS", 0.001)
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate("notifications/a")
    visit = browser.begin("POST", *modern("gate"))
    await visit.until(lambda self: self.body.count(b":\n\n") >= 2)
    assert len(visit.events) == 1
    gate.released.set()
    await visit.ended()


# The end.


async def test_lifespan() -> None:
    service, browser = endpoint()
    inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    for _ in range(2):
        task = asyncio.create_task(browser.app({"type": "lifespan"}, inbox.get, sent.put))
        inbox.put_nowait({"type": "lifespan.startup"})
        assert (await within(sent.get()))["type"] == "lifespan.startup.complete"
        assert (await browser.post(*modern("echo"))).status == 200
        inbox.put_nowait({"type": "lifespan.shutdown"})
        assert (await within(sent.get()))["type"] == "lifespan.shutdown.complete"
        await within(task)
        assert service.stopping.is_set()
        assert service.ended
        answer = await browser.post(*modern("echo"))
        assert answer.status == 503
        assert answer.headers["retry-after"] == "1"


async def test_a_service_that_cannot_open_ends_the_startup(caplog: pytest.LogCaptureFixture) -> None:
    class Broken(FakeService):
        async def open(self) -> None:
            raise RuntimeError("no database")

    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return {"type": "lifespan.startup"}

    async def send(message: Any) -> None:
        sent.append(message)

    await within(HTTPApp(Broken())({"type": "lifespan"}, receive, send))
    assert sent == [{"type": "lifespan.startup.failed", "message": "no database"}]
    assert caplog.text.count("Traceback") == 1


@pytest.mark.requirement(238)
async def test_stopping_lets_streams_end_with_their_result() -> None:
    service, browser = endpoint()

    async def listen(exchange: Exchange) -> Any:
        await exchange.notify(Notification("notifications/subscriptions/acknowledged"))
        await service.stopping.wait()
        return {"over": True}

    service.tools["listen"] = listen
    visit = browser.begin("POST", *modern("listen"))
    await visit.event()
    await within(browser.app.stop())
    await browser.app.stop()
    assert visit.events[1]["result"] == {"over": True}


@pytest.mark.parametrize("notes", [(), ("notifications/a",)])
async def test_calls_that_do_not_end_in_time_get_an_error(notes: tuple[str, ...]) -> None:
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate(*notes)
    visit = browser.begin("POST", *modern("gate"))
    await within(gate.entered.wait())
    await within(browser.app.stop(0.01))
    assert gate.outcome.result() == "cancelled"
    answer = visit.events[-1] if notes else visit.json
    assert visit.status == (200 if notes else 503)
    assert "shutting down" in answer["error"]["message"]
    assert answer["id"] == 1


async def test_a_body_that_is_still_arriving_gets_an_error() -> None:
    _, browser = endpoint()
    visit = browser.begin("POST", chunks=[b'{"json'], complete=False)
    await asyncio.sleep(0)
    await within(browser.app.stop(0.01))
    await visit.ended()
    assert visit.status == 503


async def test_what_is_not_http() -> None:
    _, browser = endpoint()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> Any:
        raise AssertionError

    await browser.app({"type": "websocket"}, receive, send)
    assert sent == [{"type": "websocket.close", "code": 1008}]
    with pytest.raises(ValueError, match="cannot serve 'other'"):
        await browser.app({"type": "other"}, receive, send)


def test_the_app_serves_on_one_loop_after_the_other() -> None:
    service = FakeService()
    browser = Browser(HTTPApp(service))
    for _ in range(3):

        async def once() -> None:
            assert (await browser.post(*modern("echo"))).status == 200

        asyncio.run(once())


async def test_legacy_calls_are_not_mistaken() -> None:
    service, browser = endpoint()
    await browser.initialize()
    assert (await browser.post(call("echo"))).status == 200
    assert service.senders[-1].session is service.opened[0]
