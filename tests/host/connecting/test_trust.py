"""Trust: for exactly the command that was seen, in its folder, and none when the file is damaged."""

import stat
from pathlib import Path

import pytest

from splice.host.config.entries import Entry
from splice.host.config.reading import entry_of
from splice.host.connecting.trust import Trusted


def entry(command: str, folder: str = "/p", name: str = "s", scope: str = "project") -> Entry:
    return entry_of(name, {"command": command, "args": ["-y"]}, scope=scope, folder=Path(folder))  # type: ignore[arg-type]


def test_trust_is_for_exactly_what_was_seen(tmp_path: Path) -> None:
    path = tmp_path / "state/trusted.json"
    trusted, other = Trusted(path), Trusted(path)
    seen = entry("npx")
    assert not trusted.is_trusted(seen)
    assert trusted.is_trusted(entry("npx", scope="user"))
    assert trusted.is_trusted(entry("npx", scope="given"))
    trusted.give(seen)
    assert other.is_trusted(seen)  # another process sees it at once
    assert (other.before(seen), other.before(entry("npx", name="t"))) == (None, None)
    for strange in (entry("curl"), entry("npx", folder="/q"), entry("npx", name="t")):
        assert not other.is_trusted(strange)
    assert other.before(entry("curl")) == ["npx", "-y"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    other.take(entry("npx", scope="user"))
    assert trusted.is_trusted(seen)  # the user's own server of that name went, not the project's
    other.take(seen)
    other.take(seen)
    assert not trusted.is_trusted(seen)
    assert trusted.problem == ""


@pytest.mark.parametrize(
    "damaged", [b"{", b"\xff", b"[]", b'{"folders": {"/p": {"s": {"fingerprint": 1, "words": []}}}}', b"[" * 9_999]
)
def test_a_damaged_file_trusts_nothing_and_says_so(tmp_path: Path, damaged: bytes) -> None:
    path = tmp_path / "trusted.json"
    path.write_bytes(damaged)
    trusted = Trusted(path)
    assert not trusted.is_trusted(entry("npx"))
    assert trusted.problem == f"{path} was damaged, and is now trusted.json.damaged; you are asked for your trust again"
    assert path.with_name("trusted.json.damaged").read_bytes() == damaged
    trusted.give(entry("npx"))
    assert trusted.is_trusted(entry("npx"))


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    trusted = Trusted(tmp_path)
    assert not trusted.is_trusted(entry("npx"))
    assert "no project's server is trusted" in trusted.problem


def test_an_env_file_that_changed_is_asked_about_again(tmp_path: Path) -> None:
    trusted = Trusted(tmp_path / "trusted.json")
    (tmp_path / ".env").write_text("A=1")
    seen = entry_of("s", {"command": "npx", "envFile": ".env"}, scope="project", folder=tmp_path)
    trusted.give(seen)
    assert trusted.is_trusted(seen)
    (tmp_path / ".env").write_text("A=1\nNODE_OPTIONS=--require ./other.js")
    assert not trusted.is_trusted(seen)
    assert trusted.before(seen) == ["npx"]
    (tmp_path / ".env").unlink()
    assert not trusted.is_trusted(seen)
