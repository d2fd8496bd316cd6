"""Structured results with the text that the originals wrote: the same JSON, indented.

A tool returns its structure, of which Splice makes the output schema. This middleware writes the text again.
"""

from collections.abc import Callable
from typing import Any

import msgspec

from splice import Answer, Call, Middleware
from splice.types import CallToolResult, TextContent


def indented(texts: Callable[[Any], list[Any]] = lambda structure: [structure]) -> Middleware:
    """Make middleware that writes a text block for each of the `texts` of a structured result.

    Text stays text, anything else is JSON. By default the whole structure is one text.
    """

    async def writing(call: Call, proceed: Answer) -> Any:
        result = await proceed(call)
        structure: Any = result.structured_content if isinstance(result, CallToolResult) else None
        if structure is not None and not result.is_error:
            result.content = [TextContent(text=_text(each)) for each in texts(structure)]
        return result

    return writing


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()
