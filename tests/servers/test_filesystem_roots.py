"""Which directories a request may use: settings, and the roots of the client, in both eras."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from servers.filesystem_root import call, laid_out
from splice import Client
from splice.servers.filesystem.__main__ import COMMAND
from splice.servers.filesystem.server import make
from support.listening import listening
from support.waiting import until

ERAS = ["2025-03-26", "2025-11-25", "modern"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return laid_out(tmp_path)


async def allowed(client: Client) -> list[str]:
    result = await client.call_tool("list_allowed_directories")
    return [] if result.is_error else result.text.splitlines()[1:]


@pytest.mark.parametrize("protocol", ERAS)
async def test_roots_replace_the_directories_and_change_with_them(tmp_path: Path, root: Path, protocol: Any) -> None:
    sibling = tmp_path / "fsroot-sibling"
    roots: list[str] = [sibling.as_uri()]
    async with Client(make(directories=[str(root)]), protocol=protocol, roots=lambda: roots) as client:
        assert await allowed(client) == [str(sibling)]
        assert (await client.call_tool("read_text_file", {"path": str(root / "a.txt")})).is_error
        roots[:] = [sibling.as_uri(), (root / "sub").as_uri(), "file:///nowhere/at/all"]
        await client.roots_changed()
        assert await allowed(client) == [str(sibling), str(root / "sub")]
        assert (await client.call_tool("read_text_file", {"path": "b.md"})).text == "# b\n"


@pytest.mark.parametrize("protocol", ERAS)
@pytest.mark.parametrize("roots", [[], ["file:///nowhere/at/all"], ["file://elsewhere/tmp", "file:///a%00b"]])
async def test_roots_that_are_none_change_nothing(root: Path, protocol: Any, roots: list[str]) -> None:
    async with Client(make(directories=[str(root)]), protocol=protocol, roots=roots) as client:
        assert await allowed(client) == [str(root)]


async def test_a_session_is_asked_once(root: Path) -> None:
    asked: list[int] = []

    def roots() -> list[str]:
        asked.append(1)
        return [root.as_uri()]

    async with Client(make(), protocol="2025-11-25", roots=roots) as client:
        for _ in range(3):
            assert await allowed(client) == [str(root)]
    assert len(asked) == 1


@pytest.mark.parametrize("protocol", ERAS)
async def test_without_any_directory_it_says_what_to_do(protocol: Any) -> None:
    result = await call(make(), "list_directory", protocol=protocol, path="/")
    assert result.is_error
    assert "splice serve filesystem DIRECTORY" in result.text


@pytest.mark.parametrize("protocol", ["2025-11-25", "modern"])
async def test_a_client_of_http_cannot_widen_what_may_be_reached(tmp_path: Path, root: Path, protocol: Any) -> None:
    app = make(directories=[str(root)]).http_app()
    async with listening(app) as url:
        for roots, found in (
            ([Path("/").as_uri(), tmp_path.as_uri()], [root]),
            ([(root / "sub").as_uri(), (root / "evildir").as_uri()], [root / "sub"]),
        ):
            async with Client(url, protocol=protocol, roots=roots) as client:
                assert await allowed(client) == [str(each) for each in found]


def test_directories_that_are_not_there_are_told_and_left_out(
    root: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    make(directories=[root, str(root / "none"), str(root / "a.txt")])
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    monkeypatch.setenv("SPLICE_FILESYSTEM_DIRECTORIES", str(root / "none"))
    with pytest.raises(SystemExit) as ended:
        COMMAND.main([])
    assert ended.value.code == 1


@pytest.mark.parametrize("setting", ["--max-bytes=0", "--max-entries=-1", "--poll-seconds=0", "--max-media-bytes=x"])
def test_a_wrong_setting_is_told(root: Path, setting: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        COMMAND.main([str(root), setting])
    assert ended.value.code == 2
    assert setting.partition("=")[0] in capsys.readouterr().err


def test_one_path_in_place_of_a_list_does_not_open_the_whole_machine(root: Path) -> None:
    with pytest.raises(TypeError, match=f"directories are a list of paths, such as \\['{root}'\\]"):
        make(directories=str(root))


async def test_read_only_offers_no_tool_that_writes(root: Path) -> None:
    async with Client(make(directories=[str(root)], read_only=True)) as client:
        tools = await client.list_tools()
        assert len(tools) == 10
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)


async def test_it_runs_as_its_entry_says(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = [sys.executable, "-m", "splice.servers.filesystem", str(root), "--read-only"]
    assert COMMAND.main([*words[3:], "--print-config"]) == 0
    entry: Any = json.loads(capsys.readouterr().out)["mcpServers"]["filesystem"]
    assert [entry["command"], *entry["args"]] == words
    async with Client([entry["command"], *entry["args"]]) as client:
        assert await allowed(client) == [str(root)]
        assert len(await client.list_tools()) == 10


async def test_a_session_that_ends_is_forgotten(root: Path) -> None:
    server = make(directories=[str(root)])
    gate: Any = server.service.home.middleware[0]
    app = server.http_app()
    async with listening(app) as url:
        async with Client(url, protocol="2025-11-25", roots=[(root / "sub").as_uri()]) as client:
            assert await allowed(client) == [str(root / "sub")]
            await client.subscribe((root / "sub/b.md").as_uri())
            assert len(gate._roots._told) == len(gate.watch._wanted) == 1
        await until(lambda: not gate._roots._told and not gate.watch._wanted)
