"""The legacy leg: sessions, questions, the GET stream, cancellation, batches."""

import asyncio
import json
import time
from typing import Any

import pytest

from splice.errors import ConnectionClosed, LocalProtocolError, MCPError, RPCError
from splice.protocol.jsonrpc import Failure, Notification, Success, raw
from splice.protocol.lifecycle import META_CLIENT_CAPABILITIES, META_PROTOCOL_VERSION
from splice.protocol.versions import HANDSHAKE_VERSIONS, VERSIONS
from splice.rules.principal import Principal
from splice.transports.base import Exchange
from splice.transports.http import sessions, visits
from splice.transports.http import stream as streams
from splice.transports.http.app import HTTPApp
from support.waiting import settle, until
from transports.asgi import BATCHES, LEGACY, META, Browser, Call, FakeService, Gate, call, nothing_runs_on, within

ASK = "elicitation/create"


def endpoint(**options: Any) -> tuple[FakeService, Browser]:
    service = FakeService()
    return service, Browser(HTTPApp(service, **options))


def initialize(id: int = 0, version: str = LEGACY) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": id, "method": "initialize", "params": {"protocolVersion": version}}


def cancelled(id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id}}


def registry(browser: Browser) -> sessions.Sessions:
    found: sessions.Sessions = browser.app._leg.sessions
    return found


async def asks(exchange: Exchange) -> Any:
    """Ask one question: a tool."""
    try:
        response = await exchange.ask(ASK, raw({"message": "sure?"}))
    except MCPError as error:
        return {"failed": type(error).__name__}
    assert isinstance(response, (Success, Failure))
    return {"answer": json.loads(bytes(response.result))} if isinstance(response, Success) else {"refused": True}


# The life of a session.


@pytest.mark.requirement(25, 123, 203)
async def test_a_session_from_start_to_end() -> None:
    service, browser = endpoint()
    id = await browser.initialize()
    assert len(id) >= 32
    assert all("!" <= each <= "~" for each in id)
    assert [session.id for session in service.opened] == [id]
    note = await browser.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert (note.status, note.body) == (202, b"")
    assert service.heard[0][0].method == "notifications/initialized"
    assert service.heard[0][1].session is service.opened[0]
    answer = await browser.post(call("echo", text="hi"))
    assert answer.json == {"jsonrpc": "2.0", "id": 1, "result": {"echo": {"text": "hi"}}}
    assert "mcp-session-id" not in answer.headers
    assert (await browser.send("DELETE")).status == 204
    assert service.closed == service.opened
    for method, body in (("POST", call("echo")), ("GET", b""), ("DELETE", b"")):
        assert (await browser.send(method, body)).status == 404
    assert len(registry(browser).all) == 0


async def test_ids_differ() -> None:
    _, browser = endpoint()
    assert len({await browser.initialize() for _ in range(50)}) == 50


@pytest.mark.requirement(202)
async def test_a_session_is_asked_for() -> None:
    service, browser = endpoint()
    for method, body in (("POST", call("echo")), ("GET", b""), ("DELETE", b"")):
        answer = await browser.send(method, body)
        assert answer.status == 400
        assert "Mcp-Session-Id" in answer.json["error"]["message"]
    assert service.requests == []


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/list", {"_meta": {META_CLIENT_CAPABILITIES: {}}}),
        ("tools/list", None),
        ("server/discover", None),
    ],
)
@pytest.mark.requirement(39)
async def test_a_request_of_no_session_is_told_what_it_lacks(method: str, params: Any) -> None:
    _, browser = endpoint()
    body = {"jsonrpc": "2.0", "id": 1, "method": method} | ({} if params is None else {"params": params})
    answer = await browser.post(body)
    error = answer.json["error"]
    assert (answer.status, answer.json["id"], error["code"]) == (400, 1, -32602)
    for told in ("Mcp-Session-Id", META_PROTOCOL_VERSION, META_CLIENT_CAPABILITIES):
        assert told in error["message"]


