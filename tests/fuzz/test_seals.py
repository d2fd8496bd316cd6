"""Sealed state: a token is opened by who has the key and names the same binding in time, and nothing else is."""

from collections.abc import Callable

import pytest
from hypothesis import assume
from hypothesis import strategies as st

from fuzz.fuzzing import fuzz
from splice.rules.seal import KEY_BYTES, TTL_SECONDS, SealBroken, Sealer

KEYS = [bytes([number]) * KEY_BYTES for number in range(3)]
OURS, OLD, FOREIGN = KEYS
RING = Sealer([OURS, OLD])
NOW = 1_700_000_000.0
BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
PAYLOAD, BOUND = st.binary(max_size=60), st.binary(max_size=20)


def refused(text: str, bound: bytes = b"", now: float = NOW, ring: Sealer = RING) -> None:
    with pytest.raises(SealBroken) as caught:
        ring.open(text, bound, now)
    assert str(caught.value) == "not a valid token, or an expired one"


@fuzz(payload=PAYLOAD, bound=BOUND, other=BOUND, later=st.floats(0, 2 * TTL_SECONDS), key=st.sampled_from([OURS, OLD]))
def test_what_was_sealed_is_opened_in_time_for_the_same_binding(
    payload: bytes, bound: bytes, other: bytes, later: float, key: bytes
) -> None:
    text = Sealer([key]).seal(payload, bound, NOW)
    assert set(text) <= set(BASE64)
    if later < TTL_SECONDS - 0.001:
        assert RING.open(text, bound, NOW + later) == payload
    elif later > TTL_SECONDS + 0.001:
        refused(text, bound, NOW + later)
    if other != bound:
        refused(text, other)
    refused(text, bound, ring=Sealer([FOREIGN]))


CHANGES: list[Callable[[str, int, str], str]] = [
    lambda text, place, piece: text[:place] + piece + text[place:],
    lambda text, place, piece: text[:place] + piece + text[place + len(piece) :],
    lambda text, place, piece: text[:place] + text[place + len(piece) :],
    lambda text, place, _: text[:place],
    lambda text, place, _: text[place:],
    lambda text, place, _: text[place:] + text[:place],
    lambda text, place, _: text[:place] + text[place:].swapcase(),
    lambda text, place, piece: text + "=" * (place % 4) + piece,
]


@fuzz(
    payload=PAYLOAD,
    bound=BOUND,
    changes=st.lists(
        st.tuples(st.sampled_from(CHANGES), st.integers(0, 130), st.text(BASE64 + "=\n +/é", min_size=1, max_size=3)),
        min_size=1,
        max_size=4,
    ),
)
def test_any_change_is_refused(
    payload: bytes, bound: bytes, changes: list[tuple[Callable[[str, int, str], str], int, str]]
) -> None:
    text = changed = RING.seal(payload, bound, NOW)
    for change, place, piece in changes:
        changed = change(changed, place, piece)
    assume(changed != text)
    refused(changed, bound)


@fuzz(first=PAYLOAD, second=PAYLOAD, cut=st.integers(1, 130))
def test_two_tokens_do_not_make_a_third(first: bytes, second: bytes, cut: int) -> None:
    one, two = RING.seal(first, b"", NOW), RING.seal(second, b"", NOW)
    made = one[:cut] + two[cut:]
    assume(made not in (one, two))
    refused(made)


@fuzz(text=st.text(max_size=80) | st.text(BASE64, max_size=120) | st.binary(max_size=60).map(bytes.hex))
def test_any_text_is_refused(text: str) -> None:
    refused(text)
