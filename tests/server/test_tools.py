"""Tools: registered in every way, called with good and bad arguments, ending in every way."""

import asyncio
import functools
import logging
import re
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any, Literal, NamedTuple, TypedDict

import attrs
import msgspec
import pydantic
import pytest

from splice import Audio, Context, File, Header, Image, Server, ToolError
from splice.errors import InternalError, InvalidParams, MCPError, RPCError
from splice.protocol.content import ImageContent, ResourceContents, ResourceLink, TextContent
from splice.protocol.tools import CallToolResult, ToolAnnotations
from splice.protocol.versions import FACTS, VERSIONS
from splice.protocol.wire import Icon
from splice.schema.validate import validator
from support.caller import LEGACY, MODERN, Caller, text_of
from support.tables import rows
from support.waiting import settle, until
from support.wire import JSON

NEWEST = VERSIONS[-1]


async def listed(server: Server, version: str = NEWEST) -> dict[str, JSON]:
    caller = await Caller(server, version).open()
    result = await caller.result("tools/list")
    return {tool["name"]: tool for tool in result["tools"]}


# Registration.


async def test_a_decorator_with_and_without_parentheses_leaves_the_function_as_it_is() -> None:
    server = Server("s")

    @server.tool
    def bare(a: int) -> str:
        """Do it barely."""
        return str(a)

    @server.tool()
    def called(a: int) -> str:
        return str(a)

    @server.tool(name="other", title="Other", description="Said here.")
    def named(a: int) -> str:
        """Said there."""
        return str(a)

    assert (bare(1), called(2), named(3)) == ("1", "2", "3")
    tools = await listed(server)
    assert list(tools) == ["bare", "called", "other"]
    assert tools["bare"]["description"] == "Do it barely."
    assert "description" not in tools["called"]
    assert (tools["other"]["title"], tools["other"]["description"]) == ("Other", "Said here.")


async def test_everything_a_tool_can_say_of_itself_is_listed() -> None:
    server = Server("s")
    server.add_tool(
        lambda: "x",
        name="all",
        title="All",
        description="Everything.",
        annotations=ToolAnnotations(read_only_hint=True),
        icons=[Icon(src="data:,")],
        meta={"a": 1},
    )
    tool = (await listed(server))["all"]
    assert tool["annotations"] == {"readOnlyHint": True}
    assert tool["icons"] == [{"src": "data:,"}]
    assert tool["_meta"] == {"a": 1}
    assert tool["inputSchema"]["type"] == "object"


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_version_is_told_what_it_knows(version: str) -> None:
    server = Server("s")

    @server.tool(title="T", annotations=ToolAnnotations(title="A"), icons=[Icon(src="data:,")], meta={"a": 1})
    def tool() -> dict[str, int]:
        return {"a": 1}

    said = (await listed(server, version))["tool"]
    place = VERSIONS.index(version)
    assert ("annotations" in said) == (place >= 1)
    assert all((key in said) == (place >= 2) for key in ("title", "_meta", "outputSchema"))
    assert ("icons" in said) == (place >= 3)


async def test_methods_partials_and_callable_objects_are_tools() -> None:
    class Counter:
        """Counts."""

        def __init__(self) -> None:
            self.count = 0

        def add(self, n: int) -> str:
            self.count += n
            return str(self.count)

        async def __call__(self, n: int) -> str:
            return f"called {n}"

    def power(base: int, exponent: int) -> str:
        return str(base**exponent)

    counter, server = Counter(), Server("s")
    server.add_tool(counter.add)
    server.add_tool(counter, name="counter")
    server.add_tool(functools.partial(power, exponent=2), name="square")
    caller = await Caller(server).open()
    assert await caller.text("add", {"n": 2}) == "2"
    assert await caller.text("add", {"n": 3}) == "5"
    assert await caller.text("counter", {"n": 3}) == "called 3"
    assert await caller.text("square", {"base": 5}) == "25"


@pytest.mark.requirement(275)
def test_a_name_is_taken_once() -> None:
    server = Server("s")
    server.add_tool(lambda: "1", name="t")
    with pytest.raises(ValueError, match="'t' exists already"):
        server.add_tool(lambda: "2", name="t")
    server.remove_tool("t")
    server.add_tool(lambda: "2", name="t")
    with pytest.raises(KeyError, match="nope"):
        server.remove_tool("nope")


