"""The server `git` answers as the original did, but for what is named here; and what it does beyond that."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from servers.committing import WHO, git, repository
from servers.recorded import Recorded, answered, assert_offers, calls, placed
from splice import Client, RPCError, StdioServer
from splice.servers.git import reading, results, running, writing
from splice.servers.git.__main__ import COMMAND
from splice.servers.git.server import make
from splice.types import CallToolResult

ARGUMENTS = {
    7: "Invalid arguments for git_add: ",
    24: "Invalid arguments for git_branch: ",
    29: "Invalid arguments for ",
}
"""Calls with wrong arguments: ours are refused in Splice's words, the original's with those of its library."""

STRUCTURED = {"git_status", "git_log", "git_branch"}
"""Tools whose results have structure beside the recorded text."""

PREFIX = "Error executing tool {}: "
"""The original's framework wrote this before each error; a result says by itself that it is one."""

SECOND_DATE = "2026-11-21T02:16:45+00:00"


@pytest.fixture(autouse=True)
def committer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in WHO.items():
        monkeypatch.setenv(name, value)
    for who in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{who}_DATE", SECOND_DATE)


class Caller:
    """A client, and the repository that it asks about."""

    def __init__(self, client: Client, root: Path) -> None:
        self.client, self.root = client, root

    async def __call__(self, tool: str, **arguments: Any) -> CallToolResult:
        return await self.client.call_tool(f"git_{tool}", {"repo_path": str(self.root), **arguments})

    async def text(self, tool: str, **arguments: Any) -> str:
        result = await self(tool, **arguments)
        assert not result.is_error, result.text
        return result.text

    async def refusal(self, tool: str, **arguments: Any) -> str:
        result = await self(tool, **arguments)
        assert result.is_error, result.text
        return result.text

    async def structure(self, tool: str, **arguments: Any) -> dict[str, Any]:
        result = await self(tool, **arguments)
        structure: dict[str, Any] = json.loads(json.dumps(result.structured_content))
        return structure


@asynccontextmanager
async def calling(root: Path, protocol: str = "modern", **settings: Any) -> AsyncIterator[Caller]:
    async with Client(make(repositories=[str(root)], **settings), protocol=protocol) as client:
        yield Caller(client, root)


def as_ours(call: Recorded) -> dict[str, Any]:
    """Rewrite an answer of the original's as far as ours is meant to differ."""
    wanted: dict[str, Any] = json.loads(json.dumps(call.answer["result"]))
    block = wanted["content"][0]
    block["text"] = ARGUMENTS.get(call.number) or block["text"].removeprefix(PREFIX.format(call.params["name"]))
    return wanted


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_the_recorded_calls_are_answered_as_they_were(tmp_path: Path, protocol: str) -> None:
    root = repository(tmp_path / "repo")
    places = {"REPO": str(root), "OTHER": str(repository(tmp_path / "other"))}
    async with calling(root, protocol) as caller:
        await assert_offers(caller.client, "git")
        for call in calls("git"):
            if "error" in call.answer:
                with pytest.raises(RPCError, match="git_init"):
                    await caller.client.call_tool(call.params["name"], call.params["arguments"])
                continue
            wanted = placed(as_ours(call), places)
            got = (await answered(caller.client, call, places))["result"]
            structured = got.pop("structuredContent", None)
            is_error = wanted.get("isError", False)
            assert (structured is not None) == (call.params["name"] in STRUCTURED and not is_error)
            if call.number in ARGUMENTS:
                assert got["content"][0]["text"].startswith(wanted["content"][0]["text"]), str(call)
            else:
                assert {key: got.get(key) for key in wanted} == wanted, str(call)


