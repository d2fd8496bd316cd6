"""Our server on the wire: raw JSON from a client without any code of ours, over stdio and over HTTP."""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from typing import Any

import pytest

from splice import Server, errors
from splice.errors import RESOURCE_NOT_FOUND
from splice.protocol.jsonrpc import encode
from splice.protocol.versions import FACTS, LATEST_HANDSHAKE, LATEST_MODERN, VERSIONS
from support import behaving_server
from support.caller import LEGACY, Caller
from support.program import program
from support.raw_client import OverHTTP, Wire, opened, wired
from support.warm import warm_python
from support.wire import JSON, ask, call, initialize, modern

KINDS = ("stdio", "http")
CAN_ALL: JSON = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
SPECIFIED = {-32700, *range(-32603, -32599), -32002, -32042, -32020, -32021, -32022}
RESERVED = range(-32768, -31999)

over = pytest.mark.parametrize("kind", KINDS)


# Errors.

REFUSED: dict[str, tuple[JSON, int, int | None]] = {
    "no such tool": (call(1, "nope"), -32602, None),
    "a tool's name has a case": (call(1, "Echo", {"text": "x"}), -32602, None),
    "no such method": (ask(1, "tools/nope", {}), -32601, None),
    "no name": (ask(1, "tools/call", {}), -32602, None),
    "no such resource": (ask(1, "resources/read", {"uri": "data://nope"}), -32602, RESOURCE_NOT_FOUND),
    "not a URI": (ask(1, "resources/read", {"uri": "not a uri"}), -32602, RESOURCE_NOT_FOUND),
    "an argument is missing": (ask(1, "prompts/get", {"name": "review"}), -32602, None),
    "an argument is no string": (ask(1, "prompts/get", {"name": "review", "arguments": {"code": 5}}), -32602, None),
    "no such prompt": (
        ask(
            1,
            "completion/complete",
            {"ref": {"type": "ref/prompt", "name": "x"}, "argument": {"name": "a", "value": ""}},
        ),
        -32602,
        None,
    ),
    "no such cursor": (ask(1, "tools/list", {"cursor": "nope"}), -32602, None),
}
"""What is asked, the code in the modern era, and the one in the last legacy version where it is another."""


REFUSED_IN_MODERN = {**REFUSED, "the client cannot be asked": (call(1, "introduce"), -32021, None)}


def check_error(response: JSON, code: int) -> None:
    error = response["error"]
    assert "result" not in response
    assert response["id"] == 1
    assert (type(error["code"]), type(error["message"])) == (int, str)
    assert error["code"] == code, error


@over
@pytest.mark.parametrize("what", REFUSED_IN_MODERN)
@pytest.mark.requirement(13, 14, 15, 16, 17, 20, 42, 272, 309)
async def test_a_modern_request_that_is_refused(kind: str, what: str) -> None:
    message, code, _ = REFUSED_IN_MODERN[what]
    async with wired(kind) as wire:
        check_error(await wire.ask(modern(1, message["method"], message["params"])), code)


@over
@pytest.mark.parametrize("what", REFUSED)
@pytest.mark.requirement(13, 14, 15, 272, 309)
async def test_a_legacy_request_that_is_refused(kind: str, what: str) -> None:
    message, code, legacy = REFUSED[what]
    async with wired(kind) as wire:
        await opened(wire, LATEST_HANDSHAKE)
        check_error(await wire.ask(message), legacy or code)


@over
async def test_a_legacy_client_that_cannot_be_asked_has_a_result_for_the_model(kind: str) -> None:
    async with wired(kind) as wire:
        await opened(wire, LATEST_HANDSHAKE)
        assert (await wire.ask(call(1, "introduce")))["result"]["isError"] is True


ENVELOPE = "io.modelcontextprotocol/"
BAD_ENVELOPES: dict[str, tuple[JSON, int]] = {
    "an unknown version": ({"protocolVersion": "2099-01-01"}, -32022),
    "no capabilities": ({"clientCapabilities": None}, -32602),
    "a log level that is none": ({"logLevel": "loud"}, -32602),
}


