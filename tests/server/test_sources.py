"""Sources of tools, resources and prompts, and the lists made of them."""
# ruff: noqa: ARG002, ARG005 - what parameters are called is all that counts of them

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from splice import Context, Server, ToolError
from splice.protocol.content import ResourceContents, TextContent
from splice.protocol.prompts import GetPromptResult, Prompt
from splice.protocol.resources import ReadResourceResult, Resource, ResourceTemplate
from splice.protocol.tools import CallToolResult, Tool
from splice.protocol.versions import FACTS, VERSIONS
from splice.rules.seal import Sealer
from splice.server import call
from splice.server.call import Call
from splice.server.sources import Filtered, Local, Prefixed
from support.caller import LEGACY, MODERN, Caller
from support.tables import rows
from support.wire import JSON

LISTS: list[tuple[str, str, Callable[[Server, str], None]]] = [
    ("tools/list", "tools", lambda server, name: server.add_tool(lambda: "", name=name)),
    ("prompts/list", "prompts", lambda server, name: server.add_prompt(lambda: "", name=name)),
    ("resources/list", "resources", lambda server, name: server.add_resource(lambda: "", f"x://{name}", name=name)),
    (
        "resources/templates/list",
        "resourceTemplates",
        lambda server, name: server.add_resource(lambda a: "", f"x://{name}/{{a}}", name=name),
    ),
]
every_list = pytest.mark.parametrize(("method", "field", "add"), LISTS, ids=[each[0] for each in LISTS])
Add = Callable[[Server, str], None]


async def paged(caller: Caller, method: str, field: str) -> list[list[str]]:
    """List everything, page by page."""
    pages: list[list[str]] = []
    params: dict[str, JSON] = {}
    while True:
        result = await caller.result(method, params)
        pages.append([entry["name"] for entry in result[field]])
        if "nextCursor" not in result:
            return pages
        params = {"cursor": result["nextCursor"]}


@every_list
@pytest.mark.parametrize("version", VERSIONS)
async def test_lists_keep_the_order_in_which_things_were_added(method: str, field: str, add: Add, version: str) -> None:
    server = Server("s")
    names = [f"n{number}" for number in (3, 1, 2)]
    for name in names:
        add(server, name)
    caller = await Caller(server, version).open()
    assert await paged(caller, method, field) == [names]


@every_list
@pytest.mark.parametrize("version", [LEGACY[0], MODERN[0]])
@pytest.mark.parametrize(("count", "sizes"), [(1, [1]), (2, [2]), (3, [2, 1]), (4, [2, 2]), (5, [2, 2, 1])])
@pytest.mark.requirement(324)
async def test_pages_hold_everything_once(
    method: str, field: str, add: Add, version: str, count: int, sizes: list[int]
) -> None:
    server = Server("s", page_size=2)
    for number in range(count):
        add(server, f"n{number}")
    caller = await Caller(server, version).open()
    for _ in range(2):
        pages = await paged(caller, method, field)
        assert [len(page) for page in pages] == sizes
        assert [name for page in pages for name in page] == [f"n{number}" for number in range(count)]


BAD_CURSORS = [
    "", "x", "\u20ac", "MQ", "=", "A" * 10_000,
    "0", "1", "3", "-2", "100", "2.0", "9" * 5000, "02", " 2", "+2", "2\n", "2_0", "\u0662", "\u00b2",
]  # fmt: skip


@every_list
@pytest.mark.parametrize("page_size", [None, 2])
@pytest.mark.requirement(327)
async def test_a_cursor_of_somebody_elses_is_invalid(method: str, field: str, add: Add, page_size: int | None) -> None:
    server = Server("s", page_size=page_size)
    for number in range(5):
        add(server, f"n{number}")
    caller = await Caller(server).open()
    for warm in (False, True):
        for bad in BAD_CURSORS:
            assert (await caller.error(method, {"cursor": bad}))["code"] == -32602, (warm, bad)
        await paged(caller, method, field)
    assert (await caller.error(method, {"cursor": 2}))["code"] == -32602
    assert len((await caller.result(method, {"cursor": None}))[field]) == (page_size or 5), "null reads as absent"


