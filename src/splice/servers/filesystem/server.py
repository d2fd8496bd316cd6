"""The filesystem server: its settings, tools, and the resource template of files."""

import logging
import os
from collections.abc import Callable, Sequence
from typing import Any

from splice import Answer, Call, ResourceNotFound, Server, ToolError
from splice.servers.filesystem.completing import complete
from splice.servers.filesystem.directories import Directories, allowed, root_of
from splice.servers.filesystem.listing import Listing
from splice.servers.filesystem.paths import Root, cut
from splice.servers.filesystem.reading import Reading, contents
from splice.servers.filesystem.results import (
    DEFAULT_MAX_BYTES,
    DEFAULT_MAX_ENTRIES,
    DEFAULT_MAX_MEDIA_BYTES,
    Limits,
    as_read,
)
from splice.servers.filesystem.watching import Watch
from splice.servers.filesystem.writing import Writing
from splice.types import ToolAnnotations

TEMPLATE = "file:///{+path}"

POLL_SECONDS = 1.0
"""How often files that somebody subscribed to are looked at."""

INSTRUCTIONS = (
    "Works with files in allowed directories; list_allowed_directories names them. "
    "Relative paths are below the first of them that has such a file. Notes beside a result say what was left out."
)

log = logging.getLogger("splice.servers.filesystem")


def make(
    *,
    directories: Sequence[str | os.PathLike[str]] = (),
    read_only: bool = False,
    max_bytes: int = DEFAULT_MAX_BYTES,
    max_media_bytes: int = DEFAULT_MAX_MEDIA_BYTES,
    max_entries: int = DEFAULT_MAX_ENTRIES,
    poll_seconds: float = POLL_SECONDS,
) -> Server:
    """Make the server. Raises `ValueError` for a wrong setting, and `OSError` when none of the directories is there."""
    for name, value in (("max-bytes", max_bytes), ("max-media-bytes", max_media_bytes), ("max-entries", max_entries)):
        if value < 1:
            raise ValueError(f"--{name} is at least 1, not {value}")
    if not 0 < poll_seconds < float("inf"):
        raise ValueError(f"--poll-seconds is more than 0, not {poll_seconds}")
    if os.open not in os.supports_dir_fd or os.scandir not in os.supports_fd:
        raise ValueError("this system cannot open files relative to a directory, which the server relies on")
    if isinstance(directories, str):  # each of its letters would be a path, and one of them often is "/"
        raise TypeError(f"directories are a list of paths, such as [{directories!r}]")
    roots = Directories(_given(directories))
    gate = _Gate(roots)
    server = Server("filesystem", instructions=INSTRUCTIONS, middleware=[gate], extensions=[roots])
    gate.watch = Watch(lambda uri: server.publish(("notifications/resources/updated", uri)), poll_seconds)
    limits = Limits(max_bytes, max_media_bytes, max_entries)
    _add_tools(server, limits, read_only=read_only)
    _add_resources(server, limits)
    return server


def _given(directories: Sequence[str | os.PathLike[str]]) -> list[Root]:
    """Take the directories that are there. Raises `OSError` when there are none of those that were named."""
    found: dict[str, Root] = {}
    for path in [os.fspath(each) for each in directories]:
        if (root := root_of(path)) is None:
            log.warning("%s is not a directory, and is left out", cut(path) or "an empty path")
        else:
            found.setdefault(root.real, root)
    if directories and not found:
        raise FileNotFoundError("none of the directories is there: name one that is")
    return list(found.values())


class _Gate:
    """Stands around every request: tells its handler which roots it has, and its client which files changed."""

    watch: Watch

    def __init__(self, roots: Directories) -> None:
        self._roots = roots

    async def __call__(self, call: Call, proceed: Answer) -> Any:
        """Answer a request."""
        match call.row.name:
            case "tools/call":
                await self._roots.enter(call)
                return as_read(await proceed(call))
            case "resources/read" | "completion/complete":
                await self._roots.enter(call)
            case "subscriptions/listen":
                return await self.watch.listen(call, proceed, await self._roots.enter(call))
            case "resources/subscribe":
                return await self.watch.subscribe(call, proceed, await self._roots.enter(call))
            case _:
                pass
        return await proceed(call)


def _add_tools(server: Server, limits: Limits, *, read_only: bool) -> None:
    reading, listing, writing = Reading(limits), Listing(limits), Writing(limits)
    looks: dict[str, Callable[..., Any]] = {
        "Read file (old name)": reading.read_file,
        "Read text file": reading.read_text_file,
        "Read media file": reading.read_media_file,
        "Read several files": reading.read_multiple_files,
        "List directory": listing.list_directory,
        "List directory with sizes": listing.list_directory_with_sizes,
        "Directory tree": listing.directory_tree,
        "Search files": listing.search_files,
        "File information": listing.get_file_info,
        "Allowed directories": listing.list_allowed_directories,
    }
    for title, fn in looks.items():
        hints = ToolAnnotations(read_only_hint=True, open_world_hint=False)
        server.add_tool(fn, title=title, annotations=hints)
    if read_only:
        return
    changes: list[tuple[str, Callable[..., Any], bool, bool]] = [
        ("Write file", writing.write_file, True, True),
        ("Edit file", writing.edit_file, True, False),
        ("Create directory", writing.create_directory, False, True),
        ("Move file", writing.move_file, True, False),
    ]
    for title, fn, destroys, repeats in changes:
        hints = ToolAnnotations(
            read_only_hint=False, destructive_hint=destroys, idempotent_hint=repeats, open_world_hint=False
        )
        server.add_tool(fn, title=title, annotations=hints)


def _add_resources(server: Server, limits: Limits) -> None:
    def file(path: str) -> str | bytes:
        """Read a file below the allowed directories. Subscribers hear when it changes."""
        try:
            return contents(f"/{path}", allowed(), limits)
        except ToolError as error:
            raise ResourceNotFound(str(error)) from None

    server.add_resource(file, TEMPLATE, title="Files")
    server.completion(TEMPLATE, "path")(complete)
