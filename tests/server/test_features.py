"""Catalogues: order, pages, cached lists."""
# ruff: noqa: ARG005 - what parameters are called is all that counts of them

import base64
from collections.abc import Callable

import pytest

from splice import Server
from splice.protocol.versions import VERSIONS
from support.caller import LEGACY, MODERN, Caller
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


def cursor(text: bytes) -> str:
    return base64.urlsafe_b64encode(text).decode()


BAD_CURSORS = [
    "", "x", "\u20ac", "MQ", "=", "A" * 10_000,
    cursor(b"0"), cursor(b"1"), cursor(b"3"), cursor(b"-2"), cursor(b"100"), cursor(b"2.0"), cursor(b"9" * 5000),
    cursor(b"02"), cursor(b" 2"), cursor(b"+2"), cursor(b"2\n"), cursor("٢".encode()),
]  # fmt: skip


@every_list
@pytest.mark.parametrize("page_size", [None, 2])
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
    assert (await caller.error(method, {"cursor": None}))["code"] == -32602


async def test_a_list_is_written_once_per_version_and_page_whoever_asks_and_however() -> None:
    server = Server("s", page_size=1)
    for number in range(3):
        server.add_tool(lambda: "", name=f"n{number}")
    for version in VERSIONS:
        caller = await Caller(server, version).open()
        for _ in range(3):
            await paged(caller, "tools/list", "tools")
    assert len(server.tools._pages) == 3 * len(VERSIONS)


@every_list
async def test_a_change_is_seen_at_once(method: str, field: str, add: Add) -> None:
    server = Server("s")
    add(server, "a")
    caller = await Caller(server, MODERN[0]).open()
    assert await paged(caller, method, field) == [["a"]]
    add(server, "b")
    assert await paged(caller, method, field) == [["a", "b"]]


async def test_a_cursor_beyond_what_was_removed_is_invalid() -> None:
    server = Server("s", page_size=2)
    for number in range(5):
        server.add_tool(lambda: "", name=f"n{number}")
    caller = await Caller(server).open()
    second = (await caller.result("tools/list"))["nextCursor"]
    third = (await caller.result("tools/list", {"cursor": second}))["nextCursor"]
    for number in range(3):
        server.remove_tool(f"n{number}")
    assert (await caller.error("tools/list", {"cursor": third}))["code"] == -32602
    assert (await caller.result("tools/list", {"cursor": second}))["tools"] == []


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
