"""Nothing outside of the roots is read, written, listed, measured or moved: CVE-2025-53110, CVE-2025-53109, and kin.

https://github.com/advisories/GHSA-hc55-p739-j48w (a prefix of the text stood for a directory)
https://github.com/advisories/GHSA-q66q-fx2p-7w4m (a link was followed after the check)
"""

import asyncio
import itertools
import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from servers.filesystem_root import SECRET, call, handles, laid_out, names
from splice import Client, Server
from splice.servers.filesystem.server import make

SWAPPING_SECONDS = 0.4


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return laid_out(tmp_path)


@pytest.fixture
def server(root: Path) -> Server:
    return make(directories=[str(root)])


TOOLS: dict[str, Callable[[str], dict[str, Any]]] = {
    "read_text_file": lambda path: {"path": path},
    "read_media_file": lambda path: {"path": path},
    "get_file_info": lambda path: {"path": path},
    "list_directory": lambda path: {"path": path},
    "list_directory_with_sizes": lambda path: {"path": path},
    "directory_tree": lambda path: {"path": path},
    "search_files": lambda path: {"path": path, "pattern": "**"},
    "write_file": lambda path: {"path": path, "content": "owned"},
    "edit_file": lambda path: {"path": path, "edits": [{"oldText": "nobody outside", "newText": "owned"}]},
    "create_directory": lambda path: {"path": path},
}
PATHS = [
    "{base}/fsroot-sibling/x",
    "{base}/fsroot-sibling",
    "{base}/secret.txt",
    "{base}",
    "{base}/fsroot/..",
    "{base}/fsroot/../secret.txt",
    "{base}/fsroot/sub/../../secret.txt",
    "../secret.txt",
    "sub/../../secret.txt",
    "//{base}/secret.txt",
    "/",
    "/etc/passwd",
    "/proc/self/root/etc/passwd",
    "/dev/fd/0",
    "a.txt\0",
    "\0",
    "../secret.txt\0a.txt",
    "~",
    "~/x",
    "~root/../../secret.txt",
    "C:\\Windows",
    "C:/Windows",
    "c:",
    "\\\\server\\share",
    "\\\\?\\C:\\x",
    "evil",
    "evildir",
    "evildir/passwd",
    "link-to-secret",
    "link-up",
    "link-up/secret.txt",
    "link-to-sibling/x",
    "sub/link-two/secret.txt",
    "dangling",
    "chain",
]


@pytest.mark.parametrize("path", PATHS)
async def test_no_path_leads_out(tmp_path: Path, root: Path, server: Server, path: str) -> None:
    (root / "link-to-secret").symlink_to(tmp_path / "secret.txt")
    (root / "link-up").symlink_to("..")
    (root / "link-to-sibling").symlink_to("../fsroot-sibling")
    (root / "sub" / "link-two").symlink_to("../../")
    (root / "dangling").symlink_to(tmp_path / "made-by-nobody")
    (root / "chain").symlink_to("link-to-secret")
    path = path.format(base=tmp_path)
    before, held = names(tmp_path), handles()
    async with Client(server) as client:
        for tool, arguments in TOOLS.items():
            result = await client.call_tool(tool, arguments(path))
            assert result.is_error, tool
            assert "/etc/" not in result.text or "/etc/" in path
            assert SECRET not in result.text
            assert "reference" not in result.text  # an error that was foreseen
        for ends in ((path, "stolen"), ("a.txt", path)):
            if "link" not in path and path not in {"evil", "evildir", "dangling", "chain"}:  # a link is moved itself
                moved = await client.call_tool("move_file", {"source": ends[0], "destination": ends[1]})
                assert moved.is_error
    assert names(tmp_path) == before
    assert (tmp_path / "secret.txt").read_text() == SECRET
    assert (root / "a.txt").exists()
    assert handles() <= held + 4  # an event loop holds some


