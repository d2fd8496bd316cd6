"""The arithmetic of a token bucket, and what belongs to the seam."""

import inspect

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.stores.base import Store, refill
from splice.stores.memory import MemoryStore
from splice.stores.sqlite import SQLiteStore


@given(
    st.lists(st.tuples(st.floats(0, 10), st.floats(0, 5)), max_size=50),
    st.floats(0.01, 1000),
    st.floats(10, 1000),
    st.sampled_from([0.0, 1.8e9]),
)
def test_a_bucket_never_grants_more_than_burst_and_rate(
    takes: list[tuple[float, float]], rate: float, burst: float, begun: float
) -> None:
    now, full_at, granted = begun, begun, 0.0
    for cost, passed in takes:
        now += passed
        wait, full_at = refill(full_at, now, cost, rate=rate, burst=burst)
        granted += 0.0 if wait else cost
        if wait:
            assert refill(full_at, now + wait, cost, rate=rate, burst=burst)[0] == 0.0
    assert granted <= burst + rate * (now - begun) + 1e-5 * rate * len(takes) + 1e-6


@pytest.mark.parametrize("kind", [MemoryStore, SQLiteStore])
def test_a_store_has_the_methods_of_the_seam(kind: type) -> None:
    wanted = {
        name: inspect.signature(value) for name, value in vars(Store).items() if inspect.iscoroutinefunction(value)
    }
    offered = {name: inspect.signature(getattr(kind, name)) for name in wanted}
    assert offered == wanted
