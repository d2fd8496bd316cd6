"""The exchange table: alone against a model, and in pairs over a wire that a hypothesis machine shuffles."""

import json
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from splice.errors import InternalError, InvalidRequest
from splice.protocol.jsonrpc import Notification, RequestId, encode, raw
from splice.protocol.notifications import CANCELLED, PROGRESS, CancelledParams
from splice.rules.exchanges import ExchangeTable, cancellation

IDS: list[RequestId] = [0, 1, 2, "1", "", "a"]
Table: TypeAlias = ExchangeTable[object, object]


def table() -> Table:
    return ExchangeTable()


def report(token: RequestId, value: float) -> Notification:
    return Notification(PROGRESS.name, raw({"progressToken": token, "progress": value}))


def cancelled(params: Any) -> Notification:
    return Notification(CANCELLED.name, None if params is None else raw(params))


# What the peer asked of us.


def test_a_request_may_be_answered_once() -> None:
    exchanges, handle = table(), object()
    assert exchanges.accept(1, handle) is None
    assert exchanges.is_open(1, handle)
    assert exchanges.finish(1, handle)
    assert not exchanges.is_open(1, handle)
    assert not exchanges.finish(1, handle)


def test_an_id_in_flight_is_refused_and_the_first_request_keeps_it() -> None:
    exchanges, first, second = table(), object(), object()
    assert exchanges.accept(1, first) is None
    assert isinstance(exchanges.accept(1, second), InvalidRequest)
    assert not exchanges.finish(1, second)
    assert exchanges.finish(1, first)


def test_the_id_of_an_answered_request_may_be_used_again() -> None:
    exchanges, first, second = table(), object(), object()
    exchanges.accept(1, first)
    exchanges.finish(1, first)
    assert exchanges.accept(1, second) is None


def test_a_number_and_a_text_are_two_ids() -> None:
    exchanges, number, text = table(), object(), object()
    assert exchanges.accept(1, number) is None
    assert exchanges.accept("1", text) is None
    assert exchanges.cancel("1") is text
    assert exchanges.is_open(1, number)


def test_nobody_may_answer_a_cancelled_request() -> None:
    exchanges, handle = table(), object()
    exchanges.accept(1, handle)
    assert exchanges.cancel(1) is handle
    assert exchanges.cancel(1) is None
    assert not exchanges.finish(1, handle)


@pytest.mark.requirement(244)
def test_a_cancelled_request_cannot_answer_for_a_later_one_with_its_id() -> None:
    exchanges, slow, later = table(), object(), object()
    exchanges.accept(1, slow)
    exchanges.cancel(1)
    exchanges.accept(1, later)
    assert not exchanges.is_open(1, slow)
    assert not exchanges.finish(1, slow)
    assert exchanges.finish(1, later)


def test_more_than_so_many_at_once_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splice.rules.exchanges.MAX_IN_FLIGHT", 1)
    exchanges, handle = table(), object()
    assert exchanges.accept(1, handle) is None
    assert isinstance(exchanges.accept(2, object()), InternalError)
    exchanges.finish(1, handle)
    assert exchanges.accept(2, object()) is None


def test_what_waits_for_a_reply_is_listed() -> None:
    exchanges, handle = table(), object()
    assert not exchanges.inbound
    exchanges.accept("a", handle)
    assert exchanges.inbound == {"a": handle}


@pytest.mark.parametrize(
    "params",
    [None, {}, [], "x", {"requestId": None}, {"requestId": 1.5}, {"requestId": 7}, {"requestId": "1"}, {"reason": "-"}],
    ids=repr,
)
@pytest.mark.requirement(244)
def test_a_cancellation_that_names_nothing_in_flight_is_ignored(params: Any) -> None:
    exchanges, handle = table(), object()
    exchanges.accept(1, handle)
    assert exchanges.take_cancelled(cancelled(params)) is None
    assert exchanges.is_open(1, handle)


def test_a_cancellation_names_its_request() -> None:
    exchanges, handle = table(), object()
    exchanges.accept("a", handle)
    assert exchanges.take_cancelled(cancelled({"requestId": "a", "reason": "why"})) is handle
    assert not exchanges.is_open("a", handle)


# What we asked of the peer.


def test_ids_of_our_own_are_never_repeated() -> None:
    exchanges = table()
    ids = [exchanges.next_id() for _ in range(100)]
    assert len(set(ids)) == 100


def test_a_response_finds_its_request_once() -> None:
    exchanges, handle = table(), object()
    assert exchanges.issue(7, handle)
    assert not exchanges.issue(7, object())
    assert exchanges.settle("7") is None
    assert exchanges.settle(7) is handle
    assert exchanges.settle(7) is None
    assert not exchanges.outbound


def test_a_cancellation_is_written_for_everything_but_initialize() -> None:
    note = cancellation("a", "tools/call", "timeout")
    assert note == Notification("notifications/cancelled", CancelledParams(request_id="a", reason="timeout"))
    assert json.loads(encode(note))["params"] == {"requestId": "a", "reason": "timeout"}
    assert cancellation(1, "initialize", "timeout") is None


