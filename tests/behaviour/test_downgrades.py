"""What an older peer cannot hold is left out, or said in another way, in both directions: every value, every version.

The server and the client of these tests say all that the newest versions know. `strays` tells from the official schemas
what of it a version does not have; `SHOWN` tells what is there in its place.
"""

import json
from typing import Any

import pytest

from client.scripted import SERVER_INFO, ScriptedLink, ScriptedTarget
from splice import Client
from splice.protocol.completion import PromptReference
from splice.protocol.jsonrpc import Success
from splice.protocol.versions import FACTS
from splice.types import VERSIONS, CreateMessageResult, ElicitResult, Root
from support import rich_server
from support.program import Program, program
from support.rich_server import AUDIO, META, TEXT, USE
from support.strays import has, strays
from support.warm import warm_python
from support.wire import JSON, ask, initialize, meta, note

CAN_ALL: JSON = {"sampling": {"tools": {}, "context": {}}, "elicitation": {"form": {}, "url": {}}, "roots": {}}


def request(id: int, method: str, version: str, params: JSON = None) -> JSON:
    """Write a request of this version, whichever opening that has."""
    said = {"_meta": meta(capabilities=CAN_ALL)} if FACTS[version].request_meta else {}
    return ask(id, method, {**(params or {}), **said})


async def opened(process: Program, version: str) -> tuple[str, JSON]:
    """Come to terms; what the server said, and the type of it."""
    if FACTS[version].request_meta:
        return "DiscoverResult", (await process.request(request(1, "server/discover", version)))["result"]
    response = await process.request(initialize(version, id=1, capabilities=CAN_ALL))
    await process.send(note("notifications/initialized"))
    return "InitializeResult", response["result"]


@pytest.mark.requirement(87)
async def test_a_server_sends_what_the_version_has_and_nothing_else(version: str) -> None:
    async with program(rich_server.__file__, python=warm_python()) as process:
        answers = [await opened(process, version)]
        for id, (method, kind, params) in enumerate(
            (
                ("tools/list", "ListToolsResult", {}),
                ("resources/list", "ListResourcesResult", {}),
                ("resources/templates/list", "ListResourceTemplatesResult", {}),
                ("prompts/list", "ListPromptsResult", {}),
                ("tools/call", "CallToolResult", {"name": "everything"}),
                ("tools/call", "CallToolResult", {"name": "numbers"}),
                ("resources/read", "ReadResourceResult", {"uri": "x://r"}),
                ("prompts/get", "GetPromptResult", {"name": "prompt", "arguments": {"word": "w"}}),
            ),
            2,
        ):
            answers.append((kind, (await process.request(request(id, method, version, params)))["result"]))
    found = {kind: stray for kind, value in answers if (stray := set(strays(kind, value, version)) - OURS)}
    assert found == {}


OURS = {"ServerCapabilities.extensions", "ClientCapabilities.extensions"}
"""Said in every version, as decided."""

SHOWN = """
                            24        03        06        11        26
audio                       text      audio     audio     audio     audio
resource_link               text      text      link      link      link
a list as a result          -         -         wrapped   wrapped   plain
the title of a tool         -         -         yes       yes       yes
hints of a tool             -         yes       yes       yes       yes
icons                       -         -         -         yes       yes
_meta of a block            -         -         yes       yes       yes
lastModified of a block     -         -         yes       yes       yes
an output schema            -         -         wrapped   wrapped   plain
"""


def shown(tool: JSON, listed: JSON, result: JSON, wrapped: JSON) -> dict[str, str]:
    """Tell how the values of `SHOWN` look."""
    text, audio, link, _ = result["content"]
    structured, schema = wrapped.get("structuredContent"), listed.get("outputSchema", {})
    marks = {"[1, 2]": "plain", '{"result": [1, 2]}': "wrapped", "null": "-"}
    return {
        "audio": audio["type"],
        "resource_link": link["type"].removeprefix("resource_"),
        "a list as a result": marks[json.dumps(structured)],
        "the title of a tool": "yes" if tool.get("title") == "T" else "-",
        "hints of a tool": "yes" if tool.get("annotations", {}).get("readOnlyHint") else "-",
        "icons": "yes" if "icons" in tool else "-",
        "_meta of a block": "yes" if text.get("_meta") == META else "-",
        "lastModified of a block": "yes" if "lastModified" in text["annotations"] else "-",
        "an output schema": {"array": "plain", "object": "wrapped", None: "-"}[schema.get("type")],
    }


@pytest.mark.requirement(279, 281, 282)
async def test_what_stands_in_the_place_of_what_is_left_out(version: str) -> None:
    async with program(rich_server.__file__, python=warm_python()) as process:
        await opened(process, version)
        tools = (await process.request(request(2, "tools/list", version)))["result"]["tools"]
        calls = [
            request(3 + n, "tools/call", version, {"name": name}) for n, name in enumerate(("everything", "numbers"))
        ]
        result, wrapped = [(await process.request(each))["result"] for each in calls]
    by_name = {tool["name"]: tool for tool in tools}
    found = shown(by_name["everything"], by_name["numbers"], result, wrapped)
    place = VERSIONS.index(version)
    rows = [line.rsplit(maxsplit=len(VERSIONS)) for line in SHOWN.strip("\n").splitlines()[1:]]
    assert found == {name: columns[place] for name, *columns in rows}


