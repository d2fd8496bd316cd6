"""When a tool is asked about, in a word: by the user's rules, as `splice.host.asking.policy` reads them.

Text from outside can still make a tool ask that is allowed; that depends on the turn.
"""

from collections.abc import Sequence

from splice.host.asking.permissions import matches, reads_of, server_of, tool_of
from splice.host.items import Rule, Tool


def when(tool: Tool, rules: Sequence[Rule]) -> str:
    """Say when the user is asked before a tool runs."""
    if tool.held is not None or not tool.is_on:
        return "held back" if tool.held is not None else "off"
    about = tool_of(tool.server, tool.name)
    if any(each.effect == "deny" and matches(each.what, about) for each in rules):
        return "denied"
    own = [each for each in rules if each.what in (about, server_of(tool.server)) and not each.void]
    if any(each.effect == "ask" for each in own):
        return "every time"
    allowed = {each.scope for each in own if each.effect == "allow"}
    if tool.reads_only and not tool.goes_outside and any(each.what == reads_of(tool.server) for each in rules):
        allowed.add("always")
    return "never" if "always" in allowed else "not this chat" if allowed else "every time"
