"""The tools that any client can use: what a result may hold, and what a call may tell while it runs.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

import asyncio
import base64
import json
import os
from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from msgspec import Meta

from splice import Context, Server
from splice.servers.everything.dynamic import MAX_ID, Kind, contents_of, uri_of
from splice.servers.everything.hints import READS
from splice.types import Annotations, ContentBlock, EmbeddedResource, Icon, ImageContent, ResourceLink, TextContent

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAABQAAAAUCAMAAAC6V+0/AAAACVBMVEX///8UWqDmeB5pWEUwAAAAUElEQVR42m2QQRIAIQjDSP//"
    "6NXRVaj0mAmUIeIPEDUamRhD2+ayZ4kM4uJRWzO7uX/L+K3Se/20SuGZU3dxqqSptPdcSPsbF7Nb6heuyJd8oGcAwyKGbVIAAAAA"
    "SUVORK5CYII="
)
"""Two strands that cross: the mark of Splice."""

HIDDEN = "(hidden: start the server with --show-env to see values)"

MAX_SECONDS = 600.0
"""How long the long operation may take."""

MAX_STEPS = 1000

Weight: TypeAlias = tuple[str, float, list[Literal["user", "assistant"]]]

_MESSAGES: dict[str, Weight] = {
    "error": ("Error: Operation failed", 1.0, ["user", "assistant"]),
    "success": ("Operation completed successfully", 0.7, ["user"]),
    "debug": ("Debug: Cache hit ratio 0.95, latency 150ms", 0.3, ["assistant"]),
}
"""By kind: the text, how much it matters, and to whom."""


@dataclass
class Weather:
    """The weather of a city."""

    temperature: Annotated[int, Meta(description="In degrees, as the sample data has them")]
    conditions: Annotated[str, Meta(description="What the sky is like")]
    humidity: Annotated[int, Meta(description="In percent")]


_WEATHER = {
    "New York": Weather(33, "Cloudy", 82),
    "Chicago": Weather(36, "Light rain / drizzle", 82),
    "Los Angeles": Weather(73, "Sunny / Clear", 48),
}


def echo(message: Annotated[str, Meta(description="What to repeat")]) -> str:
    """Repeat a message. Shows the smallest tool there is: text in, text out."""
    return f"Echo: {message}"


def get_annotated_message(
    messageType: Annotated[Literal["error", "success", "debug"], Meta(description="Which hints to show")],
    includeImage: Annotated[bool, Meta(description="Whether a picture comes too")] = False,
) -> list[ContentBlock]:
    """Give a message with hints for whom it is and how much it matters. Shows annotations of content."""
    text, priority, audience = _MESSAGES[messageType]
    blocks: list[ContentBlock] = [
        TextContent(text=text, annotations=Annotations(audience=[*audience], priority=priority))
    ]
    if includeImage:
        blocks.append(_picture(Annotations(audience=["user"], priority=0.5)))
    return blocks


def get_resource_links(
    count: Annotated[int, Meta(description="How many", ge=1, le=10)] = 3,
) -> list[ContentBlock]:
    """Give links to resources of this server. Shows results that refer to what can be read afterwards."""
    text = f"Here are {count} resource links to resources available in this server:"
    return [TextContent(text=text), *map(_link, range(1, count + 1))]


def get_resource_reference(
    resourceType: Annotated[Kind, Meta(description="Whether it holds text or bytes")] = "Text",
    resourceId: Annotated[int, Meta(description="Its number, from 1 on", ge=1, le=MAX_ID)] = 1,
) -> list[ContentBlock]:
    """Give a resource of this server as part of the result. Shows embedded resources."""
    return [
        TextContent(text=f"Returning resource reference for Resource {resourceId}:"),
        EmbeddedResource(resource=contents_of(resourceType, resourceId)),
        TextContent(text=f"You can access this resource using the URI: {uri_of(resourceType, resourceId)}"),
    ]


def get_structured_content(
    location: Annotated[Literal["New York", "Chicago", "Los Angeles"], Meta(description="Which city")],
) -> Weather:
    """Tell the weather of a city, from sample data. Shows structured results: an object that fits an output schema."""
    return _WEATHER[location]


def get_sum(
    a: Annotated[float, Meta(description="The first number")], b: Annotated[float, Meta(description="The second one")]
) -> str:
    """Add two numbers. Shows arguments that are not text."""
    return f"The sum of {_number(a)} and {_number(b)} is {_number(a + b)}."


def get_tiny_image() -> list[ContentBlock]:
    """Give a very small picture. Shows results that are not text; the same picture is the icon of this tool."""
    text = "The image above is the Splice logo."
    return [TextContent(text="Here's the image you requested:"), _picture(), TextContent(text=text)]


async def trigger_long_running_operation(
    ctx: Context,
    duration: Annotated[float, Meta(description="How many seconds it takes in all", ge=0, le=MAX_SECONDS)] = 10,
    steps: Annotated[int, Meta(description="In how many steps", ge=1, le=MAX_STEPS)] = 5,
) -> str:
    """Take a while. Shows progress, told after each step to clients that ask for it, and cancellation at any time."""
    for step in range(1, steps + 1):
        await asyncio.sleep(duration / steps)
        await ctx.progress(step, steps)
    return f"Long running operation completed. Duration: {_number(duration)} seconds, Steps: {steps}."


def add(server: Server, *, show_env: bool) -> None:
    """Add the tools."""

    def get_env() -> str:
        """List the server's environment variables. Values are hidden unless the server was started with --show-env."""
        return json.dumps({name: value if show_env else HIDDEN for name, value in sorted(os.environ.items())}, indent=2)

    server.add_tool(echo, title="Echo", annotations=READS, blocking=False)
    for fn, title in (
        (get_annotated_message, "Annotated message"),
        (get_env, "Environment"),
        (get_resource_links, "Links to resources"),
        (get_resource_reference, "Embedded resource"),
        (get_structured_content, "Structured content"),
        (get_sum, "Sum"),
    ):
        server.add_tool(fn, name=fn.__name__.replace("_", "-"), title=title, annotations=READS, blocking=False)
    icon = Icon(src=f"data:image/png;base64,{_picture().data}", mime_type="image/png", sizes=["20x20"])
    server.add_tool(
        get_tiny_image, name="get-tiny-image", title="Tiny picture", annotations=READS, icons=[icon], blocking=False
    )
    name = "trigger-long-running-operation"
    server.add_tool(trigger_long_running_operation, name=name, title="Long operation", annotations=READS)


def _picture(annotations: Annotations | None = None) -> ImageContent:
    return ImageContent(data=base64.b64encode(PICTURE).decode(), mime_type="image/png", annotations=annotations)


def _link(number: int) -> ResourceLink:
    """Link to a resource: to bytes and text by turns."""
    kind: Kind = "Blob" if number % 2 else "Text"
    about = f"Resource {number}: plaintext resource"
    name = f"{kind} Resource {number}"
    return ResourceLink(name=name, uri=uri_of(kind, number), description=about, mime_type="text/plain")


def _number(value: float) -> str:
    """Write a number without a fraction that is none."""
    return str(int(value)) if value.is_integer() else str(value)