@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
@pytest.mark.requirement(391, 501)
async def test_another_principal_sees_no_session(method: str) -> None:
    service, browser = endpoint()
    browser.principal = "alice"
    await browser.initialize()
    assert (await browser.post(call("echo"))).status == 200
    service.requests.clear()
    answers = list[Call]()
    for principal, id in (("bob", None), (None, None), ("alice", "f" * 48)):
        browser.principal = principal
        headers = {} if id is None else {"mcp-session-id": id}
        answers.append(await browser.send(method, call("echo") if method == "POST" else b"", headers))
    assert {(answer.status, answer.body) for answer in answers} == {(404, answers[0].body)}
    assert service.requests == []
    assert len(registry(browser).all) == 1


@pytest.mark.parametrize("version", ["", "1999-01-01", "latest"])
@pytest.mark.requirement(209)
async def test_a_version_no_session_has_is_refused(version: str) -> None:
    _, browser = endpoint()
    for body in (initialize(), call("echo")):
        answer = await browser.post(body, {"mcp-protocol-version": version})
        assert answer.status == 400
        error, id = answer.json["error"], answer.json["id"]
        assert (error["code"], error["data"]["requested"], id) == (-32022, version, body["id"])
        assert set(error["data"]["supported"]) == set(VERSIONS)
        assert LEGACY in error["message"]
    await browser.initialize()
    for method in ("POST", "GET", "DELETE"):
        assert (await browser.send(method, call("echo"), {"mcp-protocol-version": version})).status == 400
    assert (await browser.post(call("echo"), {"mcp-protocol-version": None})).status == 200


@pytest.mark.parametrize("version", [each for each in HANDSHAKE_VERSIONS if each != LEGACY])
async def test_a_version_other_than_the_sessions_is_refused(version: str) -> None:
    service, browser = endpoint()
    await browser.initialize()
    for method, body in (("POST", call("echo")), ("GET", b""), ("DELETE", b"")):
        answer = await browser.send(method, body, {"mcp-protocol-version": version})
        assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
        assert LEGACY in answer.json["error"]["message"]
    assert service.requests == []
    assert (await browser.post(call("echo"))).status == 200


async def test_initialize_within_a_session_is_refused() -> None:
    _, browser = endpoint()
    await browser.initialize()
    answer = await browser.post(initialize())
    assert (answer.status, answer.json["error"]["code"]) == (200, -32600)
    assert (await browser.post(call("echo"))).status == 200
    assert (await browser.post(initialize(), {"mcp-session-id": "unknown"})).status == 404
    assert len(registry(browser).all) == 1


async def test_a_refused_opening_leaves_nothing() -> None:
    service, browser = endpoint()

    async def refuse(exchange: Exchange) -> Any:
        await exchange.notify(Notification("notifications/message"))
        raise RPCError("no", code=-32602)

    for bad in (b"{", json.dumps(initialize() | {"id": None}).encode(), b"x"):
        assert (await browser.post(bad)).status == 400
    assert (await browser.post(initialize(), {"content-type": "text/plain"})).status == 415
    service.tools["refused"] = refuse
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {}}
    answer = await browser.post(body)
    assert answer.json["error"]
    assert "mcp-session-id" not in answer.headers
    assert len(registry(browser).all) == 0
    assert service.opened == []


async def test_an_opening_that_is_cut_off_leaves_nothing() -> None:
    service, browser = endpoint()
    service.tools["gate"] = gate = Gate()
    body = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"name": "gate"}}

    async def handle(exchange: Exchange) -> Any:
        return Success(0, await gate(exchange))

    service.handle = handle  # type: ignore[method-assign]  # this service takes its time to initialize
    visit = browser.begin("POST", body)
    await within(gate.entered.wait())
    assert len(registry(browser).all) == 1
    visit.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await visit.ended()
    assert len(registry(browser).all) == 0


async def initialized(browser: Browser) -> None:
    """Say what a client says after `initialize`, and nothing more."""
    note = await browser.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
    assert note.status == 202


@pytest.mark.parametrize("use", ["POST", "GET", "batch"])
async def test_sessions_in_which_nothing_was_asked_give_way(use: str) -> None:
    service, browser = endpoint(max_sessions=3)
    await browser.initialize(BATCHES)
    if use == "GET":
        stream = browser.begin("GET")
        await stream.until(lambda self: self.status)
        stream.disconnect()
        await stream.ended()
    else:
        await browser.post([call("echo")] if use == "batch" else call("echo"))
    used = dict(browser.defaults)
    for _ in range(20):
        await browser.initialize()
        await initialized(browser)
    assert len(registry(browser).all) == 3
    assert [session.id for session in service.closed] == [session.id for session in service.opened[1:-2]]
    assert (await browser.post(call("echo"), used)).status == 200
    assert (await browser.post(call("echo"))).status == 200


