"""The clocks and the end of HTTP requests, step by step."""

import asyncio
from typing import Any

import pytest

from splice.transports.http import visits as module
from splice.transports.http.reply import CONNECTION
from splice.transports.http.stream import EventStream
from splice.transports.http.visits import Ended, Gone, Slow, Stopping, Visit, Visits
from support.waiting import settle, until
from transports.asgi import nothing_runs_on, within


class Wire:
    """Both ends of one HTTP request."""

    def __init__(self, **scope: Any) -> None:
        self.inbox: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.sent: list[Any] = []
        self.scope = scope

    async def send(self, message: Any) -> None:
        self.sent.append(message)

    def enter(self, visits: Visits) -> Visit:
        return visits.enter(self.scope, self.inbox.get, self.send)


class Connection:
    """A connection as our own listener has it."""

    def __init__(self) -> None:
        self.is_lost = False
        self.visit: Visit | None = None


class Work:
    """A visit whose work takes for ever."""

    def __init__(self, visits: Visits, wire: Wire | None = None, state: Any = "answering") -> None:
        self.wire = wire or Wire()
        self.visit = self.wire.enter(visits)
        self.visit.state = state
        self.task = asyncio.create_task(self._run(visits))

    async def _run(self, visits: Visits) -> Ended | None:
        try:
            with self.visit:
                await asyncio.Event().wait()
        except Ended as ended:
            await ended.tell(self.visit)
            return ended
        finally:
            visits.leave(self.visit)
        return None


def age(visits: Visits) -> None:
    """Let the clock look twice."""
    visits._tick()
    visits._tick()


# The end of the work.


async def test_the_first_reason_counts() -> None:
    visits = Visits()
    work = Work(visits)
    await settle()
    work.visit.end(Gone())
    work.visit.end(Stopping())
    assert isinstance(await within(work.task), Gone)
    assert work.wire.sent == []


async def test_somebody_elses_cancellation_is_not_ours() -> None:
    visits = Visits()
    work = Work(visits)
    await settle()
    work.visit.end(Stopping())
    work.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await within(work.task)
    assert visits._all() == set()


async def test_a_handler_that_takes_no_notice_is_told_again() -> None:
    visit = Wire().enter(Visits())
    visit.check()
    visit.error = Stopping()
    with pytest.raises(Stopping):
        visit.check()


@pytest.mark.parametrize("answers", [True, False])
async def test_a_stream_that_answers_nothing_just_ends_when_the_server_stops(answers: bool) -> None:
    visits = Visits()
    work = Work(visits)
    work.visit.id = 7 if answers else None
    await work.visit.reply.write(b"data: 1\n\n")
    await settle()
    work.visit.end(Stopping())
    await within(work.task)
    assert (b"shutting down" in work.wire.sent[-1]["body"]) is answers


# Who is watched.


async def test_the_clock_ages_what_lasts_and_then_rests() -> None:
    visits = Visits()
    first, other = Work(visits), Wire().enter(visits)
    visits.leave(other)
    visits._tick()
    late = Work(visits)
    assert visits._young == {first.visit, late.visit}
    visits._tick()
    assert visits._lasting == {first.visit}
    assert visits._ticking
    visits._tick()
    assert visits._lasting == {first.visit, late.visit}
    assert not visits._ticking
    await settle()
    await within(visits.drain(0))
    assert visits._all() == set()
    await visits.background.close()


async def test_a_request_whose_body_came_late_is_watched_then(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0)
    visits = Visits()
    work = Work(visits, state="arriving")
    await settle()
    age(visits)
    assert visits._young == {work.visit}
    assert visits._ticking
    work.visit.state = "answering"
    visits._tick()
    assert visits._lasting == {work.visit}
    await until(lambda: work.visit.reply.streaming)
    work.wire.inbox.put_nowait({"type": "http.disconnect"})
    assert isinstance(await within(work.task), Gone)


async def test_a_body_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BODY_SECONDS", -1)
    visits = Visits()
    work, passing = Work(visits, state="arriving"), Wire().enter(visits)
    await settle()
    age(visits)
    assert isinstance(await within(work.task), Slow)
    assert work.wire.sent[0]["status"] == 408
    assert passing.error is None


