"""Tests of `splice.auth.guard.guard`: who is let in, and what others are told."""

import asyncio
from typing import Any

import pytest

from auth.guard.guarded import ADA, EVE, ISSUER, ROOT, TOKENS, Guest, auth, server
from splice import HTTPRequest, Server
from splice.auth.guard import guard as guards
from splice.auth.guard.challenges import Unavailable
from splice.auth.guard.guard import MAX_TOKEN_BYTES, Auth
from splice.auth.guard.keys import APIKeys, StaticTokens
from splice.protocol.versions import LATEST_HANDSHAKE, LATEST_MODERN
from splice.rules.principal import Principal
from support.wire import initialize as opening

WHO = {"name": "who"}
DOCUMENT = "/.well-known/oauth-protected-resource/mcp"
VERSIONS = [LATEST_MODERN, LATEST_HANDSHAKE]


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    text: str = request.param
    return text


def app(given: Auth | None = None, **options: Any) -> Any:
    return server(given).http_app(path="/mcp", **options)


async def test_a_good_token_lets_its_principal_in(version: str) -> None:
    made = app()
    for token, name in ((ADA, "ada"), (EVE, "eve")):
        result = await Guest(made, token, version).result("tools/call", WHO)
        assert result["content"][0]["text"] == name


@pytest.mark.parametrize("said", [f"bearer {ADA}", f"BEARER   {ADA}", f"Bearer {ADA} "])
async def test_the_scheme_is_read_in_any_case(said: str) -> None:
    guest = Guest(app(), None)
    guest.defaults = {"authorization": said}
    assert (await guest.result("tools/call", WHO))["content"][0]["text"] == "ada"


@pytest.mark.requirement(439, 444, 453, 467, 529)
async def test_without_a_token_the_challenge_says_where_to_get_one() -> None:
    answer = await Guest(app(auth(scopes=["read"])), None).ask("tools/call", WHO)
    assert answer.status == 401
    url = f"http://localhost:8000{DOCUMENT}"
    assert answer.headers["www-authenticate"] == f'Bearer resource_metadata="{url}", scope="read"'
    assert (answer.json["error"]["code"], "id" in answer.json) == (401, False)
    assert "Authorization: Bearer <token>" in answer.json["error"]["message"]


@pytest.mark.requirement(119, 478, 483, 500, 529)
@pytest.mark.parametrize(
    ("said", "status", "error"),
    [
        ("Bearer garbage", 401, "invalid_token"),
        ("Bearer ", 401, "invalid_token"),
        ("Bearer a b", 401, "invalid_token"),
        (f'Bearer {ADA}"', 401, "invalid_token"),
        ("Bearer " + "a" * MAX_TOKEN_BYTES, 400, "invalid_request"),
        (f"Basic {ADA}", 401, None),
        (ADA, 401, None),
        ("", 401, None),
    ],
)
async def test_what_is_no_good_token_is_refused(said: str, status: int, error: str | None) -> None:
    guest = Guest(app(), None)
    guest.defaults = {"authorization": said}
    answer = await guest.ask("tools/call", WHO)
    assert answer.status == status
    assert (f'error="{error}"' if error else "error=") in answer.headers["www-authenticate"] or error is None
    assert ("error=" in answer.headers["www-authenticate"]) is (error is not None)
    assert ADA not in answer.body.decode()


@pytest.mark.requirement(477)
async def test_there_is_one_authorization_header_and_the_query_does_not_count() -> None:
    guest = Guest(app())
    body, headers = guest.message("tools/call", WHO)
    request = guest.begin("POST", body, headers)
    request.task.cancel()
    scope: dict[str, Any] = {"type": "http", "method": "POST", "path": "/mcp", "root_path": "", "query_string": b""}
    fields = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    for more, query, status in (
        ([(b"authorization", b"Bearer " + ADA.encode())] * 2, b"", 400),
        ([], b"access_token=" + ADA.encode(), 401),
    ):
        sent = list[Any]()

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        async def receive() -> Any:
            raise AssertionError("the body was read")

        await guest.app({**scope, "query_string": query, "headers": [*fields, *more]}, receive, send)
        assert sent[0]["status"] == status


@pytest.mark.requirement(496)
async def test_the_body_is_not_read_before_the_caller_is_known() -> None:
    guest = Guest(app(), "garbage")
    async with asyncio.timeout(5):
        request = guest.begin("POST", b"", {}, chunks=[], complete=False)
        await request.task
    assert request.status == 401


