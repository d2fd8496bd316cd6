"""Two tools that change something, so that clients which listen hear of it.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
"""

from typing import Annotated

from msgspec import Meta

from splice import Context, Server
from splice.servers.everything.dynamic import MAX_ID, Kind, uri_of
from splice.servers.everything.hints import CHANGES

SOMETIMES = "now-and-then"
"""The name of the tool and the prompt that come and go."""

SOMETIMES_URI = "demo://resource/now-and-then"


def now_and_then() -> str:
    """Say that this is here. It comes and goes by `trigger-list-changes`."""
    return "Here now; call trigger-list-changes and it is gone."


async def trigger_resource_update(
    ctx: Context,
    resourceType: Annotated[Kind, Meta(description="Whether it holds text or bytes")] = "Text",
    resourceId: Annotated[int, Meta(description="Its number, from 1 on", ge=1, le=MAX_ID)] = 1,
) -> str:
    """Tell everybody who listens to a dynamic resource that it changed: it tells another time when read again.

    Shows subscriptions: by resources/subscribe in sessions, by subscriptions/listen since 2026-07-28.
    """
    uri = uri_of(resourceType, resourceId)
    await ctx.notify_resource_updated(uri)
    return f"Told those who listen that {uri} changed."


def add(server: Server) -> None:
    """Add the tools."""
    there = False

    async def trigger_list_changes() -> str:
        """Add a tool, a prompt and a resource, or take them away again, for everybody.

        Shows list changes: clients of sessions are told of each list, since 2026-07-28 those that listen.
        """
        nonlocal there
        there = not there
        if there:
            server.add_tool(now_and_then, name=SOMETIMES, title="Now and then", blocking=False)
            server.add_prompt(now_and_then, name=SOMETIMES, title="Now and then", blocking=False)
            server.add_resource(now_and_then, SOMETIMES_URI, name=SOMETIMES, mime_type="text/plain", blocking=False)
            return f"Added the tool and the prompt {SOMETIMES} and the resource {SOMETIMES_URI}."
        server.remove_tool(SOMETIMES)
        server.remove_prompt(SOMETIMES)
        server.remove_resource(SOMETIMES_URI)
        return f"Removed the tool and the prompt {SOMETIMES} and the resource {SOMETIMES_URI}."

    name = "trigger-resource-update"
    server.add_tool(trigger_resource_update, name=name, title="Update of a resource", annotations=CHANGES)
    server.add_tool(trigger_list_changes, name="trigger-list-changes", title="Changes of lists", annotations=CHANGES)
