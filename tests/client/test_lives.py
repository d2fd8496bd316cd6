"""Trying again: what may be sent twice, and for how long to wait."""

import asyncio
import time
from typing import Any

import pytest

from splice.client import lives
from splice.client.lives import Again, Lives, State, States, back_off
from splice.errors import ConnectFailed, ConnectionClosed, HTTPRefused, SessionLost, TransportError
from support.tables import rows


def busy(seconds: float) -> TransportError:
    error = HTTPRefused("busy", 429)
    error.may_have_run, error.retry_after = False, seconds
    return error


def begun() -> TransportError:
    error = SessionLost("forgotten")
    error.may_have_run = True
    return error


CLOSED, NEVER, REFUSED = ConnectionClosed("gone"), ConnectFailed("not there"), HTTPRefused("no", 401)


@rows(
    ("error", "harmless", "dead", "times"),
    [
        (CLOSED, False, False, 0),
        (CLOSED, False, True, 0),
        (CLOSED, True, False, 2),
        (CLOSED, True, True, 2),
        (NEVER, False, False, 2),
        (NEVER, False, True, 3),  # on another connection once more
        (NEVER, True, True, 3),
        (SessionLost("forgotten"), False, True, 3),
        (begun(), False, True, 0),
        (begun(), True, True, 2),
        (busy(0), False, False, 2),
        (busy(59), True, False, 2),
        (busy(61), True, False, 0),
        (REFUSED, True, False, 0),
    ],
)
def test_how_often_a_request_is_sent_again(error: TransportError, harmless: bool, dead: bool, times: int) -> None:
    again = Again(2, harmless)
    pauses = [again.pause(error, dead=dead) for _ in range(5)]
    assert [pause is not None for pause in pauses] == [True] * times + [False] * (5 - times)
    assert all(pause is None or pause == 0 or pause >= max(error.retry_after, 0.5) for pause in pauses)


def test_a_wait_grows_and_is_never_quite_the_same() -> None:
    waits = [back_off((0.0, 1.0, 2.0), failures) for failures in range(5)]
    assert waits[0] == 0
    assert 1 <= waits[1] <= 1.2
    assert all(2 <= wait <= 2.4 for wait in waits[2:])
    assert len(set(waits)) == 5


async def test_a_server_may_be_started_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lives, "BACK_OFF_SECONDS", (0.0,))
    starts = Lives()
    for count in range(lives.MAX_STARTS):
        await starts.another("it", ConnectionClosed(f"died {count}"))
    for _ in range(2):
        with pytest.raises(ConnectFailed, match=r"it was started 5 times within 60 s .* The last time: died 5"):
            await starts.another("it", ConnectionClosed("died 5"))
    starts.starts[0] -= 61
    await starts.another("it", ConnectionClosed("died"))
    with pytest.raises(ConnectFailed, match="The last time: anew"):
        await starts.another("it", ConnectionClosed("anew"))


async def test_a_server_that_ran_for_long_has_a_clean_record() -> None:
    starts = Lives([time.monotonic() - lives.WINDOW_SECONDS - 1] * lives.MAX_STARTS)
    async with asyncio.timeout(0.4):  # the first start is not waited for
        await starts.another("it", ConnectionClosed("died"))
    assert len(starts.starts) == 1


async def test_what_was_closed_stays_so_until_it_is_opened() -> None:
    told: list[Any] = []
    states = States(lambda *change: told.append(change))
    changes: tuple[State, ...] = ("closed", "lost", "open", "closed", "opening", "opening", "open")
    for state in changes:
        states.become(state)
    assert states.now == "open"
    await states.told()
    assert told == [("closed", None), ("opening", None), ("open", None)]


async def test_changes_are_told_in_order_while_one_is_being_told() -> None:
    told: list[str] = []
    go_on = asyncio.Event()

    async def on_state(state: str, why: object) -> None:
        await go_on.wait()
        told.append(state)

    states = States(on_state)
    states.become("opening")
    await asyncio.sleep(0)
    states.become("open")
    states.become("lost", CLOSED)
    go_on.set()
    await states.told()
    assert told == ["opening", "open", "lost"]
