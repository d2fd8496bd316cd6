"""Logins are kept where only their user can read them, whole or not at all."""

import asyncio
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from splice.auth.errors import AuthorizationFailed
from splice.auth.login import keeping
from splice.auth.login.keeping import FileTokens, KeyringTokens, MemoryTokens, TokenStore, state_directory
from splice.auth.login.kept import Grant, Kept, Registration

SERVER = "https://mcp.example/mcp"
GRANT = Grant(issuer="https://as.example", access_token="s3cret", refresh_token="r3fresh", scopes=("a",))
KEPT = Kept(grant=GRANT, registration=Registration(issuer="https://as.example", client_id="id"), asked=("a",))


@pytest.fixture
def files(tmp_path: Path) -> FileTokens:
    return FileTokens(tmp_path / "state" / "tokens")


@pytest.fixture(params=["memory", "files"])
def store(request: pytest.FixtureRequest, files: FileTokens) -> TokenStore:
    return MemoryTokens() if request.param == "memory" else files


async def test_what_is_kept_is_found_and_forgotten(store: TokenStore) -> None:
    assert await store.load(SERVER) is None
    async with store.locked(SERVER):
        await store.save(SERVER, KEPT)
    assert await store.load(SERVER) == KEPT
    assert await store.load(f"{SERVER}/other") is None
    await store.save(SERVER, Kept())
    assert await store.load(SERVER) == Kept()
    await store.save(SERVER, None)
    await store.save(SERVER, None)
    assert await store.load(SERVER) is None


async def test_a_lock_lets_one_in(store: TokenStore) -> None:
    order: list[str] = []

    async def use(name: str) -> None:
        async with store.locked(SERVER):
            order.append(f"{name} in")
            await asyncio.sleep(0)
            order.append(f"{name} out")

    await asyncio.gather(*(use(name) for name in "abc"))
    assert [each.split()[1] for each in order] == ["in", "out"] * 3
    async with store.locked(SERVER), store.locked("https://other.example/mcp"):
        pass


async def test_a_lock_lets_one_in_of_all_event_loops(store: TokenStore) -> None:
    inside, at_once = 0, 0

    async def use() -> None:
        nonlocal inside, at_once
        for _ in range(3):
            async with store.locked(SERVER):
                inside += 1
                at_once = max(at_once, inside)
                await asyncio.sleep(0.01)
                inside -= 1

    await asyncio.gather(*(asyncio.to_thread(asyncio.run, use()) for _ in range(3)))
    assert at_once == 1


async def test_a_directory_in_place_of_a_file_is_let_go_of(files: FileTokens) -> None:
    files.file_of(SERVER).mkdir(parents=True)
    with pytest.raises(AuthorizationFailed, match="directory"):
        await files.load(SERVER)
    first_free = os.dup(0)
    os.close(first_free)
    with pytest.raises(AuthorizationFailed, match="directory"):
        await files.load(SERVER)
    next_free = os.dup(0)
    os.close(next_free)
    assert next_free == first_free


async def test_nothing_is_left_of_a_login_by_a_process_that_was_killed(files: FileTokens) -> None:
    await files.save(SERVER, KEPT)
    await files.save("https://other.example", KEPT)
    file = files.file_of(SERVER)
    file.with_name(f".{file.name}.0011aabb").write_text("s3cret")  # as far as it came
    await files.save(SERVER, None)
    assert [each.name for each in files.path.iterdir()] == [files.file_of("https://other.example").name]


@pytest.mark.requirement(481, 487)
async def test_only_the_user_can_read_it(files: FileTokens) -> None:
    await files.save(SERVER, KEPT)
    async with files.locked(SERVER):
        pass
    assert stat.S_IMODE(files.path.stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in files.path.iterdir()} == {0o600}
    assert SERVER not in str(files.file_of(SERVER))


