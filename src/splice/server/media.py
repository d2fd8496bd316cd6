"""Images, sounds and files for results: bytes, or the path of a file that is read when the result is written.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
"""

import base64
import mimetypes
from contextlib import suppress
from copy import copy
from pathlib import Path
from typing import ClassVar, TypedDict, Unpack

from splice.protocol.content import AudioContent, EmbeddedResource, ImageContent, ResourceContents

BINARY = "application/octet-stream"


class MediaOptions(TypedDict, total=False):
    """What may be said by name."""

    data: bytes | None
    path: str | Path | None
    format: str | None
    """Short for a MIME type, such as "png"."""


class Media:
    """Bytes, or the path of a file that holds them."""

    usual: ClassVar[str] = BINARY

    def __init__(
        self,
        source: bytes | str | Path | None = None,
        mime_type: str | None = None,
        *,
        data: bytes | None = None,
        path: str | Path | None = None,
        format: str | None = None,
    ) -> None:
        """Take bytes or a path, as the first argument or by name, and a MIME type or a `format`.

        Raises `TypeError` for none or two of them, `ValueError` for a MIME type that is not one, or of another family:
        an image is not a sound.
        """
        given = [each for each in (source, data, path) if each is not None]
        if len(given) != 1:
            raise TypeError(f"{type(self).__name__} takes bytes or a path: once, as the first argument, data= or path=")
        if mime_type is not None and "/" not in mime_type:
            raise ValueError(f"{mime_type!r} is not a MIME type such as {self.usual}; write format={mime_type!r}")
        self.source: bytes | str | Path = given[0]
        family = self.usual.partition("/")[0]
        if format is not None and mime_type is None:
            named = format if "/" in format else mimetypes.guess_type(f"x.{format}")[0]
            mime_type = (named or f"{family}/{format}").replace("/x-", "/")
        self.mime_type = mime_type
        if self.usual != BINARY and not self.kind().startswith(f"{family}/"):
            raise ValueError(
                f"{type(self).__name__} takes {family}/..., not {self.kind()}; say mime_type=, or send it as File"
            )

    def read(self) -> bytes:
        """Read the file. Raises `OSError`, also for what is not a regular file: a pipe may never end."""
        if isinstance(self.source, bytes):
            return self.source
        path = Path(self.source)
        if path.exists() and not path.is_file():
            raise OSError(f"{path.name} is not a regular file")
        return path.read_bytes()

    def loaded(self) -> "Media":
        """Make the same with its bytes read."""
        new = copy(self)
        new.mime_type, new.source = self.kind(), self.read()
        return new

    def kind(self) -> str:
        """Tell the MIME type: as given, else what the path says, else the usual one."""
        guessed = None if isinstance(self.source, bytes) else mimetypes.guess_type(self.source)[0]
        return self.mime_type or guessed or self.usual


class Image(Media):
    """An image for a result: its bytes or its path. Without a MIME type it is a PNG, or what the path says."""

    usual: ClassVar[str] = "image/png"

    def block(self) -> ImageContent:
        """Build the content block."""
        return ImageContent(data=in_base64(self.read()), mime_type=self.kind())


class Audio(Media):
    """A sound for a result: its bytes or its path. Without a MIME type it is a WAV, or what the path says."""

    usual: ClassVar[str] = "audio/wav"

    def block(self) -> AudioContent:
        """Build the content block."""
        return AudioContent(data=in_base64(self.read()), mime_type=self.kind())


class File(Media):
    """A file embedded in a result, as a resource: text where its bytes are UTF-8 and its type is text, else a blob."""

    def __init__(
        self,
        source: bytes | str | Path | None = None,
        mime_type: str | None = None,
        uri: str | None = None,
        **named: Unpack[MediaOptions],
    ) -> None:
        """Take what `Media` takes, and the URI; by default that of the path, of which a relative one gives its name."""
        super().__init__(source, mime_type, **named)
        path = Path("unnamed" if isinstance(self.source, bytes) else self.source)
        self.uri = uri or (path if path.is_absolute() else Path("/", path.name)).as_uri()

    def block(self) -> EmbeddedResource:
        """Build the content block."""
        return EmbeddedResource(resource=contents_of_bytes(self.uri, self.read(), self.kind()))


def contents_of_bytes(uri: str, data: bytes | bytearray, mime_type: str) -> ResourceContents:
    """Make a resource's contents: text where the type is text and the bytes are UTF-8, else a blob."""
    if mime_type.startswith("text/"):
        with suppress(UnicodeDecodeError):
            return ResourceContents(uri=uri, mime_type=mime_type, text=data.decode())
    return ResourceContents(uri=uri, mime_type=mime_type, blob=in_base64(data))


def in_base64(data: bytes | bytearray) -> str:
    """Write bytes as base64."""
    return base64.b64encode(data).decode()
