"""The tool that compresses what a URL leads to: a resource that lasts as long as its session.

`data:` URLs hold what they lead to. Others are fetched by a guard that reaches public addresses only.

https://www.rfc-editor.org/rfc/rfc2397
"""

import asyncio
import base64
import binascii
import re
import zlib
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any, Literal
from urllib.parse import unquote_to_bytes

from msgspec import Meta, Struct

from splice import Server, ToolError
from splice.servers.everything.hints import KEEPS
from splice.servers.everything.keeping import Kept
from splice.types import EmbeddedResource, ResourceLink

GZIP = "application/gzip"

_GZIP_FORMAT = 31
"""For zlib: the largest window, with header and trailer of gzip."""

_NAME = re.compile(r"[\w(+-][\w. ()+-]*")
"""Clients show the name of a link. So it is a name and nothing else, such as a link of its own, or a picture."""

_EXAMPLE = "data:text/markdown,%23%20Everything%0A%0AThis%20text%20was%20compressed%20by%20a%20tool.%0A"


class Limits(Struct, frozen=True):
    """What may be compressed. Raises `ValueError` for what cannot be meant."""

    max_bytes: int
    seconds: float
    domains: Sequence[str]
    """Hosts to fetch from, and those below them; without any, all."""
    allow_loopback: bool
    """Fetch from servers on this machine too."""

    def __post_init__(self) -> None:
        """Refuse limits that nothing is within."""
        if self.max_bytes < 1 or self.seconds <= 0:
            raise ValueError("gzip limits are above 0: a number of bytes, and one of milliseconds")

    def check(self, size: int) -> None:
        """Raise `ToolError` for more bytes than may be compressed."""
        if size > self.max_bytes:
            raise ToolError(f"This is more than the {self.max_bytes} bytes that may be compressed; give less")


def decoded(url: str, limits: Limits) -> bytes:
    """Read what a `data:` URL holds. Raises `ToolError`."""
    head, comma, body = url[len("data:") :].partition(",")
    if not comma:
        raise ToolError("A data: URL has a comma before its data, as in data:text/plain,hello")
    limits.check(len(body) // 3)  # an escape is three characters, base64 is less
    data = unquote_to_bytes(body)
    if head.lower().endswith(";base64"):
        try:
            data = base64.b64decode(data, validate=True)
        except binascii.Error:
            raise ToolError("The data behind ;base64, is not base64") from None
    limits.check(len(data))
    return data


def compressed(data: bytes) -> bytes:
    """Compress as gzip does, without a time in the header: the same bytes give the same bytes."""
    work = zlib.compressobj(6, zlib.DEFLATED, _GZIP_FORMAT)
    return work.compress(data) + work.flush()


def add(server: Server, kept: Kept, limits: Limits) -> None:
    """Add the tool."""

    @server.tool("gzip-file-as-resource", title="Compress a file", annotations=KEEPS)
    async def gzip_file_as_resource(
        name: Annotated[
            str, Meta(description="What to call the result", min_length=1, max_length=100)
        ] = "README.md.gz",
        data: Annotated[str, Meta(description="What to compress: a data: URL, or one of https")] = _EXAMPLE,
        outputType: Annotated[
            Literal["resourceLink", "resource"],
            Meta(description="A link to a resource that can be read later, or the resource itself"),
        ] = "resourceLink",
    ) -> Any:
        """Compress what a URL leads to, and keep it as a resource for as long as this session lasts.

        Shows resources that a tool makes: they are listed and read in this session only. Without sessions the link
        has a part that nobody can guess, and is not listed. The oldest go when there are too many.
        """
        if not _NAME.fullmatch(name):
            raise ToolError("A name is that of a file: letters, digits, spaces and any of . _ - + ( ), no dot in front")
        if data[:5].lower() == "data:":
            contents = decoded(data, limits)
        elif data.lower().startswith(("https://", "http://")):
            contents = await import_module("splice.servers.everything.fetching").fetched(data, limits)
        else:
            raise ToolError("Only data:, https: and http: URLs can be compressed")
        made = kept.keep(name, GZIP, await asyncio.to_thread(compressed, contents))
        if outputType == "resource":
            return EmbeddedResource(resource=made.contents)
        return ResourceLink(uri=made.definition.uri, name=name, mime_type=GZIP)
