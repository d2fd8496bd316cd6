"""Changing files: written beside and put in place at once, moved only to where nothing is."""

import errno
import os
import stat
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from threading import Lock
from typing import Annotated

from msgspec import Meta, Struct

from splice import ToolError
from splice.servers.filesystem.directories import allowed
from splice.servers.filesystem.handles import Spot, chosen, spot, telling
from splice.servers.filesystem.paths import Place, Root, cut
from splice.servers.filesystem.reading import Piece, text_of
from splice.servers.filesystem.results import Limits, Told

MAX_EDITS = 1_000
"""How many edits one call may make."""

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_NO_LINKS = {errno.EPERM, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}
"""What `link` fails with where there are no hard links, or not of this file."""


class Edit(Struct, rename="camel"):
    """One replacement in a file."""

    old_text: Annotated[str, Meta(description="The text to replace; whole lines may differ in white space")]
    new_text: Annotated[str, Meta(description="The text to put in its place")]


class Writing:
    """The tools that change something."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._one_by_one = Lock()
        """Two edits of one file, in two threads, must not lose each other's."""

    def write_file(self, path: str, content: str) -> Told:
        """Write a text file, in UTF-8. One that is there already is overwritten, and keeps its permissions.

        The directory must be there: create_directory makes it.
        """
        data = _encoded(content)
        roots = allowed()
        place = chosen(path, roots)
        with telling("open", place.path), self._one_by_one, spot(place, roots) as there:
            _put(there, data, _mode(there))
        return Told(f"Successfully wrote to {cut(path)}")

    def edit_file(
        self,
        path: str,
        edits: Annotated[list[Edit], Meta(max_length=MAX_EDITS)],
        dryRun: Annotated[bool, Meta(description="Only show what would change")] = False,
    ) -> Told:
        """Replace texts in a file, one after the other. Returns the change as a diff.

        Each oldText must be in the file as it is, or as lines that differ in white space only; its first place counts.
        When one is not found, nothing is changed. dryRun shows the diff and changes nothing.
        """
        editing = import_module("splice.servers.filesystem.editing")
        roots = allowed()
        place = chosen(path, roots)
        with telling("open", place.path), self._one_by_one, spot(place, roots) as there:
            before, seen = self._read(there)
            after = editing.edited(before, [(edit.old_text, edit.new_text) for edit in edits])
            diff: str = editing.diff(place.path, before, after)
            if not dryRun:
                data = _encoded(after)
                if _signature(there.stat()) != seen:
                    raise ToolError(f"{cut(place.path)} was changed by another program meanwhile. Read it again.")
                _put(there, data, _mode(there))
        return _shown(diff, self._limits.max_bytes)

    def create_directory(self, path: str) -> Told:
        """Make a directory, and those above it that lack. It is fine if it is there already."""
        roots = allowed()
        place = chosen(path, roots)
        with telling("mkdir", place.path), spot(place, roots, create=True):
            return Told(f"Successfully created directory {cut(path)}")

    def move_file(self, source: str, destination: str) -> Told:
        """Move or rename a file or directory. Nothing may be at the destination; its directory must be there."""
        roots = allowed()
        start, end = chosen(source, roots), chosen(destination, roots)
        with _ends(start, end, roots) as (old, new), telling("rename", start.path):
            if "." in {old.name, new.name}:
                raise ToolError("Access denied - an allowed directory itself cannot be moved or replaced")
            try:
                _move(old, new)
            except (FileExistsError, IsADirectoryError):
                raise ToolError(f"Destination already exists: {cut(end.path)}") from None
        return Told(f"Successfully moved {cut(source)} to {cut(destination)}")

    def _read(self, there: Spot) -> tuple[str, tuple[int, ...]]:
        """Read a file that is to be edited, and what tells whether it changes."""
        most = self._limits.max_media_bytes
        with os.fdopen(there.open_file(), "rb") as file:
            found = os.fstat(file.fileno())
            data = file.read(most + 1)
        if len(data) > most:
            raise ToolError(f"{cut(there.path)} has more than the {most} bytes that this server edits")
        return text_of(Piece(data, 0, 0), there.path), _signature(found)


