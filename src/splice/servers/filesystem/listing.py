"""What is there: lists, trees, searches and facts about one file. Links are shown as links, and never gone into."""

import os
import stat
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
from msgspec import Meta

from splice.servers.filesystem.directories import allowed
from splice.servers.filesystem.globs import Glob, States
from splice.servers.filesystem.handles import chosen, spot, telling
from splice.servers.filesystem.paths import shown, shown_json
from splice.servers.filesystem.results import Limits, Told

MAX_DEPTH = 100
"""How deep trees and searches go: each level holds a handle."""

MAX_READ = 200_000
"""How many entries of one directory are read."""

MAX_SECONDS = 20.0
"""How long a tree or a search looks around."""

_DEEPER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK

Excluded = Annotated[
    tuple[str, ...],
    Meta(max_length=100, description="Glob patterns of paths to leave out; a plain name is left out at any depth"),
]

_MARKS = {"file": "[FILE] ", "directory": "[DIR] ", "link": "[LINK] "}
_USE_SEARCH = "search_files finds what matches a pattern."
_WHEN = "%a %b %d %Y %H:%M:%S GMT+0000 (Coordinated Universal Time)"


class Found(NamedTuple):
    """An entry of a directory."""

    name: str
    kind: Literal["file", "directory", "link"]
    entry: "os.DirEntry[str]"


class Look:
    """One look around: how much of it is left, and what was left out."""

    def __init__(self, limits: Limits) -> None:
        self.room = limits.max_entries
        """How many entries may still be told."""
        self._most = limits.max_entries
        self._until = time.monotonic() + MAX_SECONDS
        self.left_out = 0
        """Entries that were found, and not told."""
        self.unread = 0
        """Directories that could not be read, or lie too deep."""

    @property
    def is_over(self) -> bool:
        """Tell whether time is up."""
        return time.monotonic() > self._until

    def take(self) -> bool:
        """Take the room of one entry, if there is some."""
        self.room -= 1
        self.left_out += self.room < 0
        return self.room >= 0

    def note(self, advice: str) -> str:
        """Say what was left out."""
        said: list[str] = []
        if self.left_out:
            said.append(f"Shown are {self._most} entries; at least {self.left_out} more were found. {advice}")
        if self.is_over:
            said.append(f"It took longer than {MAX_SECONDS:g} s, and ended before everything was seen. {advice}")
        if self.unread:
            said.append(f"Directories that could not be read, or lie deeper than {MAX_DEPTH}: {self.unread}.")
        return " ".join(said)


def entries(handle: int) -> list[Found]:
    """List a directory that is open, by name. Raises `OSError`."""
    with os.scandir(handle) as found:
        return sorted((Found(each.name, _kind(each), each) for each in islice(found, MAX_READ)), key=_by_name)


def _by_name(found: Found) -> str:
    return found.name


def _kind(entry: "os.DirEntry[str]") -> Literal["file", "directory", "link"]:
    if entry.is_symlink():
        return "link"
    return "directory" if entry.is_dir(follow_symlinks=False) else "file"


def below(handle: int, name: str, depth: int, look: Look) -> int | None:
    """Open a directory in one that is open; None where that cannot be, or time is up."""
    if look.is_over:
        return None
    if depth < MAX_DEPTH:
        try:
            return os.open(name, _DEEPER, dir_fd=handle)
        except OSError:
            pass  # it is another's, or is gone, or is a link by now
    look.unread += 1
    return None


