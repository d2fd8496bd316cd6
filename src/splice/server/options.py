"""What an author may say about a feature beyond what its function says; each is optional.

https://modelcontextprotocol.io/specification/2026-07-28/server
"""

from typing import Any, TypedDict

from splice.protocol.content import Annotations
from splice.protocol.lifecycle import Icon
from splice.protocol.tools import ToolAnnotations


class FeatureOptions(TypedDict, total=False):
    """What tools, resources and prompts have in common."""

    name: str
    """What clients call it. The function's name by default."""
    title: str
    """For people."""
    description: str
    """The function's docstring by default."""
    icons: list[Icon]
    meta: dict[str, Any]
    """`_meta` of the listed entry."""
    blocking: bool
    """False runs a quick `def` on the event loop instead of a thread. No meaning for `async def`."""


class ToolOptions(FeatureOptions, total=False):
    """Options of a tool."""

    annotations: ToolAnnotations
    """Hints for the client: read-only, destructive, ..."""
    input_schema: dict[str, Any]
    """JSON Schema of the arguments, instead of the signature's; the function then takes them as one checked dict."""
    output_schema: dict[str, Any]
    """JSON Schema of the structured result, instead of the return annotation's."""


class ResourceOptions(FeatureOptions, total=False):
    """Options of a resource or resource template."""

    mime_type: str
    annotations: Annotations
    size: int
    """In bytes; of a resource only."""


def fields(options: FeatureOptions, **said: Any) -> dict[str, Any]:
    """Put together the fields of a definition: what the function says, then what the author says."""
    given: dict[str, Any] = {**options}
    given.pop("blocking", None)
    return {**said, **given}
