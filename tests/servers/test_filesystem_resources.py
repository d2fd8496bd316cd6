"""Files as resources: read by URI, completed, and told of when they change."""

from pathlib import Path
from typing import Any

import pytest

from servers.filesystem_root import SECRET, laid_out
from splice import Change, Client, InvalidParams, MCPError
from splice.servers.filesystem.server import TEMPLATE, make
from splice.types import ResourceTemplateReference
from support.waiting import until

ERAS: list[Any] = ["2025-11-25", "modern"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return laid_out(tmp_path)


@pytest.mark.parametrize("protocol", ERAS)
async def test_files_are_read_by_their_uri(root: Path, protocol: Any) -> None:
    (root / "ä b#?%.txt").write_text("odd")
    (root / "to-sub").symlink_to("sub")
    async with Client(make(directories=[str(root)]), protocol=protocol) as client:
        assert [each.uri_template for each in await client.list_resource_templates()] == [TEMPLATE]
        for path, text in (("a.txt", "l1\nl2\nl3\nl4\n"), ("ä b#?%.txt", "odd"), ("to-sub/b.md", "# b\n")):
            contents = (await client.read_resource((root / path).as_uri())).contents[0]
            assert contents.text == text
        assert (await client.read_resource((root / "bin.dat").as_uri())).contents[0].blob == "AAH/"


@pytest.mark.parametrize(
    "uri",
    [
        "file:///etc/passwd",
        "{root}/../secret.txt",
        "{root}/%2e%2e/secret.txt",
        "{root}/..%2fsecret.txt",
        "{root}/sub%2F..%2F..%2Fsecret.txt",
        "{root}/evil",
        "{root}/evildir/passwd",
        "{root}-sibling/x",
        "{root}/a.txt%00",
        "{root}/none",
        "{root}/sub",
        "{root}/%ff",
        "file://localhost/etc/passwd",
        "file:/etc/passwd",
        "FILE:///etc/passwd",
        "file:////etc/passwd",
        "file:///C:/Windows",
    ],
)
async def test_no_uri_leads_out(root: Path, uri: str) -> None:
    async with Client(make(directories=[str(root)])) as client:
        with pytest.raises(MCPError) as refused:
            await client.read_resource(uri.format(root=root.as_uri()))
        assert SECRET not in str(refused.value)
        assert "reference" not in str(refused.value)


@pytest.mark.parametrize("protocol", ERAS)
async def test_paths_are_completed_below_the_roots_only(tmp_path: Path, root: Path, protocol: Any) -> None:
    async with Client(make(directories=[str(root)]), protocol=protocol) as client:

        async def completed(typed: str) -> list[str]:
            reference = ResourceTemplateReference(uri=TEMPLATE)
            return (await client.complete(reference, "path", typed)).values

        here = str(root)[1:]
        assert await completed("") == [f"{here}/"]
        assert await completed(f"{tmp_path}"[1:]) == [f"{here}/"]
        assert await completed(f"{here}/su") == [f"{here}/sub/"]
        assert await completed(f"{here}/sub/") == [f"{here}/sub/b.md", f"{here}/sub/deep/"]
        for typed in ("etc/", f"{here}/evildir/", f"{here}-sib", f"{here}-sibling/", f"{here}/../", "\0"):
            assert await completed(typed) == []


@pytest.mark.parametrize("protocol", ERAS)
async def test_a_changed_file_is_heard_of(tmp_path: Path, root: Path, protocol: Any) -> None:
    heard: list[Change] = []
    server = make(directories=[str(root)], poll_seconds=0.005)
    gate: Any = server.service.home.middleware[0]
    uri, outside = (root / "a.txt").as_uri(), (tmp_path / "secret.txt").as_uri()
    async with Client(server, protocol=protocol, on_change=heard.append) as client:
        assert gate.watch._task is None
        await client.subscribe(uri)
        await client.subscribe(outside)
        (tmp_path / "secret.txt").write_text("changed")
        for change in (
            lambda: (root / "a.txt").write_text("by somebody else"),
            (root / "a.txt").unlink,
            lambda: (root / "a.txt").write_text("new"),
        ):
            heard.clear()
            change()
            await until(lambda: heard)
            assert heard[0] == Change("resource", uri)
        heard.clear()
        await client.call_tool("write_file", {"path": "a.txt", "content": "by a tool"})
        await until(lambda: heard)
        await client.unsubscribe(uri)
        await client.unsubscribe(outside)
        await until(lambda: gate.watch._task is None)  # nobody wants to know
        assert all(each.uri == uri for each in heard)
        await client.subscribe(uri)
        assert gate.watch._task is not None
        heard.clear()
        (root / "a.txt").write_text("once more")
        await until(lambda: heard)


async def test_a_client_has_so_many_files_watched_and_no_more(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("splice.servers.filesystem.watching.MAX_WATCHED", 2)
    async with Client(make(directories=[str(root)]), protocol="2025-11-25") as client:
        for number in range(2):
            await client.subscribe((root / f"{number}").as_uri())
        with pytest.raises(InvalidParams, match="at most 2 files"):
            await client.subscribe((root / "2").as_uri())
