"""What names a store, and what does not."""

import subprocess
import sys
from pathlib import Path

import pytest

from splice.stores import opening
from splice.stores.base import StoreError
from splice.stores.memory import MemoryStore
from splice.stores.sqlite import SQLiteStore
from support.storing import closing


def test_memory() -> None:
    assert isinstance(opening.open("memory:"), MemoryStore)


@pytest.mark.parametrize("form", ["{}", "sqlite://{}", "sqlite:///{}"])
@pytest.mark.parametrize("name", ["state.db", "with space", "100%", "a/b/c", "é"])
async def test_a_path_or_its_url(tmp_path: Path, form: str, name: str) -> None:
    path = tmp_path / name
    target = form.format(path if form == "{}" else str(path).replace("%", "%25"))
    async with closing(opening.open(target)) as store:
        assert isinstance(store, SQLiteStore)
        await store.put("k", b"x", ttl=None)
    assert path.is_file()


async def test_a_path_object_is_never_a_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    async with closing(opening.open(Path("redis:x"))) as store:
        assert isinstance(store, SQLiteStore)
    assert (tmp_path / "redis:x").is_file()


@pytest.mark.parametrize(
    "target",
    ["", ":memory:", "memory:x", "redis://me:password@host/0", "redis:x", "sqlite:x", "sqlite://host/x", "file:///x"],
)
def test_any_other_url_is_refused_with_what_there_is(
    target: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="'memory:', 'sqlite:///path', and plain paths") as caught:
        opening.open(target)
    assert "password" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_a_url_that_forgets_a_slash_names_the_file_it_meant() -> None:
    with pytest.raises(StoreError, match=r"^/proc/no/such/state.db cannot be used"):
        opening.open("sqlite:///proc/no/such/state.db")


def test_sqlite_is_loaded_for_a_path_only() -> None:
    code = "import sys; from splice.stores import opening; opening.open('memory:'); assert 'sqlite3' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=20)
