"""Where the directories of a repository lead: by links, by borrowing objects from others, and by what HEAD stands for.

Git follows links wherever it reads or writes. A link in `rebase-merge` is shown by status, one in `objects/pack` is
read as objects, and one in `refs/heads` is written to. So all that git uses is looked through, to its end.
"""

import os
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from splice import ToolError
from splice.servers.git.scope import Bounds, quoted

STORES = 16
"""How many object directories may borrow from each other."""

MAX_ENTRIES = 1_000_000
"""How many files are looked at: a link could lead to a directory that holds everything."""

MAX_SYMBOLIC = 5
"""How many references may stand for each other, as in git."""

LIST_BYTES = 1_000_000

UNUSED = {"modules", "lfs", "annex", "hooks"}
"""Parts of a Git directory that no run here goes into, and that may be large; they may be links themselves."""


def check_links(own: Path, common: Path, shared: Iterable[str], bounds: Bounds) -> None:
    """Refuse a repository that leads out of bounds. `shared` is used of the common directory. Raises `ToolError`."""
    _check_head(own, common)
    if not bounds.groups:
        return
    stores = [common / "objects"]
    for store in stores:
        borrowed = list(_alternates(store))
        stores += borrowed
        if len(stores) > STORES or not all(map(bounds.hold, borrowed)):
            raise ToolError("The repository borrows objects from outside what is allowed (objects/info/alternates)")
    used = (each for each in own.iterdir() if each.name not in UNUSED)
    tops = chain(own.iterdir(), common.iterdir())
    below = _links_below(chain(used, (common / name for name in shared), stores))
    for path in chain((each for each in tops if each.is_symlink()), below):
        if not bounds.hold(path):
            raise ToolError(f"{quoted(path.name)} in the Git directory leads outside what is allowed")


def _check_head(own: Path, common: Path) -> None:
    """Refuse a HEAD that stands for a file elsewhere: git follows `..` in it, and a commit writes there."""
    path = own / "HEAD"
    for _ in range(MAX_SYMBOLIC + 1):
        if not path.is_file():
            return
        with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
            text = file.read(LIST_BYTES)
        if not text.startswith("ref:"):
            return
        name = text.removeprefix("ref:").strip()
        if "\0" in name or not name.startswith("refs/") or not {".", ".."}.isdisjoint(name.split("/")):
            raise ToolError(f"HEAD stands for {quoted(name)}, which is no branch")
        path = common / name if (common / name).exists() else own / name
    raise ToolError("HEAD stands for a branch that stands for others without an end")


def _links_below(tops: Iterable[Path]) -> Iterator[Path]:
    """Find links in directories and below. One that leads to a directory is gone into, when it has been told."""
    left, seen, count = [str(top) for top in tops if top.is_dir()], set[str](), 0
    while left:
        folder = os.path.realpath(left.pop())
        if folder in seen:
            continue
        seen.add(folder)
        with os.scandir(folder) as found:
            for each in found:
                count += 1
                if each.is_symlink():
                    yield Path(each.path)
                if each.is_dir():
                    left.append(each.path)
                if count > MAX_ENTRIES:
                    raise ToolError(f"The Git directory holds more than {MAX_ENTRIES:,} files. Use git itself.")


def _alternates(objects: Path) -> Iterator[Path]:
    """Name the directories that one borrows objects from; the root of all where they are written in a form of git's."""
    path = objects / "info" / "alternates"
    if not path.is_file():
        return
    with path.open(encoding="utf-8", errors="surrogateescape", newline="\n") as file:
        text = file.read(LIST_BYTES)
    for line in text.split("\n"):
        if line and not line.startswith("#"):
            yield Path(os.sep) if line.startswith('"') or len(text) == LIST_BYTES else objects / line
