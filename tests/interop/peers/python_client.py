"""The official Python client against the example server. Run by the peers' own Python; prints one JSON line.

python python_client.py legacy|modern http URL
python python_client.py legacy|modern stdio COMMAND ARGUMENT...
"""

import json
import sys
import warnings
from typing import Any

import anyio
import mcp_types as types
from mcp import Client, MCPError, StdioServerParameters

MODERN = "2026-07-28"
WAIT_SECONDS = 10
JOURNAL = "example://journal"

report: dict[str, Any] = {"log": [], "progress": [], "changes": []}
changed = anyio.Event()


async def on_elicit(_context: Any, params: types.ElicitRequestParams) -> types.ElicitResult:
    report["asked"] = params.message
    return types.ElicitResult(action="accept", content={"name": "Ann", "age": 7})


async def on_sample(_context: Any, params: types.CreateMessageRequestParams) -> types.CreateMessageResult:
    report["sampled"] = params.max_tokens
    content = types.TextContent(type="text", text="all is well")
    return types.CreateMessageResult(role="assistant", content=content, model="test-model", stop_reason="endTurn")


async def on_roots(_context: Any) -> types.ListRootsResult:
    return types.ListRootsResult(roots=[types.Root(uri="file:///srv/project", name="project")])


async def on_log(params: types.LoggingMessageNotificationParams) -> None:
    report["log"].append([params.level, params.data])


async def on_message(message: Any) -> None:
    if isinstance(message, types.ResourceUpdatedNotification):
        note("resource")
    elif isinstance(message, types.ToolListChangedNotification):
        note("tools")


def note(change: str) -> None:
    report["changes"].append(change)
    if len(set(report["changes"])) == 2:
        changed.set()


def text(result: types.CallToolResult) -> str:
    return "".join(block.text for block in result.content if isinstance(block, types.TextContent))


async def on_progress(progress: float, total: float | None, message: str | None) -> None:
    report["progress"].append([progress, total, message])


async def tools(client: Client) -> None:
    report["tools"] = [tool.name for tool in (await client.list_tools()).tools]
    report["add"] = text(await client.call_tool("add", {"a": 2, "b": 3}))
    report["weather"] = (await client.call_tool("weather", {"city": "Oslo"})).structured_content
    report["picture"] = (await client.call_tool("picture")).content[0].mime_type
    report["count"] = text(await client.call_tool("count", {"steps": 3}, progress_callback=on_progress))
    failed = await client.call_tool("fail")
    report["fail"] = [failed.is_error, text(failed)]
    wrong = await client.call_tool("add", {"a": "x", "b": 3})
    report["wrong"] = [wrong.is_error, bool(text(wrong))]


async def questions(client: Client) -> None:
    report["introduce"] = text(await client.call_tool("introduce"))
    report["summarize"] = text(await client.call_tool("summarize", {"text": "long story"}))
    report["workspace"] = text(await client.call_tool("workspace"))
    report["chatter"] = text(await client.call_tool("chatter"))


async def read(client: Client, uri: str) -> str:
    contents = (await client.read_resource(uri, cache_mode="refresh")).contents[0]
    return contents.text if isinstance(contents, types.TextResourceContents) else contents.blob


async def rest(client: Client) -> None:
    report["resources"] = [str(each.uri) for each in (await client.list_resources()).resources]
    report["templates"] = [each.uri_template for each in (await client.list_resource_templates()).resource_templates]
    report["motto"] = await read(client, "example://motto")
    report["pixel"] = (await read(client, "example://pixel"))[:8]
    report["user"] = json.loads(await read(client, "example://users/ann"))
    report["prompts"] = [each.name for each in (await client.list_prompts()).prompts]
    prompt = await client.get_prompt("review", {"code": "x = 1", "language": "python"})
    report["review"] = prompt.messages[0].content.text
    reference = types.PromptReference(type="ref/prompt", name="review")
    report["completion"] = (await client.complete(reference, {"name": "language", "value": "p"})).completion.values
    try:
        await client.read_resource("example://nothing")
    except MCPError as error:
        report["missing"] = error.code


async def cancellation(client: Client) -> None:
    started = anyio.Event()

    async def on_start(_progress: float, _total: float | None, _message: str | None) -> None:
        started.set()

    async def call() -> None:
        await client.call_tool("wait", {"seconds": 60}, progress_callback=on_start)

    async with anyio.create_task_group() as group:
        group.start_soon(call)
        await started.wait()
        group.cancel_scope.cancel()
    for _ in range(100):
        report["journal"] = (await read(client, JOURNAL)).splitlines()
        if "wait: cancelled" in report["journal"]:
            return
        await anyio.sleep(0.05)


async def changes(client: Client, era: str) -> None:
    if era == "legacy":
        await client.subscribe_resource(JOURNAL)
        await client.call_tool("touch")
        await changed.wait()
        return
    async with client.listen(tools_list_changed=True, resource_subscriptions=[JOURNAL]) as subscription:
        await client.call_tool("touch")
        async for event in subscription:
            note("tools" if type(event).__name__ == "ToolsListChanged" else "resource")
            if changed.is_set():
                return


async def main() -> None:
    era, kind, *target = sys.argv[1:]
    server = target[0] if kind == "http" else StdioServerParameters(command=target[0], args=target[1:])
    client = Client(
        server,
        mode="legacy" if era == "legacy" else "auto",
        elicitation_callback=on_elicit,
        sampling_callback=on_sample,
        list_roots_callback=on_roots,
        logging_callback=on_log,
        message_handler=on_message,
        log_level="debug",
    )
    with anyio.fail_after(WAIT_SECONDS * 2):
        async with client:
            report["version"] = client.protocol_version
            report["server"] = client.server_info.name
            if era == "legacy":
                await client.set_logging_level("debug")
            await tools(client)
            await questions(client)
            await rest(client)
            await cancellation(client)
            await changes(client, era)
    report["changes"] = sorted(set(report["changes"]))


warnings.simplefilter("ignore")
anyio.run(main)
sys.stdout.write(json.dumps(report) + "\n")
