"""Reaching what lies below the roots, so that nothing leads out: by handles, one part of a path after the other.

The kernel is never given a path of more than one name. Each name is opened in the directory that is open already,
and never through a symbolic link (O_NOFOLLOW), so it does not matter what is renamed or swapped for a link meanwhile:
a handle stays where it was opened, and what is a link by now is not opened.

Links are followed here, by reading where they lead and going there in the same way. `..` in one goes back to the
handle before, never to what the kernel takes for the parent. One that leaves its root is looked up among the roots
again, by its text, and refused where none holds it.
"""

import errno
import os
import posixpath
import stat
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Self
from unicodedata import normalize

from splice import ToolError
from splice.servers.filesystem.paths import Denied, Place, Root, below, cut, outside, places

MAX_LINKS = 40
"""How many symbolic links one path may lead over."""

MAX_DEPTH = 100
"""How many directories a path goes down: each is held open on the way."""

_STEP = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC | getattr(os, "O_PATH", os.O_RDONLY)
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
"""O_NONBLOCK: to open a pipe would wait for somebody who writes."""

_WORDS = {
    errno.ENOENT: "no such file or directory",
    errno.EACCES: "permission denied",
    errno.ENOTDIR: "not a directory",
    errno.EISDIR: "illegal operation on a directory",
    errno.EEXIST: "file already exists",
    errno.ENOTEMPTY: "directory not empty",
    errno.EPERM: "operation not permitted",
    errno.ELOOP: "too many symbolic links encountered",
    errno.ENAMETOOLONG: "name too long",
    errno.EXDEV: "cross-device link not permitted",
}