async def test_one_in_which_something_goes_on_does_not_give_way() -> None:
    service, browser = endpoint(max_sessions=1)
    await browser.initialize()
    stream = browser.begin("GET")
    await stream.until(lambda self: self.status)
    assert (await Browser(browser.app).post(initialize())).status == 503
    stream.disconnect()
    await stream.ended()
    assert service.closed == []


async def test_one_principal_cannot_have_them_all() -> None:
    service, browser = endpoint(max_sessions=30)
    browser.principal = "mallory"
    for _ in range(10):
        await browser.initialize()
        await browser.post(call("echo"))
    browser.defaults = {}
    answer = await browser.post(initialize())
    assert (answer.status, "You have 10" in answer.json["error"]["message"]) == (503, True)
    for name in ("alice", None):
        other = Browser(browser.app)
        other.principal = name
        for _ in range(10):
            await other.initialize()
            await other.post(call("echo"))
    assert service.closed == []
    last = {"mcp-session-id": service.opened[0].id}
    assert (await browser.send("DELETE", headers=last)).status == 204
    for _ in range(2):  # the second takes the place of the first
        await browser.initialize()
    assert [session.principal for session in service.closed] == [Principal(subject="mallory")] * 2
    await within(browser.app.stop())
    assert not registry(browser)._owned


async def test_there_are_only_so_many_sessions() -> None:
    service, browser = endpoint(max_sessions=3)
    for _ in range(3):
        await browser.initialize()
        await browser.post(call("echo"))
    kept = dict(browser.defaults)
    browser.defaults = {}
    answer = await browser.post(initialize())
    assert answer.status == 503
    assert int(answer.headers["retry-after"]) > 0
    assert len(service.opened) == 3
    browser.defaults = kept
    assert (await browser.send("DELETE")).status == 204
    await browser.initialize()


async def test_idle_sessions_expire_and_busy_ones_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    service, browser = endpoint()
    await browser.initialize()
    idle = dict(browser.defaults)
    await browser.initialize()
    streaming = dict(browser.defaults)
    stream = browser.begin("GET")
    await stream.until(lambda self: self.status)
    await browser.initialize()
    working = dict(browser.defaults)
    service.tools["gate"] = gate = Gate()
    work = browser.begin("POST", call("gate"))
    await within(gate.entered.wait())
    monkeypatch.setattr(sessions, "IDLE_SECONDS", -1.0)
    assert (await browser.post(cancelled(99))).status == 202
    assert (await browser.post(call("echo"), idle)).status == 404
    assert (await browser.post(call("echo"), streaming)).status == 200
    gate.released.set()
    await work.ended()
    assert (await browser.post(call("echo"), working)).status == 404
    stream.disconnect()
    await stream.ended()
    assert (await browser.post(call("echo"), streaming)).status == 404
    assert len(registry(browser).all) == 0
    assert {session.id for session in service.closed} == {session.id for session in service.opened}


async def test_use_postpones_expiry(monkeypatch: pytest.MonkeyPatch) -> None:
    _, browser = endpoint()
    await browser.initialize()
    first = dict(browser.defaults)
    await browser.initialize()
    second = dict(browser.defaults)
    await browser.post(call("echo"), first)
    found = registry(browser)
    found.sweep(time.monotonic())
    assert len(found.all) == 2
    used = {session.session.id: session.used for session in found.all.values()}
    found.sweep((used[first["mcp-session-id"]] + used[second["mcp-session-id"]]) / 2 + sessions.IDLE_SECONDS)
    assert [session.session.id for session in found.all.values()] == [first["mcp-session-id"]]


# Requests.


async def test_errors_of_handlers_are_200() -> None:
    _, browser = endpoint()
    await browser.initialize()
    answer = await browser.post(call("no-such-tool"))
    assert (answer.status, answer.json["error"]["code"]) == (200, -32601)