def test_a_signature_that_cannot_be_called_by_name_is_refused_at_once() -> None:
    server = Server("s")

    def bad(*args: int) -> str:
        return ""

    with pytest.raises(TypeError, match="bad"):
        server.add_tool(bad)
    assert not server.service.home.capabilities().tools


def test_an_option_nobody_knows_is_refused_at_once() -> None:
    with pytest.raises(TypeError):
        Server("s").add_tool(lambda: "", name="t", bogus=1)  # type: ignore[call-arg]  # that is the point


async def test_a_removed_tool_is_neither_listed_nor_called_and_the_last_one_leaves_an_empty_list() -> None:
    server = Server("s")
    server.add_tool(lambda: "1", name="t")
    caller = await Caller(server).open()
    assert await caller.text("t") == "1"
    server.remove_tool("t")
    assert (await caller.error("tools/call", {"name": "t"}))["code"] == -32602
    assert (await caller.result("tools/list"))["tools"] == []


async def test_a_server_without_tools_offers_none() -> None:
    caller = await Caller(Server("s")).open()
    assert (await caller.error("tools/list"))["code"] == -32601


# Where functions run.


async def test_def_runs_on_a_thread_and_async_def_on_the_loop() -> None:
    server = Server("s")
    here = threading.get_ident()

    @server.tool
    def on_thread() -> bool:
        return threading.get_ident() == here

    @server.tool
    async def on_loop() -> bool:
        return threading.get_ident() == here and asyncio.get_running_loop() is not None

    @server.tool(blocking=False)
    def inline() -> bool:
        return threading.get_ident() == here

    caller = await Caller(server, NEWEST).open()
    assert [await caller.text(name) for name in ("on_thread", "on_loop", "inline")] == ["false", "true", "true"]


async def test_a_blocking_tool_does_not_stop_the_others() -> None:
    server, gate = Server("s"), threading.Event()

    @server.tool
    def blocks() -> str:
        gate.wait(5)
        return "free"

    @server.tool
    def opens() -> str:
        gate.set()
        return "opened"

    caller = await Caller(server).open()
    blocked = asyncio.create_task(caller.text("blocks"))
    other = await Caller(server).open()
    assert await other.text("opens") == "opened"
    assert await blocked == "free"


@pytest.mark.parametrize("blocking", [True, False])
async def test_a_def_that_returns_an_awaitable_is_awaited(blocking: bool) -> None:
    async def work(n: int) -> str:
        return str(n)

    def tool(n: int) -> Any:
        return work(n)

    server = Server("s")
    server.add_tool(tool, blocking=blocking)
    caller = await Caller(server).open()
    assert await caller.text("tool", {"n": 1}) == "1"


# Arguments.


