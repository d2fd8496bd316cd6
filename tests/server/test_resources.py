"""Resources and templates: listed, found, read, refused."""
# ruff: noqa: ARG005 - what parameters are called is all that counts of them

import base64
from typing import Any

import pytest

from splice import Context, File, Image, InputRequired, Server, ToolError
from splice.errors import ResourceNotFound
from splice.protocol.content import Annotations, ResourceContents
from splice.protocol.resources import ReadResourceResult
from splice.protocol.versions import FACTS, VERSIONS
from splice.protocol.wire import Icon
from support.caller import LEGACY, MODERN, Caller
from support.tables import rows
from support.wire import JSON

NEWEST = VERSIONS[-1]


async def read(server: Server, uri: str, version: str = NEWEST) -> list[JSON]:
    result = await (await Caller(server, version).open()).result("resources/read", {"uri": uri})
    contents: list[JSON] = result["contents"]
    return contents


async def test_everything_a_resource_can_say_of_itself_is_listed() -> None:
    server = Server("s")

    @server.resource(
        "data://x",
        name="x",
        title="X",
        description="An X.",
        mime_type="text/x",
        size=3,
        annotations=Annotations(priority=1),
        icons=[Icon(src="data:,")],
        meta={"a": 1},
    )
    def x() -> str:
        """Not this one."""
        return "abc"

    @server.resource("data://{y}", mime_type="text/y")
    def family(y: str) -> str:
        """Make a Y."""
        return y

    assert x() == "abc"
    caller = await Caller(server, NEWEST).open()
    (listed,) = (await caller.result("resources/list"))["resources"]
    assert listed == {
        "uri": "data://x",
        "name": "x",
        "title": "X",
        "description": "An X.",
        "mimeType": "text/x",
        "size": 3,
        "annotations": {"priority": 1},
        "icons": [{"src": "data:,"}],
        "_meta": {"a": 1},
    }
    (template,) = (await caller.result("resources/templates/list"))["resourceTemplates"]
    assert template == {"uriTemplate": "data://{y}", "name": "family", "description": "Make a Y.", "mimeType": "text/y"}


CONTENTS: list[tuple[Any, str | None, JSON]] = [
    ("text", None, {"mimeType": "text/plain", "text": "text"}),
    ("<p>", "text/html", {"mimeType": "text/html", "text": "<p>"}),
    (b"\x00\xff", None, {"mimeType": "application/octet-stream", "blob": "AP8="}),
    (bytearray(b"ab"), None, {"mimeType": "application/octet-stream", "blob": "YWI="}),
    (b"text", "text/plain", {"mimeType": "text/plain", "text": "text"}),
    (b"\xff", "text/plain", {"mimeType": "text/plain", "blob": "/w=="}),
    ({"a": [1]}, None, {"mimeType": "application/json", "text": '{"a":[1]}'}),
    (None, None, {"mimeType": "application/json", "text": "null"}),
    ([], None, {"mimeType": "application/json", "text": "[]"}),
    (Image(b"png"), None, {"mimeType": "image/png", "blob": "cG5n"}),
    (File(b"hi", "text/x"), None, {"mimeType": "text/x", "text": "hi"}),
    (ResourceContents(uri="other:x", text="t"), None, {"uri": "other:x", "text": "t"}),
]


@rows(("value", "mime_type", "expected"), CONTENTS)
async def test_contents_of_every_kind(value: Any, mime_type: str | None, expected: JSON) -> None:
    server = Server("s")
    options: Any = {} if mime_type is None else {"mime_type": mime_type}

    @server.resource("data://x", **options)
    async def x() -> Any:
        return value

    assert await read(server, "data://x") == [{"uri": "data://x", **expected}]


async def test_several_contents_and_whole_results() -> None:
    server = Server("s")
    parts = [ResourceContents(uri=f"data://x/{part}", text=part) for part in "ab"]
    whole = ReadResourceResult(contents=parts, ttl_ms=5, cache_scope="public")
    server.add_resource(lambda: parts, "data://parts")
    server.add_resource(lambda: whole, "data://whole")
    expected = [{"uri": "data://x/a", "text": "a"}, {"uri": "data://x/b", "text": "b"}]
    assert await read(server, "data://parts") == expected
    assert await read(server, "data://whole", LEGACY[0]) == expected
    caller = await Caller(server, NEWEST).open()
    result = await caller.result("resources/read", {"uri": "data://whole"})
    assert (result["ttlMs"], result["cacheScope"]) == (5, "public")
    assert whole == ReadResourceResult(contents=parts, ttl_ms=5, cache_scope="public")


