"""What the fuzz targets share: how many examples they try, the count of them, and streams cut into pieces.

A target is a file `test_*.py` beside this one. pytest tries a few examples of each of its tests, the same ones in each
run; `python -m tests.fuzz` goes on for as long as it is told, with others.
"""

import functools
import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "15"))
"""How many examples a test tries before it returns."""

PROFILE = settings(
    max_examples=EXAMPLES,
    deadline=None,
    database=None,
    derandomize=True,
    print_blob=True,
    suppress_health_check=list(HealthCheck),
)

JSON: TypeAlias = Any
tried: Counter[str] = Counter()
"""How many examples each test has tried."""


def fuzz(**values: st.SearchStrategy[Any]) -> Callable[[Callable[..., None]], Callable[[], None]]:
    """Make a test of a function that any of these values must satisfy."""

    def decorate(check: Callable[..., None]) -> Callable[[], None]:
        @functools.wraps(check)
        def counted(**example: Any) -> None:
            tried[check.__name__] += 1
            check(**example)

        return PROFILE(given(**values)(counted))

    return decorate


CUTS = st.lists(st.integers(0, 600), max_size=12)
"""Where a stream is cut, for `pieces`."""


def pieces(stream: bytes, cuts: Sequence[int]) -> list[bytes]:
    """Cut a stream; some pieces are empty."""
    places = [0, *sorted(min(cut, len(stream)) for cut in cuts), len(stream)]
    return [stream[start:stop] for start, stop in itertools.pairwise(places)]


def shredded(stream: bytes) -> list[bytes]:
    """Cut a stream into single bytes."""
    return [stream[place : place + 1] for place in range(len(stream))]


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
SCALAR = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([2**53, 2**63, 2**64, -(2**64), 10**30, 0.5, -0.0, 1e300])
    | TEXT
)
VALUE = st.recursive(
    SCALAR, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4), max_leaves=12
)
"""Any JSON value."""


def cpu_seconds(work: Callable[[], object]) -> float:
    """Measure the CPU time of a call in this thread: the fastest of up to three, because others use the machine too."""
    best = float("inf")
    for _ in range(3):
        began = time.thread_time()
        work()
        best = min(best, time.thread_time() - began)
        if best < 0.01:
            break
    return best
