"""Completion of the path in a `file:` URI: what lies below the roots and begins with what was typed."""

import os
from collections.abc import Iterator

from splice import ToolError
from splice.servers.filesystem.directories import allowed
from splice.servers.filesystem.handles import chosen, spot
from splice.servers.filesystem.listing import entries


def complete(typed: str) -> list[str]:
    """Find paths, without their first slash, as the template wants them; that of a directory ends with a slash."""
    return list(_found(typed))


def _found(typed: str) -> Iterator[str]:
    try:
        roots = allowed()
    except ToolError:
        return
    wanted = f"/{typed}"
    for root in roots:
        if root.given.startswith(wanted) and root.given != wanted:
            yield f"{root.given[1:]}/"
    above, _, begun = wanted.rpartition("/")
    try:
        place = chosen(above or "/", roots)
        with spot(place, roots) as there:
            handle = there.open_directory()
            try:
                found = entries(handle)
            finally:
                os.close(handle)
    except (OSError, ToolError):
        return
    for name, kind, _ in found:
        if name.startswith(begun) and name.isprintable():
            yield f"{above}/{name}"[1:] + "/" * (kind == "directory")