async def test_a_template_gives_its_variables_as_the_function_wants_them() -> None:
    server, got = Server("s"), []

    @server.resource("data://{kind}/{number}{?flag}")
    async def x(kind: str, number: int, ctx: Context, flag: bool = False) -> str:
        got.append((kind, number, flag, ctx.method))
        return "ok"

    await read(server, "data://a%20b/7")
    await read(server, "data://c/8?flag=true")
    assert got == [("a b", 7, False, "resources/read"), ("c", 8, True, "resources/read")]


async def test_a_resource_of_its_own_goes_before_a_template_and_an_earlier_template_before_a_later_one() -> None:
    server = Server("s")
    server.add_resource(lambda x: f"first {x}", "data://{x}")
    server.add_resource(lambda x: f"second {x}", "data://{+x}")
    server.add_resource(lambda: "own", "data://me")
    assert [(await read(server, uri))[0]["text"] for uri in ("data://me", "data://you", "data://a/b")] == [
        "own",
        "first you",
        "second a/b",
    ]


@rows("version", VERSIONS)
@rows("uri", ["data://nope", "", "x", "data://number/abc", "data://number/", "\u0000", "data://raises"])
async def test_what_does_not_exist_is_not_found_in_the_code_of_the_version(version: str, uri: str) -> None:
    server = Server("s")
    server.add_resource(lambda: "x", "data://x")

    @server.resource("data://number/{n}")
    def number(n: int) -> str:
        return str(n)

    @server.resource("data://raises")
    def raises() -> str:
        raise ResourceNotFound("it was here yesterday", {"uri": "data://raises"})

    caller = await Caller(server, version).open()
    error = await caller.error("resources/read", {"uri": uri})
    assert error["code"] == FACTS[version].code_of(-32002)
    assert error["data"] == {"uri": uri}


@pytest.mark.parametrize("error", [ZeroDivisionError("secret"), ToolError("secret?")])
@pytest.mark.requirement(293)
async def test_a_failure_is_internal(error: Exception) -> None:
    server = Server("s")

    @server.resource("data://x")
    def x() -> str:
        raise error

    failed = await (await Caller(server).open()).error("resources/read", {"uri": "data://x"})
    assert failed["code"] == -32603
    assert ("secret" in failed["message"]) == isinstance(error, ToolError)


def test_variables_and_parameters_must_be_the_same() -> None:
    server = Server("s")
    with pytest.raises(TypeError, match=r"'data://\{a\}' has the variable a"):
        server.add_resource(lambda: "", "data://{a}")
    with pytest.raises(TypeError, match="parameter b is not a variable"):
        server.add_resource(lambda b: "", "data://x")
    with pytest.raises(TypeError, match="parameter b is not a variable"):
        server.add_resource(lambda a, b: "", "data://{a}")
    server.add_resource(lambda a, b=1: "", "data://{a}")
    with pytest.raises(ValueError, match=r"data://\{a"):
        server.add_resource(lambda a: "", "data://{a")
    with pytest.raises(ValueError, match="exists already"):
        server.add_resource(lambda a: "", "data://{a}")


def test_a_template_that_can_only_be_written_and_never_be_read_is_refused() -> None:
    with pytest.raises(ValueError, match="no URI can be matched"):
        Server("s").add_resource(lambda a, b: "", "data://{a}{b}")


async def test_resources_and_templates_can_be_removed() -> None:
    server = Server("s")
    server.add_resource(lambda: "", "data://x")
    server.add_resource(lambda a: "", "data://{a}/b")
    server.remove_resource("data://x")
    server.remove_resource("data://{a}/b")
    with pytest.raises(KeyError):
        server.remove_resource("data://x")
    caller = await Caller(server).open()
    assert (await caller.result("resources/list"))["resources"] == []
    assert (await caller.result("resources/templates/list"))["resourceTemplates"] == []


@pytest.mark.parametrize("version", MODERN)
async def test_a_resource_may_ask_by_hand(version: str) -> None:
    server = Server("s")

    @server.resource("data://x")
    async def x(ctx: Context) -> Any:
        return f"{len(ctx.answers['r']['roots'])} roots" if ctx.answers else InputRequired({"r": None})

    caller = await Caller(server, version, answers=lambda _m, _p: {"roots": []}).open()
    assert (await caller.result("resources/read", {"uri": "data://x"}))["contents"][0]["text"] == "0 roots"


async def test_big_bytes_survive() -> None:
    data = bytes(range(256)) * 1000
    server = Server("s")
    server.add_resource(lambda: data, "data://x")
    (contents,) = await read(server, "data://x")
    assert base64.b64decode(contents["blob"]) == data


async def test_a_uri_that_nobody_knows_is_told_in_part() -> None:
    caller = await Caller(Server("s"), NEWEST).open()
    error = await caller.error("resources/read", {"uri": "data://" + "x" * 10_000})
    assert error["message"] == "Resource not found: data://" + "x" * 193