@pytest.mark.requirement(483, 484)
async def test_who_lacks_a_scope_is_told_all_that_it_takes() -> None:
    answer = await Guest(app(auth(scopes=["read", "write"]))).ask("tools/call", WHO)
    assert answer.status == 403
    told = answer.headers["www-authenticate"]
    assert 'error="insufficient_scope"' in told
    assert 'scope="read write"' in told
    assert (answer.json["error"]["code"], answer.json["error"]["data"]) == (403, {"scopes": ["read", "write"]})
    assert (await Guest(app(auth(scopes=["read", "write"])), ROOT).ask("tools/call", WHO)).status == 200


async def test_a_page_that_came_by_another_name_learns_nothing() -> None:
    for headers in ({"host": "evil.example"}, {"origin": "https://evil.example"}):
        for path in ("/mcp", DOCUMENT):
            answer = await Guest(app(), None).send("GET", headers=headers, path=path)
            assert answer.status == 403
            assert "www-authenticate" not in answer.headers
            assert ISSUER not in answer.body.decode()


# The document.


@pytest.mark.requirement(448, 451, 482)
async def test_the_document_says_where_tokens_come_from() -> None:
    given = auth(scopes=["read"], scopes_supported=["read", "write"], documentation="https://shop.example/help")
    answer = await Guest(app(given), None).send("GET", path=DOCUMENT)
    assert answer.status == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    assert answer.json == {
        "resource": "http://localhost:8000/mcp",
        "authorization_servers": [ISSUER],
        "scopes_supported": ["read", "write"],
        "bearer_methods_supported": ["header"],
        "resource_documentation": "https://shop.example/help",
    }
    head = await Guest(app(given), None).send("HEAD", path=DOCUMENT)
    assert (head.status, head.body) == (200, b"")
    assert (await Guest(app(given), None).send("OPTIONS", path=DOCUMENT)).status == 204
    assert (await Guest(app(given), None).send("POST", path=DOCUMENT)).status == 405


async def test_the_document_lists_the_scopes_of_all_features() -> None:
    given = auth(scopes=["read"])
    made = server(given)
    made.add_tool(lambda: "x", name="refund", scopes=["refunds", "orders"])
    guest = Guest(made.http_app(path="/mcp"), None)
    assert (await guest.send("GET", path=DOCUMENT)).json["scopes_supported"] == ["read", "orders", "refunds"]
    made.add_prompt(lambda: "x", name="help", scopes=["help", "read"])
    made.add_resource(lambda: "x", "data://x", name="x", scopes=["data"])
    made.add_resource(lambda kind: kind, "data://{kind}", name="y", scopes=["kinds"])
    found = (await guest.send("GET", path=DOCUMENT)).json["scopes_supported"]
    assert (found[0], sorted(found)) == ("read", ["data", "help", "kinds", "orders", "read", "refunds"])
    assert 'scope="read"' in (await guest.ask("tools/call", WHO)).headers["www-authenticate"]
    other = Guest(server(given).http_app(path="/mcp"), None)
    assert (await other.send("GET", path=DOCUMENT)).json["scopes_supported"] == ["read"]
    made.remove_tool("refund")
    assert "refunds" not in (await guest.send("GET", path=DOCUMENT)).json["scopes_supported"]
    assert "scopes_supported" not in (await Guest(app(auth()), None).send("GET", path=DOCUMENT)).json


@pytest.mark.requirement(443, 453)
@pytest.mark.parametrize(
    ("path", "root", "asked", "resource"),
    [
        ("/mcp", "", "/.well-known/oauth-protected-resource/mcp", "http://localhost:8000/mcp"),
        ("/", "", "/.well-known/oauth-protected-resource", "http://localhost:8000"),
        ("/", "/shop", "/shop/.well-known/oauth-protected-resource", "http://localhost:8000/shop"),
        (None, "", "/.well-known/oauth-protected-resource/any", "http://localhost:8000/any"),
        ("/mcp", "", "/.well-known/oauth-protected-resource", None),
        ("/mcp", "", "/.well-known/oauth-protected-resource/other", None),
        ("/mcp", "", "/.well-known/oauth-protected-resourcex", None),
    ],
)
async def test_the_document_is_where_the_challenge_says(
    path: str | None, root: str, asked: str, resource: str | None
) -> None:
    guest = Guest(server().http_app(path=path), None)
    answer = await guest.send("GET", path=asked, root_path=root)
    assert answer.status == (200 if resource else 404)
    if resource:
        assert answer.json["resource"] == resource
        url = f"http://localhost:8000{asked}"
        place = (path or "/any").rstrip("/")
        told = (await guest.post(opening(), path=root + place or "/", root_path=root)).headers["www-authenticate"]
        assert f'resource_metadata="{url}"' in told


