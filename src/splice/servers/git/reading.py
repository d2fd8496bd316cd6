"""The tools that only look: status, differences, history, branches, and what a revision holds."""

from typing import Annotated, Literal

from msgspec import Meta

from splice import Context, ToolError
from splice.servers.git import results
from splice.servers.git.repository import Repositories, Repository
from splice.servers.git.results import Branches, Log, Status, shown
from splice.servers.git.running import OUTPUT_BYTES, both
from splice.servers.git.scope import Scope, checked, quoted, relative
from splice.servers.told import told

LOG_BYTES = 4_000_000
"""How much of a history is read: the caller said how many commits."""

MAX_COMMITS = 10_000
TREE_ENTRIES = 2_000
SNIFFED_BYTES = 8_000
"""A file with a NUL byte this early is taken for binary, as git itself does."""

RepoPath = Annotated[str, Meta(description="The path of the Git repository")]
ContextLines = Annotated[int, Meta(ge=0, le=10_000, description="Lines of context around each change")]
DiffPath = Annotated[str | None, Meta(description="Only this file or directory; all without it")]
Timestamp = Annotated[
    str | None, Meta(description="ISO 8601 (2024-01-15T14:30:25), a date (Jan 15 2024), or relative (2 weeks ago)")
]
BranchType = Annotated[Literal["local", "remote", "all"], Meta(description="Which branches")]
Containing = Annotated[str | None, Meta(description="Only branches that have this commit; leave out for all")]
Lacking = Annotated[str | None, Meta(description="Only branches that do not have this commit; leave out for all")]

FEWER = "Ask for one path, or with fewer context_lines."
DIFF = ("--no-ext-diff", "--no-textconv", "--no-color", "--ignore-submodules=dirty", "--submodule=short")


ONE_PARENT = ("--diff-merges=first-parent", "--root", "--no-commit-id")


