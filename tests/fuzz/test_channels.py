"""Two channels of lines that ask each other, over wires that deliver byte by byte, in any order of events.

Each side sends requests, cancels, reports progress, replies, raises, repeats ids, says things that belong to nothing,
stops reading, and closes. Whatever happens: each request has exactly one outcome, its own; the work for it ends;
progress reaches only the request it is for, in order, and not after the end; nothing is sent about a request that is
over; nothing is left in either table.
"""

import asyncio
from collections import Counter
from collections.abc import Coroutine
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test

from fuzz.fuzzing import PROFILE, tried
from splice.errors import ConnectionClosed, InternalError
from splice.protocol.jsonrpc import Failure, Notification, RequestId, Response, Success, decode, failure, raw
from splice.protocol.notifications import CANCELLED, PROGRESS
from splice.rules.exchanges import cancellation
from splice.transports.base import Outgoing, Sender
from splice.transports.channel import ChannelExchange
from splice.transports.lines import LineChannel
from support.waiting import settle
from support.wire import line

T = TypeVar("T")

WITHOUT_END: list[Any] = [{"requestId": "never"}, {}, [], None]
STRAY: list[Any] = [
    *(
        {"jsonrpc": "2.0", "id": "never", "result": {}},
        {"jsonrpc": "2.0", "id": 10**6, "error": {"code": 1, "message": ""}},
    ),
    *({"jsonrpc": "2.0", "method": CANCELLED.name, "params": each} for each in WITHOUT_END),
    *(
        {"jsonrpc": "2.0", "method": PROGRESS.name, "params": each}
        for each in ({"progressToken": 0, "progress": 1}, {}, 1)
    ),
    *(b"junk\n", b"\n", b"\xff\n", b"[]\n", b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"?"}}\n'),
]


class Asked:
    """A request of one side, and all that its sender sees of it."""

    def __init__(self, number: int, side: "Side") -> None:
        self.number = number
        self.heard: list[float] = []
        self.outgoing = Outgoing(side.channel.table.next_id(), "work", raw({"number": number}), self.hear)
        self.gave_up = False
        self.repeated = 0
        self.task = asyncio.get_running_loop().create_task(side.channel.request(self.outgoing))

    async def hear(self, note: Notification) -> None:
        assert not self.task.done(), "progress after the end"
        params = PROGRESS.read_params(note.params)
        assert params.message == str(self.number), "progress of another request"
        self.heard.append(params.progress)

    def check(self, *, may_be_refused: bool) -> None:
        """See that its one outcome is one that it may have."""
        assert self.task.done()
        if self.task.cancelled():
            assert self.gave_up
        elif (error := self.task.exception()) is not None:
            assert isinstance(error, ConnectionClosed), error
        else:
            response = self.task.result()
            if isinstance(response, Success):
                assert bytes(response.result) == b'{"number":%d}' % self.number
            else:
                assert response.error.code == -32603 or self.repeated > 0 or may_be_refused
        assert self.heard == sorted(self.heard)


class Work:
    """What a side does for the other: it replies when the machine says so."""

    def __init__(self, exchange: ChannelExchange) -> None:
        self.exchange = exchange
        self.reply: asyncio.Future[Response] = asyncio.get_running_loop().create_future()
        self.value = 0.0
        self.runs = True
        self.silenced = False
        """It was cancelled from outside: it must not be answered."""


class Side:
    """One end: its channel, the bytes on their way from it, what it asked and what it works on."""

    def __init__(self) -> None:
        self.wire = bytearray()
        self.replies: Counter[RequestId | None] = Counter()
        self.channel = LineChannel(self.write, self.serve, self.unheard, Sender(kind="fuzz"))
        self.asked: list[Asked] = []
        self.work: list[Work] = []
        self.is_gone = False

    def write(self, data: bytes) -> None:
        self.wire.extend(data)
        for each in data.splitlines():
            message = decode(each)
            if isinstance(message, Success | Failure):
                self.replies[message.id] += 1

    async def serve(self, exchange: ChannelExchange) -> Response:
        work = Work(exchange)
        self.work.append(work)
        try:
            return await work.reply
        except asyncio.CancelledError:
            work.silenced = not work.reply.cancelled() or not self.channel.table.is_open(exchange.request.id, exchange)
            raise
        finally:
            work.runs = False

    async def unheard(self, note: Notification) -> None:
        raise AssertionError(note)