async def test_behind_a_proxy_that_is_trusted_its_word_counts() -> None:
    forwarded = {"x-forwarded-proto": "https", "x-forwarded-host": "evil.example, shop.example"}
    for proxies, client, expected in (
        (["10.0.0.0/8"], ("10.1.2.3", 5), "https://shop.example"),
        (["unix"], None, "https://shop.example"),
        (["10.0.0.0/8"], ("192.0.2.1", 5), "http://localhost:8000"),
        (["10.0.0.0/8"], None, "http://localhost:8000"),
        ([], ("10.1.2.3", 5), "http://localhost:8000"),
    ):
        made = app(auth(trusted_proxies=proxies))

        async def behind(scope: Any, receive: Any, send: Any, made: Any = made, client: Any = client) -> None:
            await made({**scope, "client": client}, receive, send)

        answer = await Guest(behind, None).send("GET", headers=forwarded, path=DOCUMENT)
        assert answer.json["resource"] == f"{expected}/mcp"
        told = (await Guest(behind, None).ask("tools/call", WHO)).headers
        if expected.startswith("http:"):
            assert f'"{expected}{DOCUMENT}"' in told["www-authenticate"]


async def test_a_public_url_that_was_given_is_told_to_everybody() -> None:
    made = app(auth(resource="https://shop.example/api/mcp"))
    for path in (DOCUMENT, "/.well-known/oauth-protected-resource/api/mcp"):
        assert (await Guest(made, None).send("GET", path=path)).json["resource"] == "https://shop.example/api/mcp"
    told = (await Guest(made, None).ask("tools/call", WHO)).headers["www-authenticate"]
    assert '"https://shop.example/.well-known/oauth-protected-resource/api/mcp"' in told


# Every way in.


@pytest.mark.requirement(119)
async def test_every_route_is_guarded_or_says_that_it_is_public() -> None:
    made = server()

    @made.route("/told", methods=["GET", "POST"])
    async def told(request: HTTPRequest) -> str:
        return request.method

    @made.route("/health", public=True)
    async def health() -> str:
        return "ok"

    endpoint = made.http_app(path="/mcp", sse=True)
    public = {"/health", DOCUMENT}
    assert {path for path, route in made.service.routes.items() if route.public} == public - {DOCUMENT}
    for path in ("/mcp", "/sse", *made.service.routes, DOCUMENT):
        for token in (None, "garbage"):
            for method in ("GET", "POST", "DELETE", "OPTIONS", "HEAD", "PUT"):
                answer = await Guest(endpoint, token).send(method, b"{}", path=path)
                assert (answer.status == 401) is (path not in public), (method, path)
    assert (await Guest(endpoint, None).send("GET", path="/health")).body == b"ok"
    assert (await Guest(endpoint).send("GET", path="/told")).body == b"GET"


async def test_a_key_in_a_header_of_its_own() -> None:
    made = app(Auth(APIKeys({"shop-key-1": "shop"})))
    guest = Guest(made, None)
    answer = await guest.ask("tools/call", WHO)
    assert (answer.status, answer.headers["www-authenticate"]) == (401, 'ApiKey realm="mcp", header="x-api-key"')
    assert (await guest.send("GET", path=DOCUMENT)).status == 404
    guest.defaults = {"x-api-key": "shop-key-1"}
    assert (await guest.result("tools/call", WHO))["content"][0]["text"] == "shop"
    guest.defaults = {"authorization": "Bearer shop-key-1"}
    assert (await guest.ask("tools/call", WHO)).status == 401