def test_progress_reaches_the_request_whose_id_is_the_token() -> None:
    exchanges, handle = table(), object()
    exchanges.issue(7, handle)
    assert exchanges.take_progress(report(7, 1.0)) is handle
    assert exchanges.take_progress(report(8, 1.0)) is None


def test_progress_of_what_does_not_run_is_ignored() -> None:
    exchanges = table()
    assert exchanges.take_progress(report(7, 1.0)) is None
    exchanges.issue(7, object())
    exchanges.settle(7)
    assert exchanges.take_progress(report(7, 2.0)) is None
    assert exchanges.take_progress(Notification(PROGRESS.name)) is None


# Both.


def test_closing_hands_out_everything_once_and_lets_nothing_begin() -> None:
    exchanges, asked, asking = table(), object(), object()
    exchanges.accept(1, asked)
    exchanges.issue(1, asking)
    assert exchanges.close() == ([asked], [asking])
    assert exchanges.close() == ([], [])
    assert isinstance(exchanges.accept(2, object()), InvalidRequest)
    assert not exchanges.issue(2, object())
    assert not exchanges.finish(1, asked)
    assert exchanges.settle(1) is None
    assert exchanges.take_progress(report(1, 1.0)) is None
    assert not exchanges.inbound
    assert not exchanges.outbound


def test_giving_up_our_questions_leaves_the_peers() -> None:
    exchanges, asked, asking = table(), object(), object()
    exchanges.accept(1, asked)
    exchanges.issue(1, asking)
    assert exchanges.give_up() == [asking]
    assert exchanges.give_up() == []
    assert not exchanges.issue(2, object())
    assert isinstance(exchanges.accept(2, object()), InvalidRequest)
    assert exchanges.finish(1, asked)


class OneTable(RuleBasedStateMachine):
    """One table against the plainest model of it: two dicts."""

    def __init__(self) -> None:
        super().__init__()
        self.table = table()
        self.inbound: dict[RequestId, object] = {}
        self.outbound: dict[RequestId, object] = {}
        self.gone: list[tuple[RequestId, object]] = []
        self.closed = False

    ids = st.sampled_from(IDS)

    @rule(id=ids)
    def accept(self, id: RequestId) -> None:
        handle = object()
        taken = self.table.accept(id, handle) is None
        assert taken == (not self.closed and id not in self.inbound)
        if taken:
            self.inbound[id] = handle

    @rule(id=ids)
    def finish(self, id: RequestId) -> None:
        handle = self.inbound.get(id)
        if handle is None:
            assert not self.table.finish(id, object())
        else:
            assert self.table.finish(id, handle)
            self.gone.append((id, self.inbound.pop(id)))

    @rule(id=ids)
    def cancel(self, id: RequestId) -> None:
        handle = self.inbound.pop(id, None)
        assert self.table.cancel(id) is handle
        if handle is not None:
            self.gone.append((id, handle))

    @rule()
    def nobody_comes_back(self) -> None:
        for id, handle in self.gone:
            assert not self.table.is_open(id, handle)
            assert not self.table.finish(id, handle)

    @rule(id=ids)
    def issue(self, id: RequestId) -> None:
        handle = object()
        sent = self.table.issue(id, handle)
        assert sent == (not self.closed and id not in self.outbound)
        if sent:
            self.outbound[id] = handle

    @rule(id=ids)
    def settle(self, id: RequestId) -> None:
        assert self.table.settle(id) is self.outbound.pop(id, None)

    @rule(id=ids, value=st.floats(allow_nan=False, allow_infinity=False))
    def report(self, id: RequestId, value: float) -> None:
        assert self.table.take_progress(report(id, value)) is self.outbound.get(id)

    @rule()
    def close(self) -> None:
        assert self.table.close() == (list(self.inbound.values()), list(self.outbound.values()))
        self.gone.extend(self.inbound.items())
        self.inbound.clear()
        self.outbound.clear()
        self.closed = True

    @invariant()
    def agrees(self) -> None:
        assert (self.table.inbound, self.table.outbound) == (self.inbound, self.outbound)
        assert all(self.table.is_open(id, handle) for id, handle in self.inbound.items())


# Both sides at once.

Kind: TypeAlias = Literal["request", "response", "cancel", "progress"]


@dataclass(eq=False)
class Asked:
    """A request as its sender sees it: what it hears of it, in order."""

    nonce: int
    id: RequestId
    outcomes: list[str] = field(default_factory=list)
    heard: list[float] = field(default_factory=list)


@dataclass(eq=False)
class Work:
    """A request as its receiver sees it."""

    nonce: int
    id: RequestId
    cancelled: bool = False
    answered: bool = False


@dataclass
class Packet:
    """A message on the wire. The nonce is what the payload says, which no table ever looks at."""

    kind: Kind
    id: RequestId
    nonce: int
    value: float = 0.0


@dataclass(eq=False)
class Side:
    """One end: its table, its wire to the other end, and all that ever happened here."""

    table: ExchangeTable[Work, Asked] = field(default_factory=ExchangeTable)
    sent: list[Packet] = field(default_factory=list)
    asked: list[Asked] = field(default_factory=list)
    work: list[Work] = field(default_factory=list)