class Reading:
    """Tools that change nothing."""

    def __init__(self, scope: Scope, repositories: Repositories) -> None:
        self._scope, self._repositories = scope, repositories

    async def git_status(self, repo_path: RepoPath, ctx: Context) -> Status:
        """Show the state of the working tree: the branch, what is staged, changed, untracked or in conflict.

        Use it before staging and committing. Untracked directories are listed as one entry.
        """
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx)) as repo:
            status = ("status", "--ignore-submodules=dirty")
            text, ran = await both(
                repo.git(*status), repo.git(*status, "--porcelain=v2", "--branch", "-z", most=LOG_BYTES)
            )
            said = shown(text, "Have files ignored, or commit some.").removesuffix("\n")
            return told(results.status_of(ran), f"Repository status:\n{said}")

    async def git_diff_unstaged(
        self, repo_path: RepoPath, ctx: Context, context_lines: ContextLines = 3, path: DiffPath = None
    ) -> str:
        """Show the changes of tracked files in the working tree that are not staged, as a patch."""
        _check_path(path)
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx)) as repo:
            return "Unstaged changes:\n" + await _diff(repo, context_lines, path)

    async def git_diff_staged(
        self, repo_path: RepoPath, ctx: Context, context_lines: ContextLines = 3, path: DiffPath = None
    ) -> str:
        """Show the changes that git_commit would record, as a patch."""
        _check_path(path)
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx)) as repo:
            return "Staged changes:\n" + await _diff(repo, context_lines, path, "--cached")

    async def git_diff(
        self,
        repo_path: RepoPath,
        target: Annotated[str, Meta(description="A branch, tag or commit")],
        ctx: Context,
        context_lines: ContextLines = 3,
        path: DiffPath = None,
    ) -> str:
        """Show how the working tree differs from a branch, tag or commit, as a patch."""
        checked("target", target)
        _check_path(path)
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx)) as repo:
            found = await repo.find(target, "target")
            if found.kind == "blob":
                raise ToolError(f"Ref {quoted(target)} is a file: name a branch, tag or commit, and the file as path")
            return f"Diff with {target}:\n" + await _diff(repo, context_lines, path, found.id)

    async def git_log(
        self,
        repo_path: RepoPath,
        ctx: Context,
        max_count: Annotated[int, Meta(ge=1, le=MAX_COMMITS, description="How many commits at most")] = 10,
        start_timestamp: Timestamp = None,
        end_timestamp: Timestamp = None,
    ) -> Log:
        """List the commits of the current branch, newest first: hash, author, date and message.

        For older ones ask with a larger max_count, or with the date of the last one shown as end_timestamp.
        """
        limits = [f"--max-count={max_count}"]
        for option, name, value in (
            ("since", "start_timestamp", start_timestamp),
            ("until", "end_timestamp", end_timestamp),
        ):
            if value is not None:
                limits.append(f"--{option}={checked(name, value)}")
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx)) as repo:
            words = ("log", "-z", results.LOG_FORMAT, "--date=iso-strict", "--no-show-signature", *limits)
            ran = await repo.git(*words, "--end-of-options", "HEAD", "--", most=LOG_BYTES)
        commits = list(results.commits_of(ran))
        note = "[Cut here. Go on with the date of the last one as end_timestamp.]" if ran.cut else ""
        return told(Log(commits, ran.cut), f"Commit history:\n{results.log_text(commits)}{note}")

    async def git_show(
        self,
        repo_path: RepoPath,
        revision: Annotated[str, Meta(description="A commit, branch or tag; or REVISION:PATH for a file or directory")],
        ctx: Context,
        path: DiffPath = None,
    ) -> str:
        """Show a commit with its patch, or what a file or directory held at a revision (HEAD~2:src/main.py).

        Of a merge the changes against its first parent are shown.
        """
        checked("revision", revision)
        _check_path(path)
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx)) as repo:
            found = await repo.find(revision)
            if found.kind == "blob":
                return await _file(repo, revision, found.id, found.size)
            if found.kind == "tree":
                return await _directory(repo, revision, found.id)
            head, patch = await both(
                repo.git("log", "-1", results.LOG_FORMAT, "--date=iso", "--no-show-signature", found.id, "--"),
                repo.git("diff-tree", "-p", *ONE_PARENT, *DIFF, found.id, "--", *_below(repo, path)),
            )
            return results.commit_text(head.text, shown(patch, "Ask for one path, or for one file as REVISION:PATH."))

    async def git_branch(
        self,
        repo_path: RepoPath,
        branch_type: BranchType,
        ctx: Context,
        contains: Containing = None,
        not_contains: Lacking = None,
    ) -> Branches:
        """List branches; the current one is marked with an asterisk."""
        kind = {"local": "--list", "remote": "--remotes", "all": "--all"}[branch_type]
        limits = (("--contains", "contains", contains), ("--no-contains", "not_contains", not_contains))
        for _, name, value in limits:
            if value:
                checked(name, value)
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx)) as repo:
            words = [f"{option}={await repo.commit(value, name)}" for option, name, value in limits if value]
            ran = await repo.git("branch", "--no-color", "--no-column", kind, *words)
        text = shown(ran, "Ask for local ones, or by contains.").removesuffix("\n")
        return told(results.branches_of(ran, branch_type), text)


def _check_path(path: str | None) -> None:
    if path is not None:
        checked("path", path)


def _below(repo: Repository, path: str | None) -> list[str]:
    below = "." if path is None else relative(repo.root, path)
    return [] if below == "." else [f":(top,literal){below}"]


async def _diff(repo: Repository, context_lines: int, path: str | None, *what: str) -> str:
    below = _below(repo, path)
    ran = await repo.git("diff", *DIFF, f"--unified={context_lines}", *what, "--", *below)
    return shown(ran, FEWER).removesuffix("\n")


async def _file(repo: Repository, revision: str, id: str, size: int) -> str:
    ran = await repo.git("cat-file", "blob", id)
    if b"\0" in ran.out[:SNIFFED_BYTES]:
        raise ToolError(f"{quoted(revision)} is a binary file of {size:,} bytes, which is not shown")
    return shown(ran, f"The file has {size:,}; the rest is not shown here.")


async def _directory(repo: Repository, revision: str, id: str) -> str:
    ran = await repo.git("ls-tree", "-z", "--format=%(objecttype) %(path)", id, most=OUTPUT_BYTES)
    lines = [line.partition(" ")[::2] for line in ran.text.split("\0")[:-1]]
    names = [f"{name}/\n" if kind == "tree" else f"{name}\n" for kind, name in lines[:TREE_ENTRIES]]
    more = ran.cut or len(lines) > TREE_ENTRIES
    note = f"[Cut after {len(names):,} entries. Ask for a directory below it, or for a file.]" if more else ""
    return f"tree {revision}\n\n{''.join(names)}{note}"