@pytest.mark.parametrize("path", ["a.txt.", "a.txt ", "A.TXT", "a.txt::$DATA", "ATXT~1", "a.txt/", "a.txt/."])
async def test_a_name_is_no_other_name(server: Server, path: str) -> None:
    result = await call(server, "read_text_file", path=path)
    assert result.is_error == (path.rstrip("/.") != "a.txt" or path == "a.txt."), result.text


@pytest.mark.parametrize("on_disk", ["NFC", "NFD"])
async def test_either_form_of_a_name_names_it(tmp_path: Path, on_disk: Any) -> None:
    root = tmp_path / normalize(on_disk, "Räume")
    (root / normalize(on_disk, "Büro")).mkdir(parents=True)
    (root / normalize(on_disk, "Büro/é.txt")).write_text("in")
    server = make(directories=[str(root)])
    for asked in ("NFC", "NFD"):
        path = normalize(asked, f"{tmp_path}/Räume/Büro/é.txt")
        assert (await call(server, "read_text_file", path=path)).text == "in"
        assert not (await call(server, "write_file", path=path, content="in")).is_error
    assert len(names(root / normalize(on_disk, "Büro"))) == 1


async def test_links_within_the_roots_are_followed(tmp_path: Path, root: Path) -> None:
    other = tmp_path / "other"
    (other / "deep").mkdir(parents=True)
    (other / "deep" / "o.txt").write_text("other")
    (root / "relative").symlink_to("sub/../a.txt")
    (root / "absolute").symlink_to(root / "a.txt")
    (root / "folder").symlink_to("sub")
    (root / "sub" / "back").symlink_to("../folder/../a.txt")
    (root / "across").symlink_to("../other/deep")
    (root / "loop").symlink_to("loop")
    (root / "new").symlink_to("sub/made.txt")
    server = make(directories=[str(root), str(other)])
    for path in ("relative", "absolute", "folder/back"):
        assert (await call(server, "read_text_file", path=path)).text.startswith("l1"), path
    assert (await call(server, "read_text_file", path="across/o.txt")).text == "other"
    assert "ELOOP" in (await call(server, "read_text_file", path="loop")).text
    assert not (await call(server, "write_file", path="new", content="made")).is_error
    assert ((root / "new").is_symlink(), (root / "sub" / "made.txt").read_text()) == (True, "made")


async def test_a_root_that_is_reached_over_a_link_has_both_names(tmp_path: Path, root: Path) -> None:
    """As /tmp is /private/tmp on macOS."""
    (tmp_path / "alias").symlink_to(root)
    server = make(directories=[str(tmp_path / "alias")])
    for path in (tmp_path / "alias" / "a.txt", root / "a.txt"):
        assert not (await call(server, "read_text_file", path=str(path))).is_error
    (root / "by-alias").symlink_to(tmp_path / "alias" / "a.txt")
    assert not (await call(server, "read_text_file", path="by-alias")).is_error


async def test_a_hard_link_is_another_name_of_a_file_and_is_replaced_not_written_into(
    tmp_path: Path, root: Path, server: Server
) -> None:
    (root / "hard").hardlink_to(tmp_path / "secret.txt")
    assert not (await call(server, "write_file", path="hard", content="mine")).is_error
    assert (tmp_path / "secret.txt").read_text() == SECRET


async def test_what_is_not_a_file_is_not_opened(root: Path, server: Server) -> None:
    os.mkfifo(root / "pipe")
    for tool in ("read_text_file", "read_media_file", "edit_file", "write_file"):
        result = await call(server, tool, **TOOLS[tool]("pipe"))
        assert "not a regular file" in result.text


async def test_a_move_replaces_nothing(root: Path, server: Server) -> None:
    (root / "full").mkdir()
    (root / "full" / "f").touch()
    (root / "empty").mkdir()
    (root / "to-nowhere").symlink_to("nowhere")
    for source in ("a.txt", "sub"):
        for destination in ("bin.dat", "full", "empty", "to-nowhere"):
            result = await call(server, "move_file", source=source, destination=destination)
            assert result.text == f"Destination already exists: {root}/{destination}"
    for source, destination in ((".", "x"), ("sub", "."), ("sub", "sub/deep/sub"), ("none", "x"), ("a.txt", "no/x")):
        assert (await call(server, "move_file", source=source, destination=destination)).is_error
    for source, destination in (("sub", "moved"), ("evil", "moved/evil"), ("a.txt", "moved/deep/a.txt")):
        assert not (await call(server, "move_file", source=source, destination=destination)).is_error
    assert str((root / "moved" / "evil").readlink()) == "/etc/passwd"
    assert names(root / "moved") == ["b.md", "deep", "evil"]
    assert names(root / "moved" / "deep") == ["a.txt"]


