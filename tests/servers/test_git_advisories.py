"""What git servers did that they must not: programs run, other repositories reached, options smuggled in.

CVE-2025-68143, CVE-2025-68144, CVE-2025-68145, CVE-2026-27735, and what a repository can plant for whoever uses it:
each thing that could run would leave a marker, and does when git itself is used.
"""

import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from servers.committing import WHO, git, repository
from servers.filesystem_root import names
from splice import Client
from splice.servers.git import running
from splice.servers.git.server import make
from splice.types import Tool

HOOKS = [
    "pre-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "post-checkout",
    "post-index-change",
    "reference-transaction",
    "post-rewrite",
    "pre-auto-gc",
    "fsmonitor-watchman",
]


PLANTS = """
[core]
    fsmonitor = {PROGRAM}
    sshCommand = {PROGRAM}
    editor = {PROGRAM}
    pager = {PROGRAM}
    askPass = {PROGRAM}
    gitProxy = {PROGRAM}
    attributesFile = {ROOT}/attributes
    repositoryFormatVersion = 1
[extensions]
    partialClone = origin
[sequence]
    editor = {PROGRAM}
[pager]
    status = {PROGRAM}
    log = {PROGRAM}
    diff = {PROGRAM}
    show = {PROGRAM}
    branch = {PROGRAM}
[diff]
    external = {PROGRAM}
[diff "x"]
    command = {PROGRAM}
    textconv = {PROGRAM}
[filter "x"]
    clean = {PROGRAM}
    smudge = {PROGRAM}
    process = {PROGRAM}
[merge "x"]
    driver = {PROGRAM}
[interactive]
    diffFilter = {PROGRAM}
[gpg]
    program = {PROGRAM}
[gpg "ssh"]
    program = {PROGRAM}
[credential]
    helper = {PROGRAM}
[trailer "x"]
    command = {PROGRAM}
[uploadpack]
    packObjectsHook = {PROGRAM}
[remote "origin"]
    url = ext::{PROGRAM}
    uploadpack = {PROGRAM}
    promisor = true
    partialCloneFilter = blob:none
[protocol "ext"]
    allow = always
[alias]
    status = !{PROGRAM}
[commit]
    gpgSign = true
    verbose = true
[log]
    showSignature = true
[includeIf "gitdir:/"]
    path = {ROOT}/more
"""


