"""One repository, opened for one call: where it is, that it lies within bounds, and how git is run on it.

Git is pointed at the repository's own index, HEAD and working tree, but what worktrees have in common comes from a
directory made for the call: links to the objects and references, and a configuration of our own. So git never reads the
configuration and the hooks of the repository, and nothing that is changed in them meanwhile makes a difference. It also
finds no program to start, not even another git.
"""

import asyncio
import os
import posixpath
import re
import tempfile
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import NamedTuple
from weakref import WeakValueDictionary

from splice import ToolError
from splice.servers.git import settings
from splice.servers.git.links import check_links
from splice.servers.git.running import OUTPUT_BYTES, Program, Ran, both
from splice.servers.git.scope import Bounds, checked, quoted, real_path

CONFIG_BYTES = 1_000_000
ERROR_CHARS = 600
SHARED = ("objects", "refs", "packed-refs", "logs", "shallow", "reftable", "info/attributes", "info/exclude")

PEOPLE = ("GIT_AUTHOR", "GIT_COMMITTER")
KEPT = ("TZ", "EMAIL", *(f"{who}_{what}" for who in PEOPLE for what in ("NAME", "EMAIL", "DATE")))
"""What a run may know of the server's environment: the zone of dates, and who commits."""

QUIET = {
    "LC_ALL": "C",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_ALLOW_PROTOCOL": "",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_PAGER": "cat",
    "GIT_EDITOR": ":",
    "GIT_ATTR_NOSYSTEM": "1",
}


OBJECT = re.compile(r"([0-9a-f]{40}|[0-9a-f]{64}) (commit|tree|blob) ([0-9]+)")
"""A line of `git cat-file --batch-check`."""


class Found(NamedTuple):
    """An object that a revision stands for."""

    id: str
    kind: str
    size: int


class Place(NamedTuple):
    """Where a repository is: its working tree, its own directory, and the one that its worktrees share."""

    root: Path
    own: Path
    common: Path


class Repository:
    """A repository, and the runs of git on it."""

    def __init__(self, program: Program, place: Place, env: Mapping[str, str]) -> None:
        self.root = place.root
        self.place = place
        self._program, self._env = program, env

    async def run(self, *words: str, stdin: bytes = b"", most: int = OUTPUT_BYTES) -> Ran:
        """Run git, and return what came of it, whatever it was. Raises `ToolError` when time is up."""
        return await self._program.run("--no-pager", *words, cwd=str(self.root), env=self._env, stdin=stdin, most=most)

    async def git(self, *words: str, stdin: bytes = b"", most: int = OUTPUT_BYTES) -> Ran:
        """Run git. Raises `ToolError` with what git says of a failure."""
        ran = await self.run(*words, stdin=stdin, most=most)
        if ran.code and not ran.cut:
            raise self.trouble(ran)
        return ran

    def trouble(self, ran: Ran) -> ToolError:
        """Tell what git said of a failure, without paths that are not the client's business."""
        return ToolError(_said(ran.err, self._env["GIT_COMMON_DIR"]))

    async def find(self, revision: str, what: str = "revision") -> Found:
        """Find what a revision stands for; of an annotated tag, what it points at. Raises `ToolError`.

        The revision reaches git on its standard input, where nothing is an option.
        """
        asked = f"{checked(what, revision)}\n{revision}^{{}}\n"
        ran = await self.git(
            "cat-file", "--batch-check=%(objectname) %(objecttype) %(objectsize)", stdin=asked.encode()
        )
        first, peeled, *_ = *ran.text.split("\n"), "", ""  # git repeats what it does not find, whatever is in it
        found = OBJECT.fullmatch(peeled if " tag " in first else first)
        if found is None:
            raise ToolError(f"Ref {quoted(revision)} did not resolve to an object")
        return Found(found[1], found[2], int(found[3]))

    async def commit(self, revision: str, what: str = "revision") -> str:
        """Return the hash of the commit that a revision stands for. Raises `ToolError`."""
        found = await self.find(revision, what)
        if found.kind != "commit":
            raise ToolError(f"Ref {quoted(revision)} is a {found.kind}, not a commit")
        return found.id


