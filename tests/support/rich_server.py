"""A server that has and says everything the newest versions know: in this process, or as a program on stdio."""

from typing import Any

from splice import Ask, Context, Server
from splice.protocol.questions import CREATE_MESSAGE, ELICIT
from splice.types import (
    Annotations,
    AudioContent,
    CallToolResult,
    CreateMessageParams,
    ElicitParams,
    EmbeddedResource,
    Icon,
    Implementation,
    ResourceContents,
    ResourceLink,
    SamplingMessage,
    TextContent,
    Tool,
    ToolAnnotations,
    ToolChoice,
    ToolResultContent,
    ToolUseContent,
)

ICONS = [Icon(src="https://example.com/a.png", mime_type="image/png", sizes=["48x48"], theme="dark")]
HINTS = Annotations(audience=["user"], priority=0.5, last_modified="2025-01-12T15:00:58Z")
META: dict[str, Any] = {"example.com/a": 1}
SCHEMA: dict[str, Any] = {"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object"}

TEXT = TextContent(text="t", annotations=HINTS, meta=META)
AUDIO = AudioContent(data="AA==", mime_type="audio/wav", annotations=HINTS, meta=META)
LINK = ResourceLink(uri="x://l", name="l", title="L", icons=ICONS, annotations=HINTS, meta=META, size=3)
HELD = EmbeddedResource(resource=ResourceContents(uri="x://h", text="h", meta=META), annotations=HINTS, meta=META)
USE = ToolUseContent(id="c", name="add", input={}, meta=META)
USED = ToolResultContent(tool_use_id="c", content=[TEXT, AUDIO, LINK, HELD], structured_content=[1], meta=META)
TOOL = Tool(
    name="add",
    title="Add",
    input_schema=SCHEMA,
    output_schema=SCHEMA,
    icons=ICONS,
    annotations=ToolAnnotations(title="A", read_only_hint=True),
    meta=META,
)
SAMPLING = CreateMessageParams(
    messages=[
        SamplingMessage(role="user", content=[TEXT, AUDIO]),
        SamplingMessage(role="assistant", content=[USE], meta=META),
        SamplingMessage(role="user", content=[USED], meta=META),
    ],
    max_tokens=5,
    tools=[TOOL],
    tool_choice=ToolChoice(mode="auto"),
)
PLAIN_SAMPLING = CreateMessageParams(
    messages=[SamplingMessage(role="user", content=[TEXT, AUDIO], meta=META)], max_tokens=5
)
CHOICES = [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}]
FORM: dict[str, Any] = {
    **SCHEMA,
    "properties": {
        "name": {"type": "string", "title": "N", "minLength": 1, "default": "Ann"},
        "count": {"type": "integer", "minimum": 0, "default": 3},
        "sure": {"type": "boolean", "default": True},
        "plain": {"type": "string", "enum": ["s", "l"], "default": "s"},
        "size": {"type": "string", "oneOf": CHOICES, "default": "s"},
    },
    "required": ["name"],
}
LIST_FORM: dict[str, Any] = {
    "type": "object",
    "properties": {"sizes": {"type": "array", "items": {"anyOf": CHOICES}, "default": ["s"]}},
}


def build() -> Server:
    """Make a new server."""
    about = Implementation(
        name="rich", version="1", title="Rich", description="D", website_url="https://example.com", icons=ICONS
    )
    server = Server(about)
    looks: dict[str, Any] = {"title": "T", "icons": ICONS, "meta": META}

    @server.tool(annotations=ToolAnnotations(title="A", read_only_hint=True), **looks)
    async def everything() -> CallToolResult:
        return CallToolResult(content=[TEXT, AUDIO, LINK, HELD], structured_content=[1, 2], meta=META)

    @server.tool
    async def numbers() -> list[int]:
        return [1, 2]

    @server.resource("x://r", size=3, annotations=HINTS, **looks)
    async def resource() -> ResourceContents:
        return ResourceContents(uri="x://r", text="r", meta=META)

    @server.resource("x://r/{id}", annotations=HINTS, **looks)
    async def template(id: str) -> str:
        return id

    @server.prompt(title="T", icons=ICONS, meta=META)
    async def prompt(word: str) -> list[Any]:
        return [word, AUDIO, LINK, HELD]

    add_questions(server)
    return server


def add_questions(server: Server) -> None:
    """Add tools that ask the client."""

    @server.tool
    async def sample(ctx: Context, tools: bool) -> str:
        await ctx.ask(Ask.method(CREATE_MESSAGE, SAMPLING if tools else PLAIN_SAMPLING))
        return "done"

    @server.tool
    async def fill(ctx: Context, lists: bool) -> str:
        form = ElicitParams(mode="form", message="?", requested_schema=LIST_FORM if lists else FORM)
        await ctx.ask(Ask.method(ELICIT, form))
        return "done"

    @server.tool
    async def send(ctx: Context) -> str:
        await ctx.elicit_url("?", "https://example.com/")
        return "done"


if __name__ == "__main__":
    build().run()
