"""Results whose text is not the JSON of their structure, as the originals have them.

The structure stands in a tool's annotation, which makes its output schema; what is returned is the whole result. To
give `output_schema=` instead would load the validator with the server.
"""

from typing import Any, TypeVar, cast

import msgspec

from splice.types import CallToolResult, TextContent

T = TypeVar("T")


def told(structure: T, *texts: str) -> T:
    """Make a result of a structure and its texts."""
    plain: Any = msgspec.to_builtins(structure)
    return cast("T", CallToolResult(content=[TextContent(text=text) for text in texts], structured_content=plain))
