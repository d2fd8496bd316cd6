"""Logs of events: who finds them, how long, and a store that fails."""

import itertools
import logging
from typing import Any

import pytest

from splice.errors import RPCError
from splice.rules.http.origins import Refusal
from splice.stores.base import Store, StoreError
from splice.stores.memory import MemoryStore
from splice.transports.http import logs as module
from splice.transports.http.logs import LAST, Log, Logs

MINE = "the session"


async def begun(logs: Logs, *messages: bytes, requests: tuple[int, ...] = (1,)) -> Log:
    log = Log(logs, MINE, requests)
    for message in messages:
        await log.keep(message)
    return log


async def test_an_event_id_names_its_log_and_its_place() -> None:
    logs = Logs(None)
    log = await begun(logs, b"a")
    assert await log.keep(b"b", LAST) == f"{log.name}-3"
    found = await logs.find(MINE, f"{log.name}-2")
    assert (found.name, found.cursor, found.requests) == (log.name, 2, [1])
    assert await found.events(found.cursor) == [(3, b".b")]
    assert (await logs.find(MINE, f"{log.name}-3")).cursor == 3


async def test_names_differ() -> None:
    logs = Logs(None)
    names = {(await begun(logs, b"a", requests=requests)).name for _ in range(20) for requests in ((), (1,))}
    assert len(names) == 40


async def refused(logs: Logs, session: str, event_id: str) -> tuple[int, str]:
    with pytest.raises(Refusal) as caught:
        await logs.find(session, event_id)
    error: RPCError = caught.value.error
    return caught.value.status, error.message


async def test_all_that_cannot_be_replayed_is_told_the_same() -> None:
    logs = Logs(None)
    log = await begun(logs, b"a")
    id = f"{log.name}-2"
    told = {await refused(logs, "another", id)}
    for wrong in ("", "x", f"{log.name}-0", f"{log.name}-3", f"{log.name}-02x", f"{log.name}--1", f"{log.name}-", "é"):
        told.add(await refused(logs, MINE, wrong))
    for wrong in (f"{log.name}-9999999999", f"{log.name[:-1]}-2", f"{log.name.upper()}Z-2", f"{'0' * 24}-2", id + "\n"):
        told.add(await refused(logs, MINE, wrong))
    ((status, message),) = told
    assert status == 400
    assert "Last-Event-ID" in message


async def test_a_log_is_gone_some_time_after_its_last_event() -> None:
    now = [0.0]
    logs = Logs(MemoryStore(clock=lambda: now[0]))
    log = await begun(logs, b"a")
    now[0] += module.OPEN_SECONDS - 1
    await log.keep(b"b", module.LAST)
    now[0] += module.KEEP_SECONDS - 1
    assert (await logs.find(MINE, f"{log.name}-2")).cursor == 2
    now[0] += 1
    assert (await refused(logs, MINE, f"{log.name}-2"))[0] == 400


async def test_a_session_hears_on_where_its_own_stream_is_gone() -> None:
    logs = Logs(None)
    log = await begun(logs, b"a", requests=())
    assert log.name[0] == "g"
    assert (await logs.find(MINE, f"{log.name}-2")).name == log.name
    for session, id in (("another", f"{log.name}-2"), (MINE, f"{log.name}-9"), (MINE, f"g{'0' * 24}-1"), (MINE, None)):
        fresh = await logs.find(session, id)
        assert (fresh.name, fresh.cursor) == ("", 0)


async def test_a_log_that_gave_way_while_it_is_written_is_not_replayed_in_part() -> None:
    logs = Logs(MemoryStore(max_items=4))
    log = await begun(logs, b"1", b"2")
    await begun(logs, b"other", b"other")
    await log.keep(b"3")
    assert (await refused(logs, MINE, f"{log.name}-4"))[0] == 400
    with pytest.raises(Refusal):
        await log.events(2)


class Broken(MemoryStore):
    """A store that fails, sometimes."""

    def __init__(self) -> None:
        super().__init__()
        self.fails = False

    async def append(self, *args: Any, **options: Any) -> None:
        if self.fails:
            raise StoreError("the disk is full")
        await super().append(*args, **options)

    async def read(self, *args: Any, **options: Any) -> list[tuple[int, bytes]]:
        if self.fails:
            raise StoreError("the disk is gone")
        return await super().read(*args, **options)


async def test_a_store_that_fails_ends_resuming_and_nothing_else(caplog: pytest.LogCaptureFixture) -> None:
    store = Broken()
    logs = Logs(store)
    log = await begun(logs, b"a")
    store.fails = True
    with caplog.at_level(logging.WARNING, "splice.transport"):
        assert [await log.keep(b"b") for _ in range(3)] == [None] * 3
        assert len(caplog.records) == 1
        assert "the disk is full" in caplog.text
        assert (await refused(logs, MINE, f"{log.name}-2"))[0] == 503
    store.fails = False
    assert await log.keep(b"c") == f"{log.name}-6"
    with pytest.raises(Refusal):
        await log.events(2)


@pytest.mark.parametrize("count", [1, module.PAGE, module.PAGE + 1])
async def test_events_are_read_page_by_page(count: int) -> None:
    store: Store = MemoryStore()
    log = await begun(Logs(store), *(b"%d" % number for number in range(count)))
    after, found = 1, list[bytes]()
    for _ in itertools.count():
        entries = await log.events(after)
        if not entries:
            break
        found += [value for _, value in entries]
        after = entries[-1][0]
    assert found == [b"+%d" % number for number in range(count)]
