"""Which commands the user trusts: a project's server is started only with the command that the user has seen.

Trust is given to an entry's fingerprint and to what its `envFile` has in it, in its folder, under its name. It lives in
a file of the user's own.
"""

import hashlib
import time
from contextlib import AbstractContextManager
from pathlib import Path

import msgspec
from msgspec import Struct

from splice.host.config.entries import Entry
from splice.host.config.jsonc import BadConfiguration
from splice.host.config.variables import filled
from splice.host.places import keep, locked, private, set_aside


class Given(Struct, frozen=True):
    """Trust in one command."""

    fingerprint: str
    words: list[str]
    """What the user saw, to show what is different when it changes."""
    at: float = 0.0


class _File(Struct):
    version: int = 1
    folders: dict[str, dict[str, Given]] = {}
    """By folder, then by name."""


class Trusted:
    """The trust that the user gave, in a file. Other processes may have it open: it is read whenever it is asked.

    A file that is damaged is set aside: nothing in it is trusted any more, and `problem` says so.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problem = ""
        """Why the user is asked again; empty while all is well."""

    def is_trusted(self, entry: Entry) -> bool:
        """Tell whether an entry may be started: it is the user's own, or the user trusts exactly this command."""
        if not entry.needs_trust:
            return True
        given = self._given(entry)
        return given is not None and given.fingerprint == _seal(entry)

    def before(self, entry: Entry) -> list[str] | None:
        """Return the command that was trusted under this name, if it was another one."""
        given = self._given(entry)
        return None if given is None or given.fingerprint == _seal(entry) else given.words

    def give(self, entry: Entry) -> None:
        """Trust an entry as it is now. Raises `OSError`."""
        with self._changing():
            found = self._load()
            folder = found.folders.setdefault(str(entry.folder), {})
            folder[entry.name] = Given(_seal(entry), entry.words, time.time())
            keep(self._path, msgspec.json.encode(found))

    def take(self, entry: Entry) -> None:
        """Trust it no more. Raises `OSError`.

        A server of the user's own is never in the file: a project's of the same name keeps its trust.
        """
        if not entry.needs_trust:
            return
        with self._changing():
            found = self._load()
            if found.folders.get(str(entry.folder), {}).pop(entry.name, None) is not None:
                keep(self._path, msgspec.json.encode(found))

    def _given(self, entry: Entry) -> Given | None:
        return self._load().folders.get(str(entry.folder), {}).get(entry.name)

    def _load(self) -> _File:
        try:
            found = msgspec.json.decode(self._path.read_bytes(), type=_File)
        except FileNotFoundError:
            return _File()
        except OSError as error:
            self.problem = f"cannot read {self._path}: {error.strerror}; no project's server is trusted until it can be"
            return _File()
        except (ValueError, RecursionError):
            self.problem = (
                f"{self._path} was damaged, and is now {set_aside(self._path).name}; you are asked for your trust again"
            )
            return _File()
        return found

    def _changing(self) -> AbstractContextManager[None]:
        private(self._path.parent)
        return locked(self._path)


def _seal(entry: Entry) -> str:
    """Hash what is trusted. A variable in an `envFile` can make a program run another one."""
    if not entry.env_file:
        return entry.fingerprint
    only = Entry(name=entry.name, folder=entry.folder, env_file=entry.env_file)
    try:
        found = sorted(filled(only, {}).env.items())
    except BadConfiguration:
        found = []  # then it cannot be started either
    return hashlib.sha256(msgspec.json.encode([entry.fingerprint, found])).hexdigest()