@pytest.mark.requirement(184)
async def test_the_first_notification_makes_it_a_stream() -> None:
    service, browser = endpoint()
    await browser.initialize()
    service.tools["gate"] = gate = Gate("notifications/progress")
    visit = browser.begin("POST", call("gate"))
    assert (await visit.event())["method"] == "notifications/progress"
    gate.released.set()
    await visit.ended()
    assert visit.events[1]["result"] == {"done": True}


async def test_an_id_in_flight_cannot_be_used_again() -> None:
    service, browser = endpoint()
    await browser.initialize()
    service.tools["gate"] = gate = Gate()
    visit = browser.begin("POST", call("gate", id=5))
    await within(gate.entered.wait())
    answer = await browser.post(call("echo", id=5))
    assert (answer.status, answer.json["error"]["code"], answer.json["id"]) == (400, -32600, 5)
    assert (await browser.post(call("echo", id="5"))).status == 200
    other = Browser(browser.app)
    await other.initialize()
    assert (await other.post(call("echo", id=5))).status == 200
    gate.released.set()
    await visit.ended()
    assert visit.json["result"] == {"done": True}
    assert (await browser.post(call("echo", id=5))).status == 200


@pytest.mark.parametrize("notes", [(), ("notifications/progress",)])
@pytest.mark.requirement(186)
async def test_leaving_does_not_cancel(notes: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "TICK_SECONDS", 0.001)
    service, browser = endpoint()
    await browser.initialize()
    service.tools["gate"] = gate = Gate(*notes)
    visit = browser.begin("POST", call("gate"))
    await within(gate.entered.wait())
    visit.disconnect()
    for _ in range(3):
        assert (await browser.post(call("echo", id=2))).status == 200
    assert not gate.outcome.done()
    gate.released.set()
    await visit.ended()
    assert gate.outcome.result() == "done"
    await nothing_runs_on()


@pytest.mark.parametrize("notes", [(), ("notifications/progress",)])
async def test_cancelling_ends_the_reply_without_a_response(notes: tuple[str, ...]) -> None:
    service, browser = endpoint()
    await browser.initialize()
    service.tools["gate"] = gate = Gate(*notes)
    visit = browser.begin("POST", call("gate", id=7))
    await within(gate.entered.wait())
    for nonsense in (cancelled(8), cancelled("7"), cancelled(None), cancelled([]) | {"params": 3}):
        assert (await browser.post(nonsense)).status == 202
    assert (await browser.post({"jsonrpc": "2.0", "method": "notifications/cancelled"})).status == 202
    other = Browser(browser.app)
    await other.initialize()
    assert (await other.post(cancelled(7))).status == 202
    assert not gate.outcome.done()
    assert (await browser.post(cancelled(7))).status == 202
    await visit.ended()
    assert gate.outcome.result() == "cancelled"
    assert visit.status == 200
    assert [event["method"] for event in visit.events] == list(notes)
    assert visit.complete.is_set()
    assert (await browser.post(call("echo", id=7))).status == 200


async def test_a_handler_that_ignores_cancellation_is_not_heard() -> None:
    service, browser = endpoint()
    await browser.initialize()
    gate = Gate()

    async def stubborn(exchange: Exchange) -> Any:
        try:
            await gate(exchange)
        except asyncio.CancelledError:
            return {"still": "here"}

    service.tools["stubborn"] = stubborn
    visit = browser.begin("POST", call("stubborn"))
    await within(gate.entered.wait())
    await browser.post(cancelled(1))
    await visit.ended()
    assert visit.events == []


async def test_ending_a_session_ends_everything_in_it() -> None:
    service, browser = endpoint()
    await browser.initialize()
    service.tools["gate"] = gate = Gate("notifications/progress")
    service.tools["asks"] = asks
    work, stream, question = (
        browser.begin("POST", call("gate")),
        browser.begin("GET"),
        browser.begin("POST", call("asks", 2)),
    )
    await within(gate.entered.wait())
    await stream.until(lambda self: self.status)
    await question.event()
    assert (await browser.send("DELETE")).status == 204
    for visit in (work, stream, question):
        await visit.ended()
        assert visit.complete.is_set()
    assert gate.outcome.result() == "cancelled"
    assert len(work.events) == 1
    assert stream.events == []
    await nothing_runs_on()
    service.opened[0].push(Notification("notifications/too-late"))


# Questions.


