"""The clocks and the end of HTTP requests, step by step, and replies that commit late."""

import asyncio
from typing import Any

import pytest

from splice.rules.http.origins import Refusal
from splice.transports.http import visits as module
from splice.transports.http.stream import EventStream
from splice.transports.http.visits import CONNECTION, Reply, Visit, Visits, shutting_down
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

    def is_closing(self) -> bool:
        return self.is_lost


async def exiting() -> None:
    """Take the news that the web server is to exit."""


class Work:
    """A visit whose work takes for ever."""

    def __init__(self, visits: Visits, wire: Wire | None = None, state: Any = "answering") -> None:
        self.wire = wire or Wire()
        self.visit = self.wire.enter(visits)
        self.visit.state = state
        self.task = asyncio.create_task(self._run(visits))

    async def _run(self, visits: Visits) -> Refusal:
        try:
            with self.visit:
                await asyncio.Event().wait()
        except Refusal as refusal:
            await self.visit.reply.refuse(refusal, self.visit.id)
            return refusal
        finally:
            visits.leave(self.visit)
        raise AssertionError

    async def told(self) -> int:
        """Wait for the end, and return the status of what the client is told; 499: it is gone."""
        refusal: Refusal = await within(self.task)
        return refusal.status


def age(visits: Visits) -> None:
    """Let the clock tick twice."""
    visits._tick()
    visits._tick()


def look(visits: Visits, times: int) -> None:
    """Let the slow clock look so often."""
    for _ in range(times):
        visits._look()


# The end of the work.


async def test_the_first_reason_counts() -> None:
    visits = Visits(exiting)
    work = Work(visits)
    await settle()
    work.visit.leave()
    work.visit.end(shutting_down())
    assert await work.told() == 499
    assert work.wire.sent == []


async def test_somebody_elses_cancellation_is_not_ours() -> None:
    visits = Visits(exiting)
    work = Work(visits)
    await settle()
    work.visit.end(shutting_down())
    work.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await within(work.task)
    assert visits._young == set()


@pytest.mark.parametrize("answers", [True, False])
async def test_a_stream_that_answers_nothing_just_ends_when_the_server_stops(answers: bool) -> None:
    visits = Visits(exiting)
    work = Work(visits)
    work.visit.id = 7 if answers else None
    await work.visit.reply.write(b"data: 1\n\n")
    await settle()
    work.visit.end(shutting_down())
    await within(work.task)
    assert (b"shutting down" in work.wire.sent[-1]["body"]) is answers


# Who is watched.


async def test_the_clock_ages_what_lasts_and_then_rests() -> None:
    visits = Visits(exiting)
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
    assert visits._lasting == set()
    await visits.background.close()


async def test_a_request_whose_body_came_late_is_watched_then() -> None:
    visits = Visits(exiting)
    work = Work(visits, state="arriving")
    await settle()
    age(visits)
    assert visits._young == {work.visit}
    assert visits._ticking
    work.visit.state = "answering"
    visits._tick()
    assert visits._lasting == {work.visit}
    work.wire.inbox.put_nowait({"type": "http.disconnect"})
    assert await work.told() == 499


async def test_a_body_that_takes_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BODY_SECONDS", -1)
    visits = Visits(exiting)
    work, passing = Work(visits, state="arriving"), Work(visits, state="passing")
    await settle()
    age(visits)
    assert await work.told() == 408
    assert work.wire.sent[0]["status"] == 408
    assert passing.visit.error is None
    passing.task.cancel()


async def test_the_clients_leaving_may_leave_the_work_alone() -> None:
    visits = Visits(exiting)
    work = Work(visits)
    stream = EventStream(work.visit.reply)
    work.visit.detach = stream.detach
    await settle()
    age(visits)
    work.wire.inbox.put_nowait({"type": "http.disconnect"})
    await until(lambda: stream.lost)
    assert work.visit.reply.lost
    assert work.visit.error is None
    work.visit.end(shutting_down())
    await within(work.task)


async def test_a_message_that_is_not_a_disconnect_ends_the_watch() -> None:
    visits = Visits(exiting)
    work = Work(visits)
    await settle()
    age(visits)
    work.wire.inbox.put_nowait({"type": "http.request", "body": b"", "more_body": False})
    await until(lambda: not visits.background._tasks)
    assert not work.visit.reply.closed
    work.task.cancel()
    await nothing_runs_on()


async def test_our_own_listener_needs_no_task_to_tell_of_a_lost_connection() -> None:
    visits, connection = Visits(exiting), Connection()
    work = Work(visits, Wire(**{CONNECTION: connection}))
    await settle()
    age(visits)
    assert visits.background._tasks == {}
    assert connection.visit is work.visit
    work.visit.leave()
    assert await work.told() == 499
    assert connection.visit is None


async def test_a_connection_that_is_lost_already_is_noticed() -> None:
    visits, connection = Visits(exiting), Connection()
    connection.is_lost = True
    work = Work(visits, Wire(**{CONNECTION: connection}))
    await settle()
    age(visits)
    assert await work.told() == 499


# Silence.


STREAM = int(module.KEEP_ALIVE_SECONDS / module.LOOK_SECONDS)
CALL = int(module.QUIET_SECONDS / module.LOOK_SECONDS)


async def test_a_quiet_stream_gets_a_comment_and_a_busy_one_none() -> None:
    visits = Visits(exiting)
    work = Work(visits)
    await settle()
    age(visits)
    reply = work.visit.reply
    for data in (b"data: 1\n\n", b"data: 2\n\n"):
        await reply.write(data)
        look(visits, STREAM)
    await settle()
    assert not any(message.get("body", b"").startswith(b":") for message in work.wire.sent)
    look(visits, 1)
    await until(lambda: work.wire.sent[-1].get("body") == b":\n\n")
    assert reply.silence == 0
    work.task.cancel()
    await nothing_runs_on()
    visits._tick()
    look(visits, 1)
    assert not visits._looking


