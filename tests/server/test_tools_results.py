"""Results keep to their schema, arguments that are meant well are repaired, and a call may have a limit."""

import asyncio
import logging
import re
from dataclasses import dataclass
from typing import Any

import msgspec
import pytest

from splice import Context, Server, ToolError
from splice.protocol.content import TextContent
from splice.protocol.tools import CallToolResult
from splice.protocol.versions import VERSIONS
from splice.schema.validate import BadSchema
from support.caller import Caller, text_of
from support.wire import JSON

NEWEST = VERSIONS[-1]
WRAPPING = VERSIONS[2:4]
COUNT: JSON = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}


@dataclass
class Stock:
    n: int


def result(structured: Any = None, *, is_error: bool = False) -> CallToolResult:
    return CallToolResult(content=[TextContent(text="t")], structured_content=structured, is_error=is_error)


def serving(value: Any, kind: Any = Any, **options: Any) -> Server:
    server = Server("s")

    async def tool() -> Any:
        return value

    tool.__annotations__["return"] = kind
    server.add_tool(tool, name="t", **options)
    return server


def takes_one(given: dict[str, Any]) -> None:
    assert given


# Results and their schema.


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize(
    ("value", "options"),
    [
        ({"n": "many"}, {}),
        ({}, {}),
        (None, {}),
        ([1], {}),
        ("text", {}),
        (result({"n": "many"}), {}),
        (result(), {}),
        (result(msgspec.Raw(b"null")), {}),
        (CallToolResult(content="hi"), {}),  # type: ignore[arg-type]  # on purpose
    ],
)
@pytest.mark.requirement(280)
async def test_a_result_that_breaks_the_schema_is_an_error_of_the_server(
    value: Any, options: Any, version: str, caplog: pytest.LogCaptureFixture
) -> None:
    caller = await Caller(serving(value, output_schema=COUNT, **options), version).open()
    told = await caller.call("t")
    assert told["isError"]
    assert "structuredContent" not in told
    assert text_of(told).startswith("The tool t failed: ")
    (record,) = [each for each in caplog.records if each.levelno == logging.ERROR]
    assert record.exc_info is not None
    assert re.search("output schema|list of blocks", str(record.exc_info[1]))


@pytest.mark.parametrize(
    ("value", "kind", "options"),
    [
        ({"n": 1}, Any, {"output_schema": COUNT}),
        (result({"n": 1}), Any, {"output_schema": COUNT}),
        (result(is_error=True), Any, {"output_schema": COUNT}),
        ({"n": "many"}, Any, {"output_schema": COUNT, "validate": False}),
        (result(), Any, {"output_schema": COUNT, "validate": False}),
        (Stock(1), Stock, {"validate": True}),
        (result({"n": 1}), Stock, {}),
        (result(Stock(1)), Stock, {}),
        (msgspec.Raw(b'{"n":1}'), Any, {"output_schema": COUNT}),
    ],
)
async def test_results_that_pass(value: Any, kind: Any, options: Any) -> None:
    caller = await Caller(serving(value, kind, **options), NEWEST).open()
    assert not text_of(await caller.call("t")).startswith("The tool t failed")


@pytest.mark.parametrize(("value", "options"), [(result({"n": "x"}), {}), (Stock("x"), {"validate": True})])  # type: ignore[arg-type]  # on purpose
async def test_a_schema_of_the_annotation_counts_where_types_say_nothing(value: Any, options: Any) -> None:
    caller = await Caller(serving(value, Stock, **options), NEWEST).open()
    assert (await caller.call("t"))["isError"]


@pytest.mark.parametrize("version", WRAPPING)
@pytest.mark.parametrize(
    ("structured", "options", "sent"),
    [
        ([1], {"output_schema": {"type": "array"}}, {"result": [1]}),
        (msgspec.Raw(b"null"), {"output_schema": {}}, {"result": None}),
        ([1], {}, {"result": [1]}),
        ({"a": 1}, {}, {"a": 1}),
        (Stock(1), {}, {"n": 1}),
    ],
)
@pytest.mark.requirement(280)
async def test_structured_content_made_by_hand_is_wrapped_like_any_other(
    structured: Any, options: Any, sent: JSON, version: str
) -> None:
    caller = await Caller(serving(result(structured), **options), version).open()
    assert (await caller.call("t"))["structuredContent"] == sent


