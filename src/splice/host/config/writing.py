"""Puts servers into configuration files, and takes them out: all else in a file stays as it is, comments too."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from splice.host.config import jsonc
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.reading import KEYS
from splice.host.places import keep
from splice.host.text import one_line

_LEFT = "it was left as it is"


class Taken(BadConfiguration):
    """There is a server of that name already."""


def put(path: Path, name: str, entry: Mapping[str, Any], *, key: Sequence[str] = (), force: bool = False) -> None:
    """Put a server into a file, which is made if it is not there. With `force`, one of that name is replaced.

    `key` is the way to the object that holds servers; unless given, the one that the file has, else `mcpServers`.
    Raises `BadConfiguration`, `Taken` among it, and leaves the file alone.
    """
    text, root = _read(path)
    where = list(key) or _holder(root)
    servers: Any = root
    for each in where:
        servers = cast("dict[str, Any]", servers).get(each, {}) if isinstance(servers, dict) else None
    if not isinstance(servers, dict):
        raise BadConfiguration(f"{path} has no object {'.'.join(where)!r}; {_LEFT}")
    if name in servers and not force:
        raise Taken(f"{path} has a server {one_line(name)!r} already")
    _write(path, jsonc.put(text, [*where, name], dict(entry)))


def remove(path: Path, name: str, *, key: Sequence[str] = ()) -> bool:
    """Take a server out of a file; False: it is not there. Raises `BadConfiguration`, and leaves the file alone."""
    text, root = _read(path)
    without = jsonc.remove(text, [*(key or _holder(root)), name])
    if without == text:
        return False
    _write(path, without)
    return True


def _holder(root: Any) -> list[str]:
    members = cast("dict[str, Any]", root) if isinstance(root, dict) else {}
    return [next((key for key in KEYS if key in members), KEYS[0])]


def _read(path: Path) -> tuple[str, Any]:
    if not path.exists() and not path.is_symlink():
        return "", {}
    try:
        text = jsonc.text_of(path)
        return text, jsonc.decode(text)
    except BadConfiguration as error:
        raise BadConfiguration(f"{path}: {error}; {_LEFT}") from error


def _write(path: Path, text: str) -> None:
    """Replace the file as a whole. It keeps its permissions; a link stays a link."""
    target = path.resolve()
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o7777 if target.exists() else 0o600
        keep(target, text.encode(), mode)
    except OSError as error:
        raise BadConfiguration(f"cannot write {path}: {error.strerror or os.strerror(0)}") from error
