"""Tool uses and tool results in the conversation that a model is asked to continue: each use is answered at once.

https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#message-content-constraints
"""

from collections.abc import Iterable

from splice.protocol.content import ToolResultContent, ToolUseContent
from splice.protocol.input import SamplingMessage


def unbalanced(messages: Iterable[SamplingMessage]) -> str | None:
    """Say what breaks the balance of tool uses and tool results; None: nothing does."""
    used: set[str] = set()
    for index, message in enumerate(messages):
        results = {block.tool_use_id for block in message.blocks if isinstance(block, ToolResultContent)}
        if results and not all(isinstance(block, ToolResultContent) for block in message.blocks):
            return f"tool results are mixed with other content in messages[{index}]"
        if used - results:
            return f"a tool result is missing in messages[{index}]: {', '.join(sorted(used - results))}"
        if results - used:
            return f"messages[{index}] has the result of a tool use that is not in the message before"
        used = {block.id for block in message.blocks if isinstance(block, ToolUseContent)}
    return f"a tool result is missing at the end: {', '.join(sorted(used))}" if used else None
