"""Tests of `splice.auth.guard.access`: who may use what."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from auth.guard.guarded import ADA, ROOT, TOKENS, Guest, auth
from splice import Server
from splice.auth import Forbidden
from splice.auth.guard.guard import Auth
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN
from splice.rules.principal import Principal
from splice.server.sources import Local, Prefixed
from splice.server.tools import ToolEntry
from support.caller import Caller


@pytest.fixture(params=[LATEST_MODERN, LATEST_HANDSHAKE])
def version(request: pytest.FixtureRequest) -> str:
    text: str = request.param
    return text


def is_root(principal: Principal) -> bool:
    return principal.subject == "root"


def shop(given: Auth | None = None, **options: Any) -> Server:
    server = Server("shop", auth=given, **options) if given else Server("shop", **options)

    def text(kind: str = "a") -> str:
        return kind

    server.add_tool(text, name="look")
    server.add_tool(text, name="write", scopes=["write"])
    server.add_tool(text, name="looks", visible=is_root)
    server.add_prompt(text, name="greet")
    server.add_prompt(text, name="order", scopes=["write"])
    server.add_prompt(text, name="orders", visible=is_root)
    for name, said in (("open", {}), ("paid", {"scopes": ["write"]}), ("hidden", {"visible": is_root})):
        server.add_resource(lambda: "text", f"data://{name}", name=name, **said)
        server.add_resource(text, f"{name}://{{kind}}", name=name, **said)
        server.completion(f"{name}://{{kind}}", "kind")(lambda typed: [typed + "!"])
    server.completion("orders", "kind")(lambda typed: [typed + "!"])
    server.completion("order", "kind")(lambda typed: [typed + "!"])
    return server


def app(**options: Any) -> Any:
    return shop(auth(), **options).http_app(path="/mcp")


LISTS = {
    "tools/list": ("tools", "name", ["look"], ["look", "write", "looks"]),
    "prompts/list": ("prompts", "name", ["greet"], ["greet", "order", "orders"]),
    "resources/list": ("resources", "uri", ["data://open"], ["data://open", "data://paid", "data://hidden"]),
    "resources/templates/list": (
        "resourceTemplates",
        "uriTemplate",
        ["open://{kind}"],
        ["open://{kind}", "paid://{kind}", "hidden://{kind}"],
    ),
}


async def seen_by(guest: Guest, method: str) -> list[str]:
    field, key, *_ = LISTS[method]
    return [each[key] for each in (await guest.result(method))[field]]


@pytest.mark.parametrize("method", LISTS)
async def test_a_list_shows_what_may_be_used(method: str, version: str) -> None:
    made = app()
    for _ in range(2):  # what was kept for one is for nobody else
        for token, expected in ((ADA, LISTS[method][2]), (ROOT, LISTS[method][3])):
            guest = Guest(made, token, version)
            assert await seen_by(guest, method) == expected
    if version == LATEST_MODERN:
        assert (await Guest(app(scope="public", ttl=9)).result(method))["cacheScope"] == "private"


async def test_pages_and_middleware_change_nothing_about_that(version: str) -> None:
    async def passing(call: Any, proceed: Any) -> Any:
        return await proceed(call)

    made = app(page_size=1, middleware=[passing])
    guest, names, cursor = Guest(made, ADA, version), list[str](), None
    for _ in range(3):
        page = await guest.result("tools/list", {} if cursor is None else {"cursor": cursor})
        names += [each["name"] for each in page["tools"]]
        cursor = page.get("nextCursor")
    assert (names, cursor) == (["look"], None)


USES: dict[str, Callable[[str], Any]] = {
    "tools/call": lambda name: {"name": {"paid": "write", "hidden": "looks", "open": "look"}.get(name, name)},
    "prompts/get": lambda name: {"name": {"paid": "order", "hidden": "orders", "open": "greet"}.get(name, name)},
    "resources/read": lambda name: {"uri": f"data://{name}"},
    "resources/read ": lambda name: {"uri": f"{name}://a"},
    "completion/complete": lambda name: completing({"type": "ref/resource", "uri": f"{name}://{{kind}}"}),
    "completion/complete ": lambda name: completing(
        {"type": "ref/prompt", "name": {"paid": "order", "hidden": "orders", "open": "greet"}.get(name, name)}
    ),
}


def completing(ref: Any) -> Any:
    return {"ref": ref, "argument": {"name": "kind", "value": "x"}}


@pytest.mark.requirement(296, 340, 484)
@pytest.mark.parametrize("use", USES)
async def test_who_lacks_scopes_is_told_which(use: str, version: str) -> None:
    made, method, write = shop(auth(scopes=["read"])).http_app(path="/mcp"), use.strip(), USES[use]
    guest = Guest(made, ADA, version)
    answer = await guest.ask(method, write("paid"))
    assert (answer.status, answer.json["error"]["code"]) == (403, 403)
    assert answer.json["error"]["data"] == {"scopes": ["write"]}
    assert answer.json["id"] == 1
    told = answer.headers["www-authenticate"]
    assert told.startswith('Bearer resource_metadata="http://localhost:8000/.well-known/oauth-protected-resource/mcp"')
    assert told.endswith('scope="read write", error="insufficient_scope"')
    assert "error" not in (await Guest(made, ROOT, version).ask(method, write("paid"))).json
    assert "error" not in (await guest.ask(method, write("open"))).json


@pytest.mark.requirement(486)
async def test_a_scope_may_stand_for_others(version: str) -> None:
    """Whoever verifies tokens knows which, and names all that a token allows."""
    stands_for = {"write": {"read", "write"}}

    async def verify(token: str) -> Principal | None:
        told = {"write"} if token == ROOT else {"read"}
        scopes = frozenset(told.union(*(stands_for.get(each, ()) for each in told)))
        return Principal(subject=TOKENS[token].subject, scopes=scopes)

    made = shop(auth(verify, scopes=["read"])).http_app(path="/mcp")
    for token, name, status in ((ROOT, "look", 200), (ROOT, "write", 200), (ADA, "look", 200), (ADA, "write", 403)):
        assert (await Guest(made, token, version).ask("tools/call", {"name": name})).status == status


@pytest.mark.requirement(296, 340)
@pytest.mark.parametrize("use", USES)
async def test_what_is_not_visible_is_as_what_does_not_exist(use: str, version: str) -> None:
    made, method, write = app(), use.strip(), USES[use]
    guest = Guest(made, ADA, version)
    answers = [await guest.ask(method, write(name)) for name in ("hidden", "nothin")]
    wanted = [re.findall(r"orders|looks|hidden|nothin", json.dumps(write(name)))[0] for name in ("hidden", "nothin")]
    said = [re.sub(name + r"(?!\w)", "it", answer.body.decode()) for answer, name in zip(answers, wanted, strict=True)]
    suggested = [re.sub(r"\.? Did you mean .*?\?", "", text) for text in said]
    assert suggested[0] == suggested[1]
    assert "error" not in (await Guest(made, ROOT, version).ask(method, write("hidden"))).json


async def test_no_suggestion_gives_a_hidden_name_away(version: str) -> None:
    made = app()
    for name in ("looks", "lookss", "writes"):
        _, _, told = await Guest(made, ADA, version).code("tools/call", {"name": name})
        assert "looks" not in told.replace(repr(name), "")


async def test_nobody_hears_of_what_they_may_not_read() -> None:
    made = shop(auth())
    endpoint = made.http_app(path="/mcp")
    old = Guest(endpoint, ADA, LATEST_HANDSHAKE)
    assert await old.result("resources/subscribe", {"uri": "data://hidden"}) == {}
    assert await old.result("resources/subscribe", {"uri": "data://nothing"}) == {}
    assert (await old.code("resources/subscribe", {"uri": "data://paid"}))[0] == 403
    (session,) = endpoint._leg.sessions.all.values()
    assert session.session.subscriptions == {"data://nothing"}
    uris = [f"data://{name}" for name in ("open", "paid", "hidden", "nothing")]
    guest = Guest(endpoint)
    body, headers = guest.message("subscriptions/listen", {"notifications": {"resourceSubscriptions": uris}})
    stream = guest.begin("POST", body, headers)
    taken = await stream.event()
    assert taken["params"]["notifications"]["resourceSubscriptions"] == ["data://open", "data://nothing"]
    stream.disconnect()
    await stream.ended()


@pytest.mark.requirement(439, 444)
@pytest.mark.parametrize("version", [LATEST_MODERN, LATEST_HANDSHAKE])
async def test_on_this_machine_everything_is_the_users(version: str) -> None:
    for server in (shop(), shop(auth())):
        caller = await Caller(server, version).open()
        assert [each["name"] for each in (await caller.result("tools/list"))["tools"]] == LISTS["tools/list"][3]
        assert await caller.text("looks") == "a"
        assert await caller.text("write") == "a"
        caller.principal = "ada"  # a transport of one's own may say who calls
        assert [each["name"] for each in (await caller.result("tools/list"))["tools"]] == ["look"]


def test_without_anybody_who_checks_there_is_no_endpoint() -> None:
    for options in ({"scopes": ["write"]}, {"visible": is_root}):
        server = Server("shop")
        server.add_tool(lambda: "", name="write", **options)
        with pytest.raises(ValueError, match="nobody checks who calls: give auth="):
            server.http_app()
        server.http_app(auth=auth())


async def test_what_is_added_to_an_open_endpoint_later_is_closed(version: str) -> None:
    server = Server("shop")
    server.add_tool(lambda: "", name="look")
    made = server.http_app(path="/mcp")
    server.add_tool(lambda: "", name="write", scopes=["write"])
    server.add_tool(lambda: "", name="looks", visible=lambda _: True)
    guest = Guest(made, None, version)
    assert await seen_by(guest, "tools/list") == ["look"]
    assert (await guest.code("tools/call", {"name": "write"}))[0] == 403
    assert (await guest.code("tools/call", {"name": "looks"}))[1] == -32602


async def test_a_feature_that_comes_back_for_all_is_for_all() -> None:
    server = shop(auth())
    guest = Guest(server.http_app(path="/mcp"))
    server.remove_tool("write")
    server.add_tool(lambda: "now", name="write")
    assert (await guest.result("tools/call", {"name": "write"}))["content"][0]["text"] == "now"


@pytest.mark.parametrize(
    "options",
    [{"scopes": "write"}, {"scopes": ["a b"]}, {"scopes": [1]}, {"scopes": None}, {"visible": True}, {"visible": "x"}],
)
def test_limits_that_make_no_sense_are_explained(options: Any) -> None:
    with pytest.raises(TypeError, match=r"scopes= takes a list|visible= takes a plain function"):
        Server("shop").add_tool(lambda: "", name="write", **options)


def test_an_async_function_would_be_true_for_everybody() -> None:
    async def visible(_: Principal) -> bool:
        return False

    with pytest.raises(TypeError, match="a plain function"):
        Server("shop").add_tool(lambda: "", name="write", visible=visible)  # type: ignore[arg-type]  # callers err


async def test_what_returns_a_coroutine_is_true_for_nobody(version: str) -> None:
    async def visible(_: Principal) -> bool:
        return False

    server = Server("shop", auth=auth())
    server.add_tool(lambda: "", name="look", visible=partial(lambda ask, who: ask(who), visible))
    guest = Guest(server.http_app(path="/mcp"), ADA, version)
    for method, params in (("tools/list", {}), ("tools/call", {"name": "look"})):
        assert (await guest.code(method, params))[1] == -32603


async def test_no_shared_cache_keeps_what_not_everybody_may_read() -> None:
    server = Server("shop", auth=auth())
    for name, said in (("open", {}), ("paid", {"scopes": ["write"]}), ("hidden", {"visible": is_root})):
        server.add_resource(lambda: "text", f"data://{name}", name=name, scope="public", **said)
        server.add_resource(lambda kind: kind, f"{name}://{{kind}}", name=name, scope="public", **said)
    guest = Guest(server.http_app(path="/mcp"), ROOT)
    for name, scope in (("open", "public"), ("paid", "private"), ("hidden", "private")):
        for uri in (f"data://{name}", f"{name}://a"):
            assert (await guest.result("resources/read", {"uri": uri}))["cacheScope"] == scope


async def test_a_prefix_changes_nothing_about_who_may_use_a_tool(version: str) -> None:
    there: Local[Any] = Local("tool")
    there.add(ToolEntry(lambda: "", {"name": "write", "scopes": ["write"]}))
    there.add(ToolEntry(lambda: "", {"name": "looks", "visible": is_root}))
    server = shop(auth())
    server.add_source("tools", Prefixed(there, "x_"))
    guest = Guest(server.http_app(path="/mcp"), ADA, version)
    assert await seen_by(guest, "tools/list") == ["look"]
    assert (await guest.code("tools/call", {"name": "x_write"}))[0] == 403
    assert (await guest.code("tools/call", {"name": "x_looks"}))[1] == -32602


async def test_a_handler_may_forbid_by_itself(version: str) -> None:
    server = Server("shop", auth=auth())

    @server.tool
    async def refund() -> str:
        """Pay back."""
        raise Forbidden("Refunds above 100 take the scope refund", ["refund"])

    guest = Guest(server.http_app(path="/mcp"), ADA, version)
    answer = await guest.ask("tools/call", {"name": "refund"})
    assert (answer.status, answer.json["error"]["data"]) == (403, {"scopes": ["refund"]})
    assert 'scope="refund"' in answer.headers["www-authenticate"]


def test_a_server_without_auth_loads_none_of_it() -> None:
    code = (
        "import sys, splice; s = splice.Server('a'); s.add_tool(lambda: '', name='b'); s.http_app();"
        "print([m for m in sys.modules if m.startswith('splice.auth')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=20)
    assert done.stdout.strip() == "[]"
