"""The tools that change a repository: stage, commit, unstage, branch, switch."""

import re
from typing import Annotated

from msgspec import Meta

from splice import Context, ToolError
from splice.servers.git.reading import RepoPath
from splice.servers.git.repository import Repositories, Repository
from splice.servers.git.running import Ran
from splice.servers.git.scope import Scope, checked, quoted, relative

MESSAGE_CHARS = 64_000
MAX_FILES = 1_000
PATHS_CHARS = 64_000
"""How long all paths of a call may be together: each part of each is looked at for links."""

LISTED_BYTES = 16_000_000
"""How much of a list of paths is read before a call that would touch them."""

BAD_NAME = re.compile(r"[\0-\x20\x7f~^:?*\[\\]|\.\.|@\{|^/|/$|//|(^|/)\.|\.lock(/|$)|\.$|^@$|^HEAD$|^refs/")
"""What the name of a branch cannot have; git has the same rules but for HEAD, @ and names that begin with refs/."""

ENTERS_SUBMODULE = "not run 'git status"

NOTHING_STAGED = (
    "No changes staged for commit. Use git_add to stage changes first; git_status shows what is currently staged."
)
NOTHING_NEW = (
    "No changes were staged: the given paths had nothing new to stage. git_status shows what is modified or untracked."
)

BranchName = Annotated[str, Meta(description="The name of the branch")]


class Writing:
    """Tools that change something."""

    def __init__(self, scope: Scope, repositories: Repositories) -> None:
        self._scope, self._repositories = scope, repositories

    async def git_add(
        self,
        repo_path: RepoPath,
        files: Annotated[
            list[str],
            Meta(min_length=1, max_length=MAX_FILES, description="Paths from the repository's root; '.' is everything"),
        ],
        ctx: Context,
    ) -> str:
        """Stage files, or all changed files in directories, for the next commit. Deletions too."""
        for file in files:
            checked("path", file)
        if sum(map(len, files)) > PATHS_CHARS:
            raise ToolError(
                f"All paths together have at most {PATHS_CHARS:,} characters. Name directories, or call twice."
            )
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx), writes=True) as repo:
            paths = [relative(repo.root, file) for file in files]
            listing = ("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")
            found = await repo.git(*listing, "--", *paths, most=LISTED_BYTES)
            if found.cut:
                raise ToolError("That is too much to stage at once. Name directories below it.")
            await _refuse_filtered(repo, found.out, "staged")
            ran = await repo.run("add", "--", *paths)
            if ENTERS_SUBMODULE in ran.err:
                ran = await _add_beside_submodules(repo, found.out, paths)
            if ran.code:
                raise repo.trouble(ran)
        return "Files staged successfully" if found.out else NOTHING_NEW

    async def git_commit(
        self,
        repo_path: RepoPath,
        message: Annotated[str, Meta(max_length=MESSAGE_CHARS, description="The commit message, as it is to be kept")],
        ctx: Context,
    ) -> str:
        """Commit what is staged, and return the hash of the commit. A merge in progress is concluded by it.

        Hooks do not run, and the commit is not signed. Without staged changes nothing is committed.
        """
        if message.startswith("-"):
            raise ToolError(f"Invalid message: {quoted(message)} - cannot start with '-'")
        if "\0" in message or not message.strip():
            raise ToolError("Invalid message: it needs some text, and cannot have NUL characters")
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx), writes=True) as repo:
            words = ("commit", "--quiet", "--no-verify", "--no-gpg-sign", "--no-edit", "--cleanup=verbatim", "--file=-")
            ran = await repo.run(*words, stdin=message.encode())
            if ran.code:
                raise await _not_committed(repo, repo.trouble(ran), ran.err)
            return f"Changes committed successfully with hash {await repo.commit('HEAD')}"

    async def git_reset(self, repo_path: RepoPath, ctx: Context) -> str:
        """Unstage everything. Files in the working tree stay as they are, and so does a merge in progress."""
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx), writes=True) as repo:
            await repo.git("reset", "--quiet", "--", ".")
        return "All staged changes reset"

    async def git_create_branch(
        self,
        repo_path: RepoPath,
        branch_name: BranchName,
        ctx: Context,
        base_branch: Annotated[str | None, Meta(description="Where it begins; the current branch without it")] = None,
    ) -> str:
        """Create a branch, without switching to it."""
        _check_name(branch_name)
        if base_branch is not None:
            checked("base branch", base_branch)
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx), writes=True) as repo:
            base = base_branch if base_branch is not None else await _current(repo)
            start = await repo.commit(base, "base branch")
            order = f"create refs/heads/{branch_name}\0{start}\0".encode()
            ran = await repo.run(
                "update-ref", "--no-deref", "-m", f"branch: Created from {base}", "--stdin", "-z", stdin=order
            )
        if ran.code:
            what = (
                "already exists" if "reference already exists" in ran.err else "is not possible beside another branch"
            )
            raise ToolError(f"Cannot create branch '{branch_name}': refs/heads/{branch_name} {what}")
        return f"Created branch '{branch_name}' from '{base}'"

    async def git_checkout(
        self,
        repo_path: RepoPath,
        branch_name: Annotated[str, Meta(description="A branch; or a tag or commit, which detaches HEAD")],
        ctx: Context,
    ) -> str:
        """Switch the working tree to a branch. Uncommitted changes that are in the way make it fail and are kept."""
        checked("branch name", branch_name)
        async with self._repositories.open(repo_path, await self._scope.narrowed(ctx), writes=True) as repo:
            is_branch = not BAD_NAME.search(branch_name) and await _has_branch(repo, branch_name)
            commit = await repo.commit(f"refs/heads/{branch_name}" if is_branch else branch_name, "branch name")
            changed = await repo.run("diff-index", "-z", "--cached", "--name-only", commit, "--", most=LISTED_BYTES)
            await _refuse_filtered(repo, changed.out, "checked out")
            words = ("checkout", "--quiet", "--no-guess", "--no-recurse-submodules")
            await repo.git(*words, *((branch_name,) if is_branch else ("--detach", commit)), "--")
        if is_branch:
            return f"Switched to branch '{branch_name}'"
        return f"Switched to commit {commit}; HEAD is detached, so create a branch before committing"


