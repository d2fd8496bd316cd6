"""Which files are watched around a server."""

import os
from pathlib import Path

import pytest

from splice.cli import watching
from splice.cli.watching import look, root_of


def make(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")


def test_python_files_are_seen_where_there_are_some(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "notes.txt", "shop/b.py", "shop/inner/c.py", "other/x.txt", "other/deep/d.py")
    make(tmp_path, ".git/e.py", "shop/__pycache__/f.py", "env/pyvenv.cfg", "env/g.py", "env/lib/h.py")
    seen = {str(Path(path).relative_to(tmp_path)) for path in look(tmp_path)}
    assert seen == {"a.py", "shop/b.py", "shop/inner/c.py", "env/g.py"}


def test_what_changes_is_seen(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py")
    before = look(tmp_path)
    assert look(tmp_path) == before
    os.utime(tmp_path / "a.py", (1, 1))
    assert look(tmp_path) != before
    before = look(tmp_path)
    (tmp_path / "b.py").unlink()
    assert look(tmp_path) != before


def test_links_that_lead_nowhere_and_directories_that_are_gone(tmp_path: Path) -> None:
    (tmp_path / "a.py").symlink_to(tmp_path / "nowhere.py")
    assert look(tmp_path) == {}
    assert look(tmp_path / "nowhere") == {}


def test_there_is_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watching, "MAX_FILES", 1)
    make(tmp_path, "a.py", "shop/b.py")
    assert list(look(tmp_path)) == [str(tmp_path / "a.py")]


def test_the_directory_of_a_target(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, "single.py", "shop/__init__.py", "shop/inner/__init__.py", "shop/inner/main.py")
    monkeypatch.chdir(tmp_path)
    assert root_of("single.py:make") == tmp_path
    assert root_of("shop/inner/main.py") == tmp_path
    assert root_of("shop.inner.main:server") == tmp_path