async def test_a_list_is_written_once_per_version_and_page_whoever_asks_and_however() -> None:
    server = Server("s", page_size=1)
    for number in range(3):
        server.add_tool(lambda: "", name=f"n{number}")
    for version in VERSIONS:
        caller = await Caller(server, version).open()
        for _ in range(3):
            await paged(caller, "tools/list", "tools")
    assert len(server._tools.listing._pages) == 3 * len(VERSIONS)


@every_list
async def test_a_change_is_seen_at_once(method: str, field: str, add: Add) -> None:
    server = Server("s")
    add(server, "a")
    caller = await Caller(server, MODERN[0]).open()
    assert await paged(caller, method, field) == [["a"]]
    add(server, "b")
    assert await paged(caller, method, field) == [["a", "b"]]


SECRET = [b"k" * 32]


def numbered(count: int, page_size: int | None = 2, name: str = "s", **options: Any) -> Server:
    server = Server(name, page_size=page_size, **options)
    for number in range(count):
        server.add_tool(lambda: "", name=f"n{number}")
    return server


async def page(caller: Caller, cursor: str | None = None) -> tuple[list[str], str | None]:
    """List one page of tools: their names, and the next cursor."""
    result = await caller.result("tools/list", {} if cursor is None else {"cursor": cursor})
    return [tool["name"] for tool in result["tools"]], result.get("nextCursor")


async def rest(caller: Caller, cursor: str | None) -> list[str]:
    """List what is left."""
    found: list[str] = []
    while cursor is not None:
        names, cursor = await page(caller, cursor)
        found += names
    return found


def remove(*numbers: int) -> Callable[[Server], None]:
    def change(server: Server) -> None:
        for number in numbers:
            server.remove_tool(f"n{number}")

    return change


def renew(*numbers: int) -> Callable[[Server], None]:
    """Remove tools, and add others of the same names: they stand at the end."""

    def change(server: Server) -> None:
        remove(*numbers)(server)
        for number in numbers:
            server.add_tool(lambda: "", name=f"n{number}")

    return change


@rows(
    ("change", "left"),
    [
        (remove(), "n4 n5 n6 n7 n8 n9"),
        (remove(0), "n4 n5 n6 n7 n8 n9"),
        (remove(3), "n4 n5 n6 n7 n8 n9"),
        (remove(1, 2, 3), "n4 n5 n6 n7 n8 n9"),
        (remove(4), "n5 n6 n7 n8 n9"),
        (remove(3, 4, 5), "n6 n7 n8 n9"),
        (remove(4, 5, 6, 7, 8, 9), ""),
        (remove(3, 4, 5, 6, 7, 8, 9), ""),
        (renew(3), "n4 n5 n6 n7 n8 n9 n3"),
        (renew(0, 3, 5), "n4 n6 n7 n8 n9 n0 n3 n5"),
        (renew(2, 3, 0), "n4 n5 n6 n7 n8 n9 n2 n3 n0"),
        (lambda server: server.add_tool(lambda: "", name="new"), "n4 n5 n6 n7 n8 n9 new"),
        (lambda server: server.add_source("tools", Remote(RemoteTool("far"))), "n4 n5 n6 n7 n8 n9 far"),
    ],
)
@pytest.mark.requirement(324)
async def test_a_list_that_changed_between_pages_neither_repeats_nor_loses_what_stayed(
    change: Callable[[Server], None], left: str
) -> None:
    server = numbered(10)
    caller = await Caller(server).open()
    _, cursor = await page(caller)
    names, cursor = await page(caller, cursor)
    assert names == ["n2", "n3"]
    change(server)
    assert await rest(caller, cursor) == left.split()


@pytest.mark.parametrize("change", [remove(0, 1, 2, 3), renew(0, 1, 2, 3)])
async def test_a_list_of_which_nothing_seen_is_left_is_to_be_listed_again(change: Callable[[Server], None]) -> None:
    server = numbered(10)
    caller = await Caller(server).open()
    _, cursor = await page(caller)
    _, cursor = await page(caller, cursor)
    change(server)
    error = await caller.error("tools/list", {"cursor": cursor})
    assert (error["code"], error["message"]) == (
        -32602,
        "Invalid cursor: it is not one this server gave, or too much changed since; list again without a cursor",
    )