async def test_names_cannot_forge_lines(root: Path, server: Server) -> None:
    (root / "x\n[DIR] forged\x1b[2J").touch()
    (root / os.fsdecode(b"not-\xff-text")).touch()
    listed = (await call(server, "list_directory", path=".")).text
    assert "[FILE] x\\x0a[DIR] forged\\x1b[2J" in listed.splitlines()
    assert "[FILE] not-\\xff-text" in listed.splitlines()
    for tool, more in (("list_directory_with_sizes", {}), ("directory_tree", {}), ("search_files", {"pattern": "*"})):
        assert "\\xff" in (await call(server, tool, path=".", **more)).text


async def test_names_hide_nothing(root: Path, server: Server) -> None:
    name = "\u202etxt\u200b\U000e0041\x9b"
    (root / name).touch()
    assert "[FILE] \\u202etxt\\u200b\\U000e0041\\x9b" in (await call(server, "list_directory", path=".")).text
    tree = (await call(server, "directory_tree", path=".")).text
    assert not set(name) & set(tree) - set("txt")
    assert name in [each["name"] for each in json.loads(tree)]


def swapping(root: Path, outside: Path, stop: threading.Event, turns: list[int]) -> None:
    """Make `door` by turns a directory, a link to what is outside, and nothing; and `file` a file and a link."""
    count = itertools.count()
    door, aside, file, beside = (root / name for name in ("door", "aside", "file", "file.tmp"))
    while not stop.is_set():
        door.rename(aside)
        with suppress(FileExistsError):  # a call made a directory of it
            door.symlink_to(outside)
        beside.symlink_to(outside / "in")
        beside.replace(file)
        time.sleep(0)
        while aside.exists():  # a call may make a directory again at any time
            with suppress(OSError):
                door.rename(root / f"old-{next(count)}")
                aside.rename(door)
        beside.write_text("inside")
        beside.replace(file)
        turns[0] += 1


async def test_no_swap_of_a_link_during_a_call_leads_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder in (root / "door", outside):
        folder.mkdir(parents=True)
    (root / "door" / "in").write_text("inside")
    (outside / "in").write_text(SECRET)
    (outside / "gone-if-moved").write_text(SECRET)
    stop, turns, tries = threading.Event(), [0], 0
    thread = threading.Thread(target=swapping, args=(root, outside, stop, turns))
    thread.start()
    try:
        async with Client(make(directories=[str(root)])) as client:
            until = time.monotonic() + SWAPPING_SECONDS
            while time.monotonic() < until:
                work = [client.call_tool(tool, arguments("door/in")) for tool, arguments in TOOLS.items()]
                work += [client.call_tool(tool, arguments("file")) for tool, arguments in TOOLS.items()]
                work += [client.call_tool(tool, arguments("door")) for tool, arguments in TOOLS.items()]
                work += [client.call_tool("search_files", {"path": ".", "pattern": "**"})]
                work += [client.call_tool("move_file", {"source": "door/gone-if-moved", "destination": f"got{tries}"})]
                work += [client.call_tool("create_directory", {"path": "door/made/deep"})]
                for result in await asyncio.gather(*work):
                    assert SECRET not in result.text
                    assert "gone-if-moved" not in result.text or result.is_error
                    assert f"{len(SECRET)} B" not in result.text
                tries += len(work)
    finally:
        stop.set()
        thread.join()
    assert names(outside) == ["gone-if-moved", "in"]
    assert (outside / "in").read_text() == SECRET
    assert turns[0] > 10
    assert tries > 50
