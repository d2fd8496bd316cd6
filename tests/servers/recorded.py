"""What the original of a reference server answered, and how ours compares.

`tests/data/servers/NAME.json` was distilled from recordings of the original:

    {"tools": {name: {"arguments": {...properties}, "required": [...]}}, "prompts": {name: [arguments]},
     "resources": [uris], "templates": [uris], "calls": [{"method", "params", "result" or "error"}]}

Words in braces and capitals, such as {ROOT}, stand for places of the test. A difference that is meant is named in a
table of the test, by the number of the call, with its reason.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from splice import Client
from splice.protocol.jsonrpc import Notification, Request

DATA = Path(__file__).parents[1] / "data" / "servers"
UNSAID = {"isError": False, "_meta": None, "structuredContent": None}
"""Members that say nothing where they have these values."""


class Recorded(NamedTuple):
    """A call of the recording, by its number there, and what the original answered."""

    number: int
    method: str
    params: dict[str, Any]
    answer: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.number}-{self.method}-{self.params.get('name', '')}"


def contract(name: str) -> dict[str, Any]:
    """Read what was distilled of one server."""
    read: dict[str, Any] = json.loads((DATA / f"{name}.json").read_text())
    return read


def calls(name: str) -> list[Recorded]:
    """Read the recorded calls of one server, with placeholders in them."""
    return [
        Recorded(number, call["method"], call["params"], answer_of(call))
        for number, call in enumerate(contract(name)["calls"])
    ]


def placed(value: Any, places: Mapping[str, str]) -> Any:
    """Put the places of a test where the placeholders are."""
    text = json.dumps(value)
    for name, place in places.items():
        text = text.replace(f"{{{name}}}", json.dumps(place)[1:-1])
    return json.loads(text)


async def answered(client: Client, call: Recorded, places: Mapping[str, str]) -> dict[str, Any]:
    """Send a recorded call, byte for byte, and return the answer in the form of the recording."""
    params = msgspec.Raw(json.dumps(placed(call.params, places)).encode())
    response = await client.forward(Request(f"recorded-{call.number}", call.method, params), _ignored)
    return answer_of(json.loads(msgspec.json.encode(response)))


async def _ignored(note: Notification) -> None:
    """Hear nothing of what is told meanwhile."""


def answer_of(message: Mapping[str, Any]) -> dict[str, Any]:
    """Cut a response down to what it says: its result without members that say nothing, or code and message."""
    if error := message.get("error"):
        return {"error": {"code": error["code"], "message": error["message"]}}
    return {"result": {key: value for key, value in message["result"].items() if value != UNSAID.get(key, ...)}}


async def assert_offers(client: Client, name: str) -> None:
    """Assert that the tools and prompts of the original are there, with all their arguments and no new required one."""
    known = contract(name)
    tools = {tool.name: tool.input_schema for tool in await client.list_tools()}
    for tool, wanted in known.get("tools", {}).items():
        schema: dict[str, Any] = tools[tool]
        assert set(wanted["arguments"]) <= set(schema.get("properties", {})), tool
        assert set(schema.get("required", ())) == set(wanted.get("required", ())), tool
    if prompts := known.get("prompts"):
        offered = {
            each.name: [argument.name for argument in each.arguments or ()] for each in await client.list_prompts()
        }
        assert {name: offered.get(name) for name in prompts} == prompts