def _check_name(name: str) -> None:
    checked("branch name", name)
    if BAD_NAME.search(name):
        raise ToolError(f"Invalid branch name: {quoted(name)} - git allows no such name")


async def _has_branch(repo: Repository, name: str) -> bool:
    ran = await repo.run("show-ref", "--verify", "--quiet", "--", f"refs/heads/{name}")
    return ran.code == 0


async def _current(repo: Repository) -> str:
    """Name the current branch, or the commit if HEAD is detached."""
    ran = await repo.run("symbolic-ref", "--quiet", "--short", "HEAD")
    return ran.text.removesuffix("\n") if ran.code == 0 else await repo.commit("HEAD")


async def _refuse_filtered(repo: Repository, paths: bytes, what: str) -> None:
    """Refuse to move files that go through a filter between repository and working tree, such as those of Git LFS.

    No filter ever runs here, and without it the wrong content would be stored. Raises `ToolError`.
    """
    if not paths:
        return
    ran = await repo.git("check-attr", "-z", "--stdin", "filter", stdin=paths, most=4 * LISTED_BYTES)
    fields = ran.text.split("\0")
    for path, value in zip(fields[::3], fields[2::3], strict=False):
        if value not in ("unspecified", "unset"):
            raise ToolError(
                f"{quoted(path)} goes through the filter {quoted(value)}, which this server does not run, "
                f"so it cannot be {what} here. Nothing was changed. Use git itself for it."
            )


async def _add_beside_submodules(repo: Repository, found: bytes, paths: list[str]) -> Ran:
    """Stage what was found but for submodules, in which git would start itself. Raises `ToolError` for one alone."""
    staged = await repo.git("ls-files", "-z", "--stage", "--", *paths, most=LISTED_BYTES)
    submodules = {line.partition(b"\t")[2] for line in staged.out.split(b"\0") if line.startswith(b"160000 ")}
    if submodules >= {path.encode() for path in paths}:
        raise ToolError("A submodule cannot be staged here, as this server does not enter it. Use git itself for it.")
    rest = b"\0".join(path for path in found.split(b"\0") if path and path not in submodules)
    words = ("add", "--pathspec-from-file=-", "--pathspec-file-nul")
    return await repo.run("--literal-pathspecs", *words, stdin=rest) if rest else staged


async def _not_committed(repo: Repository, otherwise: ToolError, err: str) -> ToolError:
    """Tell why nothing was committed."""
    if "Please tell me who you are" in err or "user.useConfigOnly" in err or "no email was given" in err:
        return ToolError("Git knows no author. Its user has to set user.name and user.email in the configuration.")
    if err.strip():
        return otherwise
    staged = await repo.run("diff", "--cached", "--quiet", "--no-ext-diff", "--")
    return ToolError(NOTHING_STAGED) if staged.code == 0 else otherwise