class Color(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: int = 0


class Options(TypedDict):
    verbose: bool


class Pair(NamedTuple):
    left: int
    right: int


class Node(msgspec.Struct):
    name: str


class Model(pydantic.BaseModel):
    n: int = pydantic.Field(gt=0)


@attrs.define
class Thing:
    name: str


KINDS: list[tuple[Any, JSON, Any]] = [
    (int, 3, 3),
    (float, 3, 3.0),
    (str, "x", "x"),
    (bool, True, True),
    (Literal["a", "b"], "b", "b"),
    (Color, "red", Color.RED),
    (int | None, None, None),
    (list[int], [1, 2], [1, 2]),
    (dict[str, int], {"a": 1}, {"a": 1}),
    (Point, {"x": 1}, Point(1)),
    (Options, {"verbose": True}, {"verbose": True}),
    (Pair, [1, 2], Pair(1, 2)),
    (Node, {"name": "n"}, Node("n")),
    (Model, {"n": 1}, Model(n=1)),
    (Thing, {"name": "t"}, Thing("t")),
    (Annotated[int, "described"], 3, 3),
    (Annotated[int, msgspec.Meta(ge=1)], 3, 3),
    (Annotated[int, pydantic.Field(ge=1)], 3, 3),
    (Any, {"a": [None]}, {"a": [None]}),
]


@rows(("kind", "sent", "got"), KINDS)
async def test_arguments_arrive_as_they_are_annotated(kind: Any, sent: JSON, got: Any) -> None:
    received: list[Any] = []

    def tool(value: Any) -> str:
        received.append(value)
        return "ok"

    tool.__annotations__["value"] = kind
    server = Server("s")
    server.add_tool(tool)
    caller = await Caller(server).open()
    assert await caller.text("tool", {"value": sent}) == "ok"
    assert received == [got]
    assert type(received[0]) is type(got)


BAD_ARGUMENTS: list[tuple[JSON, list[str]]] = [
    ({}, ["a"]),
    ({"a": "x"}, ["a", "integer", '"x"']),
    ({"a": 1.5}, ["a", "1.5"]),
    ({"a": None}, ["a", "null"]),
    ({"a": 1, "b": 2}, ["b", "a, point"]),
    ({"a": 1, "point": {"x": "no"}}, ["point.x", "integer", '"no"']),
    ([], ["object"]),
    ("x", ["object"]),
]


@rows("version", VERSIONS)
@rows(("arguments", "named"), BAD_ARGUMENTS)
async def test_bad_arguments_are_told_shortly_with_path_value_and_expectation(
    version: str, arguments: JSON, named: list[str]
) -> None:
    server, calls = Server("s"), []

    @server.tool
    def tool(a: int, point: Point | None = None) -> str:
        calls.append(a)
        return "ok"

    caller = await Caller(server, version).open()
    response = await caller.request("tools/call", {"name": "tool", "arguments": arguments})
    if FACTS[version].bad_arguments_are_results:
        assert response["result"]["isError"] is True
        message = text_of(response["result"])
    else:
        assert response["error"]["code"] == -32602
        message = response["error"]["message"]
    assert calls == []
    assert all(word in message for word in named), message
    assert len(message) < 300


async def test_the_context_is_no_argument() -> None:
    server = Server("s")

    @server.tool
    async def tool(ctx: Context, a: int) -> str:
        return f"{a} {type(ctx).__name__}"

    caller = await Caller(server, NEWEST).open()
    assert list((await listed(server))["tool"]["inputSchema"]["properties"]) == ["a"]
    assert await caller.text("tool", {"a": 1}) == "1 Context"
    assert (await caller.call("tool", {"a": 1, "ctx": {}}))["isError"]


async def test_an_author_may_write_the_schema() -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "minimum": 3}}, "required": ["n"]}
    server = Server("s")

    def tool(everything: dict[str, Any]) -> str:
        return str(everything["n"])

    server.add_tool(tool, input_schema=schema)
    caller = await Caller(server, NEWEST).open()
    assert (await listed(server))["tool"]["inputSchema"] == schema
    assert await caller.text("tool", {"n": 3}) == "3"
    for bad in ({"n": 1}, {}, {"n": "x"}):
        result = await caller.call("tool", bad)
        assert result["isError"]
        assert "Invalid arguments" in text_of(result)
    empty = await caller.result("tools/call", {"name": "tool"})
    assert empty["isError"]


def none() -> str:
    return ""


def two(a: int, b: int) -> str:
    return ""


def star(**a: int) -> str:
    return ""


@pytest.mark.parametrize("fn", [none, two, star])
def test_a_tool_with_a_schema_of_its_own_takes_one_dict(fn: Callable[..., Any]) -> None:
    with pytest.raises(TypeError):
        Server("s").add_tool(fn, name="t", input_schema={"type": "object"})