@pytest.mark.parametrize("option", ["output_schema", "input_schema"])
@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ({"type": "object", "properties": {"a": {"type": "banana"}}}, "invalid JSON Schema"),
        ({"type": "object", "$schema": "urn:x"}, "unsupported JSON Schema dialect urn:x; supported are "),
        ({"type": "object", "$ref": "http://h/x"}, "outside of itself; nothing is ever fetched"),
        ({"type": "object", "anyOf": [{"pattern": str(n)} for n in range(300)]}, "more than 200 patterns"),
    ],
    ids=lambda value: str(value)[:40],
)
@pytest.mark.requirement(51, 52, 53)
def test_a_schema_that_cannot_be_used_is_refused_at_once(option: str, schema: JSON, message: str) -> None:
    with pytest.raises(BadSchema, match=rf"^tool 't': {option}: ") as caught:
        Server("s").add_tool(takes_one, name="t", **{option: schema})
    assert message in str(caught.value)


@pytest.mark.parametrize("schema", [{}, {"type": "array"}, {"type": ["object"]}])
@pytest.mark.requirement(269)
def test_arguments_are_an_object(schema: JSON) -> None:
    with pytest.raises(ValueError, match=r"^tool 't': input_schema: arguments are an object; give it "):
        Server("s").add_tool(takes_one, name="t", input_schema=schema)


async def test_a_result_too_large_to_check_is_sent_with_a_warning(caplog: pytest.LogCaptureFixture) -> None:
    choices = [{"n": number} for number in range(4_000)]
    server = serving(choices[-1:] * 4_000, output_schema={"type": "array", "items": {"enum": choices}})
    caller = await Caller(server, NEWEST).open()
    assert len((await caller.call("t"))["structuredContent"]) == 4_000
    assert "a result of t was not held against its output schema" in caplog.text


@pytest.mark.parametrize("value", [Stock(1), {"n": 1}, [1], 5])
async def test_structured_output_can_be_switched_off(value: Any) -> None:
    caller = await Caller(serving(value, Any if isinstance(value, int) else type(value), output_schema=None)).open()
    (tool,) = (await caller.result("tools/list"))["tools"]
    assert "outputSchema" not in tool
    told = await caller.call("t")
    assert "structuredContent" not in told
    assert msgspec.json.decode(text_of(told)) == msgspec.to_builtins(value)


# Repairs.


def counting(**options: Any) -> Server:
    server = Server("s", **options)

    @server.tool
    async def count(n: int, words: list[str] | None = None) -> str:
        return f"{n} {words}"

    @server.tool(input_schema=COUNT)
    async def checked(given: dict[str, Any]) -> str:
        return str(given)

    return server