class Channels(RuleBasedStateMachine):
    """The two sides, on an event loop that turns between the steps."""

    which = st.sampled_from([0, 1])
    choice = st.integers(0, 10**6)

    def __init__(self) -> None:
        super().__init__()
        tried["histories"] += 1
        self.loop = asyncio.new_event_loop()
        self.numbers = 0
        self.drained = False

        async def begin() -> tuple[Side, Side]:
            return Side(), Side()

        self.sides = self.run(begin())

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        async def bounded() -> T:
            async with asyncio.timeout(3):
                result = await work
                await settle(6)
                return result

        return self.loop.run_until_complete(bounded())

    async def say(self, sending: Coroutine[Any, Any, None]) -> None:
        """Begin to send; it may have to wait until the other side reads."""
        task = asyncio.create_task(sending)
        task.add_done_callback(lambda done: done.exception())

    # What may happen.

    @rule(which=which, times=st.integers(1, 3))
    def ask(self, which: int, times: int) -> None:
        async def begin() -> None:
            for _ in range(times):
                self.numbers += 1
                self.sides[which].asked.append(Asked(self.numbers, self.sides[which]))

        self.run(begin())

    @rule(which=which, choice=choice)
    def give_up(self, which: int, choice: int) -> None:
        waiting = [each for each in self.sides[which].asked if not each.task.done()]
        if waiting:
            asked = waiting[choice % len(waiting)]
            asked.gave_up = True

            async def cancel() -> None:
                asked.task.cancel()

            self.run(cancel())

    def running(self, which: int, choice: int) -> Work | None:
        running = [each for each in self.sides[which].work if each.runs and not each.reply.done()]
        return running[choice % len(running)] if running else None

    @rule(which=which, choice=choice, how=st.sampled_from(["right", "right", "failed", "raised", "cancelled"]))
    def reply(self, which: int, choice: int, how: str) -> None:
        work = self.running(which, choice)
        if work is None:
            return

        async def end() -> None:
            request = work.exchange.request
            match how:
                case "right":
                    work.reply.set_result(Success(request.id, request.params))
                case "failed":
                    work.reply.set_result(failure(request.id, InternalError("failed")))
                case "raised":
                    work.reply.set_exception(RuntimeError("raised"))
                case _:
                    work.reply.cancel()

        self.run(end())

    @rule(which=which, choice=choice, late=st.booleans())
    def report(self, which: int, choice: int, late: bool) -> None:
        works = [each for each in self.sides[which].work if late or each.runs]  # what is over sends nothing
        if works:
            work = works[choice % len(works)]
            request = work.exchange.request
            number = bytes(request.params).removeprefix(b'{"number":').removesuffix(b"}").decode()
            work.value += 1
            params = raw({"progressToken": request.id, "progress": work.value, "message": number})
            is_open, before = work.exchange.is_open, len(self.sides[which].wire)
            self.run(self.say(work.exchange.notify(Notification(PROGRESS.name, params))))
            assert is_open or len(self.sides[which].wire) == before

    @rule(which=which, choice=choice)
    def cancel_twice(self, which: int, choice: int) -> None:
        """Cancel a request that is over, as a slow network would have it."""
        side = self.sides[which]
        over = [each for each in side.asked if each.gave_up]
        if over and not side.is_gone:
            note = cancellation(over[choice % len(over)].outgoing.id, "work", "again")
            assert note is not None
            self.run(self.say(side.channel.notify(note)))

    @rule(which=which, stray=st.sampled_from(STRAY))
    def say_what_belongs_to_nothing(self, which: int, stray: Any) -> None:
        wire = self.sides[which].wire
        if not wire or wire.endswith(b"\n"):
            wire += line(stray)

    @rule(which=which, choice=choice)
    def repeat_an_id(self, which: int, choice: int) -> None:
        """Send a second request with the id of one that runs: it is refused, and the first goes on."""
        waiting = [each for each in self.sides[which].asked if not each.task.done()]
        if waiting and (not self.sides[which].wire or self.sides[which].wire.endswith(b"\n")):
            asked = waiting[choice % len(waiting)]
            if any(each.exchange.request.id == asked.outgoing.id and each.runs for each in self.sides[1 - which].work):
                asked.repeated += 1  # whoever sends such a thing cannot tell the answers apart
                self.sides[which].wire += line(
                    {"jsonrpc": "2.0", "id": asked.outgoing.id, "method": "work", "params": {}}
                )

    @rule(which=which)
    def stop_reading(self, which: int) -> None:
        self.sides[which].channel.pause_writing()

    @rule(which=which)
    def read_on(self, which: int) -> None:
        self.sides[which].channel.resume_writing()

    @rule(which=which, size=st.sampled_from([1, 7, 50, 10**6, 10**6]))
    def deliver(self, which: int, size: int) -> None:
        near, far = self.sides[which], self.sides[1 - which]

        async def feed() -> None:
            data = bytes(near.wire[:size])
            del near.wire[:size]
            if data and not far.is_gone:
                far.channel.feed(data)

        self.run(feed())

    @rule()
    def deliver_all(self) -> None:
        for which in (0, 1, 0, 1):
            self.deliver(which, 10**6)

    @precondition(lambda self: self.numbers > 3)
    @rule(which=which, gently=st.booleans())
    def close(self, which: int, gently: bool) -> None:
        self.run(self.end(self.sides[which], gently=gently))

    async def end(self, side: Side, *, gently: bool = False) -> None:
        if gently and not side.is_gone:
            self.drained = True  # what arrives from now on is refused
            await side.channel.drain(0)
        side.is_gone = True
        await side.channel.lost(ConnectionClosed("closed"))

    # What must hold.

    @invariant()
    def what_is_over_is_forgotten(self) -> None:
        for side in self.sides:
            assert len(side.channel.table.outbound) <= sum(not each.task.done() for each in side.asked)
            assert len(side.channel.table.inbound) <= sum(each.runs for each in side.work) + self.numbers

    def teardown(self) -> None:
        """Let all arrive, all work end and both leave: then each request has had its one outcome."""
        try:
            self.run(self._finish())
            for near, far in (self.sides, self.sides[::-1]):
                for asked in near.asked:
                    asked.check(may_be_refused=self.drained)
                    assert far.replies[asked.outgoing.id] <= 1 + asked.repeated
                repeated = {asked.outgoing.id for asked in near.asked if asked.repeated}
                for work in far.work:
                    id = work.exchange.request.id
                    assert self.drained or not work.silenced or id in repeated or not far.replies[id]
            for side in self.sides:
                assert not side.channel.table.inbound
                assert not side.channel.table.outbound
                assert not any(work.runs for work in side.work)
            left = asyncio.all_tasks(self.loop)
            assert not left, left
        finally:
            self.loop.close()

    async def _finish(self) -> None:
        for _ in range(3):
            for side in self.sides:
                side.channel.resume_writing()
                await settle(6)
                for work in side.work:
                    if work.runs and not work.reply.done():
                        work.reply.set_result(Success(work.exchange.request.id, work.exchange.request.params))
            await settle(6)
            for near, far in (self.sides, self.sides[::-1]):
                if near.wire and not far.is_gone:
                    far.channel.feed(bytes(near.wire))
                near.wire.clear()
            await settle(6)
        if not any(side.is_gone for side in self.sides):
            assert all(asked.task.done() for side in self.sides for asked in side.asked), "unanswered"
        for side in self.sides:
            await self.end(side)
        await settle()


def test_each_request_has_its_one_outcome() -> None:
    run_state_machine_as_test(Channels, settings=PROFILE)