@pytest.mark.requirement(54)
async def test_a_schema_that_refers_elsewhere_is_never_fetched() -> None:
    server = Server("s")

    def tool(everything: dict[str, Any]) -> str:
        return "ran"

    schema = {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema"}}}
    try:
        server.add_tool(tool, input_schema=schema)
    except (ValueError, TypeError):
        return
    caller = await Caller(server, NEWEST).open()
    response = await caller.request("tools/call", {"name": "tool", "arguments": {"a": 1}})
    assert "error" in response or response["result"]["isError"]


@pytest.mark.requirement(147, 148, 149, 150)
async def test_marks_for_headers_are_known_and_bad_ones_refused_at_once() -> None:
    server = Server("s")

    @server.tool
    def tool(region: Annotated[str, Header("Region")]) -> str:
        return region

    assert (await listed(server))["tool"]["inputSchema"]["properties"]["region"]["x-mcp-header"] == "Region"

    def bad(everything: dict[str, Any]) -> str:
        return ""

    schema = {"type": "object", "properties": {"a": {"type": "string", "x-mcp-header": "no good"}}}
    with pytest.raises(ValueError, match="no good"):
        server.add_tool(bad, input_schema=schema)


# Results.

PNG = b"\x89PNG"
RESULTS: list[tuple[Any, Any, list[JSON], JSON]] = [
    (str, "text", [{"type": "text", "text": "text"}], None),
    (None, None, [], None),
    (Any, 5, [{"type": "text", "text": "5"}], None),
    (Any, [1, 2], [{"type": "text", "text": "[1,2]"}], None),
    (Any, {"a": 1}, [{"type": "text", "text": '{"a":1}'}], {"a": 1}),
    (int, 5, [{"type": "text", "text": "5"}], 5),
    (list[int], [1, 2], [{"type": "text", "text": "[1,2]"}], [1, 2]),
    (dict[str, int], {"a": 1}, [{"type": "text", "text": '{"a":1}'}], {"a": 1}),
    (Point, Point(1, 2), [{"type": "text", "text": '{"x":1,"y":2}'}], {"x": 1, "y": 2}),
    (Node, Node("n"), [{"type": "text", "text": '{"name":"n"}'}], {"name": "n"}),
    (Model, Model(n=3), [{"type": "text", "text": '{"n":3}'}], {"n": 3}),
    (Thing, Thing("t"), [{"type": "text", "text": '{"name":"t"}'}], {"name": "t"}),
    (Options, {"verbose": True}, [{"type": "text", "text": '{"verbose":true}'}], {"verbose": True}),
    (Image, Image(PNG), [{"type": "image", "data": "iVBORw==", "mimeType": "image/png"}], None),
    (Audio, Audio(b"RIFF", "audio/x"), [{"type": "audio", "data": "UklGRg==", "mimeType": "audio/x"}], None),
    (
        File,
        File(b"hi", "text/plain", uri="x:y"),
        [{"type": "resource", "resource": {"uri": "x:y", "mimeType": "text/plain", "text": "hi"}}],
        None,
    ),
    (TextContent, TextContent(text="t"), [{"type": "text", "text": "t"}], None),
    (
        ResourceContents,
        ResourceContents(uri="x:y", text="t"),
        [{"type": "resource", "resource": {"uri": "x:y", "mimeType": "text/plain", "text": "t"}}],
        None,
    ),
    (
        list[Any],
        ["a", ImageContent(data="", mime_type="i/j"), {"k": 1}],
        [
            {"type": "text", "text": "a"},
            {"type": "image", "data": "", "mimeType": "i/j"},
            {"type": "text", "text": '{"k":1}'},
        ],
        None,
    ),
    (
        CallToolResult,
        CallToolResult(content=[TextContent(text="t")], structured_content={"s": 1}, is_error=True),
        [{"type": "text", "text": "t"}],
        {"s": 1},
    ),
]


@rows(("kind", "value", "content", "structured"), RESULTS)
@rows("version", MODERN)
async def test_a_result_of_every_kind(kind: Any, value: Any, content: JSON, structured: JSON, version: str) -> None:
    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = kind
    server = Server("s")
    server.add_tool(tool)
    result = await (await Caller(server, version).open()).call("tool")
    assert result["content"] == content
    assert result.get("structuredContent") == structured


@pytest.mark.parametrize("version", VERSIONS)
async def test_structured_output_is_an_object_where_it_must_be(version: str) -> None:
    server = Server("s")

    @server.tool
    def number() -> int:
        return 5

    @server.tool
    def point() -> Point:
        return Point(1)

    caller = await Caller(server, version).open()
    facts = FACTS[version]
    tools = await listed(server, version)
    has = VERSIONS.index(version) >= VERSIONS.index("2025-06-18")
    for name, plain, wrapped in (("number", 5, {"result": 5}), ("point", {"x": 1, "y": 0}, {"x": 1, "y": 0})):
        result = await caller.call(name)
        expected = plain if facts.any_structured_content else wrapped
        assert result.get("structuredContent") == (expected if has else None)
        assert ("outputSchema" in tools[name]) == has
        if has and not facts.any_structured_content:
            assert tools[name]["outputSchema"]["type"] == "object"
        assert result["content"][0]["type"] == "text"


async def test_a_wrapped_schema_still_finds_its_definitions() -> None:
    server = Server("s")

    @server.tool
    def points() -> list[Point]:
        return [Point(1, 2)]

    schema = (await listed(server, LEGACY[-1]))["points"]["outputSchema"]
    validator(schema).check({"result": [{"x": 1, "y": 2}]})
    with pytest.raises(ValueError, match="result"):
        validator(schema).check({"result": [{"x": "one"}]})
    caller = await Caller(server, LEGACY[-1]).open()
    validator(schema).check((await caller.call("points"))["structuredContent"])


@pytest.mark.parametrize("version", VERSIONS)
async def test_content_that_a_version_lacks_becomes_text(version: str) -> None:
    server = Server("s")

    @server.tool
    def tool() -> list[Any]:
        return [Audio(b"x"), ResourceLink(uri="x:y", name="link"), Image(PNG)]

    place = VERSIONS.index(version)
    result = await (await Caller(server, version).open()).call("tool")
    kinds = [block["type"] for block in result["content"]]
    assert kinds == ["audio" if place >= 1 else "text", "resource_link" if place >= 2 else "text", "image"]


async def test_a_result_a_tool_keeps_is_never_changed() -> None:
    kept = CallToolResult(content=[TextContent(text="t")])
    server = Server("s")

    @server.tool
    def tool() -> CallToolResult:
        return kept

    caller = await Caller(server, NEWEST).open()
    assert await caller.call("tool") == await caller.call("tool")
    assert kept == CallToolResult(content=[TextContent(text="t")])


# Failures.


async def test_a_tool_error_reaches_the_model_word_for_word() -> None:
    server = Server("s", errors="hidden")

    @server.tool
    def fails() -> str:
        raise ToolError("No flights on that day.\nTry another one.")

    for version in VERSIONS:
        result = await (await Caller(server, version).open()).call("fails")
        assert result["isError"] is True
        assert text_of(result) == "No flights on that day.\nTry another one."


@pytest.mark.parametrize(
    ("policy", "pattern"),
    [
        ("type", r"The tool fails failed: ZeroDivisionError \(reference ([0-9a-f]{8})\)"),
        ("message", r"The tool fails failed: ZeroDivisionError: secret  \(reference ([0-9a-f]{8})\)"),
        ("hidden", r"The tool fails failed \(reference ([0-9a-f]{8})\)"),
    ],
)
async def test_what_others_read_of_an_exception_is_policy_and_the_log_has_all_of_it(
    policy: Any, pattern: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("s", errors=policy)

    @server.tool
    def fails() -> str:
        raise ZeroDivisionError("secret ")

    result = await (await Caller(server).open()).call("fails")
    assert result["isError"] is True
    found = re.fullmatch(pattern, text_of(result))
    assert found is not None, text_of(result)
    assert found[1] in caplog.text
    assert "ZeroDivisionError: secret" in caplog.text
    assert ("secret" in text_of(result)) == (policy == "message")


async def test_an_exception_without_a_message_has_none_to_tell() -> None:
    server = Server("s", errors="message")

    @server.tool
    def fails() -> str:
        raise KeyError

    assert "failed: KeyError (reference" in text_of(await (await Caller(server).open()).call("fails"))


@pytest.mark.parametrize("error", [InvalidParams("mine", {"d": 1}), RPCError("mine", {"d": 1}, code=-32602)])
async def test_a_protocol_error_is_the_response(error: RPCError) -> None:
    server = Server("s")

    @server.tool
    async def fails() -> str:
        raise error

    assert await (await Caller(server).open()).error("tools/call", {"name": "fails"}) == {
        "code": -32602,
        "message": "mine",
        "data": {"d": 1},
    }


async def test_any_other_error_of_ours_is_not_told() -> None:
    server = Server("s")

    @server.tool
    async def fails() -> str:
        raise MCPError("s3cret")

    result = await (await Caller(server).open()).call("fails")
    assert result["isError"] is True
    assert text_of(result).startswith("The tool fails failed: MCPError (reference ")


async def test_errors_that_a_task_group_bundles_are_told_like_any_other() -> None:
    server = Server("s")

    @server.tool
    async def fails() -> str:
        async def fail() -> None:
            raise ToolError("from inside")

        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
        return ""

    result = await (await Caller(server).open()).call("fails")
    assert text_of(result) == "from inside"


@pytest.mark.parametrize(
    "error",
    [SystemExit(3), asyncio.CancelledError(), StopIteration(), StopAsyncIteration(), RecursionError()],
    ids=repr,
)
@pytest.mark.parametrize("on_thread", [True, False])
async def test_what_is_no_ordinary_exception_fails_the_call_and_nothing_else(
    error: BaseException, on_thread: bool, caplog: pytest.LogCaptureFixture
) -> None:
    server = Server("s")

    def fails() -> str:
        raise error

    async def fails_async() -> str:
        raise error

    server.add_tool(fails if on_thread else fails_async, name="fails")
    caller = await Caller(server).open()
    response = await caller.request("tools/call", {"name": "fails"})
    assert response["result"]["isError"]
    assert "reference" in caplog.text
    assert "result" in await caller.request("ping")


async def test_being_cancelled_is_no_failure(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    server, ended = Server("s"), []

    @server.tool
    async def waits() -> str:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(True)
        return ""

    caller = await Caller(server).open()
    calling = asyncio.create_task(caller.call("waits"))
    await until(lambda: caller.last is not None and caller.last.request.method == "tools/call")
    await settle()
    calling.cancel()
    await asyncio.wait([calling])
    assert calling.cancelled()
    assert ended == [True]
    assert "reference" not in caplog.text


@pytest.mark.parametrize("value", [object, {"a": object}, "\ud800", {1, 2}, 2 + 3j], ids=repr)
async def test_a_result_that_is_no_json_is_a_failure_of_the_tool(value: Any) -> None:
    server = Server("s")

    @server.tool
    async def tool() -> Any:
        return value

    caller = await Caller(server, NEWEST).open()
    try:
        response = await caller.request("tools/call", {"name": "tool"})
    except UnicodeEncodeError:
        assert value == "\ud800"  # what carries the response reports it, as its own tests say
        return
    if not isinstance(value, set):
        assert response["result"]["isError"] is True


@pytest.mark.parametrize("version", [LEGACY[0], LEGACY[-1], *MODERN])
async def test_an_unknown_tool_is_an_error_that_names_it(version: str) -> None:
    server = Server("s")
    server.add_tool(lambda: "", name="t")
    caller = await Caller(server, version).open()
    error = await caller.error("tools/call", {"name": "T"})
    assert error["code"] == -32602
    assert "T" in error["message"]


async def test_an_internal_error_may_be_raised_on_purpose() -> None:
    server = Server("s", errors="hidden")

    @server.tool
    async def fails() -> str:
        raise InternalError("on purpose")

    assert (await (await Caller(server).open()).error("tools/call", {"name": "fails"}))["message"] == "on purpose"


def taking_all(given: Any) -> dict[str, Any]:
    return {"given": given}


DIALECTS = ["https://json-schema.org/draft/2020-12/schema", "https://json-schema.org/draft/2019-09/schema"]
DIALECTS += ["http://json-schema.org/draft-07/schema", "http://json-schema.org/draft-07/schema#"]


@pytest.mark.parametrize("validate", [True, False])
@pytest.mark.parametrize("field", ["input_schema", "output_schema"])
@pytest.mark.requirement(49, 50, 51, 52, 53)
async def test_a_dialect_that_is_not_read_is_refused_when_the_tool_is_added(field: str, validate: bool) -> None:
    for known in DIALECTS:
        options: Any = {field: {"$schema": known, "type": "object"}}
        Server("s").add_tool(taking_all, name="t", validate=validate, **options)
    others: list[Any] = ["http://json-schema.org/draft-04/schema#", "https://example.com/mine", 5, ""]
    for dialect in others:
        options = {field: {"$schema": dialect, "type": "object"}}
        with pytest.raises(ValueError) as caught:
            Server("s").add_tool(taking_all, name="t", validate=validate, **options)
        unsupported = f"tool 't': {field}: unsupported JSON Schema dialect {str(dialect).removesuffix('#')}"
        assert str(caught.value) == f"{unsupported}; supported are {', '.join(DIALECTS[:3])}"
    options = {field: {"type": "object", "properties": 5}}
    with pytest.raises(ValueError, match=f"tool 't': {field}: invalid JSON Schema"):
        Server("s").add_tool(taking_all, name="t", validate=validate, **options)