class TwoTables(RuleBasedStateMachine):
    """Two ends that ask, answer, cancel, report, repeat ids and close, over wires that keep their order."""

    def __init__(self) -> None:
        super().__init__()
        self.sides = (Side(), Side())
        self.nonces = 0

    which = st.sampled_from([0, 1])
    choice = st.integers(0, 10**6)

    @rule(which=which, known=st.sampled_from([None, *IDS]))
    def ask(self, which: int, known: RequestId | None) -> None:
        side = self.sides[which]
        self.nonces += 1
        asked = Asked(self.nonces, side.table.next_id() + 100 if known is None else known)
        may_still_be_answered = any(old.id == asked.id and old.outcomes == ["abandoned"] for old in side.asked)
        if not may_still_be_answered and side.table.issue(asked.id, asked):
            side.asked.append(asked)
            side.sent.append(Packet("request", asked.id, asked.nonce))

    @rule(which=which, choice=choice)
    def give_up(self, which: int, choice: int) -> None:
        side = self.sides[which]
        waiting = [asked for asked in side.asked if not asked.outcomes]
        if waiting and side.table.settle((asked := waiting[choice % len(waiting)]).id) is not None:
            asked.outcomes.append("abandoned")
            side.sent.append(Packet("cancel", asked.id, asked.nonce))

    @rule(which=which, choice=choice)
    def answer(self, which: int, choice: int) -> None:
        side = self.sides[which]
        if side.work:
            work = side.work[choice % len(side.work)]
            if side.table.finish(work.id, work):
                assert not work.cancelled
                assert not work.answered
                work.answered = True
                side.sent.append(Packet("response", work.id, work.nonce))

    @rule(which=which, choice=choice, value=st.integers(-3, 6))
    def report(self, which: int, choice: int, value: int) -> None:
        side = self.sides[which]
        if side.work:
            work = side.work[choice % len(side.work)]
            if side.table.is_open(work.id, work):
                side.sent.append(Packet("progress", work.id, work.nonce, float(value)))

    @rule(which=which, kind=st.sampled_from(["response", "cancel", "progress"]))
    def lie(self, which: int, kind: Kind) -> None:
        """Send what belongs to nothing the other end ever asked."""
        self.sides[which].sent.append(Packet(kind, "never used", nonce=-1))

    @rule(which=which, times=st.integers(1, 4))
    def deliver(self, which: int, times: int) -> None:
        for _ in range(min(times, len(self.sides[which].sent))):
            self.arrive(self.sides[1 - which], self.sides[which].sent.pop(0))

    @precondition(lambda self: self.nonces > 3)
    @rule(which=which)
    def close(self, which: int) -> None:
        """One end goes away; the other learns of it after all that was sent."""
        near, far = self.sides[which], self.sides[1 - which]
        while near.sent:
            self.arrive(far, near.sent.pop(0))
        for side in (near, far):
            for work in (closing := side.table.close())[0]:
                work.cancelled = True
            for asked in closing[1]:
                asked.outcomes.append("closed")
            side.sent.clear()

    def arrive(self, side: Side, packet: Packet) -> None:
        if packet.kind == "request":
            work = Work(packet.nonce, packet.id)
            if side.table.accept(packet.id, work) is None:
                side.work.append(work)
            else:
                side.sent.append(Packet("response", packet.id, packet.nonce))
        elif packet.kind == "cancel":
            if (found := side.table.take_cancelled(cancelled({"requestId": packet.id}))) is not None:
                assert found.nonce == packet.nonce
                found.cancelled = True
        elif packet.kind == "progress":
            if (asked := side.table.take_progress(report(packet.id, packet.value))) is not None:
                assert asked.nonce == packet.nonce
                asked.heard.append(packet.value)
        elif (asked := side.table.settle(packet.id)) is not None:
            assert asked.nonce == packet.nonce
            asked.outcomes.append("answered")

    @invariant()
    def one_outcome_at_most(self) -> None:
        for side in self.sides:
            assert all(len(asked.outcomes) <= 1 for asked in side.asked)

    def teardown(self) -> None:
        """Let all messages arrive and all work end: then each request has exactly one outcome."""
        while any(side.sent for side in self.sides):
            self.deliver(0, 1)
            self.deliver(1, 1)
        for which in (0, 1):
            for index in range(len(self.sides[which].work)):
                self.answer(which, index)
        while any(side.sent for side in self.sides):
            self.deliver(0, 1)
            self.deliver(1, 1)
        for side in self.sides:
            assert not side.table.inbound
            assert not side.table.outbound
            assert all(len(asked.outcomes) == 1 for asked in side.asked)
            assert all(work.answered != work.cancelled for work in side.work)


TestOneTable = OneTable.TestCase
TestTwoTables = TwoTables.TestCase
TestOneTable.settings = settings(max_examples=60, stateful_step_count=40)
TestTwoTables.settings = settings(max_examples=40, stateful_step_count=50)
