"""A thought in a box on stderr, for whoever watches the server.

Drawing never stops the server: what stderr does not take at once is dropped. What a terminal would obey is written out.
"""

import os
import select
from contextlib import suppress
from itertools import chain
from textwrap import wrap

from splice.servers.sequential_thinking.histories import Thought

MAX_DRAWN = 900
"""How many characters of a thought are drawn; the box fits what a pipe that is ready takes whole (4,096 bytes)."""

_WIDTH = 100
_STDERR = 2


def draw(thought: Thought) -> None:
    """Draw a thought on stderr, if it takes it."""
    poll = select.poll()
    poll.register(_STDERR, select.POLLOUT)
    if any(events & select.POLLOUT for _, events in poll.poll(0)):
        with suppress(OSError):  # nobody reads it any more, or its disk is full
            os.write(_STDERR, box(thought).encode()[: select.PIPE_BUF])


def box(thought: Thought) -> str:
    """Write the box."""
    title = f"{_kind(thought)} {thought.thoughtNumber}/{thought.totalThoughts}{_about(thought)}"
    text = thought.thought[:MAX_DRAWN] + ("..." if len(thought.thought) > MAX_DRAWN else "")
    lines = list(chain.from_iterable(wrap(_plain(each), _WIDTH) or [""] for each in text.splitlines()))[:20]
    width = max(map(len, (title, *lines)))
    edge = "─" * (width + 2)
    body = [f"│ {each:<{width}} │" for each in (title, *lines)]
    return "\n".join([f"\n┌{edge}┐", body[0], f"├{edge}┤", *body[1:], f"└{edge}┘\n"])


def _kind(thought: Thought) -> str:
    if thought.isRevision:
        return "🔄 Revision"
    return "🌿 Branch" if thought.branchFromThought else "💭 Thought"


def _about(thought: Thought) -> str:
    if thought.isRevision:
        return f" (revising thought {thought.revisesThought})" if thought.revisesThought else ""
    if thought.branchFromThought:
        return f" (from thought {thought.branchFromThought}, ID: {_plain(thought.branchId or '')[:100]})"
    return ""


def _plain(text: str) -> str:
    return "".join(each if each.isprintable() else each.encode("unicode_escape").decode() for each in text)