async def test_of_a_long_page_the_last_names_are_enough() -> None:
    server = numbered(300, page_size=100)
    caller = await Caller(server).open()
    _, cursor = await page(caller)
    assert cursor is not None
    assert len(cursor) < 120
    remove(*range(50), *range(93, 100))(server)
    assert await rest(caller, cursor) == [f"n{number}" for number in range(100, 300)]
    remove(92)(server)
    assert (await caller.error("tools/list", {"cursor": cursor}))["code"] == -32602


@pytest.mark.requirement(324, 327)
async def test_a_cursor_is_good_for_one_list_of_one_server() -> None:
    async def first(server: Server, method: str = "tools/list") -> str:
        server.add_prompt(lambda: "", name="n0")
        server.add_prompt(lambda: "", name="n1")
        caller = await Caller(server).open()
        cursor: str = (await caller.result(method))["nextCursor"]
        return cursor

    cursor = await first(numbered(2, 1, state_keys=SECRET))
    for other in (
        await first(numbered(2, 1, state_keys=SECRET), "prompts/list"),
        await first(numbered(2, 1, "other", state_keys=SECRET)),
        await first(numbered(2, 1)),
        cursor[:-1] + ("A" if cursor[-1] != "A" else "B"),
        "A" + cursor[1:],
        cursor + "=",
        cursor[:30],
        "",
    ):
        caller = await Caller(numbered(2, 1, state_keys=SECRET)).open()
        error = await caller.error("tools/list", {"cursor": other})
        assert (error["code"], "list again" in error["message"]) == (-32602, True), other


@pytest.mark.parametrize("version", [LEGACY[0], MODERN[0]])
async def test_a_cursor_is_good_at_every_worker_that_shares_the_keys(version: str) -> None:
    new, old = [b"n" * 32, *SECRET], SECRET
    one, other = numbered(4, state_keys=old), numbered(4, state_keys=new)
    callers = [await Caller(one, version).open(), await Caller(other, version).open()]
    _, cursor = await page(callers[0])
    assert await page(callers[1], cursor) == (["n2", "n3"], None)
    assert (await page(await Caller(numbered(4, state_keys=old), version).open()))[1] == cursor, "the same every time"
    lone = await Caller(numbered(4), version).open()
    assert (await lone.error("tools/list", {"cursor": cursor}))["code"] == -32602


async def test_a_server_with_one_page_signs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(Sealer, "sign")
    assert await paged(await Caller(numbered(100, None)).open(), "tools/list", "tools")


