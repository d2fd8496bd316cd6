"""The server that the official conformance suite tests: `python tests/conformance/server.py --port N [--protocol V]`.

Names, texts and schemas are the suite's demands; how a real server looks is in `examples/`.
"""

import argparse
import asyncio
import base64
from typing import Annotated, Any

from splice import Audio, Context, File, Header, Image, InputRequired, MissingClientCapability, Server, ToolError
from splice.types import (
    VERSIONS,
    CallToolResult,
    CreateMessageParams,
    ElicitParams,
    PromptMessage,
    SamplingMessage,
    TextContent,
)

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WAV = base64.b64decode("UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAAAAA==")
PACE_SECONDS = 0.05

parser = argparse.ArgumentParser()
parser.add_argument("--port", type=int, required=True)
parser.add_argument("--protocol", help="the only version to speak")
GIVEN = parser.parse_args()

server = Server("splice-conformance", version="1.0.0", protocols=[GIVEN.protocol] if GIVEN.protocol else VERSIONS)


def form(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    """Write down a form as JSON Schema."""
    return {"type": "object", "properties": properties, "required": list(required)}


NAME_FORM = form({"name": {"type": "string"}}, "name")
OK_FORM = form({"ok": {"type": "boolean"}}, "ok")


# Tools of both eras. The first one is called without arguments by the header tests.


@server.tool
def test_simple_text() -> str:
    """Return one text."""
    return "This is a simple text response for testing."


@server.tool
def test_image_content() -> Image:
    """Return one image."""
    return Image(PNG, mime_type="image/png")


@server.tool
def test_audio_content() -> Audio:
    """Return one sound."""
    return Audio(WAV, mime_type="audio/wav")


@server.tool
def test_embedded_resource() -> File:
    """Return one embedded resource."""
    return File(b"This is an embedded resource.", mime_type="text/plain", uri="test://embedded-resource")


@server.tool
def test_multiple_content_types() -> list[str | Image | File]:
    """Return text, an image and a resource."""
    resource = File(b'{"test": "data"}', mime_type="application/json", uri="test://mixed-content-resource")
    return ["Several kinds of content:", Image(PNG, mime_type="image/png"), resource]


@server.tool
async def test_tool_with_logging(ctx: Context) -> str:
    """Log while running."""
    for line in ("Tool execution started", "Tool processing data", "Tool execution completed"):
        await ctx.info(line)
        await asyncio.sleep(PACE_SECONDS)
    return "logged"


@server.tool
async def test_tool_with_progress(ctx: Context) -> str:
    """Report progress while running."""
    for value in (0, 50, 100):
        await ctx.progress(value, 100, f"{value} of 100")
        await asyncio.sleep(PACE_SECONDS)
    return "done"


@server.tool
async def test_reconnection(ctx: Context) -> str:
    """Hang up on the client, which is to come back for the result."""
    await ctx.close_stream()
    await asyncio.sleep(PACE_SECONDS)
    return "done"


@server.tool
def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@server.tool
async def test_sampling(prompt: str, ctx: Context) -> str:
    """Have the client's model answer a prompt."""
    reply = await ctx.sample(prompt, max_tokens=100)
    return f"LLM response: {reply.text}"


@server.tool
async def test_elicitation(message: str, ctx: Context) -> str:
    """Ask the user."""
    fields = {"username": {"type": "string"}, "email": {"type": "string"}}
    answer = await ctx.elicit(message, form(fields, "username", "email"))
    return f"User response: {answer.action} {answer.content}"


@server.tool
async def test_elicitation_sep1034_defaults(ctx: Context) -> str:
    """Ask with a default for each kind of field."""
    fields = {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    }
    answer = await ctx.elicit("Please look over these defaults", form(fields))
    return f"Elicitation completed: {answer.action} {answer.content}"


@server.tool
async def test_elicitation_sep1330_enums(ctx: Context) -> str:
    """Ask with each way to write a choice."""
    options, values, legacy = ([f"{word}{n}" for n in (1, 2, 3)] for word in ("option", "value", "opt"))
    titled = [{"const": value, "title": value.title()} for value in values]
    fields = {
        "untitledSingle": {"type": "string", "enum": options},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": legacy, "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": options}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    }
    answer = await ctx.elicit("Please choose", form(fields))
    return f"Elicitation completed: {answer.action} {answer.content}"


JSON_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}


@server.tool(input_schema=JSON_SCHEMA)
def json_schema_2020_12_tool(arguments: dict[str, Any]) -> str:
    """Take arguments by a schema written by hand."""
    return f"received {sorted(arguments)}"


# Tools of the modern era.


@server.tool
def test_x_mcp_header(region: Annotated[str, Header("Region")] = "") -> str:  # noqa: PT028  # a tool, not a test
    """Take an argument that is repeated in a header."""
    return f"region {region!r}"


@server.tool
def test_missing_capability(ctx: Context) -> str:
    """Refuse clients that cannot sample."""
    if not ctx.client.capabilities.sampling:
        raise MissingClientCapability("This tool needs sampling", {"requiredCapabilities": {"sampling": {}}})
    return "sampling is declared"


@server.tool
async def test_streaming_elicitation(ctx: Context) -> str:
    """Stream, and never send a request on the stream."""
    await ctx.progress(1, 1)
    return "streamed"


@server.tool
async def test_logging_tool(ctx: Context) -> str:
    """Log, to be heard only by a client that named a level."""
    await ctx.info("nobody asked for this")
    return "logged"


@server.tool
async def test_trigger_tool_change(ctx: Context) -> str:
    """Say that the list of tools changed."""
    await ctx.notify_tools_changed()
    return "told"


@server.tool
async def test_trigger_prompt_change(ctx: Context) -> str:
    """Say that the list of prompts changed."""
    await ctx.notify_prompts_changed()
    return "told"


@server.tool
async def test_input_required_result_elicitation(ctx: Context) -> str:
    """Ask for a name."""
    answer = await ctx.elicit("What is your name?", NAME_FORM, key="user_name")
    return f"Hello, {(answer.content or {}).get('name', 'stranger')}!"


@server.tool
async def test_input_required_result_sampling(ctx: Context) -> str:
    """Ask the client's model."""
    reply = await ctx.sample("What is the capital of France?", max_tokens=100, key="capital")
    return f"The model says: {reply.text}"


@server.tool
async def test_input_required_result_list_roots(ctx: Context) -> str:
    """Ask for the roots."""
    return f"Roots: {[root.uri for root in await ctx.roots(key='client_roots')]}"


@server.tool
async def test_input_required_result_request_state(ctx: Context) -> str:
    """Keep something over the question."""
    answer = await ctx.elicit("Go on?", OK_FORM, key="confirm")
    return f"state-ok, {answer.action}"


@server.tool
async def test_input_required_result_multiple_inputs(ctx: Context) -> CallToolResult | InputRequired:
    """Ask three questions at once."""
    if len(ctx.answers) == 3:
        return CallToolResult(content=[TextContent(text=f"All answered: {sorted(ctx.answers)}")])
    message = SamplingMessage(role="user", content=TextContent(text="Write a greeting"))
    return InputRequired(
        {
            "user_name": ElicitParams(message="What is your name?", requested_schema=NAME_FORM),
            "greeting": CreateMessageParams(messages=[message], max_tokens=50),
            "client_roots": None,
        },
        state="asked",
    )


@server.tool
async def test_input_required_result_multi_round(ctx: Context) -> str:
    """Ask twice, one after the other."""
    name = await ctx.elicit("Step 1: what is your name?", NAME_FORM, key="step1")
    colour = await ctx.elicit("Step 2: which colour?", form({"color": {"type": "string"}}, "color"), key="step2")
    return f"{name.content} likes {colour.content}"


@server.tool
async def test_input_required_result_tampered_state(ctx: Context) -> str:
    """Keep something that the client must not change."""
    answer = await ctx.elicit("Confirm?", OK_FORM, key="confirm")
    return f"state-ok, {answer.action}"


@server.tool
async def test_input_required_result_capabilities(ctx: Context) -> str:
    """Ask by what the client can do."""
    if ctx.client.capabilities.elicitation:
        answer = await ctx.elicit("What is your name?", NAME_FORM, key="user_name")
        return f"Hello, {answer.data}"
    reply = await ctx.sample("Write a greeting", max_tokens=50, key="greeting")
    return reply.text


# Resources.


@server.resource("test://static-text", mime_type="text/plain")
def static_text() -> str:
    """Give a text."""
    return "This is the content of the static text resource."


@server.resource("test://static-binary", mime_type="image/png")
def static_binary() -> bytes:
    """Give bytes."""
    return PNG


@server.resource("test://watched-resource", mime_type="text/plain")
def watched_resource() -> str:
    """Give a text that one may watch."""
    return "watched"


@server.resource("test://template/{id}/data", mime_type="application/json")
def template_data(id: str) -> dict[str, Any]:
    """Give data by id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


# Prompts.


@server.prompt
def test_simple_prompt() -> str:
    """Say one thing."""
    return "This is a simple prompt for testing."


@server.prompt
def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
    """Say two things."""
    return f"Prompt with arguments: arg1={arg1!r}, arg2={arg2!r}"


@server.prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[File | str]:  # noqa: N803  # the suite's word
    """Show a resource."""
    resource = File(b"Embedded resource content for testing.", mime_type="text/plain", uri=resourceUri)
    return [resource, "Please process the embedded resource above."]


@server.prompt
def test_prompt_with_image() -> list[Image | str]:
    """Show an image."""
    return [Image(PNG, mime_type="image/png"), "Please analyze the image above."]


@server.prompt
async def test_input_required_result_prompt(ctx: Context) -> list[PromptMessage]:
    """Ask before saying anything."""
    fields = form({"context": {"type": "string"}}, "context")
    answer = await ctx.elicit("What is it about?", fields, key="user_context")
    return [PromptMessage(role="user", content=TextContent(text=f"Context: {answer.data}"))]


@server.completion("test_prompt_with_arguments", "arg1")
def complete_arg1(value: str) -> list[str]:
    """Suggest values."""
    return [each for each in ("test-value-1", "test-value-2") if each.startswith(value)]


def main() -> None:
    """Serve http://localhost:PORT/mcp."""
    server.run("http", host="127.0.0.1", port=GIVEN.port)


if __name__ == "__main__":
    main()