class Repositories:
    """Opens repositories. Calls on the same one take turns."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @asynccontextmanager
    async def open(self, path: str, bounds: Bounds, *, writes: bool = False) -> AsyncGenerator[Repository]:
        """Open the repository that a path is in, for one call. Raises `ToolError`."""
        start = bounds.check(path)
        place, config = await both(self._place(start, bounds), self._config(start, bounds))
        async with self._turns.setdefault(str(place.common), asyncio.Lock()):
            with tempfile.TemporaryDirectory(prefix="splice-git-", ignore_cleanup_errors=True) as shadow:
                try:
                    await asyncio.to_thread(_prepare, Path(shadow), place, config, bounds, writes=writes)
                except OSError as error:
                    raise ToolError(f"The Git directory of '{start}' cannot be used: {error.strerror}") from None
                yield Repository(self._program, place, _environment(Path(shadow), place))

    async def _place(self, start: Path, bounds: Bounds) -> Place:
        """Let git find the repository, which also refuses one that belongs to another user."""
        asked = ("--show-toplevel", "--git-dir", "--git-common-dir")
        ran = await self._look(start, bounds, "rev-parse", "--path-format=absolute", *asked)
        paths = [real_path(Path(line)) for line in ran.text.removesuffix("\n").split("\n")]
        found = [path for path in paths if path is not None]
        if ran.code or not len(paths) == len(found) == 3:
            raise ToolError(_no_repository(start, ran))
        place = Place(*found)
        if not all(map(bounds.hold, place)):
            raise ToolError(f"The repository at '{start}' has its directory or working tree outside what is allowed")
        return place

    async def _config(self, start: Path, bounds: Bounds) -> list[tuple[str, str]]:
        ran = await self._look(start, bounds, "config", "--list", "--show-scope", "-z")
        if ran.code or ran.cut:
            raise ToolError(f"Git cannot read the configuration of the repository at '{start}'")
        return [*_files_of_the_user(), *settings.copied(settings.entries(ran.text)), *settings.FIXED]

    async def _look(self, start: Path, bounds: Bounds, *words: str) -> Ran:
        """Run what reads the configuration of repository and user; it starts nothing that stands there."""
        homes = {name: os.environ[name] for name in ("HOME", "XDG_CONFIG_HOME") if name in os.environ}
        env = {**QUIET, **homes, "PATH": os.devnull, "GIT_EXEC_PATH": os.devnull}
        if bounds.groups:
            env["GIT_CEILING_DIRECTORIES"] = bounds.ceilings
        return await self._program.run("--no-pager", *words, cwd=str(start), env=env, most=CONFIG_BYTES)


def _environment(shadow: Path, place: Place) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    null = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_GLOBAL": os.devnull}
    homes = dict.fromkeys(("HOME", "XDG_CONFIG_HOME", "PATH", "GIT_EXEC_PATH"), str(shadow / "empty"))
    places = {"GIT_DIR": str(place.own), "GIT_COMMON_DIR": str(shadow), "GIT_WORK_TREE": str(place.root)}
    return {**kept, **QUIET, **null, **homes, **places}


def _prepare(shadow: Path, place: Place, config: Iterable[tuple[str, str]], bounds: Bounds, *, writes: bool) -> None:
    """Look where the repository leads, and make the directory for the call. Raises `ToolError` and `OSError`."""
    check_links(place.own, place.common, (*SHARED, "worktrees"), bounds)
    _furnish(shadow, place, config)
    if writes:
        _make_logs(shadow, place)


def _furnish(shadow: Path, place: Place, config: Iterable[tuple[str, str]]) -> None:
    """Make the directory that stands for what worktrees share."""
    (shadow / "config").write_text(settings.written(config), encoding="utf-8", errors="replace")
    for name in ("info", "empty", "worktrees"):
        (shadow / name).mkdir()
    names = [*SHARED]
    if place.own != place.common:
        names.append("HEAD")  # so that git knows which branch the main working tree is on
    worktrees = place.common / "worktrees"
    if worktrees.is_dir():
        names.extend(f"worktrees/{each.name}" for each in worktrees.iterdir() if each != place.own)
    for name in names:
        if name == "packed-refs" or (place.common / name).exists():
            (shadow / name).symlink_to(place.common / name)


def _make_logs(shadow: Path, place: Place) -> None:
    """Make a place for the logs of references, which a new repository lacks."""
    (place.common / "logs").mkdir(exist_ok=True)
    if not (shadow / "logs").exists():
        (shadow / "logs").symlink_to(place.common / "logs")


def _files_of_the_user() -> Iterator[tuple[str, str]]:
    """Name the user's own files of paths to ignore and of attributes, where git would look for them."""
    folder = Path(posixpath.expanduser(os.environ.get("XDG_CONFIG_HOME") or "~/.config"), "git")
    for key, name in (("core.excludesFile", "ignore"), ("core.attributesFile", "attributes")):
        yield key, str(folder / name)


def _no_repository(start: Path, ran: Ran) -> str:
    if "dubious ownership" in ran.err:
        return (
            f"Git refuses the repository at '{start}': it belongs to another user. If you trust it, "
            "its user has to run: git config --global --add safe.directory PATH"
        )
    if "not a git repository" in ran.err:
        return f"'{start}' is not in a Git repository"
    return f"Git cannot use '{start}': {_said(ran.err, str(start))}"


def _said(err: str, shadow: str) -> str:
    """Cut what git wrote on stderr down to what a model can use."""
    lines = (line for line in err.replace(shadow, "...").splitlines() if not line.startswith(("hint:", "warning:")))
    text = "\n".join(line.removeprefix("fatal: ").removeprefix("error: ") for line in lines)
    if text == "bad revision 'HEAD'":
        return "There are no commits yet"
    text = "".join(each if each.isprintable() or each in "\n\t" else repr(each)[1:-1] for each in text)
    return text[:ERROR_CHARS] or "git failed without saying why"