async def test_a_worker_with_a_key_of_its_own_is_warned_of_where_lists_have_pages(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(call, "is_worker", lambda: True)
    await page(await Caller(numbered(2, None)).open())
    await page(await Caller(numbered(4, state_keys=SECRET)).open())
    assert "SPLICE_SECRET" not in caplog.text
    caller = await Caller(numbered(6, name="lone")).open()
    await rest(caller, (await page(caller))[1])
    (record,) = [each for each in caplog.records if "SPLICE_SECRET" in each.getMessage()]
    assert record.getMessage().startswith("lone seals what clients bring back")


@every_list
@pytest.mark.parametrize("version", MODERN)
async def test_modern_lists_say_how_long_they_may_be_kept(method: str, field: str, add: Add, version: str) -> None:
    server = Server("s", page_size=1)
    add(server, "a")
    add(server, "b")
    caller = await Caller(server, version).open()
    first = await caller.result(method)
    second = await caller.result(method, {"cursor": first["nextCursor"]})
    for result in (first, second):
        assert result["ttlMs"] >= 0
        assert result["cacheScope"] == first["cacheScope"]
        assert result["resultType"] == "complete"


# Sources of an author's own: public names are all they need.


class RemoteTool:
    """A tool that runs elsewhere, as an author writes it: a definition, and `run`."""

    def __init__(self, name: str, **fields: Any) -> None:
        self.definition = Tool(name=name, input_schema={"type": "object"}, **fields)

    async def run(self, call: Call) -> CallToolResult:
        arguments = json.loads(bytes(call.params.arguments or b"{}"))
        if "fail" in arguments:
            raise ToolError("far away, something broke")
        return CallToolResult(content=[TextContent(text=f"{self.definition.name} {arguments}")])


class Remote:
    """Tools from elsewhere."""

    def __init__(self, *tools: RemoteTool) -> None:
        self.tools: Sequence[RemoteTool] = tools
        self.changed: Callable[[], Any] = list
        self.asked = 0

    async def entries(self) -> Sequence[RemoteTool]:
        self.asked += 1
        return self.tools

    async def find(self, key: str) -> RemoteTool | None:
        return next((tool for tool in self.tools if tool.definition.name == key), None)

    def watch(self, changed: Callable[[], None]) -> None:
        self.changed = changed


async def names(caller: Caller, method: str = "tools/list", field: str = "tools") -> list[str]:
    return [name for page in await paged(caller, method, field) for name in page]


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_remote_source_is_listed_and_called_beside_the_servers_own_tools(version: str) -> None:
    server = Server("s")
    server.add_tool(lambda: "mine", name="own")
    server.add_source("tools", Remote(RemoteTool("far"), RemoteTool("own")))
    caller = await Caller(server, version).open()
    assert await names(caller) == ["own", "far"]
    assert await caller.text("own") == "mine"
    assert await caller.text("far", {"a": 1}) == "far {'a': 1}"
    failed = await caller.call("far", {"fail": True})
    assert failed["isError"]
    assert failed["content"][0]["text"] == "far away, something broke"
    assert (await caller.error("tools/call", {"name": "nope"}))["code"] == -32602


async def test_a_source_alone_makes_a_server_offer_its_kind() -> None:
    server = Server("s")
    server.add_source("tools", Remote())
    assert server.service.home.capabilities().tools is not None
    assert await names(await Caller(server).open()) == []


async def test_a_list_of_a_source_is_written_again_only_when_it_changed() -> None:
    server, remote = Server("s"), Remote(RemoteTool("a"))
    server.add_source("tools", remote)
    caller = await Caller(server, MODERN[0]).open()
    listing = server._tools.listing
    assert await names(caller) == ["a"]
    written = dict(listing._pages)
    assert await names(caller) == ["a"]
    assert all(listing._pages[key] is page for key, page in written.items())
    remote.tools = [RemoteTool("b")]
    assert await names(caller) == ["b"]
    assert remote.asked == 3


async def test_a_change_of_a_source_is_told() -> None:
    server, remote = Server("s"), Remote(RemoteTool("a"))
    server.add_source("tools", Prefixed(Filtered(remote, lambda _: True), "x_"))
    caller = await Caller(server).open()
    remote.changed()
    assert [each["method"] for each in caller.pushed] == ["notifications/tools/list_changed"]


async def test_a_prefix_stands_before_names_and_is_gone_before_the_source_is_asked() -> None:
    server, remote = Server("s"), Remote(RemoteTool("a"), RemoteTool("b"))
    server.add_tool(lambda: "mine", name="a")
    server.add_source("tools", Prefixed(remote, "x_"))
    caller = await Caller(server, MODERN[0]).open()
    assert await names(caller) == ["a", "x_a", "x_b"]
    assert await caller.text("x_a") == "a {}"
    assert await caller.text("a") == "mine"
    for wrong in ("b", "x_", "x_x_a", "_a"):
        assert (await caller.error("tools/call", {"name": wrong}))["code"] == -32602


async def test_a_filter_hides_from_lists_and_calls() -> None:
    server, remote = Server("s"), Remote(RemoteTool("a"), RemoteTool("b", title="kept"))
    server.add_source("tools", Filtered(remote, lambda tool: tool.title == "kept"))
    caller = await Caller(server, MODERN[0]).open()
    assert await names(caller) == ["b"]
    assert await caller.text("b") == "b {}"
    assert (await caller.error("tools/call", {"name": "a"}))["code"] == -32602


async def test_a_view_is_made_once_as_long_as_its_source_does_not_change() -> None:
    remote = Remote(RemoteTool("a"))
    view = Prefixed(Filtered(remote, lambda _: True), "x_")
    assert await view.entries() is await view.entries()
    before = await view.entries()
    remote.tools = [*remote.tools, RemoteTool("b")]
    assert await view.entries() is not before


@pytest.mark.parametrize("version", VERSIONS)
async def test_structured_content_of_a_source_is_wrapped_where_versions_want_objects(version: str) -> None:
    class Counting(RemoteTool):
        async def run(self, call: Call) -> CallToolResult:
            return CallToolResult(content=[], structured_content=3)

    server = Server("s")
    server.add_source("tools", Remote(Counting("count", output_schema={"type": "integer"})))
    caller = await Caller(server, version).open()
    schema = (await caller.result("tools/list"))["tools"][0].get("outputSchema")
    content = (await caller.call("count")).get("structuredContent")
    if FACTS[version].any_structured_content:
        assert (schema, content) == ({"type": "integer"}, 3)
    elif schema is not None:
        assert (schema["properties"]["result"], content) == ({"type": "integer"}, {"result": 3})


class Fixed:
    """Any entries, under the keys that they are found by."""

    def __init__(self, **entries: Any) -> None:
        self.all = list(entries.values())

    async def entries(self) -> list[Any]:
        return self.all

    async def find(self, key: str) -> Any:
        return next((each for each in self.all if each.fits(key)), None)

    def watch(self, changed: Callable[[], None]) -> None:
        pass


class FarPrompt:
    definition = Prompt(name="far")

    def fits(self, key: str) -> bool:
        return key == "far"

    async def run(self, call: Call) -> GetPromptResult:
        return GetPromptResult(messages=[], description="from far")


class FarResource:
    definition = Resource(uri="far://a", name="a")

    def fits(self, key: str) -> bool:
        return key == "far://a"

    async def run(self, call: Call, uri: str) -> ReadResourceResult:
        return ReadResourceResult(contents=[ResourceContents(uri=uri, text="resource")])


class FarTemplate:
    definition = ResourceTemplate(uri_template="far://t/{x}", name="t")

    def fits(self, key: str) -> bool:
        return key.startswith("far://t/")

    async def run(self, call: Call, uri: str) -> ReadResourceResult:
        return ReadResourceResult(contents=[ResourceContents(uri=uri, text="template")])


@pytest.mark.parametrize("version", VERSIONS)
async def test_prompts_resources_and_templates_may_come_from_sources_too(version: str) -> None:
    server = Server("s")
    server.add_source("prompts", Fixed(far=FarPrompt()))
    server.add_source("resources", Fixed(a=FarResource()))
    server.add_source("templates", Fixed(t=FarTemplate()))
    server.add_tool(read_far)
    caller = await Caller(server, version).open()
    assert await names(caller, "prompts/list", "prompts") == ["far"]
    assert await names(caller, "resources/list", "resources") == ["a"]
    assert await names(caller, "resources/templates/list", "resourceTemplates") == ["t"]
    assert (await caller.result("prompts/get", {"name": "far"}))["description"] == "from far"
    for uri, text in (("far://a", "resource"), ("far://t/7", "template")):
        (contents,) = (await caller.result("resources/read", {"uri": uri}))["contents"]
        assert (contents["uri"], contents["text"]) == (uri, text)
        assert await caller.text("read_far", {"uri": uri}) == text
    assert "error" in await caller.request("resources/read", {"uri": "far://b"})


async def read_far(uri: str, ctx: Context) -> str:
    return str((await ctx.read_resource(uri))[0].text)


async def test_a_local_source_of_an_authors_own_may_be_changed_while_it_is_served() -> None:
    server, mine = Server("s"), Local[Tool]("far tool")
    mine.add(RemoteTool("a"))
    server.add_source("tools", Prefixed(mine, "x_"))
    caller = await Caller(server).open()
    assert await names(caller) == ["x_a"]
    mine.add(RemoteTool("b"))
    mine.remove("a")
    assert await names(caller) == ["x_b"]
    assert await caller.text("x_b") == "b {}"
    assert len(caller.pushed) == 2
    with pytest.raises(ValueError, match="a far tool 'b' exists already"):
        mine.add(RemoteTool("b"))
    with pytest.raises(KeyError, match="there is no far tool 'a'"):
        mine.remove("a")


async def test_the_first_of_several_sources_wins() -> None:
    server = Server("s")
    server.add_source("tools", Remote(RemoteTool("a", title="first")))
    server.add_source("tools", Remote(RemoteTool("b"), RemoteTool("a", title="second")))
    caller = await Caller(server, MODERN[0]).open()
    tools = (await caller.result("tools/list"))["tools"]
    assert [(tool["name"], tool.get("title")) for tool in tools] == [("a", "first"), ("b", None)]
    assert [await caller.text(name) for name in ("a", "b")] == ["a {}", "b {}"]
