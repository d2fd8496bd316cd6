"""Which Python files there are around a server, and when they changed: polled, so that no platform needs more."""

import os
from pathlib import Path
from typing import TypeAlias

from splice.cli.loading import package_of, split

MAX_FILES = 10_000
"""More than this are not watched."""

Seen: TypeAlias = dict[str, tuple[int, int]]
"""Path -> time of the last change and size."""


def root_of(target: str) -> Path:
    """Find the directory to watch: that of the file, or of the outermost package it is in; for modules this one."""
    place, _ = split(target)
    return package_of(Path(place).resolve())[0] if place.endswith(".py") else Path.cwd()


def look(root: Path) -> Seen:
    """See all `.py` files of a directory, and of those below that have any; environments and hidden ones are left out.

    Files that are not imported yet count too: one of them may be what a failed import waits for.
    """
    seen: Seen = {}
    pending = [str(root)]
    while pending and len(seen) < MAX_FILES:
        directory = pending.pop()
        try:
            entries = [each for each in os.scandir(directory) if not each.name.startswith((".", "__pycache__"))]
        except OSError:  # gone, or not ours to read
            continue
        files = [each for each in entries if each.name.endswith(".py")]
        for each in files:
            _note(each, seen)
        if (files or directory == str(root)) and not any(each.name == "pyvenv.cfg" for each in entries):
            pending += [each.path for each in entries if each.is_dir(follow_symlinks=False)]
    return seen


def _note(entry: "os.DirEntry[str]", seen: Seen) -> None:
    try:
        found = entry.stat()
    except OSError:  # gone while we looked
        return
    seen[entry.path] = (found.st_mtime_ns, found.st_size)
