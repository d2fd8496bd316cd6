"""`--output FILE`: what is not text in a result, written to files."""

import base64
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from splice.cli.outcomes import FAILED, Stop
from splice.host.text import size
from splice.types import AudioContent, ContentBlock, EmbeddedResource, ImageContent, ResourceContents


def binaries(blocks: Iterable[ContentBlock]) -> list[str]:
    """List the images, sounds and bytes of resources among content blocks, in base64."""
    found: list[str] = []
    for block in blocks:
        match block:
            case ImageContent(data=data) | AudioContent(data=data):
                found.append(data)
            case EmbeddedResource(resource=ResourceContents(blob=str(blob))):
                found.append(blob)
            case _:
                pass
    return found


def decoded(text: str) -> bytes:
    """Decode base64. Raises `Stop`."""
    try:
        return base64.b64decode(text)
    except ValueError as error:
        raise Stop(FAILED, f"the server sent something else than base64: {error}") from error


def save(output: str, data: Sequence[str | bytes]) -> None:
    """Write each to a file: to `output`, or to `output` with a number before its ending where there are several.

    Text is base64. Raises `Stop`.
    """
    if not data:
        raise Stop(FAILED, f"there is nothing to write to {output}: the result is text only")
    for number, each in enumerate(data, 1):
        path = Path(output)
        if len(data) > 1:
            path = path.with_name(f"{path.stem}-{number}{path.suffix}")
        try:
            content = decoded(each) if isinstance(each, str) else each
            path.write_bytes(content)
        except OSError as error:
            raise Stop(FAILED, f"cannot write {path}: {error.strerror}") from error
        print(f"wrote {path} ({size(len(content))})", file=sys.stderr)
