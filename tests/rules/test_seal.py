"""Sealed text opens for the right key, purpose and time, and for nothing else."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from splice.rules.seal import TTL_SECONDS, SealBroken, Sealer, key_of

KEY, OTHER = b"k" * 32, b"o" * 32
NOW = 1_000_000.0


@given(payload=st.binary(), bound=st.binary())
def test_what_is_sealed_can_be_opened(payload: bytes, bound: bytes) -> None:
    sealer = Sealer([KEY])
    text = sealer.seal(payload, bound, NOW)
    assert sealer.open(text, bound, NOW + 599) == payload
    assert set(text) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_")


@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 127), bound=st.binary())
@pytest.mark.requirement(219)
def test_no_character_can_be_changed(place: float, flip: int, bound: bytes) -> None:
    sealer = Sealer([KEY])
    text = sealer.seal(b"payload", bound, NOW)
    index = int(place * len(text))
    changed = text[:index] + chr(ord(text[index]) ^ flip) + text[index + 1 :]
    with pytest.raises(SealBroken):
        sealer.open(changed, bound, NOW)


@given(length=st.integers(0, 66))
def test_no_part_of_a_token_opens(length: int) -> None:
    sealer = Sealer([KEY])
    text = sealer.seal(b"payload", b"", NOW)
    for part in (text[:length], text[len(text) - length :], text + text[:length] if length else "x"):
        with pytest.raises(SealBroken):
            sealer.open(part, b"", NOW)


def test_another_spelling_of_the_same_bytes_does_not_open() -> None:
    sealer = Sealer([KEY])
    text = sealer.seal(b"12345", b"", NOW)
    for other in (text + "=", text + " ", text.replace("-", "+").replace("_", "/") + "==", "é" + text):
        with pytest.raises(SealBroken):
            sealer.open(other, b"", NOW)


def test_it_opens_only_for_what_it_was_bound_to() -> None:
    sealer = Sealer([KEY])
    text = sealer.seal(b"payload", b"alice|tools/call", NOW)
    for bound in (b"bob|tools/call", b"", b"alice|tools/call "):
        with pytest.raises(SealBroken):
            sealer.open(text, bound, NOW)


def test_it_expires() -> None:
    sealer = Sealer([KEY])
    text = sealer.seal(b"payload", b"", NOW)
    assert sealer.open(text, b"", NOW + TTL_SECONDS - 0.1) == b"payload"
    with pytest.raises(SealBroken):
        sealer.open(text, b"", NOW + TTL_SECONDS)


def test_keys_rotate() -> None:
    old, both, new = Sealer([OTHER]), Sealer([KEY, OTHER]), Sealer([KEY])
    before, after = old.seal(b"1", b"", NOW), both.seal(b"2", b"", NOW)
    assert both.open(before, b"", NOW) == b"1"
    assert both.open(after, b"", NOW) == new.open(after, b"", NOW) == b"2"
    for sealer, text in ((new, before), (old, after)):
        with pytest.raises(SealBroken):
            sealer.open(text, b"", NOW)


def test_without_keys_each_sealer_is_alone() -> None:
    sealer = Sealer()
    text = sealer.seal(b"1", b"", NOW)
    assert sealer.open(text, b"", NOW) == b"1"
    with pytest.raises(SealBroken):
        Sealer().open(text, b"", NOW)


def test_a_short_key_is_refused() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        Sealer([KEY, b"password"])


def test_a_key_is_derived_from_text() -> None:
    """HKDF with SHA-256, one block: as `cryptography` does it."""
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    secret = "correct horse battery staple"
    theirs = HKDF(SHA256(), 32, salt=None, info=b"splice requestState").derive(secret.encode())
    assert key_of(secret, "SECRET") == theirs
    with pytest.raises(ValueError, match="SECRET must have at least 16 characters"):
        key_of("x" * 15, "SECRET")


def test_a_sealer_knows_whether_others_may_have_its_keys() -> None:
    assert Sealer([KEY]).is_shared
    assert not Sealer().is_shared


def test_all_failures_read_the_same() -> None:
    sealer = Sealer([KEY])
    text = sealer.seal(b"1", b"", NOW)
    messages = set[str]()
    for bad, bound, now in ((text, b"x", NOW), (text, b"", NOW + 1e6), ("", b"", NOW), ("!", b"", NOW)):
        with pytest.raises(SealBroken) as caught:
            sealer.open(bad, bound, now)
        messages.add(str(caught.value))
    assert len(messages) == 1


def test_the_cipher_is_loaded_when_it_is_needed() -> None:
    code = "import sys; from splice.rules.seal import Sealer; Sealer(); sys.exit('cryptography' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@given(payload=st.binary(), bound=st.binary())
def test_what_is_signed_can_be_read_by_every_key_of_the_ring_and_does_not_expire(payload: bytes, bound: bytes) -> None:
    text = Sealer([KEY]).sign(payload, bound)
    assert Sealer([OTHER, KEY]).signed(text, bound) == payload
    assert text == Sealer([KEY, OTHER]).sign(payload, bound)
    for sealer, other in ((Sealer([OTHER]), bound), (Sealer(), bound), (Sealer([KEY]), bound + b"x")):
        with pytest.raises(SealBroken):
            sealer.signed(text, other)


@given(payload=st.binary(max_size=40), data=st.data())
def test_nothing_else_is_signed(payload: bytes, data: st.DataObject) -> None:
    sealer = Sealer([KEY])
    text = sealer.sign(payload, b"bound")
    place = data.draw(st.integers(0, len(text) - 1))
    flip = data.draw(st.integers(1, 127))
    changed = text[:place] + chr(ord(text[place]) ^ flip) + text[place + 1 :]
    for other in (changed, text[:place], text + "A", text + "=", sealer.seal(payload, b"bound", NOW)):
        with pytest.raises(SealBroken):
            sealer.signed(other, b"bound")


def test_payload_and_bound_are_told_apart() -> None:
    sealer = Sealer([KEY])
    assert sealer.sign(b"ab", b"c") != sealer.sign(b"b", b"ca")
    with pytest.raises(SealBroken):
        sealer.signed(sealer.sign(b"", b"ab"), b"a")


def test_signing_needs_no_library() -> None:
    code = "import sys; from splice.rules import seal; seal.Sealer().sign(b'', b''); print([*sys.modules])"
    assert "cryptography" not in subprocess.check_output([sys.executable, "-c", code], text=True)