async def test_results_have_structure_where_git_has_it(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    (root / "g.txt").write_text("".join(f"{number}\n" for number in range(9)))
    (root / "gone.txt").write_text("gone\n")
    git(root, "add", "--all")
    git(root, "commit", "--quiet", "--message=more\n\nand a body")
    git(root, "update-ref", "refs/remotes/origin/main", "HEAD~1")
    git(root, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
    git(root, "config", "branch.main.remote", "origin")
    git(root, "config", "branch.main.merge", "refs/heads/main")
    git(root, "config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    git(root, "mv", "g.txt", "h ö.txt")
    (root / "gone.txt").unlink()
    (root / "new.txt").write_text("new")
    async with calling(root) as caller:
        status = await caller.structure("status")
        head = git(root, "rev-parse", "HEAD").strip()
        assert status == {
            "branch": "main",
            "commit": head,
            "upstream": "origin/main",
            "ahead": 1,
            "behind": 0,
            "staged": [{"path": "h ö.txt", "change": "renamed", "renamed_from": "g.txt"}],
            "unstaged": [{"path": "gone.txt", "change": "deleted", "renamed_from": None}],
            "untracked": ["new.txt"],
            "conflicted": [],
            "more": False,
        }
        said = await caller.text("status")
        assert "h ö.txt" in said
        assert "Your branch is ahead of 'origin/main' by 1 commit." in said
        log = await caller.structure("log", end_timestamp="2026-06-01")
        assert [commit["message"] for commit in log["commits"]] == ["more\n\nand a body\n", "first\n"]
        assert log["commits"][0] == log["commits"][0] | {"email": "a@b", "date": "2026-01-01T00:00:00+00:00"}
        assert (await caller.structure("log", start_timestamp="2026-06-01")) == {"commits": [], "more": False}
        branches = await caller.structure("branch", branch_type="all", not_contains="HEAD")
        assert branches["branches"] == [
            {"name": "origin/HEAD", "kind": "remote", "current": False, "target": "origin/main"},
            {"name": "origin/main", "kind": "remote", "current": False, "target": None},
        ]
        for tool in await caller.client.list_tools():
            assert (tool.output_schema is not None) == (tool.name in STRUCTURED)


async def test_what_a_revision_holds_is_shown(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    (root / "folder").mkdir()
    (root / "folder" / "run").write_text("echo\n")
    (root / "blob").write_bytes(b"\0" * 10)
    git(root, "add", "--all")
    git(root, "mv", "f.txt", "renamed.txt")
    git(root, "commit", "--quiet", "--message=several\n\nlines")
    git(root, "tag", "--annotate", "--message=a tag", "v1")
    async with calling(root) as caller:
        shown = await caller.text("show", revision="v1")
        assert shown == await caller.text("show", revision="HEAD")
        assert "\n\n    several\n\n    lines\n\ndiff --git a/blob b/blob\nnew file mode" in shown
        assert "--- /dev/null\n+++ b/folder/run\n@@ -0,0 +1 @@\n+echo\n" in shown
        assert "diff --git a/folder" not in shown
        assert "echo" not in await caller.text("show", revision="HEAD", path="renamed.txt")
        assert await caller.text("show", revision="HEAD", path="nowhere") == shown.partition("\n\ndiff")[0] + "\n\n"
        assert await caller.text("show", revision="HEAD", path=".") == shown
        assert await caller.text("show", revision="HEAD:") == "tree HEAD:\n\nblob\nfolder/\nrenamed.txt\n"
        assert await caller.text("show", revision="HEAD:folder/run") == "echo\n"
        assert await caller.refusal("show", revision="HEAD:blob") == (
            "'HEAD:blob' is a binary file of 10 bytes, which is not shown"
        )
        assert "is a file: name a branch" in await caller.refusal("diff", target="HEAD:folder/run")
        (root / "renamed.txt").write_text("three\n")
        (root / "folder" / "run").write_text("cat\n")
        for tool, more in (("diff", {"target": "v1"}), ("diff_unstaged", {}), ("diff_staged", {})):
            below = (await caller.text(tool, path="folder", **more)).partition(":\n")[2]
            assert below.startswith("diff --git a/folder/run" if tool != "diff_staged" else "")
            assert "renamed" not in below


async def test_a_merge_is_concluded_and_outlives_a_reset(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    git(root, "commit", "--quiet", "--all", "--message=ours")
    git(root, "checkout", "--quiet", "-b", "side", "HEAD~1")
    (root / "f.txt").write_text("theirs\n")
    git(root, "commit", "--quiet", "--all", "--message=theirs")
    git(root, "merge", "--quiet", "--no-commit", "--strategy=ours", "main")
    (root / "f.txt").write_text("both\n")
    async with calling(root) as caller:
        await caller.text("reset")
        assert await caller.text("add", files=["."]) == "Files staged successfully"
        await caller.text("commit", message="merged")
        assert len(git(root, "rev-list", "--parents", "--max-count=1", "HEAD").split()) == 3
        assert (await caller.text("show", revision="HEAD")).endswith("@@ -1 +1 @@\n-theirs\n+both\n")
        git(root, "checkout", "--quiet", "main")
        (root / "f.txt").write_text("other\n")
        git(root, "commit", "--quiet", "--all", "--message=other")
        with pytest.raises(Exception, match="exit status 1"):
            git(root, "merge", "side")
        assert "unmerged files" in await caller.refusal("commit", message="too early")
        assert (await caller.structure("status"))["conflicted"] == ["f.txt"]


async def test_branches_are_made_and_switched_to(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    git(root, "tag", "v1")
    async with calling(root) as caller:
        assert (
            await caller.text("create_branch", branch_name="a/b", base_branch="v1") == "Created branch 'a/b' from 'v1'"
        )
        assert "not possible beside another" in await caller.refusal("create_branch", branch_name="a")
        for name in ("a..b", "@", "HEAD", "x.lock", "x y", "refs/heads/x", "@{-1}", "a//b", ".x", "x~1"):
            assert "git allows no such name" in await caller.refusal("create_branch", branch_name=name)
        assert "is a blob, not a commit" in await caller.refusal(
            "create_branch", branch_name="c", base_branch="v1:f.txt"
        )
        assert "HEAD is detached" in await caller.text("checkout", branch_name="v1")
        assert (await caller.structure("branch", branch_type="local"))["current"] is None
        git(root, "commit", "--quiet", "--all", "--message=second")
        (root / "f.txt").write_text("local\n")
        assert "would be overwritten by checkout:\n\tf.txt" in await caller.refusal("checkout", branch_name="a/b")
        assert (root / "f.txt").read_text() == "local\n"


async def test_worktrees_and_new_repositories_work(tmp_path: Path) -> None:
    root = repository(tmp_path / "all" / "repo")
    git(root, "worktree", "add", "--quiet", "-b", "side", "../side")
    async with Client(make(any_repository=True)) as client:
        side = Caller(client, tmp_path / "all" / "side")
        (side.root / "f.txt").write_text("three\n")
        await side.text("add", files=["f.txt"])
        await side.text("commit", message="in a worktree")
        assert "+ side" in await Caller(client, root).text("branch", branch_type="local")
        assert "already checked out" in await side.refusal("checkout", branch_name="main")
        fresh = Caller(client, tmp_path / "fresh")
        fresh.root.mkdir()
        git(fresh.root, "init", "--quiet", "--initial-branch=main", "--object-format=sha256", "--template=")
        assert (await fresh.structure("status"))["commit"] is None
        assert "did not resolve" in await fresh.refusal("create_branch", branch_name="x")
        assert await fresh.refusal("log") == "There are no commits yet"
        (fresh.root / "f").write_text("f")
        await fresh.text("add", files=[str(fresh.root / "f")])
        assert len((await fresh.text("commit", message="first")).split()[-1]) == 64
        assert git(fresh.root, "reflog") != ""


async def test_output_and_time_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "repo")
    (root / "f.txt").write_text("a line\n" * 60_000)
    git(root, "add", "--all")
    async with calling(root) as caller:
        said = await caller.text("diff_staged")
        assert len(said) < running.OUTPUT_BYTES + 200
        assert said.endswith("a line\n[Cut after 200,000 bytes. Ask for one path, or with fewer context_lines.]")
        await caller.text("commit", message="long")
        assert "[Cut after 199,997 bytes. The file has 420,000;" in await caller.text("show", revision="HEAD:f.txt")
        assert "All paths together have at most 64,000 characters" in await caller.refusal(
            "add", files=["a" * 800] * 90
        )
        monkeypatch.setattr(reading, "LOG_BYTES", 150)
        log = await caller.structure("log")
        assert (len(log["commits"]), log["more"]) == (1, True)
        assert "Go on with the date of the last one" in await caller.text("log")
        monkeypatch.setattr(writing, "LISTED_BYTES", 3)
        (root / "f.txt").write_text("")
        assert "too much to stage at once" in await caller.refusal("add", files=["."])
        monkeypatch.setattr(reading, "TREE_ENTRIES", 0)
        assert "[Cut after 0 entries." in await caller.text("show", revision="HEAD:")
        monkeypatch.setattr(results, "ENTRIES", 0)
        assert (await caller.structure("status"))["more"] is True
    os.mkfifo(root / "pipe")
    git(root, "config", "include.path", str(root / "pipe"))  # whoever reads it waits for ever
    async with calling(root, timeout=0.2) as caller:
        assert await caller.refusal("status") == "git took longer than 0.2 s and was ended. Ask for less at once."


async def test_no_line_of_a_patch_is_taken_for_a_header(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    (root / "f.txt").write_text("a\n\x0cdiff --git hidden\x0c--- b\r--- c\n")
    git(root, "commit", "--all", "--quiet", "--message=m")
    async with calling(root) as caller:
        assert (await caller.text("show", revision="HEAD")).endswith("\n+a\n+\x0cdiff --git hidden\x0c--- b\r--- c\n")


async def test_so_many_runs_there_are_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "repo")
    monkeypatch.setattr(running, "AT_ONCE", 1)
    now, most = 0, 0
    run = running.Program._run

    async def counted(*words: Any) -> running.Ran:
        nonlocal now, most
        now += 1
        most = max(most, now)
        try:
            return await run(*words)
        finally:
            now -= 1

    monkeypatch.setattr(running.Program, "_run", counted)
    async with calling(root) as caller:
        await asyncio.gather(*(caller.text("log") for _ in range(3)))
    assert most == 1


async def test_a_user_without_a_home_is_served(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "repo")
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr("pwd.getpwuid", {}.__getitem__)
    async with calling(root) as caller:
        assert "On branch main" in await caller.text("status")


async def test_calls_on_one_repository_take_turns(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    names = [f"{number}.txt" for number in range(12)]
    for name in names:
        (root / name).write_text(name)
    async with calling(root) as caller:
        await asyncio.gather(*(caller.text("add", files=[name]) for name in names))
        assert len((await caller.structure("status"))["staged"]) == len(names)


async def test_read_only_offers_nothing_that_changes(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    async with calling(root, read_only=True) as caller:
        tools = await caller.client.list_tools()
        assert {tool.name.removeprefix("git_") for tool in tools} == (
            {"status", "diff_unstaged", "diff_staged", "diff", "log", "show", "branch"}
        )
        assert all(tool.annotations is not None and tool.annotations.read_only_hint for tool in tools)
        with pytest.raises(RPCError, match="git_commit"):
            await caller("commit", message="m")


@pytest.mark.parametrize("protocol", ["legacy", "modern"])
async def test_roots_make_the_bounds_narrower(tmp_path: Path, protocol: str, monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = repository(tmp_path / "one"), repository(tmp_path / "two")
    monkeypatch.chdir(tmp_path)

    async def asked(root: Path, *uris: str) -> CallToolResult:
        async with Client(server, protocol=protocol, roots=uris) as client:
            return await Caller(client, root)("status")

    server = make()
    assert (await asked(one, one.as_uri())).text.startswith("Repository status:")
    refused = await asked(two, one.as_uri())
    assert refused.text == f"Repository path '{two}' is outside the allowed root of the client '{one}'"
    assert "(none)" in (await asked(one, "file://elsewhere/one")).text
    assert not (await asked(two)).is_error
    assert "allowed directory" in (await asked(Path("/"), "file:///")).text


def test_settings_are_checked(tmp_path: Path) -> None:
    root = repository(tmp_path / "repo")
    (root / "deep" / "er").mkdir(parents=True)
    assert make(repositories=[str(root / "deep" / "er")])
    for settings, wrong in (
        ({"repositories": [str(tmp_path)]}, "not in a Git repository"),
        ({"repositories": [str(root)], "any_repository": True}, "exclude each other"),
        ({"timeout": 0.0}, "above 0"),
        ({"timeout": float("nan")}, "above 0"),
    ):
        with pytest.raises(ValueError, match=wrong):
            make(**settings)
    with pytest.raises(TypeError, match="repositories are a list of paths"):
        make(repositories=str(root))


async def test_the_command_serves(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    root = repository(tmp_path / "repo")
    assert COMMAND.main(["-r", str(root), "--read-only", "--print-config"]) == 0
    entry = json.loads(capsys.readouterr().out)["mcpServers"]["git"]
    assert entry["command"] == sys.executable
    async with Client(StdioServer(entry["command"], *entry["args"])) as client:
        assert (await Caller(client, root).text("branch", branch_type="local")) == "* main"
