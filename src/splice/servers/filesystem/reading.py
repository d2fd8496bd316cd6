"""Reading files: as text, by lines from either end, and as bytes in base64."""

import base64
import os
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Annotated, BinaryIO, NamedTuple

from msgspec import Meta

from splice import ToolError
from splice.servers.filesystem.directories import allowed
from splice.servers.filesystem.handles import chosen, spot, telling
from splice.servers.filesystem.paths import Root, cut, uri_of
from splice.servers.filesystem.results import Blob, Embedded, Limits, Media, Picture, Sound, Told

CHUNK = 1 << 18
"""How much is read at once."""

MAX_PATHS = 1_000
"""How many files one call may read."""

MAX_SECONDS = 20.0
"""How long lines are skipped: a file can be larger than anybody wrote, by its holes."""

BINARY = "application/octet-stream"

_TYPES = {
    "png": "image/png",
    "jpg": "image/jpeg",
    "jpeg": "image/jpeg",
    "gif": "image/gif",
    "webp": "image/webp",
    "bmp": "image/bmp",
    "svg": "image/svg+xml",
    "mp3": "audio/mpeg",
    "wav": "audio/wav",
    "ogg": "audio/ogg",
    "flac": "audio/flac",
}

Lines = Annotated[int, Meta(ge=1)]


class Piece(NamedTuple):
    """A piece of a file."""

    data: bytes
    start: int
    """Where it begins, in bytes."""
    size: int
    """How large the file is."""


@contextmanager
def opened(path: str, roots: Sequence[Root]) -> Generator[tuple[BinaryIO, str]]:
    """Open a regular file below the roots; gives its absolute path too. Raises `ToolError`."""
    place = chosen(path, roots)
    with telling("open", place.path), spot(place, roots) as there, os.fdopen(there.open_file(), "rb", 0) as file:
        yield file, place.path


def text_of(piece: Piece, path: str) -> str:
    """Decode a piece; a character that was cut off at its end is left out. Raises `ToolError` for what is not text."""
    data = piece.data
    try:
        if b"\0" in data:
            raise _not_text(path)
        return data.decode()
    except UnicodeDecodeError as error:
        is_cut = piece.start + len(data) < piece.size and error.start >= len(data) - 3
        if not is_cut or error.reason != "unexpected end of data":
            raise _not_text(path) from None
        return data[: error.start].decode()


def _not_text(path: str) -> ToolError:
    return ToolError(f"{cut(path)} is not UTF-8 text. read_media_file returns its bytes.")


