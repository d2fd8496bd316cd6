"""Opens a store by its URL or path: the one place that knows which kinds there are."""

import re
from os import PathLike
from urllib.parse import unquote

from splice.stores.base import Store
from splice.stores.memory import MemoryStore

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+)?:|\Z")  # one letter is a drive, and part of a path


def open(target: str | PathLike[str]) -> Store:
    """Open the store that a URL or path names.

    `memory:` is a store in this process. A path, or `sqlite:///path` with an absolute path, is a file, which is made if
    it is not there. Raises `ValueError` for any other URL, and `StoreError` for a file that cannot be used.
    """
    if not isinstance(target, str):
        return _file(target)
    if target == "memory:":
        return MemoryStore()
    if target.startswith("sqlite:///"):
        return _file("/" + unquote(target.removeprefix("sqlite:///")).lstrip("/"))
    scheme = _SCHEME.match(target)
    if scheme:  # the rest of a URL may hold a password, and is not repeated
        raise ValueError(f"{scheme[0]!r} is no kind of store. There are 'memory:', 'sqlite:///path', and plain paths")
    return _file(target)


def _file(path: str | PathLike[str]) -> Store:
    from splice.stores.sqlite import SQLiteStore  # noqa: PLC0415  # a server without a file loads no SQLite

    return SQLiteStore(path)