@over
@pytest.mark.parametrize("what", BAD_ENVELOPES)
@pytest.mark.requirement(20, 319)
async def test_an_envelope_that_is_refused(kind: str, what: str) -> None:
    changes, code = BAD_ENVELOPES[what]
    message = modern(1, "tools/list")
    fields = message["params"]["_meta"] | {ENVELOPE + name: value for name, value in changes.items()}
    message["params"]["_meta"] = {name: value for name, value in fields.items() if value is not None}
    async with wired(kind) as wire:
        check_error(await wire.ask(message), code)
        if isinstance(wire, OverHTTP):
            assert wire.status == 400


BARE: dict[str, JSON] = {
    "nothing": None,
    "no _meta": {},
    "an empty _meta": {"_meta": {}},
    "capabilities alone": {"_meta": {ENVELOPE + "clientCapabilities": {}}},
    "a name alone": {"_meta": {ENVELOPE + "clientInfo": {"name": "a", "version": "1"}}},
}


@pytest.mark.requirement(39)
@pytest.mark.parametrize("what", BARE)
@pytest.mark.parametrize("method", ["tools/list", "server/discover", "no/such"])
async def test_what_a_request_must_say_of_itself_is_named(what: str, method: str) -> None:
    async with wired("stdio") as wire:
        response = await wire.ask(ask(1, method, BARE[what]))
        check_error(response, -32602)
        assert ENVELOPE + "protocolVersion" in response["error"]["message"]


@pytest.mark.requirement(140)
async def test_a_version_that_only_a_header_names_is_answered_with_those_there_are() -> None:
    async with wired("http") as wire:
        assert isinstance(wire, OverHTTP)
        (response,) = await wire.post(ask(1, "tools/list", {}), MCP_Protocol_Version="2099-01-01")
        check_error(response, -32022)
        assert wire.status == 400
        assert LATEST_MODERN in response["error"]["data"]["supported"]


@pytest.mark.requirement(20, 139, 172, 174)
@pytest.mark.parametrize(
    "headers", [{"Mcp_Method": "tools/call"}, {"Mcp_Name": "add"}, {"MCP_Protocol_Version": "2025-11-25"}]
)
async def test_a_header_that_says_otherwise(headers: dict[str, str]) -> None:
    async with wired("http") as wire:
        assert isinstance(wire, OverHTTP)
        message = modern(1, "tools/list") if "Mcp_Method" in headers else modern(1, "tools/call", {"name": "person"})
        (response,) = await wire.post(message, **headers)
        check_error(response, -32020)
        assert wire.status == 400


@over
@pytest.mark.requirement(319)
async def test_a_log_level_that_is_none(kind: str) -> None:
    async with wired(kind) as wire:
        await opened(wire, LATEST_HANDSHAKE)
        check_error(await wire.ask(ask(1, "logging/setLevel", {"level": "loud"})), -32602)


@pytest.mark.requirement(23)
def test_codes_of_our_own_are_out_of_the_reserved_range() -> None:
    codes = {name: value for name, value in vars(errors).items() if type(value) is int}
    assert codes
    assert not {name: code for name, code in codes.items() if code in RESERVED and code not in SPECIFIED}


# What a server writes.