class Spot:
    """A name in a directory that is open. The directory is closed at the end of the `with` block."""

    __slots__ = ("handle", "name", "path")

    def __init__(self, handle: int, name: str, path: str) -> None:
        self.handle, self.name = handle, name
        self.path = path
        """How a model reads it."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        os.close(self.handle)

    def stat(self) -> os.stat_result:
        """Look at what is there; at a link itself. Raises `OSError`."""
        return os.stat(self.name, dir_fd=self.handle, follow_symlinks=False)

    def open_directory(self) -> int:
        """Open the directory that is there, to be listed. Raises `OSError`."""
        return os.open(self.name, _READ | os.O_DIRECTORY, dir_fd=self.handle)

    def open_file(self) -> int:
        """Open the regular file that is there, to be read. Raises `OSError`, and `ToolError` for what is not a file."""
        self._must_be_file(self.stat())  # to open a device may do something
        file = os.open(self.name, _READ, dir_fd=self.handle)
        try:
            self._must_be_file(os.fstat(file))
        except BaseException:
            os.close(file)
            raise
        return file

    def _must_be_file(self, found: os.stat_result) -> None:
        if stat.S_ISDIR(found.st_mode):
            raise ToolError("EISDIR: illegal operation on a directory, read")
        if not stat.S_ISREG(found.st_mode):
            raise ToolError(f"{cut(self.path)} is not a regular file; it is not opened")


class _Walk:
    """The way to one place: the handles from its root down, and the names that are left to go."""

    def __init__(self, place: Place, roots: Sequence[Root]) -> None:
        if len(place.parts) > MAX_DEPTH:  # before anything is made
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        self._place, self._roots = place, roots
        self._links = 0
        self._root = place.root
        self._left = deque(place.parts)
        self._handles = [_entered(place.root.real)]

    def go(self, *, follow: bool, create: bool) -> Spot:
        """Go there. Raises `OSError`, and `Denied` for a link that leads out."""
        while self._left:
            part = self._left.popleft()
            if part == "..":
                self._up()
            elif self._left or create:
                self._down(self._spelled(part), create=create)
            elif follow and (target := self._target(part)) is not None:
                self._turn(target)
            else:
                name = self._spelled(part)
                return Spot(self._handles.pop(), name, self._place.path)
        return Spot(self._handles.pop(), ".", self._place.path)

    def close(self) -> None:
        """Let go of what was opened."""
        while self._handles:
            os.close(self._handles.pop())

    def _down(self, name: str, *, create: bool) -> None:
        at = self._handles[-1]
        if len(self._handles) > MAX_DEPTH:
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
        try:
            child = os.open(name, _STEP, dir_fd=at)
        except FileNotFoundError:
            if not create:
                raise
            with suppress(FileExistsError):  # somebody was faster; what it is shows when it is opened
                os.mkdir(name, dir_fd=at)
            child = os.open(name, _STEP, dir_fd=at)
        except OSError as error:
            if error.errno not in {errno.ENOTDIR, errno.ELOOP} or (target := self._target(name)) is None:
                raise
            self._turn(target)
            return
        self._handles.append(child)

    def _up(self) -> None:
        if len(self._handles) > 1:
            os.close(self._handles.pop())
        else:
            self._again(posixpath.dirname(self._root.real))

    def _turn(self, target: str) -> None:
        """Go on where a link leads."""
        self._links += 1
        if self._links > MAX_LINKS:
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        self._left.extendleft(part for part in reversed(target.split("/")) if part not in {"", "."})
        if target.startswith("/"):
            self._again("/")

    def _again(self, start: str) -> None:
        """Begin anew with what is left, from a directory that may be in no root."""
        place = below("/".join((start, *self._left)), self._roots)
        if place is None:
            raise outside(self._place.path, self._roots, "symlink target")
        self.close()
        self._root, self._left = place.root, deque(place.parts)
        self._handles.append(_entered(place.root.real))

    def _target(self, name: str) -> str | None:
        """Read a link; None for what is not one."""
        try:
            return os.readlink(self._spelled(name), dir_fd=self._handles[-1])
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            return None

    def _spelled(self, name: str) -> str:
        """Find which of the forms of Unicode a name has here; its own, where there is none."""
        for form in () if name.isascii() else (name, normalize("NFC", name), normalize("NFD", name)):
            with suppress(FileNotFoundError):
                os.stat(form, dir_fd=self._handles[-1], follow_symlinks=False)
                return form
        return name


def _entered(path: str) -> int:
    """Open a root. No part of its path is a link, or it has been swapped. Raises `OSError`."""
    handle = os.open("/", _STEP)
    for part in path.split("/"):
        if part:
            try:
                child = os.open(part, _STEP, dir_fd=handle)
            finally:
                os.close(handle)
            handle = child
    return handle


def spot(place: Place, roots: Sequence[Root], *, follow: bool = True, create: bool = False) -> Spot:
    """Find a place: its last name in the directory that holds it, or the root itself as `.`.

    A link in its last part is followed unless told otherwise. `create` makes all directories that lack, the last one
    included, and goes into it. Raises `OSError`, and `Denied` for a link that leads out.
    """
    walk = _Walk(place, roots)
    try:
        return walk.go(follow=follow, create=create)
    finally:
        walk.close()


def chosen(text: str, roots: Sequence[Root]) -> Place:
    """Find the place of a path. A relative one is that below the first root that has it, else below the first.

    Raises `Denied`.
    """
    found = places(text, roots)
    for place in found if len(found) > 1 else ():
        with suppress(OSError, Denied), spot(place, roots, follow=False) as there:
            there.stat()
            return place
    return found[0]


@contextmanager
def telling(verb: str, path: str) -> Generator[None]:
    """Turn errors of the system into words for a model: which, what was done, and to which path."""
    try:
        yield
    except OSError as error:
        raise told(error, verb, path) from None


def told(error: OSError, verb: str, path: str) -> ToolError:
    """Make the error for a model."""
    number = error.errno or 0
    words = _WORDS.get(number, os.strerror(number).lower())
    return ToolError(f"{errno.errorcode.get(number, 'EIO')}: {words}, {verb} '{cut(path)}'")
