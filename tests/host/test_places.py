"""Where the host keeps its files, on each system."""

import stat
import sys
from pathlib import Path

import pytest

from splice.host.places import as_typed, keep, places, private


@pytest.mark.parametrize(
    ("platform", "environ", "config", "state"),
    [
        ("linux", {}, "/home/me/.config/splice", "/home/me/.local/state/splice"),
        ("linux", {"XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "rel"}, "/c/splice", "/home/me/.local/state/splice"),
        ("linux", {"SPLICE_HOME": "/h", "XDG_CONFIG_HOME": "/c"}, "/h/config", "/h/state"),
        ("linux", {"SPLICE_HOME": "~/h"}, "/home/me/h/config", "/home/me/h/state"),
        (
            "darwin",
            {},
            "/home/me/Library/Application Support/splice",
            "/home/me/Library/Application Support/splice/state",
        ),
        ("win32", {"APPDATA": "/r", "LOCALAPPDATA": "/l"}, "/r/splice", "/l/splice"),
    ],
)
def test_the_folders(
    monkeypatch: pytest.MonkeyPatch, platform: str, environ: dict[str, str], config: str, state: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("HOME", "/home/me")
    found = places(environ)
    assert (found.config, found.state) == (Path(config), Path(state))
    assert found.servers == Path(config, "mcp.json")


def test_a_path_as_it_is_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    for path, typed in ((tmp_path / "here/a", "a"), (tmp_path / "b/c", "~/b/c"), (Path("/else/d"), "/else/d")):
        assert as_typed(path) == typed


def test_files_are_replaced_as_a_whole(tmp_path: Path) -> None:
    folder = private(tmp_path / "a/b")
    assert {stat.S_IMODE(each.stat().st_mode) for each in (folder, folder.parent)} == {0o700}
    keep(folder / "f", b"1")
    keep(folder / "f", b"2")
    assert [(each.name, each.read_bytes(), stat.S_IMODE(each.stat().st_mode)) for each in folder.iterdir()] == [
        ("f", b"2", 0o600)
    ]
    with pytest.raises(OSError, match="Is a directory"):
        keep(folder, b"3")
    assert [each.name for each in tmp_path.iterdir()] == ["a"]