@pytest.fixture(autouse=True)
def committer(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in WHO.items():
        monkeypatch.setenv(name, value)


@asynccontextmanager
async def asking(*repositories: Path) -> AsyncIterator[Client]:
    async with Client(make(repositories=[str(each) for each in repositories])) as client:
        yield client


async def answer(client: Client, tool: str, root: Path, **arguments: Any) -> str:
    return (await client.call_tool(f"git_{tool}", {"repo_path": str(root), **arguments})).text


async def refusal(client: Client, tool: str, root: Path, **arguments: Any) -> str:
    result = await client.call_tool(f"git_{tool}", {"repo_path": str(root), **arguments})
    assert result.is_error, result.text
    return result.text


async def use_everything(client: Client, root: Path) -> list[str]:
    """Call each tool at least once, and return what each said."""
    uses: list[tuple[str, dict[str, Any]]] = [
        ("status", {}),
        ("diff_unstaged", {}),
        ("add", {"files": ["."]}),
        ("add", {"files": ["f.txt"]}),
        ("diff_staged", {}),
        ("diff", {"target": "HEAD"}),
        ("commit", {"message": "m"}),
        ("log", {}),
        ("show", {"revision": "HEAD"}),
        ("show", {"revision": "HEAD:f.txt"}),
        ("create_branch", {"branch_name": "new"}),
        ("checkout", {"branch_name": "other"}),
        ("checkout", {"branch_name": "new"}),
        ("branch", {"branch_type": "all"}),
        ("reset", {}),
        ("show", {"revision": "0123456789012345678901234567890123456789"}),
    ]
    return [await answer(client, tool, root, **arguments) for tool, arguments in uses]


def planted(root: Path, marker: Path) -> Path:
    """Make a repository in which everything that can name a program names one that leaves a marker."""
    repository(root)
    git(root, "branch", "other")
    (root / "f.txt").write_text("changed\n")
    git(root, "commit", "--quiet", "--all", "--message=changed")
    program = root / "plant.sh"
    program.write_text(f"#!/bin/sh\necho $0 >> '{marker}'\nexit 1\n")
    program.chmod(0o755)
    for hook in HOOKS:
        path = root / ".git" / "hooks" / hook
        path.parent.mkdir(exist_ok=True)
        path.symlink_to(program)
    (root / "more").write_text(f"[diff]\n\texternal = {program}\n")
    with (root / ".git" / "config").open("a") as file:
        file.write(PLANTS.replace("{PROGRAM}", str(program)).replace("{ROOT}", str(root)))
    for attributes in ("attributes", ".gitattributes"):
        (root / attributes).write_text("* filter=x diff=x merge=x\n")
    (root / "f.txt").write_text("changed again\n")
    return root


ASKED_OF_GIT = (
    ["status"],
    ["diff"],
    ["add", "f.txt"],
    ["commit", "-mx"],
    ["show", "HEAD"],
    ["checkout", "-f", "other"],
    ["cat-file", "-p", "0" * 39 + "1"],
)


async def test_nothing_that_a_repository_plants_runs(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    control = planted(tmp_path / "control", marker)
    for words in ASKED_OF_GIT:
        marker.unlink(missing_ok=True)
        git(control, *words, check=False)
        assert marker.exists(), f"the plant does not work: git {words}"
    marker.unlink()
    root = planted(tmp_path / "repo", marker)
    async with asking(root) as client:
        said = await use_everything(client, root)
        assert not marker.exists()
        assert "through the filter 'x'" in said[2]
        (root / ".gitattributes").unlink()
        (root / ".git" / "info").mkdir(exist_ok=True)
        (root / ".git" / "info" / "attributes").write_text("* diff=x merge=x\n")
        said = await use_everything(client, root)
    assert not marker.exists(), marker.read_text()
    assert said[2] == "Files staged successfully"
    assert said[6].startswith("Changes committed successfully")
    assert said[11:13] == ["Switched to branch 'other'", "Switched to branch 'new'"]
    assert said[15] == "Ref '0123456789012345678901234567890123456789' did not resolve to an object"


async def test_a_repository_below_another_is_not_entered(tmp_path: Path) -> None:
    marker = tmp_path / "marker"
    root, inner = repository(tmp_path / "repo"), planted(tmp_path / "repo" / "sub", marker)
    git(root, "-c", "advice.addEmbeddedRepo=false", "add", "sub", check=False)
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{git(inner, 'rev-parse', 'other').strip()},sub")
    git(root, "commit", "--quiet", "--message=with a submodule")
    git(root, "branch", "other")
    marker.unlink(missing_ok=True)
    async with asking(root) as client:
        said = await use_everything(client, root)
        assert "modified:   sub (new commits)" in said[0]
        assert "in submodule" in await refusal(client, "add", root, files=["sub/f.txt"])
        assert "nothing new" in await answer(client, "add", root, files=["."])
        assert "submodule" in await refusal(client, "add", root, files=["sub"])
        (root / "f.txt").write_text("three\n")
        assert await answer(client, "add", root, files=["."]) == "Files staged successfully"
        assert git(root, "diff", "--cached", "--name-only") == "f.txt\n"
    assert not marker.exists(), marker.read_text()


def strings_of(tool: Tool) -> list[str]:
    """List the parameters of a tool that take text."""
    properties: dict[str, dict[str, Any]] = tool.input_schema["properties"]
    return [name for name, schema in properties.items() if "integer" not in str(schema)]


SOUND = {
    "target": "HEAD",
    "message": "m",
    "files": ["f.txt"],
    "branch_name": "b",
    "revision": "HEAD",
    "branch_type": "local",
}


async def test_no_text_that_looks_like_an_option_reaches_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, target = repository(tmp_path / "repo"), tmp_path / "written"

    async def run(*_: Any, **__: Any) -> running.Ran:
        raise AssertionError("git was started")

    monkeypatch.setattr(running.Program, "run", run)
    tried = 0
    async with asking(root) as client:
        for tool in await client.list_tools():
            for name in strings_of(tool):
                for text in (f"--output={target}", "-x", "--", "-", "--upload-pack=x", "-c core.pager=x"):
                    needed = {each: SOUND.get(each, str(root)) for each in tool.input_schema["required"]}
                    value = [text] if name == "files" else text
                    result = await client.call_tool(tool.name, {**needed, name: value})
                    assert result.is_error
                    assert "cannot start with '-'" in result.text or name == "branch_type", (tool.name, name)
                    tried += 1
    assert tried == 6 * 28
    assert not target.exists()


async def test_a_reference_named_like_an_option_is_one_all_the_same(tmp_path: Path) -> None:
    root, target = repository(tmp_path / "repo"), tmp_path / "written"
    name = f"--output={target.name}"
    head = git(root, "rev-parse", "HEAD")
    (root / ".git" / "refs" / "heads" / name).write_text(head)
    (root / ".git" / "refs" / "tags" / name).write_text(head)
    (root / ".git" / name).write_text(head)
    async with asking(root) as client:
        for revision in (f"refs/heads/{name}", f"heads/{name}", f"tags/{name}"):
            assert "+two" in await answer(client, "diff", root, target=revision)
            assert head.strip() in await answer(client, "show", root, revision=revision)
            assert "main" in await answer(client, "branch", root, branch_type="local", contains=revision)
            assert "detached" in await answer(client, "checkout", root, branch_name=revision)
        git(root, "symbolic-ref", "HEAD", f"refs/heads/{name}")
        assert f"from 'heads/{name}'" in await answer(client, "create_branch", root, branch_name="b")
        (root / name).write_text("a file")
        await answer(client, "add", root, files=["."])
        assert "Changes committed" in await answer(client, "commit", root, message="m")
    assert not target.exists()
    assert not (root / target.name).exists()


async def test_what_git_repeats_is_not_taken_for_its_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, target = repository(tmp_path / "repo"), tmp_path / "written"
    monkeypatch.setattr("splice.servers.git.scope.CONTROL", re.compile(r"[\0\n]"))  # the second defence is tried alone
    async with asking(root) as client:
        for end in ("\u2028", "\x85", "\x0c", "\r", "\x1e"):
            revision = f"x tag 5{end}--output={target} commit 5"
            for tool, name in (("diff", "target"), ("show", "revision"), ("checkout", "branch_name")):
                assert "did not resolve" in await refusal(client, tool, root, **{name: revision})
                assert "did not resolve" in await refusal(client, tool, root, **{name: f"f.txt commit 5{end}"})
    assert not target.exists()


async def test_only_named_repositories_are_reached(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root, other = repository(tmp_path / "repo"), repository(tmp_path / "repo-2")
    (root / "link").symlink_to(other)
    (root / "loop").symlink_to(root / "loop")
    git(root, "init", "--quiet", "--bare", str(root / "bare"))
    (tmp_path / "plain").mkdir()
    outside = "is outside the allowed repository"
    async with asking(root) as client:
        for path in (other, root / "link", root / ".." / "repo-2", root.parent, Path("/"), Path("/proc/self/cwd")):
            assert outside in await refusal(client, "status", path)
        assert outside in await refusal(client, "status", root / "loop")
        assert "is not a directory" in await refusal(client, "status", root / "f.txt")
        assert "Git cannot use" in await refusal(client, "status", root / "bare")
        assert "control characters" in await refusal(client, "status", Path(f"{root}\0"))
        for file in ("../repo-2/f.txt", str(other / "f.txt"), "link/f.txt", "link", "loop", "a/../../x", "/etc/passwd"):
            assert "is outside the repository" in await refusal(client, "add", root, files=["f.txt", file])
        assert "cannot start with ':'" in await refusal(client, "add", root, files=[":(top)"])
        assert "f.txt" not in git(root, "diff", "--cached", "--name-only")
        assert "outside" in await refusal(client, "diff", root, target="HEAD", path="../x")
    monkeypatch.chdir(root.parent / "plain")
    async with asking() as client:
        assert "allowed directory" in await refusal(client, "status", root)
        assert "is not in a Git repository" in await refusal(client, "status", Path())
    monkeypatch.chdir(root)
    (root / "deep").mkdir()
    async with asking() as client:
        assert "Repository status" in await answer(client, "status", Path("deep"))
    monkeypatch.chdir(root / "deep")
    async with asking() as client:  # the working directory is the bound: the repository is above it
        assert "is not in a Git repository" in await refusal(client, "status", Path())


def link(name: str, other: Path, root: Path) -> None:
    """Put a link to a part of another repository in the place of a part of this one."""
    path = root / ".git" / name
    if path.is_dir():
        path.rename(path.with_name("kept"))
    else:
        path.unlink(missing_ok=True)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(other / ".git" / name)


def git_file(other: Path, root: Path) -> None:
    (root / ".git").rename(root / "kept")
    (root / ".git").write_text(f"gitdir: {other}/.git\n")


def git_link(other: Path, root: Path) -> None:
    (root / ".git").rename(root / "kept")
    (root / ".git").symlink_to(other / ".git")


def worktree(other: Path, root: Path) -> None:
    git(root, "config", "core.worktree", str(other))


def common(other: Path, root: Path) -> None:
    (root / ".git" / "commondir").write_text(f"{other}/.git\n")


def alternates(other: Path, root: Path) -> None:
    (root / ".git" / "objects" / "info").mkdir(exist_ok=True)
    (root / ".git" / "objects" / "info" / "alternates").write_text(f"../../../{other.name}/.git/objects\n")


def quoted_alternates(other: Path, root: Path) -> None:
    alternates(other, root)
    path = root / ".git" / "objects" / "info" / "alternates"
    path.write_text('"' + path.read_text().strip().replace(".", "\\056") + '"\n')


def link_inside(other: Path, root: Path) -> None:
    """Let a link lead to a directory within bounds that has a link out of them."""
    (root / "branches").mkdir()
    (root / "branches" / "deeper").symlink_to(other)
    (root / ".git" / "refs" / "heads" / "dir").symlink_to(root / "branches")


DEEP = ("logs/refs/heads/main", "refs/heads/dir", "objects/pack/x.pack", "rebase-merge/done", "rebase-apply/onto")
PARTS = ("objects", "refs", "HEAD", "index", "packed-refs", "info", "COMMIT_EDITMSG", "logs", "logs/HEAD")
ELSEWHERE: dict[str, Callable[[Path, Path], None]] = {
    "a file .git": git_file,
    "a link .git": git_link,
    "core.worktree": worktree,
    "commondir": common,
    "alternates": alternates,
    "alternates in quotes": quoted_alternates,
    "a link to a link": link_inside,
    **{name: partial(link, name) for name in (*PARTS, *DEEP)},
}
"""What leads out of a repository, and how it gets there."""


async def test_a_repository_that_leads_elsewhere_is_refused(tmp_path: Path) -> None:
    other = repository(tmp_path / "other")
    git(other, "pack-refs", "--all")
    (other / ".git" / "info").mkdir(exist_ok=True)
    before = {path: path.read_bytes() for path in other.rglob("*") if path.is_file()}
    for number, (what, build) in enumerate(ELSEWHERE.items()):
        root = repository(tmp_path / f"repo{number}")
        async with asking(root) as client:
            build(other, root)
            for tool, arguments in (("commit", {"message": "m"}), ("status", {}), ("log", {})):
                said = await refusal(client, tool, root, **arguments)
                said = said.replace("is not in a Git repository", "outside what is allowed") if what == "HEAD" else said
                assert "outside what is allowed" in said, (what, said)
                assert str(other) not in said
    assert {path: path.read_bytes() for path in other.rglob("*") if path.is_file()} == before


async def test_no_reference_leads_elsewhere(tmp_path: Path) -> None:
    for number, name in enumerate(("refs/../../../x", "refs/heads/other", "refs/heads/loop", "x", "refs/./heads/x")):
        root = repository(tmp_path / f"repo{number}")
        heads = root / ".git" / "refs" / "heads"
        (heads / "other").write_text("ref:refs/heads/../../../../x\n")
        (heads / "loop").write_text("ref: refs/heads/loop\n")
        git(root, "add", "f.txt")
        async with asking(root) as client:
            created = await client.call_tool("git_create_branch", {"repo_path": str(root), "branch_name": "other"})
            assert created.is_error
            (root / ".git" / "HEAD").write_text(f"ref: {name}\n")
            said = await refusal(client, "commit", root, message="m")
        assert "HEAD stands for" in said or "is not in a Git repository" in said
    assert {name[:4] for name in names(tmp_path)} == {"repo"}


async def test_a_repository_of_another_user_stays_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "repo")
    monkeypatch.setattr("splice.servers.git.repository.QUIET", {"GIT_TEST_ASSUME_DIFFERENT_OWNER": "1", "LC_ALL": "C"})
    async with asking(root) as client:
        assert "it belongs to another user" in await refusal(client, "status", root)
        monkeypatch.setenv("HOME", str(tmp_path))
        (tmp_path / ".gitconfig").write_text(f"[safe]\n\tdirectory = {root}\n")
        assert "Repository status" in await answer(client, "status", root)


async def test_who_commits_is_known_by_configuration_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = repository(tmp_path / "repo")
    git(root, "add", "f.txt")
    for name in WHO:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    async with asking(root) as client:
        assert "Git knows no author." in await refusal(client, "commit", root, message="m")
        git(tmp_path, "config", "--file=.gitconfig", "user.name", 'B "C\\ D')
        git(tmp_path, "config", "--file=.gitconfig", "user.email", "b@c")
        assert "Changes committed" in await answer(client, "commit", root, message="m")
        assert 'Author: B "C\\ D\n' in await answer(client, "log", root, max_count=1)
        git(root, "config", "core.repositoryFormatVersion", "1")
        git(root, "config", "extensions.later", "true", check=False)
        with (root / ".git" / "config").open("a") as file:
            file.write("[extensions]\n\tlater = true\n")
        assert "later" in await refusal(client, "status", root)
