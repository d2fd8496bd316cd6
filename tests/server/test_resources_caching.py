"""How long lists and resources may be kept, and by whom: said by the author, written where a version has it."""
# ruff: noqa: ARG005 - what parameters are called is all that counts of them

from collections.abc import Callable
from typing import Any

import pytest

from splice import Context, Server
from splice.protocol.content import ResourceContents
from splice.protocol.resources import ReadResourceResult
from splice.protocol.versions import VERSIONS
from support.caller import ASKING, LEGACY, MODERN, Caller, accept, fixed
from support.tables import rows
from support.wire import JSON

MODERN_ONE = MODERN[-1]
LISTS = ("tools/list", "prompts/list", "resources/list", "resources/templates/list")


def hints(result: JSON) -> tuple[JSON, JSON]:
    return result.get("ttlMs"), result.get("cacheScope")


def shop(**options: Any) -> Server:
    server = Server("s", page_size=1, **options)
    for number in range(2):
        server.add_tool(lambda: "", name=f"t{number}")
        server.add_prompt(lambda: "", name=f"p{number}")
        server.add_resource(lambda: "", f"x://{number}", name="r")
        server.add_resource(lambda a: "", f"x://{number}/{{a}}", name="r")
    return server


@pytest.mark.parametrize("middleware", [[], [lambda call, proceed: proceed(call)]])
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.requirement(328, 331, 338)
async def test_a_server_says_it_of_its_lists_and_itself(version: str, middleware: list[Any]) -> None:
    caller = await Caller(shop(ttl=90, scope="public", middleware=middleware), version).open()
    said = (90_000, "public") if caller.modern else (None, None)
    for method in LISTS:
        first = await caller.result(method)
        second = await caller.result(method, {"cursor": first["nextCursor"]})
        assert (hints(first), hints(second)) == (said, said)
    if caller.modern:
        assert hints(await caller.result("server/discover")) == said
    private = (0, "private") if caller.modern else (None, None)
    assert hints(await caller.result("resources/read", {"uri": "x://0"})) == private, "what is read says so itself"


async def test_nothing_is_kept_unless_the_author_says_so() -> None:
    caller = await Caller(shop(), MODERN_ONE).open()
    for method in (*LISTS, "server/discover"):
        assert hints(await caller.result(method)) == (0, "private")
    assert hints(await caller.result("resources/read", {"uri": "x://0/a"})) == (0, "private")


def by_hand(**fields: Any) -> Callable[[], ReadResourceResult]:
    return lambda: ReadResourceResult(contents=[ResourceContents(uri="x://y", text="")], **fields)


@rows(
    ("fn", "options", "said"),
    [
        (lambda: "", {"ttl": 60}, (60_000, "private")),
        (lambda: "", {"ttl": 0.5, "scope": "public"}, (500, "public")),
        (lambda: b"", {"scope": "public"}, (0, "public")),
        (lambda: ResourceContents(uri="x://y", text=""), {"ttl": 1}, (1000, "private")),
        (lambda: [ResourceContents(uri="x://y", text="")], {"ttl": 1}, (1000, "private")),
        (by_hand(), {"ttl": 1, "scope": "public"}, (1000, "public")),
        (by_hand(ttl_ms=5), {"ttl": 1, "scope": "public"}, (5, "public")),
        (by_hand(ttl_ms=-5, cache_scope="private"), {"ttl": 1, "scope": "public"}, (0, "private")),
    ],
)
@rows("version", [LEGACY[-1], MODERN_ONE])
async def test_a_resource_says_it_of_what_is_read(fn: Any, options: Any, said: Any, version: str) -> None:
    server = Server("s", ttl=7)
    server.add_resource(fn, "x://y", name="r", **options)
    caller = await Caller(server, version).open()
    for _ in range(2):
        result = await caller.result("resources/read", {"uri": "x://y"})
        assert hints(result) == (said if caller.modern else (None, None))
    assert "ttl" not in str((await caller.result("resources/list"))["resources"]), "it is no field of the entry"


@pytest.mark.parametrize("version", MODERN)
async def test_a_template_says_it_too(version: str) -> None:
    server = Server("s")
    server.resource("x://{a}", ttl=3600, scope="public")(lambda a: a)
    caller = await Caller(server, version).open()
    assert hints(await caller.result("resources/read", {"uri": "x://b"})) == (3_600_000, "public")
    assert (await caller.error("resources/read", {"uri": "y://b"})).keys() == {"code", "message", "data"}


@pytest.mark.parametrize("version", ASKING)
async def test_what_the_user_was_asked_for_is_nobodys_to_keep(version: str) -> None:
    server = Server("s")

    @server.resource("x://mine", ttl=60, scope="public")
    async def mine(ctx: Context) -> str:
        return (await ctx.elicit("Who?", str)).data

    caller = await Caller(server, version, answers=fixed(accept(value="me"))).open()
    if caller.modern:
        asked = await caller.send("resources/read", caller.stamped({"uri": "x://mine"}))
        assert asked["result"]["resultType"] == "input_required"
        assert hints(asked["result"]) == (None, None)
    result = await caller.result("resources/read", {"uri": "x://mine"})
    assert result["contents"][0]["text"] == "me"
    assert hints(result) == ((0, "private") if caller.modern else (None, None))


BAD: list[tuple[Any, type[Exception], str]] = [
    ({"ttl": -1}, ValueError, "takes a number of seconds, at least 0, not -1"),
    ({"ttl": float("nan")}, ValueError, "takes a number of seconds, at least 0, not nan"),
    ({"ttl": float("inf")}, ValueError, "takes a number of seconds, at least 0, not inf"),
    ({"ttl": "60"}, TypeError, "takes a number of seconds, at least 0, not '60'"),
    ({"ttl": True}, TypeError, "takes a number of seconds, at least 0, not True"),
    ({"scope": "everybody"}, ValueError, "takes 'public' or 'private', not 'everybody'"),
    ({"scope": True}, TypeError, "takes 'public' or 'private', not True"),
]


@pytest.mark.parametrize(("options", "error", "message"), BAD, ids=str)
def test_what_cannot_be_meant_is_refused_where_it_is_given(options: Any, error: type[Exception], message: str) -> None:
    (name,) = options
    with pytest.raises(error) as caught:
        Server("s", **options)
    assert str(caught.value) == f"{name}= of Server {message}"
    for uri in ("x://y", "x://{a}"):
        with pytest.raises(error) as caught:
            Server("s").add_resource((lambda: "") if uri == "x://y" else (lambda a: ""), uri, name="r", **options)
        assert str(caught.value) == f"{name}= of {uri} {message}"


def test_tools_and_prompts_have_no_such_options() -> None:
    for add in (Server.tool, Server.prompt):
        with pytest.raises(TypeError, match="there is no option 'ttl'"):
            add(Server("s"), ttl=1)(lambda: "")  # type: ignore[call-overload]  # on purpose