def test_silence_lasts_less_than_a_proxy_waits() -> None:
    assert module.KEEP_ALIVE_SECONDS + module.LOOK_SECONDS < 15


async def test_a_stream_that_is_stuck_is_not_spoken_to() -> None:
    visits, stuck = Visits(exiting), asyncio.Event()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.body":
            await stuck.wait()

    visit = visits.enter({CONNECTION: Connection()}, asyncio.Queue[Any]().get, send)
    visit.state = "answering"
    age(visits)
    writing = asyncio.create_task(visit.reply.write(b"data: 1\n\n"))
    await settle()
    assert visit.reply.busy
    look(visits, STREAM + 1)
    assert visits.background._tasks == {}
    stuck.set()
    await within(writing)
    visits.leave(visit)


@pytest.mark.parametrize("plain", [True, False])
async def test_a_call_that_says_nothing_for_long_becomes_a_stream(plain: bool) -> None:
    visits = Visits(exiting)
    work = Work(visits)
    work.visit.reply.plain = plain
    await settle()
    age(visits)
    look(visits, CALL)
    await settle()
    assert work.wire.sent == []
    look(visits, 1)
    await settle()
    assert [message.get("body") for message in work.wire.sent] == ([] if plain else [None, b":\n\n"])
    work.task.cancel()
    await nothing_runs_on()


# The end.


async def test_draining_waits_no_longer_than_it_may() -> None:
    visits, release = Visits(exiting), asyncio.Event()

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


# The reply.


class Reader:
    """Takes what is sent; `open` makes it wait like a client that does not read."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.open = asyncio.Event()
        self.open.set()
        self.fails = False
        self.reply = Reply({}, self)

    async def __call__(self, message: Any) -> None:
        await self.open.wait()
        if self.fails:
            raise OSError("gone")
        self.sent.append(message)

    @property
    def kinds(self) -> list[str]:
        return [message.get("body", b"start").decode() for message in self.sent]


async def test_what_waits_to_be_sent_comes_before_the_response() -> None:
    wire = Reader()
    wire.open.clear()
    events = [asyncio.create_task(wire.reply.write(b"data: %d\n\n" % number)) for number in range(3)]
    await asyncio.sleep(0)
    response = asyncio.create_task(wire.reply.respond(400, b"last"))
    await asyncio.sleep(0)
    wire.open.set()
    await within(asyncio.gather(*events, response))
    assert wire.kinds == ["start", "data: 0\n\n", "data: 1\n\n", "data: 2\n\n", "data: last\n\n"]
    assert wire.sent[0]["status"] == 200
    assert [message.get("more_body", False) for message in wire.sent[1:]] == [True, True, True, False]


async def test_what_waits_to_be_sent_comes_before_the_end() -> None:
    wire = Reader()
    wire.open.clear()
    event = asyncio.create_task(wire.reply.write(b"1"))
    await asyncio.sleep(0)
    end = asyncio.create_task(wire.reply.end())
    await asyncio.sleep(0)
    wire.open.set()
    await within(asyncio.gather(event, end))
    assert wire.kinds == ["start", "1", ""]


async def test_a_first_event_that_was_cancelled_leaves_the_choice_open() -> None:
    wire = Reader()
    wire.open.clear()
    event = asyncio.create_task(wire.reply.write(b"1"))
    await asyncio.sleep(0)
    event.cancel()
    await asyncio.wait([event])
    wire.open.set()
    await wire.reply.respond(404, b"{}")
    assert wire.sent[0]["status"] == 404


async def test_once_closed_everything_is_dropped() -> None:
    wire = Reader()
    await wire.reply.respond(200, b"{}")
    await wire.reply.respond(200, b"{}")
    await wire.reply.write(b"1")
    await wire.reply.accept()
    await wire.reply.end()
    assert wire.kinds == ["start", "{}"]


async def test_nothing_is_sent_to_a_client_that_is_gone() -> None:
    wire = Reader()
    wire.open.clear()
    events = [asyncio.create_task(wire.reply.write(b"%d" % number)) for number in range(2)]
    await asyncio.sleep(0)
    wire.fails = True
    wire.open.set()
    await within(asyncio.gather(*events))
    wire.fails = False
    assert wire.reply.closed
    await wire.reply.respond(200, b"{}")
    assert wire.sent == []


@pytest.mark.parametrize("act", ["respond", "write", "accept", "end"])
async def test_headers_of_a_reply_go_with_whatever_it_becomes(act: str) -> None:
    wire = Reader()
    wire.reply.headers = [(b"mcp-session-id", b"x")]
    arguments: dict[str, tuple[Any, ...]] = {"respond": (200, b"{}"), "write": (b"1",)}
    await getattr(wire.reply, act)(*arguments.get(act, ()))
    assert (b"mcp-session-id", b"x") in wire.sent[0]["headers"]


async def test_an_empty_write_begins_a_stream_and_no_more() -> None:
    wire = Reader()
    await wire.reply.write(b"")
    assert wire.kinds == ["start"]
    assert wire.reply.streaming


@pytest.mark.parametrize("act", ["respond", "write", "accept", "end"])
async def test_a_send_that_fails_is_no_failure_of_who_sends(act: str) -> None:
    wire = Reader()
    wire.fails = True
    arguments: dict[str, tuple[Any, ...]] = {"respond": (200, b"{}"), "write": (b"1",)}
    await getattr(wire.reply, act)(*arguments.get(act, ()))
    assert wire.reply.lost