@contextmanager
def _ends(start: Place, end: Place, roots: Sequence[Root]) -> Generator[tuple[Spot, Spot]]:
    """Open both ends of a move; a link is moved itself."""
    spots: list[Spot] = []
    with ExitStack() as stack:
        for place in (start, end):
            with telling("rename", place.path):
                spots.append(stack.enter_context(spot(place, roots, follow=False)))
        yield spots[0], spots[1]


def _shown(diff: str, most: int) -> Told:
    """Give a diff, or as many of its whole lines as fit into an answer; its fence is closed all the same."""
    if len(diff) <= most:
        return Told(diff)
    kept, fence = diff[: diff.rfind("\n", 0, most) + 1], diff[: diff.index("diff\n")]
    note = f"Shown are {len(kept)} of {len(diff)} characters of the diff. The edits were made, or would be, as a whole."
    return Told(f"{kept}{fence}\n\n", note)


def _encoded(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise ToolError("The text has half of a surrogate pair in it, which no UTF-8 file can hold") from None


def _signature(found: os.stat_result) -> tuple[int, ...]:
    return found.st_ino, found.st_dev, found.st_size, found.st_mtime_ns


def _mode(there: Spot) -> int | None:
    """Tell the permissions of the file that is there; None for none. Raises `ToolError` for what is not a file."""
    try:
        mode = there.stat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISDIR(mode):
        raise ToolError(f"EISDIR: illegal operation on a directory, open '{cut(there.path)}'")
    if not stat.S_ISREG(mode):
        raise ToolError(f"{cut(there.path)} is not a regular file; it is not written")
    return mode & 0o777


def _put(there: Spot, data: bytes, mode: int | None) -> None:
    """Write a file beside, and rename it to the name: a link that is there by then is replaced, not followed."""
    beside = f".{os.urandom(8).hex()}.tmp"
    file = os.open(beside, _NEW, 0o666 if mode is None else 0o600, dir_fd=there.handle)
    try:
        try:
            view = memoryview(data)
            while view:
                view = view[os.write(file, view) :]
            if mode is not None:
                os.fchmod(file, mode)
        finally:
            os.close(file)
        os.replace(beside, there.name, src_dir_fd=there.handle, dst_dir_fd=there.handle)
    except BaseException:
        with suppress(OSError):
            os.unlink(beside, dir_fd=there.handle)
        raise


def _move(old: Spot, new: Spot) -> None:
    """Move to a name that must be free, without a gap between looking and moving. Raises `OSError`.

    A file is linked to its new name, which fails where one is, and then loses the old one. A directory cannot be
    linked: an empty one is made under the new name, which fails likewise, and is then replaced, which fails if
    anything came into it. `renameat2` could do both at once, but Python does not have it.
    """
    if stat.S_ISDIR(old.stat().st_mode):
        _replace(old, new, lambda: os.mkdir(new.name, 0o700, dir_fd=new.handle), os.rmdir)
        return
    try:
        os.link(old.name, new.name, src_dir_fd=old.handle, dst_dir_fd=new.handle, follow_symlinks=False)
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        _replace(old, new, lambda: os.close(os.open(new.name, _NEW, 0o600, dir_fd=new.handle)), os.unlink)
        return
    os.unlink(old.name, dir_fd=old.handle)


def _replace(old: Spot, new: Spot, take: Callable[[], None], give_back: Callable[..., None]) -> None:
    """Take the new name, and rename to it. On failure the name is given back."""
    take()
    try:
        os.rename(old.name, new.name, src_dir_fd=old.handle, dst_dir_fd=new.handle)
    except OSError:
        with suppress(OSError):
            give_back(new.name, dir_fd=new.handle)
        raise
