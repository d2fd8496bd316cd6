"""Which directories may be reached: those the settings name, and within them those the client's roots name.

Roots make the bounds narrower, never wider: over HTTP anybody who may call could name any directory.
"""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from splice import Context, ToolError

NAME_CHARS = 4096
"""How long a path, a revision, a branch or a date may be."""


CONTROL = re.compile(r"[\0-\x1f\x7f-\x9f\u2028\u2029]")
"""Characters that control something, or end a line for some reader."""


class Bounds(NamedTuple):
    """Groups of directories. A path is inside if each group has a directory that holds it; no group: everything is."""

    groups: tuple[tuple[Path, ...], ...]
    what: str
    """What the first group is, for the model: the allowed repository, or directory."""

    def hold(self, path: Path) -> bool:
        """Tell whether a path is inside, once its links are followed."""
        real = real_path(path)
        return real is not None and all(any(map(real.is_relative_to, group)) for group in self.groups)

    def check(self, path: str) -> Path:
        """Return the directory that a repository is looked for in. Raises `ToolError` for one that is not inside."""
        real = real_path(Path(checked("repo_path", path)))
        for group in self.groups:
            if real is None or not any(map(real.is_relative_to, group)):
                tops = ", ".join(f"'{top}'" for top in group) or "(none)"
                what = self.what if group is self.groups[0] else "root of the client"
                raise ToolError(f"Repository path {quoted(path)} is outside the allowed {what} {tops}")
        if real is None or not real.is_dir():
            raise ToolError(f"Repository path {quoted(path)} is not a directory")
        return real

    @property
    def ceilings(self) -> str:
        """The directories at which git stops to look for a repository above."""
        return os.pathsep.join(str(top.parent) for group in self.groups for top in group)


class Scope:
    """The bounds that the settings draw."""

    def __init__(self, repositories: Sequence[str | os.PathLike[str]], *, any_repository: bool) -> None:
        """Find the repositories. Raises `ValueError` for a path that is in none, and for settings at odds."""
        if isinstance(repositories, str):  # each of its letters would be a path, and one of them often is "/"
            raise TypeError(f"repositories are a list of paths, such as [{repositories!r}]")
        if any_repository and repositories:
            raise ValueError("--any-repository and --repository exclude each other")
        tops = tuple(dict.fromkeys(map(_root_of, repositories))) or (Path.cwd().resolve(),)
        what = "repository" if repositories else "directory"
        self.bounds = Bounds(() if any_repository else (tops,), what)

    async def narrowed(self, ctx: Context) -> Bounds:
        """Give the bounds of a call: within the client's roots too, if it has some."""
        if ctx.client.capabilities.roots is None or not (roots := await ctx.roots()):
            return self.bounds
        tops = tuple(path for root in roots if (path := _path_of(root.uri)))
        groups = (*self.bounds.groups, tops)
        return Bounds(groups, self.bounds.what if self.bounds.groups else "root of the client")


def real_path(path: Path) -> Path | None:
    """Follow the links of a path; None if they go round, or the path cannot be one."""
    try:
        return path.resolve()
    except (OSError, RuntimeError, ValueError):
        return None


def quoted(text: str) -> str:
    """Show a text of the client's in an error: escaped, and cut."""
    return repr(text if len(text) <= 200 else text[:200] + "...")


def checked(what: str, text: str) -> str:
    """Return a text that may stand in an argument list. Raises `ToolError` for one that git might read otherwise."""
    if text.startswith("-"):
        raise ToolError(f"Invalid {what}: {quoted(text)} - cannot start with '-'")
    if CONTROL.search(text):
        raise ToolError(f"Invalid {what}: {quoted(text)} - cannot have control characters")
    if not 0 < len(text) <= NAME_CHARS:
        raise ToolError(f"Invalid {what}: {quoted(text)} - has 1 to {NAME_CHARS} characters")
    return text


def relative(root: Path, file: str) -> str:
    """Return the path of a file from the root of its repository. Raises `ToolError` for one that leads elsewhere."""
    if checked("path", file).startswith(":"):
        raise ToolError(f"Invalid path: {quoted(file)} - cannot start with ':'")
    path = Path(os.path.normpath(root / file))
    real = real_path(root / file)
    if real is None or not (path.is_relative_to(root) and real.is_relative_to(root)):
        raise ToolError(f"Path {quoted(file)} is outside the repository '{root}'")
    return str(path.relative_to(root))


def _root_of(path: str | os.PathLike[str]) -> Path:
    """Find the root of the repository that a path is in. Raises `ValueError`."""
    if not path:
        raise ValueError("an empty path is no repository")
    start = Path(path).resolve()
    for top in (start, *start.parents):
        if (top / ".git").exists():
            return top
    raise ValueError(f"{start} is not in a Git repository")


def _path_of(uri: str) -> Path | None:
    """Read the path of a file: URI of this machine."""
    try:
        parts = urlsplit(uri)
        path = unquote(parts.path, errors="strict")
    except ValueError:
        return None
    here = parts.scheme == "file" and parts.netloc in ("", "localhost") and path.startswith("/")
    return real_path(Path(path)) if here else None
