"""Resources that are made when they are read: a line that says when, as text and in base64.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
"""

import base64
from datetime import datetime
from typing import Literal, TypeAlias

from splice.types import ResourceContents

Kind: TypeAlias = Literal["Text", "Blob"]

MAX_ID = 1_000_000_000
"""The highest number of a resource."""

TEMPLATES = {"Text": "demo://resource/dynamic/text/{resourceId}", "Blob": "demo://resource/dynamic/blob/{resourceId}"}


def uri_of(kind: Kind, number: int) -> str:
    """Name a resource."""
    return TEMPLATES[kind].format(resourceId=number)


def contents_of(kind: Kind, number: int) -> ResourceContents:
    """Make the contents of a resource, now."""
    now, uri = datetime.now().astimezone().strftime("%I:%M:%S %p").removeprefix("0"), uri_of(kind, number)
    if kind == "Text":
        text = f"Resource {number}: This is a plaintext resource created at {now}"
        return ResourceContents(uri=uri, mime_type="text/plain", text=text)
    text = f"Resource {number}: This is a base64 blob created at {now}"
    return ResourceContents(uri=uri, mime_type="text/plain", blob=base64.b64encode(text.encode()).decode())