@pytest.mark.parametrize(
    ("tool", "arguments", "text", "paths"),
    [
        ("count", {"n": "5", "words": "a"}, "5 ['a']", ["n", "words"]),
        ("checked", {"n": "5"}, "{'n': 5}", ["n"]),
        ("count", {"n": 5}, "5 None", None),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
async def test_repairs_are_reported(
    tool: str, arguments: JSON, text: str, paths: JSON, version: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "splice.server")
    caller = await Caller(counting(), version).open()
    told = await caller.call(tool, arguments)
    assert text_of(told) == text
    report = told.get("_meta", {}).get("splice/repaired")
    assert (report and [each["path"] for each in report]) == paths
    assert ("repaired arguments of" in caplog.text) is (paths is not None)


async def test_repairs_are_reported_when_the_tool_fails_all_the_same() -> None:
    server = counting()

    @server.tool
    def fail(n: int) -> None:
        raise ToolError(f"no {n}")

    told = await (await Caller(server, NEWEST).open()).call("fail", {"n": "5"})
    assert (told["isError"], text_of(told)) == (True, "no 5")
    assert told["_meta"]["splice/repaired"] == [{"path": "n", "from": '"5"', "to": "5"}]


@pytest.mark.parametrize(
    ("arguments", "why", "options"),
    [
        ({"n": "5"}, 'n: expected integer, got "5"', {"strict": True}),
        ({"n": "five"}, 'n: expected integer, got "five"', {}),
        ({"n": "5", "words": 5}, "count: words: expected array or null, got 5", {}),
        ({"words": "a"}, "count: n: required, but missing", {}),
        ({"n": "5", "words": "[1]"}, "count: words[0]: expected string, got 1", {}),
        ({"n": 5, "wrods": ["a"]}, "wrods: unknown name; known are: n, words. Did you mean 'words'?", {}),
    ],
)
async def test_only_what_no_repair_mends_is_refused(arguments: JSON, why: str, options: Any) -> None:
    caller = await Caller(counting(**options), NEWEST).open()
    told = await caller.call("count", arguments)
    assert told["isError"]
    assert text_of(told).endswith(why)
    assert "_meta" not in told or "splice/repaired" not in told["_meta"]


async def test_unknown_names_are_told_the_near_ones() -> None:
    server = counting()
    server.add_prompt(lambda: "", name="review")
    caller = await Caller(server, NEWEST).open()
    error = await caller.error("tools/call", {"name": "cuont"})
    assert error["message"] == "Unknown tool: 'cuont'. Did you mean 'count'?"
    assert (await caller.error("prompts/get", {"name": "revue"}))["message"] == (
        "Unknown prompt: 'revue'. Did you mean 'review'?"
    )
    assert (await caller.error("tools/call", {"name": "x\x1b" * 500}))["message"].isascii()


def test_hundreds_of_known_names_are_not_listed() -> None:
    server = Server("s")
    names = {f"a{number}": {"type": "integer"} for number in range(300)}
    schema = {"type": "object", "properties": names, "additionalProperties": False}
    server.add_tool(takes_one, name="t", input_schema=schema)

    async def told() -> str:
        caller = await Caller(server, NEWEST).open()
        return text_of(await caller.call("t", {"zzz": 1}))

    text = asyncio.run(told())
    assert text.endswith("...")
    assert len(text) < 600


# Limits.


@pytest.mark.parametrize("blocking", [True, False])
async def test_a_tool_may_have_a_limit(blocking: bool) -> None:
    server, ended = Server("s"), asyncio.Event()

    if blocking:

        def slow(ctx: Context) -> None:
            ctx.wait(asyncio.Event().wait())
    else:

        async def slow() -> None:  # type: ignore[misc]  # the other one
            try:
                await asyncio.Event().wait()
            finally:
                ended.set()

    server.add_tool(slow, timeout=0.02)
    caller = await Caller(server, NEWEST).open()
    async with asyncio.timeout(5):
        told = await caller.call("slow")
        assert (told["isError"], text_of(told)) == (True, "The tool slow took longer than 0.02 s")
        if not blocking:
            await ended.wait()


async def test_the_limit_of_a_tool_is_not_any_other() -> None:
    server = Server("s")

    @server.tool(timeout=60)
    async def raising() -> None:
        raise TimeoutError("another")

    @server.tool(timeout=60)
    async def quick(ctx: Context) -> str:
        return (await ctx.roots())[0].uri

    caller = await Caller(server, NEWEST, answers=lambda *_: {"roots": [{"uri": "file:///a"}]}).open()
    assert text_of(await caller.call("raising")).startswith("The tool raising failed: TimeoutError")
    assert await caller.text("quick") == "file:///a"
    for bad in (0, "5", float("nan")):
        with pytest.raises(
            (TypeError, ValueError), match=f"^timeout= of tool 't' takes a number of seconds .*, not {bad!r}$"
        ):
            server.add_tool(quick, name="t", timeout=bad)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