async def test_a_function_of_ones_own_verifies() -> None:
    def plain(token: str) -> Principal | None:
        return Principal(subject=token) if token == "good" else None

    async def slow(token: str) -> Principal | None:
        return plain(token)

    for verifier in (plain, slow):
        made = app(Auth(verifier))
        assert (await Guest(made, "good").result("tools/call", WHO))["content"][0]["text"] == "good"
        answer = await Guest(made, "bad").ask("tools/call", WHO)
        assert (answer.status, answer.headers["www-authenticate"]) == (401, 'Bearer realm="mcp", error="invalid_token"')


async def test_a_verifier_that_fails_lets_nobody_in(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def unavailable(_: str) -> Principal | None:
        raise Unavailable("login.example does not answer")

    def broken(_: str) -> Principal | None:
        raise KeyError("sub")

    def wrong(_: str) -> Any:
        return {"sub": "ada"}

    async def hanging(_: str) -> Principal | None:
        await asyncio.Event().wait()
        return None

    monkeypatch.setattr(guards, "VERIFY_SECONDS", 0.01)
    for verifier in (unavailable, broken, wrong, hanging):
        answer = await Guest(app(Auth(verifier))).ask("tools/call", WHO)
        assert (answer.status, answer.headers["retry-after"]) == (503, "5")
        assert "www-authenticate" not in answer.headers
    assert ADA not in caplog.text


async def test_a_token_that_is_bound_to_a_key_is_of_no_use_to_its_bearer(caplog: pytest.LogCaptureFixture) -> None:
    bound = Principal(subject="ada", claims={"cnf": {"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}})
    answer = await Guest(app(Auth(lambda _: bound))).ask("tools/call", WHO)
    assert (answer.status, "invalid_token" in answer.headers["www-authenticate"]) == (401, True)
    assert "refused a token: it is bound to a key" in caplog.text


async def test_an_endpoint_may_have_a_guard_of_its_own() -> None:
    made = Server("shop")
    assert (await Guest(made.http_app(auth=auth()), None).ask("tools/list")).status == 401
    assert (await Guest(made.http_app(), None).ask("server/discover")).status == 200


# Whose session it is.


@pytest.mark.requirement(500, 501)
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
async def test_the_session_of_another_is_as_good_as_unknown(method: str) -> None:
    made = app()
    ada, eve = Guest(made, ADA, LATEST_HANDSHAKE), Guest(made, EVE, LATEST_HANDSHAKE)
    await ada.ask("tools/call", WHO)
    answers = list[Any]()
    for id in (ada.defaults["mcp-session-id"], "f" * 48):
        eve.defaults = {**ada.defaults, "mcp-session-id": id}
        body = eve.message("tools/call", WHO)[0] if method == "POST" else b""
        answers.append(await eve.send(method, body, {"last-event-id": f"{'0' * 24}-1"} if method == "GET" else {}))
    assert {(answer.status, answer.body) for answer in answers} == {(404, answers[0].body)}
    assert (await ada.ask("tools/call", WHO)).status == 200


# Settings.


@pytest.mark.parametrize(
    ("options", "error", "told"),
    [
        ({"scope": "read"}, TypeError, "no option scope"),
        ({"scopes": "read"}, TypeError, "a list of scopes"),
        ({"scopes": ["read write"]}, ValueError, "without blanks"),
        ({"scopes": ['"']}, ValueError, "without blanks"),
        ({"authorization_servers": ISSUER}, TypeError, "a list of URLs"),
        ({"authorization_servers": ["login.example"]}, ValueError, "a list of URLs"),
        ({"resource": "shop.example"}, ValueError, "a URL such as"),
        ({"trusted_proxies": ["proxy"]}, ValueError, "addresses and networks"),
    ],
)
def test_settings_that_make_no_sense_are_explained(options: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        Auth(StaticTokens(TOKENS), **options)


def test_what_is_no_verifier_and_no_guard_is_refused() -> None:
    with pytest.raises(TypeError, match="takes a verifier"):
        Auth("secret-token")  # type: ignore[arg-type]  # callers err
    with pytest.raises(TypeError, match=r"write StaticTokens\(\.\.\.\) and not StaticTokens"):
        Auth(StaticTokens)  # type: ignore[arg-type]  # likewise
    with pytest.raises(ValueError, match="an Auth of splice"):
        Server("shop", auth=StaticTokens(TOKENS))  # type: ignore[arg-type]  # likewise
    with pytest.raises(ValueError, match="an Auth of splice"):
        Server("shop").http_app(auth=StaticTokens(TOKENS))