async def test_the_answer_arrives_in_the_session() -> None:
    service, browser = endpoint()
    await browser.initialize()
    service.tools["asks"] = asks
    visit = browser.begin("POST", call("asks"))
    question = await visit.event()
    assert question["method"] == ASK
    stranger = Browser(browser.app)
    await stranger.initialize()
    answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "accept"}}
    assert (await stranger.post(answer)).status == 202
    assert (await browser.post(answer | {"id": 99})).status == 202
    assert not visit.complete.is_set()
    reply = await browser.post(answer)
    assert (reply.status, reply.body) == (202, b"")
    await visit.ended()
    assert visit.events[1]["result"] == {"answer": {"action": "accept"}}
    assert (await browser.post(answer)).status == 202


async def test_a_refusal_is_an_answer() -> None:
    service, browser = endpoint()
    await browser.initialize()
    service.tools["asks"] = asks
    visit = browser.begin("POST", call("asks"))
    id = (await visit.event())["id"]
    assert (await browser.post({"jsonrpc": "2.0", "error": {"code": -1, "message": "no id"}})).status == 202
    await browser.post({"jsonrpc": "2.0", "id": id, "error": {"code": -1, "message": "no"}})
    await visit.ended()
    assert visit.events[1]["result"] == {"refused": True}


@pytest.mark.parametrize("version", HANDSHAKE_VERSIONS)
async def test_a_question_to_a_client_that_left_fails(version: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "ABSENT_SECONDS", 0.05)
    service, browser = endpoint()
    await browser.initialize(version)
    failures = list[Exception]()

    async def asks_twice(exchange: Exchange) -> Any:
        for _ in range(2):
            try:
                await exchange.ask(ASK, None)
            except ConnectionClosed as error:
                failures.append(error)
        return {}

    service.tools["asks"] = asks_twice
    visit = browser.begin("POST", call("asks"))
    await visit.event()
    visit.disconnect()
    await visit.ended()
    assert len(failures) == 2
    assert len(visit.events) == 1


async def test_a_question_that_is_given_up_is_withdrawn() -> None:
    service, browser = endpoint()
    await browser.initialize()
    asked = asyncio.Event()

    async def impatient(exchange: Exchange) -> Any:
        question = asyncio.create_task(exchange.ask(ASK, None))
        await asked.wait()
        question.cancel()
        await asyncio.wait([question])
        await exchange.notify(Notification("notifications/progress"))
        return {}

    service.tools["asks"] = impatient
    visit = browser.begin("POST", call("asks"))
    id = (await visit.event())["id"]
    asked.set()
    await visit.ended()
    withdrawn = [event for event in visit.events if event.get("method") == "notifications/cancelled"]
    assert [event["params"]["requestId"] for event in withdrawn] == [id]


async def test_a_cancelled_call_withdraws_nothing() -> None:
    service, browser = endpoint()
    await browser.initialize()
    service.tools["asks"] = asks
    visit = browser.begin("POST", call("asks"))
    await visit.event()
    await browser.post(cancelled(1))
    await visit.ended()
    assert len(visit.events) == 1


@pytest.mark.parametrize("option", ["stateless", "json_response"])
async def test_where_nobody_can_be_asked_asking_fails_at_once(option: str) -> None:
    service, browser = endpoint(**{option: True})
    errors = list[str]()

    async def tries(exchange: Exchange) -> Any:
        try:
            await exchange.ask(ASK, None)
        except LocalProtocolError as error:
            errors.append(str(error))
        return {}

    service.tools["asks"] = tries
    if option == "json_response":
        await browser.initialize()
    answer = await browser.post(call("asks"))
    assert answer.json["result"] == {}
    assert option in errors[0]


# The GET stream.


@pytest.mark.requirement(190)
async def test_the_stream_carries_what_belongs_to_no_request() -> None:
    service, browser = endpoint()
    await browser.initialize()
    push = service.opened[0].push
    push(Notification("notifications/tools/list_changed"))  # before there is a stream
    stream = browser.begin("GET", b"", {"accept": "text/event-stream"})
    await stream.event()
    assert stream.headers["x-accel-buffering"] == "no"
    push(Notification("notifications/prompts/list_changed"))
    await stream.event(2)
    assert [event["method"] for event in stream.events] == [
        "notifications/tools/list_changed",
        "notifications/prompts/list_changed",
    ]
    stream.disconnect()
    await stream.ended()
    push(Notification("notifications/resources/list_changed"))
    again = browser.begin("GET")
    assert (await again.event())["method"] == "notifications/resources/list_changed"
    again.disconnect()
    await again.ended()
    await nothing_runs_on()


