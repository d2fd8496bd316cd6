"""Resuming streams: a GET with `Last-Event-ID` goes on with the one stream that the event belongs to."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from splice.protocol.jsonrpc import Notification, raw
from splice.protocol.versions import FACTS, HANDSHAKE_VERSIONS, LATEST_MODERN
from splice.rules.http.sse import Decoder, Event
from splice.stores import opening
from splice.stores.base import StoreError
from splice.stores.memory import MemoryStore
from splice.transports.base import Exchange
from splice.transports.http.app import HTTPApp
from splice.transports.http.logs import KEEP_SECONDS
from support.waiting import settle, until
from transports.asgi import BATCHES, LEGACY, Browser, Call, FakeService, Gate, call, modern, within

RESUMABLE = [version for version in HANDSHAKE_VERSIONS if FACTS[version].resumable]
TOLD = "notifications/told"


def events(visit: Call) -> list[Event]:
    return list(Decoder(2**24).feed(visit.body))


@pytest.fixture(params=["memory", "file"])
def service(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[FakeService]:
    service = FakeService()
    if request.param == "file":
        service.store = opening.open(tmp_path / "state.db")
    yield service
    if service.store is not None:
        asyncio.run(service.store.close())


async def talks(exchange: Exchange) -> Any:
    """Tell twice, ask, tell once more: a tool."""
    for place in (1, 2):
        await exchange.notify(Notification(TOLD, raw({"place": place})))
    answer: Any = await exchange.ask("elicitation/create", raw({"message": "sure?"}))
    await exchange.notify(Notification(TOLD, raw({"place": 3})))
    return json.loads(bytes(answer.result))


async def resume(browser: Browser, last: str) -> Call:
    return browser.begin("GET", b"", {"last-event-id": last})


@pytest.mark.parametrize("version", RESUMABLE)
@pytest.mark.requirement(180, 184, 191, 194, 195)
async def test_a_client_that_is_cut_off_after_each_event_gets_each_once(version: str, service: FakeService) -> None:
    service.tools["talks"] = talks
    browser = Browser(HTTPApp(service))
    await browser.initialize(version)
    visit, seen = browser.begin("POST", call("talks", 5)), list[Event]()
    while not (seen and b'"result"' in seen[-1].data):
        await visit.until(lambda visit: visit.status and events(visit))
        event = events(visit)[0]
        seen.append(event)
        visit.disconnect()
        if b'"method":"elicitation' in event.data:
            reply = {"jsonrpc": "2.0", "id": json.loads(event.data)["id"], "result": {"yes": True}}
            assert (await browser.post(reply)).status == 202
        visit = await resume(browser, event.id)
    await visit.ended()
    assert (visit.status, visit.body) == (200, b"")
    primes = FACTS[version].priming_event
    assert [event.data for event in seen][:1] == [b""] if primes else True
    messages = [json.loads(event.data) for event in seen if event.data]
    assert [each.get("params", {}).get("place", each.get("method")) for each in messages] == [
        1, 2, "elicitation/create", 3, None,
    ]  # fmt: skip
    assert messages[-1] == {"jsonrpc": "2.0", "id": 5, "result": {"yes": True}}
    assert len({event.id for event in seen}) == len(seen) == 5 + primes
    assert len({event.id.partition("-")[0] for event in seen}) == 1


@pytest.mark.parametrize("version", [LEGACY])
async def test_a_client_that_comes_back_later_gets_the_response(version: str, service: FakeService) -> None:
    service.tools["waits"] = gate = Gate(TOLD)
    browser = Browser(HTTPApp(service))
    await browser.initialize(version)
    visit = browser.begin("POST", call("waits", 5))
    await visit.event()
    visit.disconnect()
    await settle()
    gate.released.set()
    await visit.ended()
    answer = await (await resume(browser, events(visit)[0].id)).ended()
    assert [json.loads(event.data) for event in events(answer)][-1]["result"] == {"done": True}


async def test_a_long_call_can_be_resumed_before_anything_was_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splice.transports.http.visits.QUIET_SECONDS", 0.0)
    service = FakeService()
    service.tools["waits"] = gate = Gate()
    browser = Browser(HTTPApp(service))
    await browser.initialize()
    visit = browser.begin("POST", call("waits", 5))
    await visit.until(lambda visit: visit.body.endswith(b":\n\n"))
    (primer,) = events(visit)
    assert primer.data == b""
    visit.disconnect()
    await settle()
    again = await resume(browser, primer.id)
    await again.until(lambda again: again.status)
    gate.released.set()
    await again.ended()
    assert again.events == [{"jsonrpc": "2.0", "id": 5, "result": {"done": True}}]
    await visit.ended()


async def test_a_plain_answer_is_not_kept() -> None:
    browser = Browser(HTTPApp(FakeService()))
    await browser.initialize()
    await browser.post(call("echo"))
    logs = browser.app._leg._logs
    assert (logs.store._items, logs.live) == (0, {})


@pytest.mark.parametrize("version", [*HANDSHAKE_VERSIONS, LATEST_MODERN])
async def test_only_versions_with_resumption_have_event_ids(version: str) -> None:
    service = FakeService()
    service.tools["tells"] = gate = Gate(TOLD)
    gate.released.set()
    browser = Browser(HTTPApp(service))
    if version == LATEST_MODERN:
        answer = await browser.post(*modern("tells"))
    else:
        await browser.initialize(version)
        answer = await browser.post(call("tells"))
    assert (b"id: " in answer.body) == FACTS[version].resumable
    assert browser.app._leg._logs.live == {}


async def interrupted(browser: Browser) -> str:
    """Begin a call that tells something, and lose the connection; the id of the event before."""
    visit = browser.begin("POST", call("tells", 9))
    await visit.event()
    visit.disconnect()
    await visit.ended()
    return events(visit)[0].id


@pytest.mark.requirement(197)
async def test_nobody_else_resumes_a_stream() -> None:
    service = FakeService()
    service.tools["tells"] = gate = Gate(TOLD)
    gate.released.set()
    app = HTTPApp(service)
    alice, other, bob = Browser(app), Browser(app), Browser(app)
    alice.principal, other.principal, bob.principal = "alice", "alice", "bob"
    await alice.initialize()
    mine = await interrupted(alice)
    for foreign in (other, bob):
        await foreign.initialize()
        answer = await foreign.send("GET", b"", {"last-event-id": mine})
        unknown = await foreign.send("GET", b"", {"last-event-id": f"{'0' * 24}-1"})
        assert (answer.status, answer.body) == (unknown.status, unknown.body)
        assert (answer.status, answer.json["error"]["code"]) == (400, -32600)
    bob.defaults = alice.defaults
    assert (await bob.send("GET", b"", {"last-event-id": mine})).status == 404
    assert (await alice.send("GET", b"", {"last-event-id": mine})).status == 200
    await alice.send("DELETE")
    assert (await alice.send("GET", b"", {"last-event-id": mine})).status == 404


async def test_streams_side_by_side_are_not_mixed_up() -> None:
    service = FakeService()
    service.tools |= {name: Gate(f"notifications/{name}") for name in ("one", "two")}
    browser = Browser(HTTPApp(service))
    await browser.initialize()
    visits = {name: browser.begin("POST", call(name, name)) for name in ("one", "two")}
    for visit in visits.values():
        await visit.event()
        visit.disconnect()
    await settle()
    again = {name: await resume(browser, events(visit)[0].id) for name, visit in visits.items()}
    for name, visit in again.items():
        await visit.event()
        gate: Any = service.tools[name]
        gate.released.set()
    for name, visit in again.items():
        await visit.ended()
        told, answer = visit.events
        assert (told["method"], answer["id"]) == (f"notifications/{name}", name)


async def test_a_cancelled_request_ends_the_stream_that_was_resumed() -> None:
    service = FakeService()
    service.tools["waits"] = Gate(TOLD)
    browser = Browser(HTTPApp(service))
    await browser.initialize()
    visit = browser.begin("POST", call("waits", 5))
    await visit.event()
    again = await resume(browser, events(visit)[1].id)
    await again.until(lambda again: again.status)
    note = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 5}}
    await browser.post(note)
    await again.ended()
    assert again.body == b""
    await visit.ended()


async def test_stopping_ends_a_stream_that_was_resumed() -> None:
    service = FakeService()
    service.tools["waits"] = Gate(TOLD)
    browser = Browser(HTTPApp(service))
    await browser.initialize()
    visit = browser.begin("POST", call("waits", 5))
    await visit.event()
    visit.disconnect()
    again = await resume(browser, events(visit)[1].id)
    await again.until(lambda again: again.status)
    await within(browser.app.stop(0.01))
    await again.ended()
    await visit.ended()


async def test_a_batch_is_resumed_as_one_stream() -> None:
    service = FakeService()
    service.tools |= {name: Gate(TOLD) for name in ("one", "two")}
    browser = Browser(HTTPApp(service))
    await browser.initialize(BATCHES)
    visit = browser.begin("POST", [call("one", 1), call("two", 2)])
    await visit.event(2)
    visit.disconnect()
    for name in ("one", "two"):
        gate: Any = service.tools[name]
        gate.released.set()
    await visit.ended()
    again = await (await resume(browser, events(visit)[1].id)).ended()
    assert sorted(each["id"] for each in again.events) == [1, 2]


async def test_a_stream_stays_while_its_answer_is_awaited() -> None:
    service, now = FakeService(), [0.0]
    service.store = MemoryStore(clock=lambda: now[0])
    service.tools["waits"] = gate = Gate(TOLD)
    browser = Browser(HTTPApp(service))
    await browser.initialize()
    visit = browser.begin("POST", call("waits", 5))
    await visit.event()
    now[0] = 10 * KEEP_SECONDS  # a long call that has nothing to tell
    visit.disconnect()
    await settle()
    again = await resume(browser, events(visit)[1].id)
    await again.until(lambda again: again.status)
    gate.released.set()
    await again.ended()
    await visit.ended()
    assert (again.status, again.events) == (200, [{"jsonrpc": "2.0", "id": 5, "result": {"done": True}}])


async def test_a_question_does_not_wait_for_a_client_whose_stream_could_not_be_replayed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("splice.transports.http.stream.ABSENT_SECONDS", 0.02)
    go = asyncio.Event()

    async def asks(exchange: Exchange) -> Any:
        await exchange.notify(Notification(TOLD))
        await go.wait()
        return await exchange.ask("elicitation/create", raw({}))

    service = FakeService()
    service.tools["asks"] = asks
    browser = Browser(HTTPApp(service))
    await browser.initialize()
    visit = browser.begin("POST", call("asks", 5))
    await visit.event()
    again = await resume(browser, events(visit)[1].id)
    await again.until(lambda again: again.status)
    store: Any = browser.app._leg._logs.store

    async def fails(*_: Any) -> Any:
        raise StoreError("locked")

    monkeypatch.setattr(store, "read", fails)
    go.set()
    await again.ended()
    await visit.ended()


async def test_a_client_that_left_before_it_was_watched_is_not_asked_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splice.transports.http.stream.ABSENT_SECONDS", 0.02)
    service = FakeService()
    service.tools["talks"] = talks
    browser = Browser(HTTPApp(service))
    await browser.initialize()
    visit = browser.begin("POST", call("talks", 5))
    visit.broken = True
    await visit.ended()


# The session's own stream.


async def opened(browser: Browser, last: str | None = None) -> Call:
    visit = browser.begin("GET", b"", {} if last is None else {"last-event-id": last})
    await visit.until(lambda visit: visit.status)
    await settle()
    return visit


def push(service: FakeService, *names: str) -> None:
    for name in names:
        service.opened[0].push(Notification(f"notifications/{name}"))


def names(visit: Call) -> list[str]:
    return [each["method"].removeprefix("notifications/") for each in visit.events]


@pytest.mark.parametrize("version", RESUMABLE)
@pytest.mark.requirement(189, 193)
async def test_a_client_cut_off_from_its_own_stream_gets_each_message_once(version: str, service: FakeService) -> None:
    browser = Browser(HTTPApp(service))
    await browser.initialize(version)
    visit, seen, last = await opened(browser), list[str](), None
    push(service, *"abcdef")
    for place in range(6):
        await visit.until(events)
        event = events(visit)[0]
        seen.append(json.loads(event.data)["method"][-1])
        last = event.id
        if place % 2:  # else the loss goes unnoticed
            visit.disconnect()
        visit = await opened(browser, last)
        if place == 2:
            push(service, *"gh")
            await visit.until(lambda visit: len(events(visit)) == 5)
    assert seen == list("abcdef")
    assert names(visit) == ["g", "h"]
    push(service, "i")
    await visit.until(lambda visit: names(visit)[2:] == ["i"])
    visit.disconnect()
    await visit.ended()


async def test_what_went_to_another_stream_of_the_session_is_not_replayed() -> None:
    service = FakeService()
    browser = Browser(HTTPApp(service))
    await browser.initialize()
    first = await opened(browser)
    push(service, "a", "b")
    await first.event(2)
    second = await opened(browser)
    push(service, "c")
    await second.event()
    first.disconnect()
    await first.ended()
    again = await opened(browser, events(first)[0].id)
    await again.event()
    push(service, "d")
    await again.event(2)
    assert (names(first), names(again), names(second)) == (["a", "b"], ["b", "d"], ["c"])
    ids = [event.id for visit in (first, again, second) for event in events(visit)]
    assert len(set(ids)) == 4
    for visit in (again, second):
        visit.disconnect()
        await visit.ended()


async def test_a_stream_that_is_gone_goes_on_anew() -> None:
    service = FakeService()
    browser = Browser(HTTPApp(service))
    await browser.initialize()
    visit = await opened(browser, f"g{'0' * 24}-7")
    push(service, "a")
    assert (await visit.event())["method"] == "notifications/a"
    visit.disconnect()
    await visit.ended()


async def test_idle_sessions_and_streams_keep_nothing() -> None:
    browser = Browser(HTTPApp(FakeService()))
    await browser.initialize()
    visit = await opened(browser)
    logs = browser.app._leg._logs
    assert (logs.store._items, logs.live) == (0, {})
    visit.disconnect()
    await visit.ended()
    await until(lambda: len(asyncio.all_tasks()) == 1)
