"""The clocks and the end of HTTP requests, step by step."""

import asyncio
from typing import Any

import pytest

from splice.transports import http_visits
from splice.transports.http_stream import Reply
from splice.transports.http_visits import Visit, Visits
from transports.asgi import nothing_runs_on, within


class Wire:
    """Both ends of one HTTP request."""

    def __init__(self) -> None:
        self.inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[Any] = []
        self.reply = Reply(self.send)

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    def enter(self, visits: Visits) -> Visit:
        return visits.enter(self.inbox.get, self.reply)


async def test_a_visit_that_is_over_cannot_be_interrupted() -> None:
    visits = Visits()
    visit = Wire().enter(visits)
    visits.leave(visit)
    visit.interrupt("stopping")
    assert visit.why is None
    visit.check()


async def test_the_first_reason_counts() -> None:
    visits, tasks = Visits(), list[asyncio.Task[Any] | None]()

    async def work() -> str:
        visit = Wire().enter(visits)
        visit.interrupt("cancelled")
        visit.interrupt("stopping")
        tasks.append(asyncio.current_task())
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            assert visit.recover()
            return str(visit.why)
        finally:
            visits.leave(visit)
        return "not interrupted"

    assert await within(asyncio.create_task(work())) == "cancelled"


async def test_somebody_elses_cancellation_is_not_ours() -> None:
    visits, running = Visits(), asyncio.Queue[Visit]()

    async def work() -> bool:
        visit = Wire().enter(visits)
        running.put_nowait(visit)
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            return visit.recover()
        finally:
            visits.leave(visit)
        return True

    for interrupted in (True, False):
        task = asyncio.create_task(work())
        visit = await within(running.get())
        task.cancel()
        if interrupted:
            visit.interrupt("stopping")
        assert await within(task) is False


async def test_the_clock_ages_what_lasts_and_then_rests() -> None:
    visits = Visits()
    visit, other = Wire().enter(visits), Wire().enter(visits)
    visits.leave(other)
    visits._tick()
    assert not visit.is_old
    late = Wire().enter(visits)
    visits._tick()
    assert visit.is_old
    assert not late.is_old
    assert visits._ticking
    visits._tick()
    assert late.is_old
    assert not visits._ticking
    visits.leave(visit)
    visits.leave(late)
    assert visits._young == visits._old == set()


async def test_nobody_is_watched_who_need_not_be() -> None:
    visits = Visits()
    visit = Wire().enter(visits)
    visit.lasts()
    assert len(asyncio.all_tasks()) == 1
    visit.on_gone = lambda: None
    visit.watch()
    visit.watch()
    assert len(asyncio.all_tasks()) == 2
    visits.leave(visit)
    await nothing_runs_on()


async def test_a_message_that_is_no_farewell_ends_the_watch() -> None:
    visits, wire, gone = Visits(), Wire(), list[str]()
    visit = wire.enter(visits)
    visit.on_gone = lambda: gone.append("gone")
    visit.watch()
    wire.inbox.put_nowait({"type": "http.request", "body": b"", "more_body": False})
    await nothing_runs_on()
    assert gone == []
    assert not wire.reply.closed


async def test_a_body_that_arrived_after_all_is_not_hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    visits = Visits()
    visit = Wire().enter(visits)
    visit.reading = True
    monkeypatch.setattr(http_visits, "BODY_SECONDS", 0)
    visit.lasts()
    visit.reading = False
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert visit.why is None


async def test_a_busy_stream_needs_no_comment() -> None:
    visits, wire = Visits(), Wire()
    visit = wire.enter(visits)
    await wire.reply.write(b"data: 1\n\n")
    visits._beat()
    assert wire.reply.quiet
    await wire.reply.write(b"data: 2\n\n")
    visits._beat()
    await nothing_runs_on()
    assert not any(message.get("body", b"").startswith(b":") for message in wire.sent)
    visits._beat()
    await nothing_runs_on()
    assert wire.sent[-1]["body"] == b":\n\n"
    visits.leave(visit)
    visits._beat()
    assert not visits._keeping


async def test_a_stream_that_is_stuck_is_not_spoken_to() -> None:
    visits = Visits()
    stuck = asyncio.Event()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await stuck.wait()

    reply = Reply(send)
    visit = visits.enter(asyncio.Queue[Any]().get, reply)
    writing = asyncio.create_task(reply.write(b"data: 1\n\n"))
    await asyncio.sleep(0)
    assert reply.busy
    reply.quiet = True
    visits._beat()
    assert visits.background._tasks == set()
    stuck.set()
    await within(writing)
    visits.leave(visit)


async def test_draining_waits_no_longer_than_it_may() -> None:
    visits, release = Visits(), asyncio.Event()

    async def stubborn() -> None:
        visit = Wire().enter(visits)
        try:
            await release.wait()
        except asyncio.CancelledError:
            await release.wait()
        finally:
            visits.leave(visit)

    task = asyncio.create_task(stubborn())
    await asyncio.sleep(0)
    await within(visits.drain(0.01))
    assert not task.done()
    release.set()
    await within(visits.drain(5))
    await within(task)
    await visits.drain(0)


async def test_a_modern_call_that_says_nothing_for_long_becomes_a_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_visits, "QUIET_SECONDS", 0.01)
    visits, wire, begun = Visits(), Wire(), asyncio.Event()
    visit = wire.enter(visits)
    visit.cancel_when_gone()
    wire.reply.on_stream = begun.set
    await within(begun.wait())
    await within(wire.reply.respond(404, b"{}"))
    visits.leave(visit)
    assert [message.get("status") for message in wire.sent] == [200, None, None]
    assert wire.sent[1]["body"].startswith(b":")
    assert b"{}" in wire.sent[2]["body"]
    await visits.background.close()