async def test_the_clients_leaving_may_leave_the_work_alone() -> None:
    visits = Visits()
    work = Work(visits)
    work.visit.stream = stream = EventStream()
    await settle()
    age(visits)
    work.wire.inbox.put_nowait({"type": "http.disconnect"})
    await until(lambda: stream.lost)
    assert work.visit.reply.lost
    assert work.visit.error is None
    work.visit.end(Stopping())
    await within(work.task)


async def test_a_message_that_is_not_a_disconnect_ends_the_watch() -> None:
    visits = Visits()
    work = Work(visits)
    await settle()
    age(visits)
    work.wire.inbox.put_nowait({"type": "http.request", "body": b"", "more_body": False})
    await until(lambda: not visits.background._tasks)
    assert not work.visit.reply.closed
    work.task.cancel()
    await nothing_runs_on()


async def test_our_own_listener_needs_no_task_to_tell_of_a_lost_connection() -> None:
    visits, connection = Visits(), Connection()
    work = Work(visits, Wire(**{CONNECTION: connection}))
    await settle()
    age(visits)
    assert visits.background._tasks == {}
    assert connection.visit is work.visit
    work.visit.leave()
    assert isinstance(await within(work.task), Gone)
    assert connection.visit is None


async def test_a_connection_that_is_lost_already_is_noticed() -> None:
    visits, connection = Visits(), Connection()
    connection.is_lost = True
    work = Work(visits, Wire(**{CONNECTION: connection}))
    await settle()
    age(visits)
    assert isinstance(await within(work.task), Gone)


# Silence.


async def test_a_quiet_stream_gets_a_comment_and_a_busy_one_none() -> None:
    visits = Visits()
    work = Work(visits)
    await settle()
    age(visits)
    reply = work.visit.reply
    await reply.write(b"data: 1\n\n")
    visits._beat()
    assert reply.quiet
    await reply.write(b"data: 2\n\n")
    visits._beat()
    await settle()
    assert not any(message.get("body", b"").startswith(b":") for message in work.wire.sent)
    visits._beat()
    await until(lambda: work.wire.sent[-1].get("body") == b":\n\n")
    work.task.cancel()
    await nothing_runs_on()
    visits._beat()
    assert not visits._beating


async def test_a_stream_that_is_stuck_is_not_spoken_to() -> None:
    visits, stuck = Visits(), asyncio.Event()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await stuck.wait()

    visit = visits.enter({CONNECTION: Connection()}, asyncio.Queue[Any]().get, send)
    visit.state = "answering"
    age(visits)
    writing = asyncio.create_task(visit.reply.write(b"data: 1\n\n"))
    await settle()
    assert visit.reply.busy
    visit.reply.quiet = True
    visits._beat()
    assert visits.background._tasks == {}
    stuck.set()
    await within(writing)
    visits.leave(visit)


@pytest.mark.parametrize("may_stream", [True, False])
async def test_a_call_that_says_nothing_for_long_becomes_a_stream(
    may_stream: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "QUIET_SECONDS", 0)
    visits = Visits()
    work = Work(visits)
    work.visit.may_stream = may_stream
    await settle()
    age(visits)
    if may_stream:
        await until(lambda: work.visit.reply.streaming)
        assert work.wire.sent[1]["body"].startswith(b":")
    await settle()
    assert work.visit.reply.streaming is may_stream
    visits._break_silence(work.visit)
    work.task.cancel()
    await nothing_runs_on()


# The end.


async def test_draining_waits_no_longer_than_it_may() -> None:
    visits, release = Visits(), asyncio.Event()

    async def stubborn() -> None:
        visit = Wire().enter(visits)
        try:
            with visit:
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    await release.wait()
        finally:
            visits.leave(visit)

    task = asyncio.create_task(stubborn())
    await settle()
    await within(visits.drain(0.01))
    assert not task.done()
    release.set()
    await within(visits.drain(5))
    await within(task)
    await visits.drain(0)