class Reading:
    """The tools that read files."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def read_text_file(
        self,
        path: str,
        head: Annotated[Lines | None, Meta(description="Return this many lines only")] = None,
        tail: Annotated[Lines | None, Meta(description="Return this many lines from the end only")] = None,
        offset: Annotated[int, Meta(ge=0, description="Skip this many lines first; not with tail")] = 0,
    ) -> Told:
        """Read a text file (UTF-8). Returns all of it, or the lines that head, tail and offset ask for.

        A large file is returned in part, with a note that says how to read on. What is not text is refused:
        read_media_file returns it.
        """
        if head is not None and tail is not None:
            raise ToolError("Cannot specify both head and tail parameters simultaneously")
        if tail is not None and offset:
            raise ToolError("offset counts from the start of the file: it does not go with tail")
        with opened(path, allowed()) as (file, full):
            size = os.fstat(file.fileno()).st_size
            if tail is not None:
                return self._end(file, full, size, tail)
            return self._lines(file, full, size, head, offset)

    def read_file(
        self,
        path: str,
        head: Annotated[Lines | None, Meta(description="Return this many lines only")] = None,
        tail: Annotated[Lines | None, Meta(description="Return this many lines from the end only")] = None,
    ) -> Told:
        """Read a text file: the old name of read_text_file, which does the same and more."""
        return self.read_text_file(path, head, tail)

    def read_multiple_files(self, paths: Annotated[list[str], Meta(min_length=1, max_length=MAX_PATHS)]) -> Told:
        """Read several text files in one call. Returns each under its path; one that fails is told, the rest are read.

        When together they are too large, the last ones are named in a note.
        """
        roots, left = allowed(), self._limits.max_bytes
        told: list[str] = []
        skipped: list[str] = []
        for path in paths:
            if left <= 0:
                skipped.append(cut(path))
                continue
            try:
                with opened(path, roots) as (file, full):
                    size = os.fstat(file.fileno()).st_size
                    piece = Piece(_up_to(file, left), 0, size)
                    text = text_of(piece, full)
            except ToolError as error:
                told.append(f"{cut(path)}: Error - {error}")
                continue
            left -= max(len(piece.data), 1)
            told.append(f"{cut(path)}:\n{text}\n")
            if len(piece.data) < size:
                skipped.append(f"{cut(path)} from byte {len(piece.data)} of {size} on")
        note = f"Not shown, as one answer holds {self._limits.max_bytes} bytes: {', '.join(skipped)}" if skipped else ""
        return Told("\n---\n".join(told), note)

    def read_media_file(self, path: str) -> Media:
        """Read an image, a sound or any other binary file. Returns it as image, audio or an embedded resource."""
        with opened(path, allowed()) as (file, full):
            data, most = _up_to(file, self._limits.max_media_bytes + 1), self._limits.max_media_bytes
        if len(data) > most:
            raise ToolError(f"{cut(full)} has more than the {most} bytes that this server sends of a file")
        encoded = base64.b64encode(data).decode()
        kind = _TYPES.get(full.rpartition("/")[2].rpartition(".")[2].lower(), BINARY)
        if kind == BINARY:
            return Media([Embedded(Blob(uri_of(full), kind, encoded))])
        return Media([Picture(encoded, kind) if kind.startswith("image/") else Sound(encoded, kind)])

    def _lines(self, file: BinaryIO, path: str, size: int, head: int | None, offset: int) -> Told:
        """Read from a line on, as many as were asked for, and as fit."""
        start, most = _skip(file, path, offset), self._limits.max_bytes
        if start is None:
            raise ToolError(f"{cut(path)} has no {offset} lines to skip")
        data = _up_to(file, most + 1)
        wanted = _first_lines(data, head, is_all=len(data) <= most)
        piece = Piece(data[: min(wanted, most)], start, max(size, start + len(data)))
        text = text_of(piece, path)
        if wanted <= most and (wanted < len(data) or len(data) <= most):
            return Told(text)
        return Told(*_whole_lines(text, offset, piece))

    def _end(self, file: BinaryIO, path: str, size: int, count: int) -> Told:
        """Read the last lines, as many as were asked for, and as fit."""
        most = self._limits.max_bytes
        data, at = b"", size
        while at > 0 and len(data) <= most and data.count(b"\n", 0, -1) < count:
            begin = max(0, at - CHUNK)
            data = os.pread(file.fileno(), at - begin, begin) + data
            at = begin
        place = len(data) - data.endswith(b"\n")
        for _ in range(count):
            place = data.rfind(b"\n", 0, place)
            if place < 0:
                break
        data, is_whole = data[place + 1 :], place >= 0 or at == 0
        if is_whole and len(data) <= most:
            return Told(text_of(Piece(data, 0, 0), path))
        data = data[-most:]
        while data and data[0] & 0xC0 == 0x80:  # in the midst of a character
            data = data[1:]
        note = f"Shown are the last {len(data)} of {size} bytes, as fit into an answer. Use offset and head for others."
        return Told(text_of(Piece(data, 0, 0), path), note)


def contents(path: str, roots: Sequence[Root], limits: Limits) -> str | bytes:
    """Read a whole file: text where it is that. Raises `ToolError`."""
    with opened(path, roots) as (file, full):
        data = _up_to(file, limits.max_media_bytes + 1)
        if len(data) > limits.max_media_bytes:
            raise ToolError(f"{cut(full)} is too large for a resource; the tool read_text_file reads parts of it")
        try:
            return data if b"\0" in data else data.decode()
        except UnicodeDecodeError:
            return data


def _up_to(file: BinaryIO, most: int) -> bytes:
    """Read so many bytes, or to the end."""
    read = bytearray()
    while len(read) < most and (more := file.read(min(most - len(read), CHUNK))):  # as much is allocated at once
        read += more
    return bytes(read)


def _skip(file: BinaryIO, path: str, lines: int) -> int | None:
    """Read over so many lines, and tell where the next one begins; None where there is none. Raises `ToolError`."""
    at, until = 0, time.monotonic() + MAX_SECONDS
    while lines:
        if time.monotonic() > until:
            raise ToolError(f"{cut(path)} is too large: to skip these lines took longer than {MAX_SECONDS:g} s")
        chunk = file.read(CHUNK)
        if not chunk:
            return None
        count = chunk.count(b"\n")
        if count < lines:
            lines, at = lines - count, at + len(chunk)
            continue
        end = 0
        for _ in range(lines):
            end = chunk.index(b"\n", end) + 1
        lines, at = 0, at + end
    file.seek(at)
    return at


def _first_lines(data: bytes, count: int | None, *, is_all: bool) -> int:
    """Tell where the first lines end, without the newline behind the last of them."""
    if count is None:
        return len(data)
    end = -1
    for _ in range(count):
        end = data.find(b"\n", end + 1)
        if end < 0:
            return len(data) - (is_all and data.endswith(b"\n"))
    return end


def _whole_lines(text: str, offset: int, piece: Piece) -> tuple[str, str]:
    """Cut a text behind its last line that is whole, and say how to read on."""
    lines = text.count("\n")
    told = f"bytes {piece.start} to {piece.start + len(piece.data)} of {piece.size} fit into one answer"
    if not lines:
        return text, f"The line is not shown to its end: {told}. Read on by read_text_file with offset={offset + 1}."
    end = offset + lines
    kept = text[: text.rindex("\n") + 1]
    return kept, f"Shown are lines {offset + 1} to {end}: {told}. Read on by read_text_file with offset={end}."
