"""The server that shows everything answers as the original was recorded; what differs is named with its reason."""

import asyncio
import base64
import io
import json
import re
import wave
from typing import Any

import pytest

from servers.recorded import answer_of, assert_offers, calls, contract, placed
from splice import Client
from splice.servers.everything.plain import PICTURE
from splice.servers.everything.seeing import NEEDS
from splice.servers.everything.server import make
from splice.types import AudioContent
from support.caller import ALL, Caller
from support.wire import JSON

CALLS = calls("everything")
KNOWN = contract("everything")
PLACES = {"PICTURE": base64.b64encode(PICTURE).decode()}
VERSIONS = {"legacy": "2025-11-25", "modern": "2026-07-28"}
MADE_UP = re.compile(r"\d{1,2}:\d\d:\d\d [AP]M|[0-9a-f]{8}-[0-9a-f-]{27}")
"""Times and ids."""

LATER = {
    "trigger-list-changes",
    "echo-mirrored-header",
    "get-tiny-sound",
    "trigger-error",
    "trigger-questions-at-once",
    "trigger-questions-in-rounds",
    "trigger-resource-update",
    "trigger-sampling-with-tools",
}
"""Tools that the original does not have: they show what 2026-07-28 does in another way, or what nothing else shows."""

DIFFERENT = {
    1: "Wrong arguments are told in Splice's own words.",
    2: "An unknown tool is an error, -32602, as the specification has it.",
    11: "The picture is the mark of Splice, and the text says so.",
    14: "Documents have descriptions of what is in them.",
    15: "The session is not named: its id is as good as a key, and not for a model.",
    16: "The session is not named.",
    17: "The session is not named.",
    18: "The session is not named.",
    22: "The answer to a link has no content: what the recording's client sent there is not repeated.",
    23: "The message of the error does not begin with the words of the original's SDK.",
    28: "Wrong arguments are told in Splice's own words.",
    36: "A resource that is not there has the code of its version, not the code for failures of the server.",
    37: "A resource that is not there has the code of its version.",
}
"""By number of the call."""

MODERN_ONLY = {
    12: "Without sessions a link that nobody can guess stands for one.",
    13: "Without sessions a link that nobody can guess stands for one.",
    23: "2026-07-28 has no error that sends users to a page: they are asked.",
}
SESSIONS_ONLY = {"resources/subscribe", "resources/unsubscribe", "logging/setLevel", "ping"}

ANSWERS: dict[str, JSON] = {
    "elicitation/create": {"action": "accept", "content": {"name": "Ann"}},
    "sampling/createMessage": {
        "model": "m",
        "stopReason": "endTurn",
        "role": "assistant",
        "content": {"type": "text", "text": "hi"},
    },
    "roots/list": {"roots": [{"uri": "file:///tmp/x", "name": "x"}]},
}
"""What the client of the recording answered."""


async def opened(era: str, can: JSON = ALL, **settings: Any) -> Caller:
    """Let a scripted client call a server of its own."""
    caller = Caller(make(**settings), VERSIONS[era], can=can, answers=lambda method, _: ANSWERS[method])
    caller.level = "info"
    return await caller.open()


def still(value: Any) -> Any:
    """Leave out times and ids, and what versions add to results."""
    if isinstance(value, dict):
        if isinstance(blob := value.get("blob"), str) and b"created at" in base64.b64decode(blob):
            value = {**value, "blob": base64.b64decode(blob).decode()}
        return {name: still(each) for name, each in value.items()}
    return (
        [*map(still, value)]
        if isinstance(value, list)
        else MADE_UP.sub("...", value)
        if isinstance(value, str)
        else value
    )


def said(message: JSON, era: str) -> Any:
    """Cut a response down to what both eras have, without the description of a prompt, which is our own."""
    answer = answer_of(message)
    answer.get("result", {}).pop("description", None)
    if era == "modern" and "result" in answer:
        for name in ("_meta", "resultType", "ttlMs", "cacheScope"):
            answer["result"].pop(name, None)
    return still(answer)


@pytest.mark.parametrize("era", VERSIONS)
async def test_everything_that_was_recorded_is_answered_alike(era: str) -> None:
    caller, different = await opened(era), dict[int, Any]()
    for call in CALLS:
        if era == "modern" and call.method in SESSIONS_ONLY:
            continue
        token = call.params.get("_meta", {}).get("progressToken")
        params = {name: value for name, value in call.params.items() if name != "_meta"}
        answer = said(await caller.request(call.method, params, token=token), era)
        if answer != still(placed(call.answer, PLACES)):
            different[call.number] = answer
    known = DIFFERENT | (MODERN_ONLY if era == "modern" else {})
    assert different.keys() == known.keys(), json.dumps({n: different.get(n) for n in different.keys() ^ known.keys()})
    caller.session.end()
    await caller.server.service.close()


