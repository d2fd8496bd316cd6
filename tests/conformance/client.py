"""The client that the official conformance suite tests: `python tests/conformance/client.py URL`.

The suite says in the environment which scenario it plays, at which protocol version.
"""

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from splice import Client
from splice.auth import ClientCredentials, EnterpriseManaged, OAuth, WorkloadIdentity
from splice.types import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ElicitResult,
    ElicitValue,
    Root,
    TextContent,
    Tool,
)

Scenario = Callable[[Client], Awaitable[None]]
LIMIT_SECONDS = 25.0
CLIENT_DOCUMENT = "https://conformance-test.local/client-metadata.json"
"""The client's id where that is the URL of a document. The suite does not fetch it."""
BROWSER = Path(__file__).parents[1] / "interop" / "peers" / "follow.py"
WORDS: dict[str, Any] = {"string": "word", "integer": 5, "number": 5, "boolean": True, "array": [], "object": {}}


def on_elicit(params: ElicitParams) -> ElicitResult:
    """Accept, filling in only what the form demands; the client adds the form's defaults."""
    schema = params.requested_schema or {}
    demanded = schema.get("required", ())
    content: dict[str, ElicitValue] = {name: WORDS[schema["properties"][name]["type"]] for name in demanded}
    return ElicitResult(action="accept", content=content)


def on_sample(_params: CreateMessageParams) -> CreateMessageResult:
    """Answer for a model."""
    return CreateMessageResult(role="assistant", content=TextContent(text="an answer"), model="test-model")


def arguments_for(tool: Tool) -> dict[str, Any]:
    """Fill in what a tool requires."""
    properties = tool.input_schema.get("properties", {})
    return {name: WORDS[properties[name]["type"]] for name in tool.input_schema.get("required", ())}


async def list_only(client: Client) -> None:
    """List the tools."""
    await client.list_tools()


async def call_every_tool(client: Client) -> None:
    """List the tools and call each one the client shows."""
    for tool in await client.list_tools():
        await client.call_tool(tool.name, arguments_for(tool))


async def use_everything(client: Client) -> None:
    """Call every tool, read every resource, get every prompt."""
    await call_every_tool(client)
    for resource in await client.list_resources():
        await client.read_resource(resource.uri)
    for prompt in await client.list_prompts():
        await client.get_prompt(prompt.name)


async def call_as_told(client: Client) -> None:
    """Make the calls that the suite dictates."""
    await client.list_tools()
    for call in json.loads(os.environ["MCP_CONFORMANCE_CONTEXT"])["toolCalls"]:
        await client.call_tool(call["name"], call["arguments"])


async def echo_schema(client: Client) -> None:
    """Send a tool's schema back as it came."""
    tools = {tool.name: tool for tool in await client.list_tools()}
    schema = tools["json_schema_2020_12_tool"].input_schema
    await client.call_tool("json_schema_echo", {"schema": schema})


async def keep_states_apart(client: Client) -> None:
    """Call tools that ask, together with one that does not."""
    names = [tool.name for tool in await client.list_tools()]
    await asyncio.gather(*(client.call_tool(name) for name in names))


SCENARIOS: dict[str, Scenario] = {
    "initialize": list_only,
    "tools_call": call_every_tool,
    "elicitation-sep1034-client-defaults": call_every_tool,
    "request-metadata": list_only,
    "sse-retry": call_every_tool,
    "http-standard-headers": use_everything,
    "http-invalid-tool-headers": call_every_tool,
    "http-custom-headers": call_as_told,
    "json-schema-ref-no-deref": list_only,
    "json-schema-2020-12-preservation": echo_schema,
    "sep-2322-client-request-state": keep_states_apart,
}


LOGINS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "auth/pre-registration": lambda told: OAuth(client_id=told["client_id"], client_secret=told["client_secret"]),
    "auth/client-credentials-jwt": lambda told: ClientCredentials(
        told["client_id"], private_key=told["private_key_pem"], algorithm=told["signing_algorithm"]
    ),
    "auth/client-credentials-basic": lambda told: ClientCredentials(told["client_id"], told["client_secret"]),
    "auth/enterprise-managed-authorization": lambda told: EnterpriseManaged(
        told["client_id"],
        told["client_secret"],
        id_token=told["idp_id_token"],
        idp_token_endpoint=told["idp_token_endpoint"],
        idp_client_id=told["idp_client_id"],
    ),
    "auth/wif-jwt-bearer": lambda told: WorkloadIdentity(told["client_id"], assertion=told["valid_jwt"]),
}


def login(scenario: str) -> Any:
    """Choose how to log in; None: nothing is guarded there."""
    if not scenario.startswith("auth/"):
        return None
    told: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT") or "{}")
    make = LOGINS.get(scenario)
    return OAuth(client_metadata_url=CLIENT_DOCUMENT) if make is None else make(told)


async def main() -> None:
    """Play the scenario."""
    scenario = os.environ["MCP_CONFORMANCE_SCENARIO"]
    os.environ["BROWSER"] = f"{sys.executable} {BROWSER} %s &"
    client = Client(
        sys.argv[1],
        auth=login(scenario),
        protocol=os.environ["MCP_CONFORMANCE_PROTOCOL_VERSION"],
        on_elicit=on_elicit,
        on_sample=on_sample,
        roots=[Root(uri="file:///srv/project", name="project")],
    )
    async with asyncio.timeout(LIMIT_SECONDS), client:
        await SCENARIOS.get(scenario, call_every_tool)(client)


if __name__ == "__main__":
    asyncio.run(main())