@pytest.mark.requirement(189, 193)
async def test_of_several_streams_the_newest_carries_each_message_once() -> None:
    service, browser = endpoint()
    await browser.initialize()
    push, streams = service.opened[0].push, list[Call]()
    for _ in range(3):
        streams.append(browser.begin("GET"))
        await streams[-1].until(lambda self: self.status)
    old, middle, newest = streams
    push(Notification("notifications/a"))
    assert (await newest.event())["method"] == "notifications/a"
    middle.disconnect()
    await middle.ended()
    push(Notification("notifications/b"))
    assert (await newest.event(2))["method"] == "notifications/b"
    newest.disconnect()
    await newest.ended()
    push(Notification("notifications/c"))
    assert (await old.event())["method"] == "notifications/c"
    assert [len(each.events) for each in streams] == [1, 0, 2]
    old.disconnect()
    await old.ended()
    await nothing_runs_on()


@pytest.mark.parametrize("readers", [1, 2])
@pytest.mark.requirement(130, 185)
async def test_what_belongs_to_a_request_stays_on_its_own_stream(readers: int) -> None:
    service, browser = endpoint()
    await browser.initialize()
    streams = [browser.begin("GET") for _ in range(readers)]
    for stream in streams:
        await stream.until(lambda self: self.status)
    gates = {name: Gate("notifications/progress") for name in "ab"}
    service.tools.update(gates)
    visits = [browser.begin("POST", call(name, name)) for name in gates]
    for visit, gate in zip(visits, gates.values(), strict=True):
        await visit.event()
        gate.released.set()
        await visit.ended()
        assert [event.get("method", "response") for event in visit.events] == ["notifications/progress", "response"]
    for stream in streams:
        assert stream.events == []
        stream.disconnect()
        await stream.ended()


async def test_ending_a_session_ends_all_its_streams() -> None:
    _, browser = endpoint()
    await browser.initialize()
    streams = [browser.begin("GET") for _ in range(2)]
    for stream in streams:
        await stream.until(lambda self: self.status)
    assert (await browser.send("DELETE")).status == 204
    for stream in streams:
        await stream.ended()
    await nothing_runs_on()


async def test_one_notification_reaches_many_sessions() -> None:
    service, browser = endpoint()
    streams = list[Call]()
    for _ in range(3):
        await browser.initialize()
        streams.append(browser.begin("GET"))
    note = Notification("notifications/tools/list_changed")
    for session in service.opened:
        session.push(note)
    for stream in streams:
        assert (await stream.event())["method"] == note.method
        stream.disconnect()
        await stream.ended()


async def test_a_stream_can_be_opened_again_as_soon_as_it_is_left() -> None:
    _, browser = endpoint()
    await browser.initialize()
    for _ in range(20):
        stream = browser.begin("GET")
        await stream.until(lambda self: self.status)
        stream.disconnect()
        await stream.ended()
        assert stream.status == 200


async def test_the_stream_must_be_acceptable() -> None:
    _, browser = endpoint()
    await browser.initialize()
    for accept in (None, "*/*", "text/*"):
        stream = browser.begin("GET", b"", {"accept": accept})
        await stream.until(lambda self: self.status)
        assert stream.status == 200
        stream.disconnect()
        await stream.ended()
    answer = await browser.send("GET", b"", {"accept": "application/json"})
    assert answer.status == 406


async def test_equal_notifications_wait_once_and_only_so_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "MAX_WAITING", 3)
    service, browser = endpoint()
    await browser.initialize()
    for number in (1, 2, 2, 3, 2, 4, 4):
        service.opened[0].push(Notification("notifications/x", {"n": number}))
    stream = browser.begin("GET")
    await stream.event(3)
    assert [event["params"]["n"] for event in stream.events] == [2, 3, 4]
    stream.disconnect()
    await stream.ended()