async def asked(version: str, tool: str, **arguments: JSON) -> tuple[str, JSON]:
    """Call a tool that asks; its question, or `error` and the text of it."""
    async with program(rich_server.__file__, python=warm_python()) as process:
        await opened(process, version)
        await process.send(request(2, "tools/call", version, {"name": tool, "arguments": arguments}))
        message = await process.receive()
    if "method" in message:
        return message["method"], message["params"]
    result = message.get("result", {})
    if "inputRequests" in result:
        (question,) = result["inputRequests"].values()
        return question["method"], question["params"]
    assert result["isError"]
    return "error", result["content"][0]["text"]


QUESTIONS = """
                            24      03      06      11      26
sample tools=               error   error   error   asks    asks
sample                      asks    asks    asks    asks    asks
fill                        error   error   asks    asks    asks
fill lists=                 error   error   error   asks    asks
send                        error   error   error   asks    asks
"""


@pytest.mark.requirement(376, 379)
@pytest.mark.parametrize("row", QUESTIONS.strip("\n").splitlines()[1:], ids=lambda line: line[:13])
async def test_a_server_asks_what_the_version_can_hold(row: str, version: str) -> None:
    what, *columns = row.rsplit(maxsplit=len(VERSIONS))
    tool, *options = what.replace("=", "").split()
    arguments = {"sample": {"tools": False}, "fill": {"lists": False}, "send": {}}[tool] | dict.fromkeys(options, True)
    method, said = await asked(version, tool, **arguments)
    assert ("error" if method == "error" else "asks") == columns[VERSIONS.index(version)]
    if method != "error":
        assert list(strays(method, said, version)) == []


@pytest.mark.parametrize("version", ["2025-06-18"], indirect=True)
async def test_a_form_asks_for_the_same_in_plainer_words(version: str) -> None:
    _, said = await asked(version, "fill", lists=False)
    assert said["requestedSchema"] == {
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "N", "minLength": 1},
            "count": {"type": "integer", "minimum": 0},
            "sure": {"type": "boolean", "default": True},
            "plain": {"type": "string", "enum": ["s", "l"]},
            "size": {"type": "string", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
        },
        "required": ["name"],
    }


# What a client sends.


class Asking(ScriptedTarget):
    """Asks the client for everything while a tool is called, in the way of its version."""

    def __init__(self, version: str) -> None:
        super().__init__(
            initialize=self.opened,
            server__discover=self.opened,
            tools__call=self.called,
            completion__complete=self.known,
        )
        self.version = version
        self.answers: dict[str, JSON] = {}
        self.questions: dict[str, JSON] = {
            "sampling/createMessage": {"messages": [], "maxTokens": 1},
            "roots/list": {},
        }
        if FACTS[version].sampling_tools:
            self.questions["sampling/createMessage"]["tools"] = [{"name": "add", "inputSchema": {"type": "object"}}]
        if has("elicitation/create", version):
            form = {"type": "object", "properties": {"n": {"type": "string"}}}
            self.questions["elicitation/create"] = {"message": "?", "requestedSchema": form}

    async def opened(self, _message: JSON, _link: ScriptedLink) -> JSON:
        can: JSON = {"capabilities": {"tools": {}, "completions": {}}}
        return {**can, "protocolVersion": self.version, "supportedVersions": [self.version], "serverInfo": SERVER_INFO}

    async def known(self, _message: JSON, _link: ScriptedLink) -> JSON:
        return {"completion": {"values": []}, "resultType": "complete"}

    async def called(self, message: JSON, link: ScriptedLink) -> JSON:
        if not FACTS[self.version].request_meta:
            for method, params in self.questions.items():
                response = await link.ask(method, params)
                assert isinstance(response, Success), response
                self.answers[method] = json.loads(bytes(response.result))
        elif "inputResponses" in message["params"]:
            self.answers = message["params"]["inputResponses"]
        else:
            asked = {method: {"method": method, "params": params} for method, params in self.questions.items()}
            return {"resultType": "input_required", "inputRequests": asked}
        return {"content": [], "resultType": "complete"}


RESULTS = {
    "sampling/createMessage": "CreateMessageResult",
    "elicitation/create": "ElicitResult",
    "roots/list": "ListRootsResult",
}


@pytest.mark.requirement(87, 88)
@pytest.mark.parametrize("content", [[TEXT, AUDIO], [USE], AUDIO, TEXT], ids=["several", "tool", "audio", "text"])
async def test_a_client_sends_what_the_version_has_and_nothing_else(version: str, content: Any) -> None:
    target = Asking(version)
    options: dict[str, Any] = {
        "on_sample": lambda _: CreateMessageResult(role="assistant", content=content, model="m", meta=META),
        "on_elicit": lambda _: ElicitResult(action="accept", content={"n": "x"}, meta=META),
        "can": ["sampling.tools"],
        "roots": [Root(uri="file:///r", name="r", meta=META)],
        "info": rich_server.build().service.home.info,
    }
    async with Client(target, protocol=version, timeout=5.0, **options) as client:
        await client.call_tool("t")
        await client.complete(PromptReference(name="p", title="P"), "a", "", {"b": "c"})
    assert target.answers.keys() == target.questions.keys()
    for method, said in target.answers.items():
        assert list(strays(RESULTS[method], said, version)) == []
    for message in target.sent:
        if message["method"] in {"initialize", "completion/complete"}:
            assert set(strays(message["method"], message["params"], version)) <= OURS