async def test_a_write_that_fails_leaves_what_was_there(files: FileTokens, monkeypatch: pytest.MonkeyPatch) -> None:
    await files.save(SERVER, KEPT)

    def fails(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(AuthorizationFailed, match="No space left on device"):
        await files.save(SERVER, Kept())
    assert await files.load(SERVER) == KEPT
    assert len(list(files.path.iterdir())) == 1


@pytest.mark.parametrize(
    "text", [b"", b"{", b"[]", b'{"server": "x"}', b"\xff", b"[" * 3000, b'{"server":1,"kept":{}}']
)
async def test_a_damaged_file_is_reported_and_left(files: FileTokens, text: bytes) -> None:
    await files.save(SERVER, KEPT)
    files.file_of(SERVER).write_bytes(text)
    with pytest.raises(AuthorizationFailed, match=r"damaged.*splice logout"):
        await files.load(SERVER)
    assert files.file_of(SERVER).read_bytes() == text
    await files.save(SERVER, None)
    assert await files.load(SERVER) is None


async def test_a_file_of_another_server_is_not_used(files: FileTokens) -> None:
    await files.save("https://other.example", KEPT)
    files.file_of("https://other.example").rename(files.file_of(SERVER))
    with pytest.raises(AuthorizationFailed, match="login of another server"):
        await files.load(SERVER)


async def test_a_file_without_end_is_not_read(files: FileTokens, monkeypatch: pytest.MonkeyPatch) -> None:
    await files.save(SERVER, KEPT)
    monkeypatch.setattr(keeping, "MAX_BYTES", 10)
    with pytest.raises(AuthorizationFailed, match="more than 10 bytes"):
        await files.load(SERVER)
    with pytest.raises(AuthorizationFailed, match="may hold"):
        await files.save(SERVER, KEPT)


async def test_links_are_refused(files: FileTokens, tmp_path: Path) -> None:
    await files.save("https://other.example", KEPT)
    (tmp_path / "victim").write_text("precious")
    files.file_of(SERVER).symlink_to(tmp_path / "victim")
    with pytest.raises(AuthorizationFailed, match="Cannot use"):
        await files.load(SERVER)
    with pytest.raises(AuthorizationFailed, match="is a link"):
        await files.save(SERVER, KEPT)
    assert (tmp_path / "victim").read_text() == "precious"
    (tmp_path / "link").symlink_to(files.path)
    with pytest.raises(AuthorizationFailed, match="not a directory"):
        await FileTokens(tmp_path / "link").save(SERVER, KEPT)
    (files.path / files.file_of("https://locked.example").with_suffix(".lock").name).symlink_to(tmp_path / "victim")
    with pytest.raises(AuthorizationFailed, match="Cannot use"):
        async with files.locked("https://locked.example"):
            pass


@pytest.mark.requirement(487)
@pytest.mark.parametrize("mode", [0o640, 0o604, 0o666])
async def test_a_file_that_others_can_read_is_refused(files: FileTokens, mode: int) -> None:
    await files.save(SERVER, KEPT)
    files.file_of(SERVER).chmod(mode)
    with pytest.raises(AuthorizationFailed, match=r"open to other users.*chmod 600"):
        await files.load(SERVER)


async def test_a_directory_that_others_can_enter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tokens").mkdir()
    (tmp_path / "tokens").chmod(0o755)
    with pytest.raises(AuthorizationFailed, match=r"open to other users.*chmod 700"):
        await FileTokens(tmp_path / "tokens").save(SERVER, KEPT)
    assert list((tmp_path / "tokens").iterdir()) == []


async def test_a_pipe_does_not_block(files: FileTokens) -> None:
    await files.save("https://other.example", KEPT)
    os.mkfifo(files.file_of(SERVER))
    with pytest.raises(AuthorizationFailed, match="not a file"):
        await asyncio.wait_for(files.load(SERVER), 5)


HOLDER = """
import asyncio, sys
from splice.auth.login.keeping import FileTokens
async def main():
    async with FileTokens(sys.argv[1]).locked(sys.argv[2]):
        print("held", flush=True)
        sys.stdin.read()
asyncio.run(main())
"""


async def test_another_process_is_waited_for_and_one_that_died_is_not(
    files: FileTokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = [sys.executable, "-c", HOLDER, str(files.path), SERVER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:  # noqa: ASYNC220
        assert holder.stdout is not None
        assert await asyncio.to_thread(holder.stdout.readline) == b"held\n"
        monkeypatch.setattr(keeping, "LOCK_SECONDS", 0.01)
        with pytest.raises(AuthorizationFailed, match="Another process, or thread, has been logging in to https://mcp"):
            async with files.locked(SERVER):
                pytest.fail("two hold it")
        monkeypatch.setattr(keeping, "LOCK_SECONDS", 5.0)
        holder.kill()
    async with files.locked(SERVER):
        pass


def test_where_files_are_by_default(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert FileTokens().path == tmp_path / "splice" / "tokens"
    for unusable in ("", "relative"):
        monkeypatch.setenv("XDG_STATE_HOME", unusable)
        monkeypatch.setenv("HOME", "/home/ann")
        assert state_directory() == Path("/home/ann/.local/state/splice")


def test_no_repr_shows_a_secret(files: FileTokens) -> None:
    assert "s3cret" not in f"{KEPT!r}{files!r}"
    assert "r3fresh" not in repr(KEPT)


def test_a_keyring_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "keyring", None)
    with pytest.raises(AuthorizationFailed, match=r"pip install 'splice\[keyring\]'"):
        KeyringTokens()


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    keyring = pytest.importorskip("keyring")
    backend = pytest.importorskip("keyring.backend")

    base: Any = backend.KeyringBackend

    class Ring(base):  # type: ignore[misc]  # whose types are not installed everywhere
        priority = 1
        entries: dict[tuple[str, str], str] = {}  # noqa: RUF012 - of one test
        fails = False

        def get_password(self, service: str, username: str) -> str | None:
            if self.fails:
                raise RuntimeError("locked\x1b[2J")
            return self.entries.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            if self.fails:
                raise RuntimeError(password)
            self.entries[service, username] = password

        def delete_password(self, service: str, username: str) -> None:
            del self.entries[service, username]

    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    before = keyring.get_keyring()
    made = Ring()
    made.entries = {}
    keyring.set_keyring(made)
    yield made
    keyring.set_keyring(before)


async def test_a_keyring(ring: Any) -> None:
    store = KeyringTokens()
    assert await store.load(SERVER) is None
    async with store.locked(SERVER):
        await store.save(SERVER, KEPT)
    assert await store.load(SERVER) == KEPT
    assert list(ring.entries) == [("splice", SERVER)]
    ring.entries["splice", SERVER] = "{"
    with pytest.raises(AuthorizationFailed, match="damaged"):
        await store.load(SERVER)
    await KeyringTokens().save("https://other.example", None)


async def test_a_keyring_that_fails_tells_no_secret(ring: Any) -> None:
    ring.fails = True
    store = KeyringTokens()
    with pytest.raises(AuthorizationFailed, match=r"keyring of the system failed \(RuntimeError: 'locked") as caught:
        await store.load(SERVER)
    assert str(caught.value).isprintable()
    with pytest.raises(AuthorizationFailed, match="failed") as caught:
        await store.save(SERVER, KEPT)
    assert "s3cret" not in str(caught.value)


async def test_an_entry_too_large_for_a_keyring(ring: Any) -> None:
    large = Kept(grant=Grant(issuer="x", access_token="a" * keeping.MAX_KEYRING_BYTES))
    with pytest.raises(AuthorizationFailed, match="more than the keyring may hold"):
        await KeyringTokens().save(SERVER, large)
    assert not ring.entries