async def test_what_is_asked_and_told_meanwhile_is_what_was_recorded() -> None:
    caller = await opened("legacy")
    for number, call in enumerate(KNOWN["calls"]):
        caller.notes.clear()
        caller.pushed.clear()
        caller.asked.clear()
        await caller.send(call["method"], call["params"])
        await asyncio.sleep(0)
        told = [
            {key: value for key, value in note.items() if key != "jsonrpc"} for note in caller.pushed + caller.notes
        ]
        asked = [{"method": method, "params": params} for method, params in caller.asked]
        for each in asked:
            (each["params"] or {}).pop("elicitationId", None)
        if number == 15:  # of some random level
            told = call["told"]
        for note in told:
            note.get("params", {}).pop("logger", None)
        assert told == call.get("told", []), call["params"]
        if "asked" in call:
            assert [{**each, "params": without_mode(each["params"])} for each in asked] == [call["asked"]]
    caller.session.end()


def without_mode(params: JSON) -> JSON:
    """Leave out that a form is one: the original does not say it."""
    return {name: value for name, value in params.items() if (name, value) != ("mode", "form")}


@pytest.mark.parametrize("era", VERSIONS)
async def test_what_is_offered_depends_on_what_the_client_can(era: str) -> None:
    bare = await opened(era, can={})
    tools = {tool["name"] for tool in (await bare.result("tools/list"))["tools"]}
    assert tools - LATER == set(KNOWN["bare"])
    assert not tools & NEEDS.keys()
    forms = await opened(era, can={"elicitation": {}})
    more = {tool["name"] for tool in (await forms.result("tools/list"))["tools"]} - tools
    assert more == {"trigger-elicitation-request", "trigger-questions-in-rounds", "trigger-questions-at-once"}
    full = await opened(era)
    tools = {tool["name"] for tool in (await full.result("tools/list"))["tools"]}
    assert tools == set(KNOWN["tools"]) | LATER
    listed = [each["uri"] for each in (await full.result("resources/list"))["resources"]]
    templates = [each["uriTemplate"] for each in (await full.result("resources/templates/list"))["resourceTemplates"]]
    assert (listed, templates) == (KNOWN["resources"], KNOWN["templates"])
    client = Client(
        make(), protocol=era, can=["elicitation.url"], on_elicit=lambda _: None, on_sample=lambda _: "", roots=[]
    )
    async with client:
        await assert_offers(client, "everything")


@pytest.mark.parametrize("era", VERSIONS)
async def test_a_tool_that_is_not_listed_says_what_the_client_lacks(era: str) -> None:
    bare = await opened(era, can={})
    told = await bare.request("tools/call", {"name": "get-roots-list", "arguments": {}})
    assert "did not declare roots" in json.dumps(told)
    told = await bare.request(
        "tools/call", {"name": "trigger-url-elicitation", "arguments": {"url": "https://a.example", "errorPath": True}}
    )
    assert "did not declare elicitation" in json.dumps(told)


@pytest.mark.parametrize("era", VERSIONS)
async def test_pages_are_turned_and_what_a_session_keeps_is_on_the_last_one(era: str) -> None:
    async with Client(make(page_size=3), protocol=era) as client:
        await client.call_tool("gzip-file-as-resource")
        uris = [resource.uri for resource in await client.list_resources()]
        assert uris[:7] == KNOWN["resources"]
        assert len(uris) == (8 if era == "legacy" else 7)
        assert len(await client.list_tools()) == len(KNOWN["bare"]) + len(LATER - NEEDS.keys())


async def test_sound_errors_and_icons() -> None:
    async with Client(make()) as client:
        sound = (await client.call_tool("get-tiny-sound")).content[1]
        assert isinstance(sound, AudioContent)
        with wave.open(io.BytesIO(base64.b64decode(sound.data))) as read:
            assert (read.getframerate(), read.getnframes()) == (8000, 800)
        told = await client.call_tool("trigger-error")
        assert told.is_error
        assert "pass kind=unforeseen" in told.text
        unforeseen = await client.call_tool("trigger-error", {"kind": "unforeseen"})
        assert unforeseen.text.startswith("The tool trigger-error failed: LookupError (reference ")
        assert (await client.call_tool("echo-mirrored-header", {"region": "north"})).text == "Region: north"
        icons = [icon for tool in await client.list_tools() for icon in tool.icons or ()]
        assert [icon.src for icon in icons] == ["data:image/png;base64," + PLACES["PICTURE"]]


async def test_each_document_is_there_and_speaks_for_itself() -> None:
    async with Client(make()) as client:
        for resource in await client.list_resources():
            text = (await client.read_resource(resource.uri)).contents[0].text or ""
            assert text.startswith("# ")
            assert len(text) > 300, resource.uri
        features = (await client.read_resource(KNOWN["resources"][2])).contents[0].text or ""
        for tool in {*KNOWN["tools"], *LATER}:
            assert f"`{tool}`" in features, f"features.md does not name {tool}"
