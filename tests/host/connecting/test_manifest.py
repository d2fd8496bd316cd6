"""Manifests: kept by fingerprint, bounded, and never trusted to be whole."""

from pathlib import Path

import pytest

from splice.host.connecting import manifest
from splice.host.connecting.manifest import Manifest, Manifests
from splice.types import Implementation, Tool

TOOLS = [Tool(name=f"t{number}", input_schema={"type": "object"}, description="x" * 200) for number in range(25)]
FULL = Manifest(tools=TOOLS, instructions="do", protocol="2026-07-28", server=Implementation(name="n", version="1"))


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    kept = Manifests(tmp_path / "manifests")
    assert kept.load("a" * 64) is None
    for number in range(20):
        kept.save(f"{number:064}", FULL)
    assert [kept.load(f"{number:064}") for number in range(20)] == [FULL] * 20


@pytest.mark.parametrize("damaged", [b"", b"{", b"\xff", b"[]", b'{"tools": [5]}', b"[" * 9_999])
def test_a_damaged_one_counts_as_none(tmp_path: Path, damaged: bytes) -> None:
    kept = Manifests(tmp_path)
    kept.save("a", FULL)
    (tmp_path / "a.json").write_bytes(damaged)
    assert kept.load("a") is None


def test_their_size_and_number_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manifest, "MAX_FILES", 3)
    kept = Manifests(tmp_path)
    for name in "abcde":
        kept.save(name, Manifest())
    assert len(list(tmp_path.iterdir())) == 3
    kept.save("e", FULL)
    monkeypatch.setattr(manifest, "MAX_BYTES", 1_000)
    kept.save("e", FULL)  # what is too large is not kept, and what was kept is not true any more
    assert kept.load("e") is None
    assert not (tmp_path / "e.json").exists()