CHATTY: list[tuple[str, JSON]] = [
    ("steps", {"values": [1, 2, 3]}),
    ("chatter", {}),
    ("introduce", {}),
    ("sign_in", {}),
    ("summarize", {"text": "x"}),
    ("places", {}),
    ("everything", {}),
    ("by_hand", {}),
    ("touch", {"uri": "data://motto"}),
    ("fail", {"why": "x"}),
    ("crash", {}),
]
QUESTIONS = {"elicitation/create", "sampling/createMessage", "roots/list"}


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse an object that has a key twice."""
    assert len({key for key, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


@over
@pytest.mark.requirement(9, 24, 26, 44, 106, 210, 213, 215, 242)
async def test_a_modern_server_only_answers(kind: str) -> None:
    """No request, no cancellation, no notification with an id, whatever it would like to know from the client."""
    async with wired(kind) as wire:
        for number, (tool, arguments) in enumerate(CHATTY):
            said = {"capabilities": CAN_ALL, "level": "debug", "token": f"t{number}"}
            result = (await wire.ask(modern(number, "tools/call", {"name": tool, "arguments": arguments}, **said)))[
                "result"
            ]
            assert result["resultType"] in {"complete", "input_required"}
            assert result["_meta"][ENVELOPE + "serverInfo"]["name"] == "behaving"
            if result["resultType"] == "input_required":
                assert result.get("inputRequests") or result.get("requestState")
                assert {each["method"] for each in result["inputRequests"].values()} <= QUESTIONS
        assert {each["method"] for each in wire.told} == {"notifications/progress", "notifications/message"}
        assert not [each for each in wire.told if "id" in each]


@pytest.mark.requirement(214)
@pytest.mark.parametrize("tool", ["by_hand", "everything", "introduce"])
async def test_questions_have_one_key_each(tool: str) -> None:
    caller = Caller(behaving_server.build(), LATEST_MODERN, can=CAN_ALL)
    await caller.send("tools/call", caller.stamped({"name": tool}))
    assert caller.last is not None
    response = json.loads(encode(await caller.server.service.handle(caller.last)), object_pairs_hook=unique)
    assert response["result"]["inputRequests"]


@over
@pytest.mark.requirement(24)
async def test_notifications_of_a_session_have_no_id(kind: str) -> None:
    async with wired(kind) as wire:
        await opened(wire, LATEST_HANDSHAKE)
        await wire.ask(ask(1, "resources/subscribe", {"uri": "data://motto"}))
        for number, (tool, arguments) in enumerate([*CHATTY[:2], CHATTY[8]], 2):
            await wire.ask(call(number, tool, arguments, _meta={"progressToken": number}))
        assert wire.told
        assert not [each for each in wire.told if "id" in each]


@over
@pytest.mark.requirement(317, 318)
@pytest.mark.parametrize(("level", "heard"), [(None, 0), ("error", 1), ("debug", 3)])
async def test_log_messages_go_to_whom_wants_them_before_the_answer(kind: str, level: str | None, heard: int) -> None:
    async with wired(kind) as wire:
        await wire.ask(modern(1, "tools/call", {"name": "chatter"}, level=level))
        assert [each["method"] for each in wire.told] == ["notifications/message"] * heard
        await wire.ask(modern(2, "tools/list", level="debug"))
        assert len(wire.told) == heard


@over
@pytest.mark.requirement(32)
@pytest.mark.parametrize(
    "odd",
    [{ENVELOPE + "unheardOf": 5}, {ENVELOPE + "related-task": {"x": [None]}}, {"com.example/tenant": [1, {"a": None}]}],
    ids=str,
)
async def test_nothing_is_assumed_of_keys_that_are_not_known(kind: str, odd: JSON) -> None:
    async with wired(kind) as wire:
        message = modern(1, "tools/call", {"name": "echo", "arguments": {"text": "hi"}})
        message["params"]["_meta"] |= odd
        assert (await wire.ask(message))["result"]["content"][0]["text"] == "hi"


@over
@pytest.mark.requirement(70)
async def test_an_extension_that_only_the_client_has_changes_nothing(kind: str) -> None:
    async with wired(kind) as wire:
        said = {"extensions": {"com.example/odd": {"x": 1}}}
        result = (await wire.ask(modern(1, "tools/call", {"name": "person"}, capabilities=said)))["result"]
        assert (result["resultType"], result["structuredContent"]) == ("complete", {"name": "Ada", "age": 30})
        check_error(await wire.ask(modern(1, "com.example/odd", capabilities=said)), -32601)


@over
@pytest.mark.requirement(422)
async def test_a_task_that_nobody_offered_is_ignored(kind: str) -> None:
    async with wired(kind) as wire:
        await opened(wire, LATEST_HANDSHAKE)
        response = await wire.ask(call(1, "echo", {"text": "hi"}, task={"ttl": 60_000}))
        assert response["result"]["content"] == [{"type": "text", "text": "hi"}]


# Lists.

LISTS = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources",
         "resources/templates/list": "resourceTemplates"}  # fmt: skip


async def pages(wire: Wire, method: str, **said: JSON) -> list[JSON]:
    """Read all pages of a list, as a client that says this of itself."""
    found, cursor = list[JSON](), None
    while True:
        params: JSON = {} if cursor is None else {"cursor": cursor}
        found.append((await wire.ask(modern(len(found), method, params, **said)))["result"])
        cursor = found[-1].get("nextCursor")
        if cursor is None:
            return found


@over
@pytest.mark.parametrize("method", LISTS)
@pytest.mark.requirement(27, 45, 266, 287, 301, 338)
async def test_everybody_is_offered_the_same_whatever_was_asked_before(kind: str, method: str) -> None:
    async with wired(kind) as wire:
        first = await pages(wire, method)
        assert {(page["cacheScope"], page["ttlMs"]) for page in first} == {("private", 0)}
        names = [each["name"] for page in first for each in page[LISTS[method]]]
        assert names
        for name in ("echo", "crash", "introduce"):
            await wire.ask(modern(1, "tools/call", {"name": name, "arguments": {"text": "x"}}, capabilities=CAN_ALL))
        assert await pages(wire, method, capabilities=CAN_ALL, level="debug") == first
        await opened(wire, LATEST_HANDSHAKE, roots={})
        legacy = (await wire.ask(ask(1, method)))["result"]
        assert [each["name"] for each in legacy[LISTS[method]]] == names[: len(legacy[LISTS[method]])]


@pytest.mark.requirement(312)
async def test_completions_are_cut_at_a_hundred_and_say_so() -> None:
    server = Server("many")
    server.add_prompt(lambda city: city, name="go")
    server.completion("go", "city")(lambda _: [f"city {number}" for number in range(150)])
    params: JSON = {"ref": {"type": "ref/prompt", "name": "go"}, "argument": {"name": "city", "value": ""}}
    completion = (await Caller(server, LATEST_MODERN).result("completion/complete", params))["completion"]
    assert completion["values"] == [f"city {number}" for number in range(100)]
    assert (completion["total"], completion["hasMore"]) == (150, True)


# Opening.


@over
@pytest.mark.parametrize("offered", [*LEGACY, "1999-01-01", LATEST_MODERN])
@pytest.mark.requirement(83, 84, 264, 285, 299, 310, 315)
async def test_a_version_is_echoed_or_the_latest_is_offered_instead(kind: str, offered: str) -> None:
    async with wired(kind) as wire:
        if isinstance(wire, OverHTTP):
            (response,) = await wire.post(initialize(offered))
        else:
            response = await wire.ask(initialize(offered))
        result = response["result"]
        version = offered if offered in LEGACY else LATEST_HANDSHAKE
        assert result["protocolVersion"] == version
        declared = {"tools", "resources", "prompts", "logging"} | ({"completions"} if version != VERSIONS[0] else set())
        assert set(result["capabilities"]) == declared


@pytest.mark.requirement(198, 199, 501)
async def test_ids_of_sessions_are_visible_and_cannot_be_guessed() -> None:
    async with wired("http") as wire:
        assert isinstance(wire, OverHTTP)
        seen = set[str]()
        for _ in range(20):
            wire.session = ""
            await wire.ask(initialize(LATEST_HANDSHAKE))
            seen.add(wire.session)
    assert len(seen) == 20
    assert all(re.fullmatch(r"[\x21-\x7e]{32,}", each) for each in seen)


@pytest.mark.requirement(111)
async def test_the_end_of_input_ends_the_server() -> None:
    async with program(behaving_server.__file__, python=warm_python()) as process:
        await process.open(LATEST_HANDSHAKE)
        process.close_input()
        assert await process.ended() == 0
        assert await process.rest() == []


# Subscriptions.


@pytest.mark.requirement(47, 234, 235)
@pytest.mark.parametrize("wanted", [{"toolsListChanged": True}, {"resourceSubscriptions": ["data://motto"]}], ids=str)
async def test_a_listener_is_acknowledged_first_and_all_it_is_told_bears_its_id(wanted: JSON) -> None:
    async with program(behaving_server.__file__, python=warm_python()) as process:
        await process.send(modern("mine", "subscriptions/listen", {"notifications": wanted}))
        for number, uri in enumerate(["data://bytes", "data://motto"]):
            await process.request(modern(number, "tools/call", {"name": "touch", "arguments": {"uri": uri}}))
        await process.request(modern(9, "tools/call", {"name": "grow", "arguments": {"name": "new"}}))
        while len(process.others) < 2:
            process.others.append(await process.receive())
        first, second = process.others
        assert first["method"] == "notifications/subscriptions/acknowledged"
        assert first["params"]["notifications"] == wanted
        note = "tools/list_changed" if "toolsListChanged" in wanted else "resources/updated"
        assert second["method"] == f"notifications/{note}"
        assert second["params"].get("uri") in {None, "data://motto"}
        assert {each["params"]["_meta"][ENVELOPE + "subscriptionId"] for each in (first, second)} == {"mine"}


# The door.

Send = Callable[[OverHTTP], tuple[Any, bytes]]
POST = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
STREAM = {"Accept": "text/event-stream"}
KEPT_OUT: dict[str, tuple[Send, int]] = {
    "another host": (lambda wire: wire.send("POST", POST | {"Host": "evil.example"}, b"{}"), 403),
    "another origin": (lambda wire: wire.send("POST", POST | {"Origin": "http://evil.example"}, b"{}"), 403),
    "the stream of HTTP+SSE": (lambda wire: wire.send("GET", STREAM, path="/sse"), 400),
    "a stream without a session": (lambda wire: wire.send("GET", STREAM), 400),
}


@pytest.mark.requirement(179, 504)
@pytest.mark.parametrize("what", KEPT_OUT)
async def test_who_is_kept_out(what: str) -> None:
    send, status = KEPT_OUT[what]
    async with wired("http") as wire:
        assert isinstance(wire, OverHTTP)
        answer, body = await asyncio.to_thread(send, wire)
        assert answer.status == status, body
        assert "event-stream" not in answer.headers.get("Content-Type", "")


@pytest.mark.requirement(118, 504)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no second loopback address")
async def test_a_server_listens_on_one_loopback_address_unless_told_otherwise() -> None:
    script = "from splice import Server; Server('s').run('http', port=0)"
    async with program("-c", script) as process:
        await process.said("/mcp")
        (port,) = re.findall(r"http://127\.0\.0\.1:(\d+)/mcp", process.errors.decode())
        _, writer = await asyncio.open_connection("127.0.0.1", int(port))
        writer.close()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.2", int(port))


@over
@pytest.mark.requirement(280, 283)
@pytest.mark.parametrize(
    "version", [version for version in VERSIONS if FACTS[version].mirrored_headers or version in LEGACY[2:]]
)
async def test_what_a_tool_gives_fits_the_schema_it_names(kind: str, version: str) -> None:
    async with wired(kind) as wire:
        is_modern = FACTS[version].request_meta
        if not is_modern:
            await opened(wire, version)
        listed = await wire.ask(modern(1, "tools/list") if is_modern else ask(1, "tools/list"))
        schemas = {tool["name"]: tool.get("outputSchema") for tool in listed["result"]["tools"]}
        person = await wire.ask(modern(2, "tools/call", {"name": "person"}) if is_modern else call(2, "person"))
        assert set(schemas["person"]["properties"]) == set(person["result"]["structuredContent"])
        assert json.loads(person["result"]["content"][0]["text"]) == person["result"]["structuredContent"]
        failed = await wire.ask(
            modern(3, "tools/call", {"name": "add", "arguments": {"a": "x"}})
            if is_modern
            else call(3, "add", {"a": "x"})
        )
        if FACTS[version].bad_arguments_are_results:
            assert failed["result"]["isError"]
            assert "structuredContent" not in failed["result"]
        else:
            assert failed["error"]["code"] == -32602