class Listing:
    """The tools that look, and change nothing."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def list_directory(self, path: str) -> Told:
        """List a directory. Returns a line for each entry, by name, that begins with [FILE], [DIR] or [LINK]."""
        look = Look(self._limits)
        with _directory(path) as (handle, _):
            found = [each for each in entries(handle) if look.take()]
        return Told("\n".join(_MARKS[each.kind] + shown(each.name) for each in found), look.note(_USE_SEARCH))

    def list_directory_with_sizes(
        self,
        path: str,
        sortBy: Annotated[Literal["name", "size"], Meta(description="name, or size: the largest first")] = "name",
    ) -> Told:
        """List a directory with the sizes of its files, and how many there are and how large they are together."""
        look = Look(self._limits)
        with _directory(path) as (handle, _):
            found = [(each, _size(each)) for each in entries(handle)]
        if sortBy == "size":
            found.sort(key=lambda pair: -pair[1])
        lines = [
            f"{_MARKS[each.kind]}{shown(each.name):<30} {size_text(size).rjust(10) if each.kind == 'file' else ''}"
            for each, size in found
            if look.take()
        ]
        count = {kind: sum(each.kind == kind for each, _ in found) for kind in _MARKS}
        total = f"Total: {count['file']} files, {count['directory']} directories"
        total += f", {count['link']} links" if count["link"] else ""
        combined = f"Combined size: {size_text(sum(size for each, size in found if each.kind == 'file'))}"
        return Told("\n".join([*lines, "", total, combined]), look.note(_USE_SEARCH))

    def directory_tree(self, path: str, excludePatterns: Excluded = ()) -> Told:
        """List a directory and all below it, as JSON.

        Returns a list of objects with name and type (file, directory or link), and for directories children.
        """
        look, unwanted = Look(self._limits), Glob(excludePatterns, anywhere=True)
        with _directory(path) as (handle, _):
            tree = _tree(handle, unwanted, unwanted.start, look, 0)
        text = shown_json(msgspec.json.format(msgspec.json.encode(tree), indent=2).decode())
        return Told(text, look.note("Name a directory further down, or leave some out by excludePatterns."))

    def search_files(
        self,
        path: str,
        pattern: Annotated[str, Meta(description="Glob such as *.py, or **/*.py for all depths")],
        excludePatterns: Excluded = (),
    ) -> Told:
        """Find files and directories by name, below a directory.

        The pattern is matched with the path from that directory on: *.txt finds files in it, **/*.txt those at any
        depth. Returns one path a line.
        """
        look, unwanted, wanted = Look(self._limits), Glob(excludePatterns, anywhere=True), Glob([pattern])
        with _directory(path) as (handle, full):
            search = _Search(wanted, unwanted, look)
            search.run(handle, full.rstrip("/") + "/", wanted.start, unwanted.start, 0)
        note = look.note("Search further down, or for something more special.")
        return Told("\n".join(search.found) or "No matches found", note)

    def get_file_info(self, path: str) -> Told:
        """Tell size, times, permissions and kind of a file or directory; of what a link leads to."""
        roots = allowed()
        place = chosen(path, roots)
        with telling("stat", place.path), spot(place, roots) as there:
            found = there.stat()
        times = {
            "created": getattr(found, "st_birthtime", found.st_ctime),
            "modified": found.st_mtime,
            "accessed": found.st_atime,
        }
        said = {
            "size": str(found.st_size),
            **{what: time.strftime(_WHEN, time.gmtime(when)) for what, when in times.items()},
            "isDirectory": str(stat.S_ISDIR(found.st_mode)).lower(),
            "isFile": str(stat.S_ISREG(found.st_mode)).lower(),
            "permissions": f"{found.st_mode & 0o777:03o}",
        }
        return Told("\n".join(f"{name}: {value}" for name, value in said.items()))

    def list_allowed_directories(self) -> Told:
        """List the directories that may be used, with all below them. Paths of all other tools lie there."""
        return Told("\n".join(["Allowed directories:", *(shown(root.given) for root in allowed())]))


class _Search:
    """A search, and what it found."""

    def __init__(self, wanted: Glob, unwanted: Glob, look: Look) -> None:
        self._wanted, self._unwanted, self._look = wanted, unwanted, look
        self.found: list[str] = []

    def run(self, handle: int, prefix: str, wanted: States, unwanted: States, depth: int) -> None:
        """Search a directory that is open, and those below it."""
        for name, kind, _ in _read(handle, self._look, depth):
            if self._look.is_over:
                return
            left_out = self._unwanted.step(unwanted, name) if unwanted else unwanted
            if left_out and self._unwanted.matches(left_out):
                continue
            states = self._wanted.step(wanted, name)
            if not states:
                continue
            if self._wanted.matches(states) and self._look.take():
                self.found.append(shown(prefix + name))
            if kind == "directory" and self._wanted.goes_on(states):
                self._enter(handle, name, prefix, states, left_out, depth)

    def _enter(self, handle: int, name: str, prefix: str, wanted: States, unwanted: States, depth: int) -> None:
        child = below(handle, name, depth, self._look)
        if child is not None:
            try:
                self.run(child, f"{prefix}{name}/", wanted, unwanted, depth + 1)
            finally:
                os.close(child)


def _tree(handle: int, unwanted: Glob, states: States, look: Look, depth: int) -> list[dict[str, Any]]:
    """Build the tree of a directory that is open."""
    nodes: list[dict[str, Any]] = []
    for name, kind, _ in _read(handle, look, depth):
        if look.is_over:
            break
        left_out = unwanted.step(states, name) if states else states
        if (left_out and unwanted.matches(left_out)) or not look.take():
            continue
        node: dict[str, Any] = {"name": _text(name), "type": kind}
        nodes.append(node)
        if kind == "directory":
            node["children"] = []
            child = below(handle, name, depth, look)
            if child is not None:
                try:
                    node["children"] = _tree(child, unwanted, left_out, look, depth + 1)
                finally:
                    os.close(child)
    return nodes


def _read(handle: int, look: Look, depth: int) -> Sequence[Found]:
    """List a directory. One below the first that cannot be read is counted; the first raises `OSError`."""
    try:
        return entries(handle)
    except OSError:
        if not depth:
            raise
        look.unread += 1
        return ()


@contextmanager
def _directory(path: str) -> Generator[tuple[int, str]]:
    """Open a directory to be listed; gives its absolute path too. Raises `ToolError`."""
    roots = allowed()
    place = chosen(path, roots)
    with telling("scandir", place.path), spot(place, roots) as there:
        handle = there.open_directory()
        try:
            yield handle, place.path
        finally:
            os.close(handle)


def _size(found: Found) -> int:
    """Look how large an entry is; 0 for a link, whatever it leads to, and for what is gone."""
    if found.kind == "link":
        return 0
    try:
        return found.entry.stat(follow_symlinks=False).st_size
    except OSError:
        return 0


def size_text(size: int) -> str:
    """Write a size with its unit."""
    amount, unit = float(size), "B"
    for unit in ("B", "KB", "MB", "GB", "TB"):
        if amount < 1024 or unit == "TB":
            break
        amount /= 1024
    return f"{size} B" if unit == "B" else f"{amount:.2f} {unit}"


def _text(name: str) -> str:
    """Write a name as text; what is not UTF-8 in it becomes an escape."""
    return name if name.isascii() else name.encode(errors="surrogateescape").decode(errors="backslashreplace")