async def test_a_stream_stays_open_whatever_the_body_says() -> None:
    service, browser = endpoint()
    await browser.initialize()
    stream = browser.begin("GET", chunks=[b"", b""])
    service.opened[0].push(Notification("notifications/tools/list_changed"))
    await stream.event()
    stream.disconnect()
    await stream.ended()


async def test_stopping_ends_streams_and_sessions() -> None:
    service, browser = endpoint()
    await browser.initialize()
    await browser.initialize()
    stream = browser.begin("GET")
    await stream.until(lambda self: self.status)
    await within(browser.app.stop())
    await stream.ended()
    assert stream.complete.is_set()
    assert len(service.closed) == 2
    await nothing_runs_on()


# Without sessions, and without streams.


async def test_stateless() -> None:
    service, browser = endpoint(stateless=True)
    answer = await browser.post(initialize())
    assert answer.status == 200
    assert "mcp-session-id" not in answer.headers
    for version, seen in ((None, BATCHES), (LEGACY, LEGACY)):
        await browser.post(call("echo"), {"mcp-protocol-version": version, "mcp-session-id": "ignored"})
        session = service.senders[-1].session
        assert session is not None
        assert session.facts is not None
        assert session.facts.version == seen
    assert (await browser.post({"jsonrpc": "2.0", "method": "notifications/initialized"})).status == 202
    assert (await browser.post(cancelled(1))).status == 202
    assert (await browser.post({"jsonrpc": "2.0", "id": 1, "result": {}})).status == 202
    assert [note.method for note, _ in service.heard] == ["notifications/initialized"]
    for method in ("GET", "DELETE"):
        refused = await browser.send(method)
        assert (refused.status, refused.headers["allow"]) == (405, "POST")
    assert service.opened == service.closed
    assert len(registry(browser).all) == 0


async def test_stateless_calls_may_stream() -> None:
    service, browser = endpoint(stateless=True)
    service.tools["gate"] = gate = Gate("notifications/progress")
    visit = browser.begin("POST", call("gate"))
    await visit.event()
    visit.disconnect()
    gate.released.set()
    await visit.ended()
    assert gate.outcome.result() == "done"


async def test_json_response_never_streams(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(visits, "TICK_SECONDS", 0.001)
    monkeypatch.setattr(visits, "QUIET_SECONDS", 0.0)
    service, browser = endpoint(json_response=True)
    await browser.initialize()
    service.tools["gate"] = gate = Gate("notifications/progress")
    visit = browser.begin("POST", call("gate"))
    await within(gate.entered.wait())
    await until(lambda: browser.app._visits._lasting)
    await settle()
    assert visit.sent == []
    gate.released.set()
    await visit.ended()
    assert visit.json["result"] == {"done": True}


# Batches.


@pytest.mark.requirement(509, 513)
async def test_a_batch_is_answered_with_an_array() -> None:
    service, browser = endpoint()
    await browser.initialize(BATCHES)
    batch = [
        call("echo", 1, n=1),
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2},
        call("echo", 3, n=3),
        initialize(4, BATCHES),
        call("echo", 5) | {"params": {"name": "echo", "_meta": META}},
    ]
    answer = await browser.post(batch)
    assert answer.status == 200
    by_id = {each["id"]: each for each in answer.json}
    assert by_id[1]["result"] == {"echo": {"n": 1}}
    assert by_id[3]["result"] == {"echo": {"n": 3}}
    assert {by_id[id]["error"]["code"] for id in (2, 4, 5)} == {-32600}
    assert len(answer.json) == 5
    assert [note.method for note, _ in service.heard] == ["notifications/initialized"]


async def test_an_id_occurs_once_in_a_batch() -> None:
    service, browser = endpoint()
    await browser.initialize(BATCHES)
    service.tools["gate"] = gate = Gate()
    visit = browser.begin("POST", [call("gate", 1), call("echo", 1)])
    await within(gate.entered.wait())
    gate.released.set()
    await visit.ended()
    assert sorted("error" in each for each in visit.json) == [False, True]


@pytest.mark.requirement(512)
async def test_a_batch_of_notifications_is_accepted() -> None:
    _, browser = endpoint()
    await browser.initialize(BATCHES)
    answer = await browser.post([cancelled(1), {"jsonrpc": "2.0", "id": 9, "result": {}}])
    assert (answer.status, answer.body) == (202, b"")


