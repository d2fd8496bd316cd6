"""Which files name the servers of a host, so that they can be read again after they were edited.

Without files of its own a host reads those of its folder and of its user, whichever of them are there by then.
"""

from collections.abc import Iterable
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from splice.host.config.entries import Entry, Scope
from splice.host.config.reading import PROJECT_FILES, Configuration, gathered, read, scope_of, standard_files
from splice.host.places import Places


class Sources(Struct, frozen=True):
    """Where to look, and for whom."""

    cwd: Path
    places: Places
    named: tuple[Path, ...] = ()
    """The files that count alone; without any, those of the folder and of the user."""
    only: tuple[str, ...] = ()
    """The names of the servers that are wanted; without any, all of them."""

    def read(self) -> Configuration:
        """Read what stands in the files now."""
        named: list[tuple[Path, Scope]] = [(path, scope_of(path, self.cwd)) for path in self.named]
        found = gathered(read(path, scope, cwd=self.cwd) for path, scope in named or self._standard())
        if not self.only:
            return found
        return replace(found, entries=[each for each in found.entries if each.name in self.only])

    def stamp(self) -> tuple[tuple[int, int, int] | None, ...]:
        """Tell how the files are on the disk: it is another value once one was edited, made or removed."""
        return tuple(map(_stamp, self._all()))

    def has(self, entry: Entry) -> bool:
        """Tell whether an entry is of one of these files."""
        return entry.source is not None and entry.source in self._all()

    def _standard(self) -> list[tuple[Path, Scope]]:
        return standard_files(self.cwd, self.places)

    def _all(self) -> Iterable[Path]:
        return self.named or (*(self.cwd / each for each in PROJECT_FILES), self.places.servers)


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino
