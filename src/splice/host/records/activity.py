"""The activity log: what happened, and why it was allowed, as lines of JSON in a file that is only appended to.

Each session of the host has a file of its own, so two processes never write the same one. A face reads records from the
end backwards; the host keeps in memory where each begins, of what kind it is, and nothing else.
"""

import os
import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, NamedTuple

import msgspec
from msgspec import Struct

from splice.host.asked import Json
from splice.host.board import Board
from splice.host.items import Log, Notice
from splice.host.records.redaction import Redaction, digest

BODIES = ("arguments", "result")
"""Facts that are a body: a hash and the size of the whole stand beside what is kept."""

MAX_RECORD = 256 * 1024
"""How long a line may be. Of a longer one the hashes stay and the bodies go."""

MAX_LAST = 4_096
"""How much of a file is read to see how it ends: the last record of a session is short."""

DAY = 86_400.0


class Record(Struct, frozen=True, omit_defaults=True):
    """One thing that happened."""

    number: int
    """Counts the records of a session, from 1."""
    at: Annotated[float, msgspec.Meta(ge=0, lt=2**37)]
    """Seconds since 1970, of a year that clocks know."""
    kind: str
    """``call``, ``question``, ``answer``, ``server``, ``list``, ``sampling``, ``turn``, ``model``."""
    server: str = ""
    chat: str = ""
    turn: int = 0
    call: str = ""
    """The id of the call on the board that it belongs to."""
    facts: dict[str, Json] = {}
    """Everything else, by its name: ``decision``, ``rule``, ``why``, ``arguments``, ``arguments_sha256``."""


class _Place(NamedTuple):
    """Where a record is."""

    offset: int
    size: int
    kind: str
    server: str


class Activity:
    """The log of one session. Belongs to one event loop; appending a line takes microseconds."""

    def __init__(self, folder: Path, board: Board, *, clock: Callable[[], float] = time.time) -> None:
        self.redaction = Redaction()
        self.path = folder / f"{time.strftime('%Y%m%d-%H%M%S', time.gmtime(clock()))}-{secrets.token_hex(4)}.jsonl"
        self._board, self._clock = board, clock
        self._places: list[_Place] = []
        self._end = 0
        self._file: int | None = None
        self._failed = False

    def record(
        self, kind: str, *, server: str = "", chat: str = "", turn: int = 0, call: str = "", **facts: Json
    ) -> int:
        """Append a record without its secrets, and return its number. If the disk refuses, the board says so once."""
        record = Record(len(self._places) + 1, self._clock(), kind, server, chat, turn, call, self._kept(facts))
        line = msgspec.json.encode(record)
        if len(line) > MAX_RECORD:
            facts = {name: each for name, each in record.facts.items() if name not in BODIES}
            line = msgspec.json.encode(msgspec.structs.replace(record, facts=_short(facts)))
        try:
            self._append(line + b"\n")
        except OSError as error:
            self._fail(error)
            return len(self._places)
        self._places.append(_Place(self._end, len(line), kind, server))
        self._end += len(line) + 1
        self._board.put(Log(id="log:now", count=record.number, last=record.at))
        return record.number

    def read(
        self, *, before: int | None = None, count: int = 200, server: str = "", kind: str = "", words: str = ""
    ) -> list[Record]:
        """Read the last records, the newest first; only those before a number, of a server, of a kind, with words."""
        found: list[Record] = []
        end = len(self._places) if before is None else max(0, min(before - 1, len(self._places)))
        for index in range(end - 1, -1, -1):
            place = self._places[index]
            if (server and place.server != server) or (kind and place.kind != kind):
                continue
            record = self._read(place, words.casefold())
            if record is not None:
                found.append(record)
                if len(found) >= count:
                    break
        return found

    def all(self, *, server: str = "", kind: str = "", words: str = "") -> Iterator[Record]:
        """Yield all records that fit, the oldest first: what an export is made of."""
        for place in list(self._places):
            if (not server or place.server == server) and (not kind or place.kind == kind):
                record = self._read(place, words.casefold())
                if record is not None:
                    yield record

    def forget(self) -> int:
        """Delete the files of sessions that have ended; returns how many. Raises `OSError`.

        One that did not say that it ended may be under way in another process: it goes a day after its last record.
        """
        old = [each for each in self.path.parent.glob("*.jsonl") if each != self.path and self._has_ended(each)]
        for each in old:
            each.unlink(missing_ok=True)
        return len(old)

    def _has_ended(self, path: Path) -> bool:
        with path.open("rb") as file:
            file.seek(max(0, path.stat().st_size - MAX_LAST))
            last = file.read().rstrip(b"\n").rpartition(b"\n")[2]
        with suppress(msgspec.DecodeError):
            record = msgspec.json.decode(last, type=Record)
            if record.kind == "host" and record.facts.get("state") == "closed":
                return True
        return self._clock() - path.stat().st_mtime > DAY

    def close(self) -> None:
        """Let go of the file. A later record opens it again."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _kept(self, facts: dict[str, Json]) -> dict[str, Json]:
        kept: dict[str, Json] = {}
        for name, value in facts.items():
            if value is None or value == "":
                continue
            if name in BODIES:
                kept[f"{name}_sha256"], kept[f"{name}_bytes"] = digest(value)
            kept[name] = self.redaction.value(value)
        return kept

    def _append(self, line: bytes) -> None:
        if self._file is None:
            self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        written = os.write(self._file, line)
        if written < len(line):  # the disk is full: half a line would spoil the next one
            os.ftruncate(self._file, self._end)
            raise OSError("the disk is full")

    def _fail(self, error: OSError) -> None:
        if not self._failed:
            self._failed = True
            why = error.strerror or str(error)
            text = f"The activity log cannot be written ({why}): what happens now is not kept. {self.path}"
            self._board.put(Notice(id="notice:log", text=text, level="bad"))

    def _read(self, place: _Place, words: str) -> Record | None:
        """Read a record; None if it does not have the words, or somebody else has changed the file."""
        if self._file is None:
            with suppress(OSError):
                self._file = os.open(self.path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC)
        if self._file is None:
            return None
        line = os.pread(self._file, place.size, place.offset)
        if words and words not in line.decode(errors="replace").casefold():
            return None
        with suppress(msgspec.DecodeError):
            return msgspec.json.decode(line, type=Record)
        return None


def _short(facts: dict[str, Json]) -> dict[str, Json]:
    """Keep facts that are short, of a record that is too long all the same."""
    return {name: each for name, each in facts.items() if len(msgspec.json.encode(each)) < MAX_RECORD // 16}