@pytest.mark.requirement(513, 514, 515)
async def test_a_batch_streams_from_the_first_notification_on() -> None:
    service, browser = endpoint()
    await browser.initialize(BATCHES)
    service.tools["gate"] = gate = Gate("notifications/progress")
    service.tools["asks"] = asks
    visit = browser.begin("POST", [call("gate", 1), call("asks", 2), call("echo", 3)])
    await visit.event(2)
    question = next(event for event in visit.events if event["method"] == ASK)
    await browser.post([{"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}}])
    gate.released.set()
    await visit.ended()
    assert {event["id"] for event in visit.events if "result" in event} == {1, 2, 3}


async def test_the_client_leaving_a_batch_fails_its_questions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "ABSENT_SECONDS", 0.05)
    service, browser = endpoint()
    await browser.initialize(BATCHES)
    service.tools["asks"] = asks
    visit = browser.begin("POST", [call("asks", 1), call("asks", 2)])
    await visit.event(2)
    visit.disconnect()
    await visit.ended()
    assert len(visit.events) == 2


async def test_requests_of_a_batch_are_cancelled_one_by_one() -> None:
    service, browser = endpoint()
    await browser.initialize(BATCHES)
    service.tools["first"], service.tools["second"] = first, second = Gate(), Gate()
    visit = browser.begin("POST", [call("first", 1), call("second", 2)])
    await within(first.entered.wait())
    await within(second.entered.wait())
    await browser.post(cancelled(1))
    assert await within(first.outcome) == "cancelled"
    second.released.set()
    await visit.ended()
    assert [each["id"] for each in visit.json] == [2]
    service.tools["first"] = only = Gate()
    visit = browser.begin("POST", [call("first", 1)])
    await within(only.entered.wait())
    await browser.post(cancelled(1))
    await visit.ended()
    assert visit.events == []


async def test_stopping_ends_a_batch() -> None:
    service, browser = endpoint()
    await browser.initialize(BATCHES)
    service.tools["gate"] = gate = Gate()
    visit = browser.begin("POST", [call("gate", 1)])
    await within(gate.entered.wait())
    await within(browser.app.stop(0.01))
    await visit.ended()
    assert gate.outcome.result() == "cancelled"


@pytest.mark.parametrize(
    ("version", "body"),
    [
        (LEGACY, [call("echo")]),
        (BATCHES, []),
        (BATCHES, b"["),
        (BATCHES, [call("echo", id) for id in range(101)]),
    ],
)
@pytest.mark.requirement(512)
async def test_bad_batches_are_refused(version: str, body: Any) -> None:
    service, browser = endpoint()
    await browser.initialize(version)
    service.requests.clear()
    assert (await browser.post(body)).status == 400
    assert service.requests == []


async def test_a_stateless_batch() -> None:
    _, browser = endpoint(stateless=True)
    assert len((await browser.post([call("echo", 1), call("echo", 2)])).json) == 2
    assert (await browser.post([call("echo")], {"mcp-protocol-version": LEGACY})).status == 400


# Many at once.


async def test_clients_with_equal_ids_do_not_mix() -> None:
    service, browser = endpoint()
    service.tools["asks"] = asks
    clients = [Browser(browser.app) for _ in range(24)]
    for client in clients:
        await client.initialize()
    visits = [client.begin("POST", call("asks", 1)) for client in clients]
    for number, (client, visit) in enumerate(zip(clients, visits, strict=True)):
        question = await visit.event()
        await client.post({"jsonrpc": "2.0", "id": question["id"], "result": {"n": number}})
    for number, visit in enumerate(visits):
        await visit.ended()
        assert visit.events[1]["result"] == {"answer": {"n": number}}


async def test_openings_and_endings_leave_nothing_behind() -> None:
    service, browser = endpoint()
    for round in range(100):
        await browser.initialize()
        if round % 3:
            stream = browser.begin("GET")
            await stream.until(lambda self: self.status)
            if round % 2:
                stream.disconnect()
        assert (await browser.send("DELETE")).status == 204
    assert len(registry(browser).all) == 0
    assert len(service.closed) == 100
    await within(browser.app.stop())
    assert browser.app._visits._young | browser.app._visits._lasting == set()
    await nothing_runs_on()
