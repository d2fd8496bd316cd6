"""The local authorization server as programs and browsers meet it, over real HTTP."""

import asyncio
import json
import logging
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from auth.issuer.serving import CALLBACK, PASSWORD, RESOURCE, SECRET, VERIFIER, browser, serving
from splice.auth.issuer.local import LocalAuthorizationServer
from splice.auth.issuer.store import Records
from splice.auth.issuer.tokens import AccessTokens, kept_keys
from splice.stores import opening

METADATA = "/.well-known/oauth-authorization-server"


@pytest.mark.requirement(450, 473, 491, 524, 530)
async def test_the_metadata_says_where_everything_is() -> None:
    async with serving(scopes=["read"]) as served:
        found = await served.get(METADATA)
        also = await served.get("/.well-known/openid-configuration")
        assert found.json == also.json
        assert found.json["issuer"] == served.browser.base
        assert found.json["code_challenge_methods_supported"] == ["S256"]
        assert found.json["authorization_response_iss_parameter_supported"] is True
        assert found.json["client_id_metadata_document_supported"] is True
        assert found.json["scopes_supported"] == ["read", "offline_access"]
        assert found.headers["access-control-allow-origin"] == "*"
        for name, url in found.json.items():
            if name.endswith("_endpoint") and name != "authorization_endpoint":
                assert (await served.post(url)).status in (400, 401), name


@pytest.mark.requirement(446, 473, 488)
async def test_a_user_signs_in_and_allows_and_the_client_gets_tokens() -> None:
    async with serving() as served:
        path = served.ask()
        login = await served.get(path)
        assert "Sign in" in login.text
        signed_in = await served.browser.sign_in(path)
        assert (signed_in.status, signed_in.headers["location"]) == (303, path)
        consent = await served.get(path)
        assert "Demo &lt;b&gt;" in consent.text
        assert "127.0.0.1" in consent.text
        allowed = await served.post(path, token=consent.token, answer="allow")
        assert allowed.status == 303
        assert allowed.headers["location"].startswith(f"{CALLBACK}?")
        assert allowed.answer["state"] == "st"
        assert allowed.answer["iss"] == served.browser.base
        reply = await served.redeem(allowed.answer["code"])
        assert reply.headers["cache-control"] == "no-store"
        assert reply.json.keys() == {"access_token", "token_type", "expires_in", "scope", "refresh_token"}
        keys = KeySet.import_key_set((await served.get("/jwks.json")).json)
        read = jwt.decode(reply.json["access_token"], keys, algorithms=["ES256"])
        assert read.header["typ"] == "at+jwt"
        assert read.claims["aud"] == RESOURCE
        assert read.claims["sub"] == "anna"
        assert read.claims["client_id"] == "demo"
        assert read.claims["scope"] == "read"
        assert 0 < read.claims["exp"] - served.clock.now <= 3600


async def test_public_keys_have_no_private_part() -> None:
    async with serving() as served:
        found = (await served.get("/jwks.json")).json
        assert found == await served.issuer.jwks()
        assert [set(key) for key in found["keys"]] == [{"kty", "crv", "x", "y", "use", "alg", "kid"}]


async def test_what_was_allowed_is_remembered_for_these_scopes() -> None:
    async with serving() as served:
        await served.code()
        assert "code" in (await served.get(served.ask())).answer
        assert "code" in (await served.get(served.ask(scope=None))).answer
        assert (await served.get(served.ask(scope="read write"))).status == 200
        assert (await served.get(served.ask(resource="https://other.example"))).status == 200
        assert (await served.get(served.ask(redirect_uri="https://app.example/back"))).status == 200
        assert (await served.get(served.ask(prompt="consent"))).status == 200


async def test_a_user_who_says_no_is_not_asked_by_the_client_again() -> None:
    async with serving() as served:
        path = served.ask()
        await served.browser.sign_in(path)
        denied = await served.browser.fill(path, answer="deny")
        assert denied.answer["error"] == "access_denied"
        assert denied.answer["iss"] == served.browser.base
        assert "code" not in denied.answer


async def test_a_form_must_come_from_a_page_in_this_browser() -> None:
    async with serving() as served, browser(served.browser.base) as other:
        path = served.ask()
        await served.browser.sign_in(path)
        await other.sign_in(path)
        theirs = (await other.get(path)).token
        for token in ("", "x", "ü", theirs):
            assert (await served.post(path, token=token, answer="allow")).status == 403
        elsewhere = (await served.get(served.ask(scope="admin"))).token
        assert (await served.post(path, token=elsewhere, answer="allow")).status == 403
        assert (await served.post(path, answer="login", user="anna", password=PASSWORD)).status == 403


async def test_signing_in_changes_the_cookie() -> None:
    async with serving() as served:
        path = served.ask()
        before = (await served.get(path)).headers["set-cookie"]
        after = (await served.browser.sign_in(path)).headers["set-cookie"]
        assert before != after
        assert "HttpOnly; SameSite=Lax; Path=/" in after
        assert "splice-auth-" in after
        old = {"cookie": before.partition(";")[0]}
        async with browser(served.browser.base) as thief:
            assert "Password" in (await thief.get(path, headers=old)).text


async def test_a_user_can_sign_in_as_somebody_else() -> None:
    async with serving() as served:
        path = served.ask()
        await served.browser.sign_in(path)
        assert (await served.browser.fill(path, answer="switch")).headers["location"] == path
        assert "Password" in (await served.get(path)).text


async def test_a_removed_user_is_out_at_once() -> None:
    async with serving() as served:
        tokens = await served.tokens()
        assert await served.issuer.remove_user("anna")
        assert not await served.issuer.remove_user("anna")
        assert "Password" in (await served.get(served.ask(scope="more"))).text
        assert (await served.refresh(tokens["refresh_token"])).json["error"] == "invalid_grant"
        assert (await served.introspect(tokens["access_token"]))["active"] is False


async def test_what_a_removed_user_granted_is_no_good_before_anybody_asks() -> None:
    async with serving() as served:
        tokens, code = await served.tokens(), await served.code(prompt="consent")
        await served.issuer.remove_user("anna")
        assert (await served.introspect(tokens["access_token"]))["active"] is False
        assert (await served.redeem(code)).json["error"] == "invalid_grant"


@pytest.mark.parametrize("is_removed", [True, False])
async def test_another_password_or_user_of_the_name_inherits_nothing(is_removed: bool) -> None:
    async with serving() as served:
        tokens, code = await served.tokens(), await served.code(prompt="consent")
        if is_removed:
            await served.issuer.remove_user("anna")
        await served.issuer.add_user("anna", "another horse")
        assert "Password" in (await served.get(served.ask())).text
        assert (await served.redeem(code)).json["error"] == "invalid_grant"
        assert (await served.introspect(tokens["access_token"]))["active"] is False
        assert (await served.refresh(tokens["refresh_token"])).json["error"] == "invalid_grant"


async def test_the_same_password_once_more_ends_nothing() -> None:
    async with serving() as served:
        tokens = await served.tokens()
        await served.issuer.add_user("anna", PASSWORD)
        assert (await served.get(served.ask())).status == 303
        assert (await served.refresh(tokens["refresh_token"])).status == 200


async def test_a_wrong_password_and_a_wrong_name_are_told_alike() -> None:
    async with serving() as served:
        path = served.ask()
        wrong = await served.browser.sign_in(path, password="wrong password")
        nobody = await served.browser.sign_in(path, user="nobody")
        assert "Name or password is wrong" in wrong.text
        assert "Name or password is wrong" in nobody.text


@pytest.mark.parametrize("user", ["anna", "nobody"])
async def test_attempts_are_counted_and_it_is_told(user: str) -> None:
    async with serving() as served:
        path = served.ask()
        for _ in range(10):
            assert (await served.browser.sign_in(path, user=user, password="wrong password")).status == 200
        refused = await served.browser.sign_in(path, user=user)
        assert refused.status == 429
        assert int(refused.headers["retry-after"]) > 0
        assert "Too many attempts: wait" in refused.text


async def test_pages_are_not_framed_and_load_nothing() -> None:
    async with serving() as served:
        page = await served.get(served.ask())
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "script" not in policy
        assert "unsafe" not in policy
        assert page.headers["x-frame-options"] == "DENY"
        assert page.headers["referrer-policy"] == "no-referrer"
        assert page.headers["cache-control"] == "no-store"
        assert "<script" not in page.text


@pytest.mark.requirement(494)
@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({"client_id": "nobody"}, 400),
        ({"client_id": None}, 400),
        ({"redirect_uri": None}, 400),
        ({"redirect_uri": "https://evil.example/back"}, 400),
        ({"redirect_uri": f"{CALLBACK}/more"}, 400),
        ({"redirect_uri": f"{CALLBACK}?x=1"}, 400),
        ({"redirect_uri": "http://127.0.0.1@evil.example/callback"}, 400),
        ({"redirect_uri": "http://localhost/callback"}, 400),
        ({"redirect_uri": "https://app.example:444/back"}, 400),
    ],
)
async def test_nobody_is_sent_to_an_address_that_is_not_registered(changes: Any, status: int) -> None:
    async with serving() as served:
        reply = await served.get(served.ask(**changes))
        assert reply.status == status
        assert "location" not in reply.headers


@pytest.mark.requirement(473, 522)
@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge": "short"}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"scope": "read unknown"}, "invalid_scope"),
        ({"scope": 'a"b'}, "invalid_scope"),
        ({"resource": "not-a-url"}, "invalid_target"),
        ({"resource": f"{RESOURCE}#part"}, "invalid_target"),
        ({"resource": "https://other.example/mcp"}, "invalid_target"),
        ({"prompt": "none"}, "login_required"),
        ({"dpop_jkt": "x"}, "invalid_request"),
    ],
)
async def test_a_wrong_request_is_told_to_the_client(changes: Any, error: str) -> None:
    async with serving(scopes=["read"], resources=[RESOURCE]) as served:
        reply = await served.get(served.ask(**changes))
        assert reply.answer["error"] == error
        assert reply.answer["state"] == "st"
        assert reply.answer["iss"] == served.browser.base


@pytest.mark.requirement(494)
async def test_nobody_uses_us_as_a_stepping_stone() -> None:
    """RFC 9700 section 4.11.2: an address that a stranger registered is not redirected to before a user wants that."""
    async with serving() as served:
        uris = ["https://evil.example/x"]
        made = (await served.send("POST", "/register", json={"redirect_uris": uris})).json
        reply = await served.get(served.ask(client_id=made["client_id"], redirect_uri=uris[0], response_type="x"))
        assert reply.status == 400
        assert "location" not in reply.headers
        assert "Go back to evil.example" in reply.text


async def test_the_port_of_a_program_on_this_computer_may_change() -> None:
    async with serving() as served:
        code = await served.code(redirect_uri="http://127.0.0.1:50123/callback")
        wrong_port = await served.redeem(code, redirect_uri="http://127.0.0.1:50124/callback")
        assert wrong_port.json["error"] == "invalid_grant"
        code = await served.code(redirect_uri="http://127.0.0.1:50123/callback")
        assert (await served.redeem(code, redirect_uri="http://127.0.0.1:50123/callback")).status == 200


@pytest.mark.requirement(446)
@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": "other"},
        {"redirect_uri": "https://app.example/back"},
        {"code_verifier": "x" * 43},
        {"code_verifier": ""},
        {"resource": "https://other.example/mcp"},
    ],
)
async def test_a_code_is_bound_and_used_up_by_a_wrong_attempt(changes: dict[str, str]) -> None:
    async with serving() as served:
        await served.issuer.add_client("other", redirect_uris=[CALLBACK])
        code = await served.code()
        assert (await served.redeem(code, **changes)).json["error"] == "invalid_grant"
        assert (await served.redeem(code)).json["error"] == "invalid_grant"


async def test_a_code_ends_after_a_minute() -> None:
    async with serving() as served:
        code = await served.code()
        served.clock.now += 61
        assert (await served.redeem(code)).json["error"] == "invalid_grant"


async def test_a_code_used_twice_ends_what_came_of_it() -> None:
    async with serving() as served:
        code = await served.code()
        tokens = (await served.redeem(code)).json
        assert (await served.introspect(tokens["access_token"]))["active"] is True
        assert (await served.redeem(code)).json["error"] == "invalid_grant"
        assert (await served.introspect(tokens["access_token"]))["active"] is False
        assert (await served.refresh(tokens["refresh_token"])).json["error"] == "invalid_grant"


async def test_of_many_who_use_a_code_at_once_nobody_keeps_a_grant() -> None:
    async with serving() as served:
        code = await served.code()
        replies = await asyncio.gather(*(served.redeem(code) for _ in range(8)))
        good = [reply.json for reply in replies if reply.status == 200]
        assert len(good) <= 1
        for tokens in good:
            assert (await served.introspect(tokens["access_token"]))["active"] is False


@pytest.mark.requirement(488, 527)
async def test_a_refresh_token_is_replaced_and_an_old_one_ends_the_grant() -> None:
    async with serving() as served:
        first = await served.tokens()
        second = (await served.refresh(first["refresh_token"])).json
        assert second["refresh_token"] != first["refresh_token"]
        third = (await served.refresh(second["refresh_token"])).json
        assert (await served.refresh(first["refresh_token"])).json["error"] == "invalid_grant"
        assert (await served.refresh(third["refresh_token"])).json["error"] == "invalid_grant"
        assert (await served.introspect(third["access_token"]))["active"] is False


async def test_a_lost_answer_can_be_asked_for_again_for_a_moment() -> None:
    async with serving() as served:
        first = await served.tokens()
        lost = (await served.refresh(first["refresh_token"])).json
        served.clock.now += 15
        again = (await served.refresh(first["refresh_token"])).json
        assert (await served.refresh(again["refresh_token"])).status == 200
        assert (await served.refresh(lost["refresh_token"])).json["error"] == "invalid_grant"


async def test_a_moment_is_over_after_twenty_seconds() -> None:
    async with serving() as served:
        first = await served.tokens()
        await served.refresh(first["refresh_token"])
        served.clock.now += 21
        assert (await served.refresh(first["refresh_token"])).json["error"] == "invalid_grant"


@pytest.mark.requirement(531)
async def test_a_refresh_token_is_for_its_client_scopes_and_resource() -> None:
    async with serving() as served:
        await served.issuer.add_client("other", redirect_uris=[CALLBACK])
        token = (await served.tokens(scope="read write"))["refresh_token"]
        assert (await served.refresh(token, client_id="other")).json["error"] == "invalid_grant"
        assert (await served.refresh(token, scope="read admin")).json["error"] == "invalid_scope"
        assert (await served.refresh(token, resource="https://other.example")).json["error"] == "invalid_target"
        narrowed = (await served.refresh(token, scope="write")).json
        assert narrowed["scope"] == "write"
        assert (await served.refresh(narrowed["refresh_token"])).json["scope"] == "read write"


@pytest.mark.requirement(527)
async def test_a_refresh_token_ends_when_nobody_uses_it() -> None:
    async with serving(refresh_seconds=100) as served:
        tokens = await served.tokens()
        for _ in range(3):
            served.clock.now += 90
            tokens = (await served.refresh(tokens["refresh_token"])).json
        served.clock.now += 101
        assert (await served.refresh(tokens["refresh_token"])).json["error"] == "invalid_grant"


async def test_a_revoked_token_takes_its_grant_with_it() -> None:
    async with serving() as served:
        for kind in ("access_token", "refresh_token"):
            tokens = await served.tokens()
            other = await served.post("/revoke", token=tokens[kind], client_id="nobody")
            assert other.status == 401
            assert (await served.introspect(tokens["access_token"]))["active"] is True
            assert (await served.post("/revoke", token=tokens[kind], client_id="demo")).status == 200
            assert (await served.introspect(tokens["access_token"]))["active"] is False
        assert (await served.post("/revoke", token="nonsense", client_id="demo")).status == 200


async def test_only_servers_that_were_added_may_look_into_tokens() -> None:
    async with serving() as served:
        token = (await served.tokens())["access_token"]
        assert (await served.post("/introspect", token=token)).status == 401
        assert (await served.post("/introspect", token=token, client_id="demo")).status == 403
        found = await served.introspect(token)
        assert found["active"] is True
        assert (found["sub"], found["aud"], found["token_type"]) == ("anna", RESOURCE, "Bearer")
        assert "grant" not in found
        served.clock.now += 3601
        assert await served.introspect(token) == {"active": False}


async def test_a_bigger_body_and_a_longer_query_are_refused() -> None:
    async with serving() as served:
        assert (await served.send("POST", "/token", data=b"x" * 65_537)).status == 413
        assert (await served.get(f"/authorize?x={'y' * 17_000}")).status == 414
        assert (await served.get("/token")).status == 405
        assert (await served.get("/nothing")).status == 404
        assert (await served.send("POST", "/token", json={})).status == 400
        twice = await served.send("POST", "/token", data=[("grant_type", "x"), ("grant_type", "y")])
        assert "twice" in twice.json["error_description"]
        many = await served.send("POST", "/token", data=[(f"n{number}", "x") for number in range(60)])
        assert many.status == 400


async def test_a_page_under_another_name_of_this_machine_is_refused() -> None:
    async with serving() as served:
        assert (await served.get(served.ask(), headers={"host": "evil.example"})).status == 421


async def test_everything_outlives_a_restart(tmp_path: Path) -> None:
    async with serving(tmp_path / "auth.db") as served:
        tokens = await served.tokens()
        keys = await served.issuer.jwks()
        base = served.browser.base
    again = LocalAuthorizationServer(base, tmp_path / "auth.db", clock=served.clock)
    assert await again.jwks() == keys
    form = f"grant_type=refresh_token&client_id=demo&refresh_token={tokens['refresh_token']}"
    status, body = await _posted(again, "/token", form, base)
    assert status == 200, body
    await again.close()
    kept = b"".join(path.read_bytes() for path in tmp_path.iterdir())  # noqa: ASYNC240 - nothing else runs
    for secret in (PASSWORD, SECRET, tokens["refresh_token"], tokens["access_token"]):
        assert secret.encode() not in kept


async def _posted(app: Any, path: str, form: str, base: str) -> tuple[int, Any]:
    sent: list[Any] = []
    headers = [(b"host", base.removeprefix("http://").encode())]
    headers.append((b"content-type", b"application/x-www-form-urlencoded"))
    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}

    async def receive() -> Any:
        return {"type": "http.request", "body": form.encode()}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


async def test_no_secret_reaches_a_log_or_a_repr(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "splice")
    async with serving() as served:
        code = await served.code()
        tokens = (await served.redeem(code)).json
        await served.refresh(tokens["refresh_token"] + "x")
        told = caplog.text + repr(served.issuer)
        for secret in (code, VERIFIER, PASSWORD, *tokens.values()):
            assert str(secret) not in told or len(str(secret)) < 20


async def test_a_test_can_do_without_pages() -> None:
    async with serving(auto_approve="anna") as served:
        assert "code" in (await served.get(served.ask())).answer
        made = await served.send("POST", "/register", json={"redirect_uris": ["https://evil.example/x"]})
        asked = served.ask(client_id=made.json["client_id"], redirect_uri="https://evil.example/x")
        assert "location" not in (await served.get(asked)).headers


@pytest.mark.requirement(489)
@pytest.mark.parametrize(
    ("issuer", "options", "told"),
    [
        ("http://auth.example", {}, "https"),
        ("https://auth.example/", {}, "slash"),
        ("https://auth.example?x=1", {}, "query"),
        ("ftp://auth.example", {}, "https"),
        ("https://auth.example", {"auto_approve": "anna"}, "on this machine"),
        ("https://auth.example", {"access_seconds": 7200}, "3600"),
        ("https://auth.example", {"users": {"anna": "short"}}, "8 to 1000"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(issuer: str, options: Any, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        LocalAuthorizationServer(issuer, **options)


async def test_a_client_added_by_hand_is_checked() -> None:
    issuer = LocalAuthorizationServer("http://127.0.0.1:9000")
    with pytest.raises(ValueError, match="24 characters"):
        await issuer.add_client("api", secret="short")
    with pytest.raises(ValueError, match="https"):
        await issuer.add_client("demo", redirect_uris=["http://app.example/back"])
    with pytest.raises(ValueError, match="ASCII"):
        await issuer.add_client("")
    with pytest.raises(ValueError, match="8 to 1000"):
        await issuer.add_user("anna", "short")
    with pytest.raises(ValueError, match="letters"):
        await issuer.add_user("client:api", PASSWORD)


async def test_a_user_is_granted_only_their_own_scopes() -> None:
    async with serving(scopes=["read", "write"]) as served:
        await served.issuer.add_user("anna", PASSWORD, scopes=["read"])
        path = served.ask(scope="read write offline_access", prompt="consent")
        await served.browser.sign_in(path)
        page = await served.get(path)
        assert "<code>read</code>" in page.text
        assert "<code>write</code>" not in page.text
        allowed = await served.post(path, token=page.token, answer="allow")
        tokens = (await served.redeem(allowed.answer["code"])).json
        assert tokens["scope"] == "read offline_access"
        remembered = await served.get(served.ask(scope="read write"))
        assert (await served.redeem(remembered.answer["code"])).json["scope"] == "read"


async def test_a_user_who_may_have_nothing_of_it_is_told_and_so_is_the_client() -> None:
    async with serving() as served:
        await served.issuer.add_user("anna", PASSWORD, scopes=["read"])
        path = served.ask(scope="write")
        await served.browser.sign_in(path)
        page = await served.get(path)
        assert "Nothing of what was asked for may be granted to this user" in page.text
        assert "Sign in as somebody else" in page.text
        assert 'value="allow"' not in page.text
        for answer in ("allow", "deny"):
            back = await served.post(path, token=page.token, answer=answer)
            assert back.answer["error"] == "access_denied"
            assert "Nothing of what was asked for" in back.answer["error_description"]
            assert "anna" not in back.headers["location"]
        silent = await served.get(served.ask(scope="write", prompt="none"))
        assert silent.answer["error"] == "invalid_scope"


async def test_a_limit_holds_for_what_was_granted_before() -> None:
    async with serving() as served:
        tokens, code = await served.tokens(scope="read write"), await served.code(scope="read write")
        await served.issuer.add_user("anna", PASSWORD, scopes=["read"])
        assert (await served.introspect(tokens["access_token"]))["scope"] == "read"
        assert (await served.redeem(code)).json["scope"] == "read"
        only_write = await served.refresh(tokens["refresh_token"], scope="write")
        assert only_write.json["error"] == "invalid_scope"
        again = (await served.refresh(tokens["refresh_token"])).json
        assert again["scope"] == "read"
        await served.issuer.add_user("anna", PASSWORD, scopes=[])
        assert await served.introspect(again["access_token"]) == {"active": False}
        assert (await served.refresh(again["refresh_token"])).json["error"] == "invalid_scope"


@pytest.mark.parametrize("password", [PASSWORD, "another horse"])
async def test_neither_a_password_nor_a_start_lifts_a_limit(password: str, tmp_path: Path) -> None:
    async with serving(tmp_path / "auth.db") as served:
        await served.issuer.add_user("anna", PASSWORD, scopes=["read"])
        await served.issuer.add_user("anna", password)
    async with serving(tmp_path / "auth.db", users={"anna": password}) as served:
        path = served.ask(scope="write")
        await served.browser.sign_in(path, password=password)
        assert "Nothing of what was asked for" in (await served.get(path)).text


async def test_a_limit_holds_for_who_is_not_asked() -> None:
    async with serving(auto_approve="anna") as served:
        await served.issuer.add_user("anna", PASSWORD, scopes=["read"])
        assert (await served.tokens(scope="read write"))["scope"] == "read"
        assert (await served.get(served.ask(scope="write"))).answer["error"] == "invalid_scope"


@pytest.mark.parametrize(
    ("scopes", "told"),
    [("read", "a list of texts"), (["a b"], "without blanks"), (["rite"], "there is no scope 'rite'")],
)
async def test_scopes_that_are_none_are_told_when_they_are_given(scopes: Any, told: str) -> None:
    issuer = LocalAuthorizationServer("http://127.0.0.1:9000", scopes=["read", "write"])
    with pytest.raises(ValueError, match=told):
        await issuer.add_user("anna", PASSWORD, scopes=scopes)
    with pytest.raises(ValueError, match=told):
        await issuer.add_client("app", secret=SECRET, scopes=scopes)


async def test_a_resource_that_is_not_served_is_named(caplog: pytest.LogCaptureFixture) -> None:
    async with serving(resources=[RESOURCE]) as served:
        asked = 'https://x.example/"mcp\\'
        told = (await served.get(served.ask(resource=asked))).answer["error_description"]
        assert told == "This server makes no tokens for the resource https://x.example/?mcp?"
        assert RESOURCE not in told
        assert "https://x.example/?mcp?" in caplog.text
        assert "resources=" in caplog.text
        told = (await served.get(served.ask(resource="notes\r\n\u00fc" + "x" * 900))).answer["error_description"]
        assert f"not notes???{'x' * 192}" in told
        assert len(told) < 300


async def test_a_verifier_in_the_same_process_asks_nobody(tmp_path: Path) -> None:
    issuer = LocalAuthorizationServer("https://auth.example", tmp_path / "auth.db")
    verifier = issuer.verifier(RESOURCE)
    assert verifier.issuers == ("https://auth.example",)
    assert await verifier.verify("x") is None
    store = opening.open(str(tmp_path / "auth.db"))
    made = AccessTokens("https://auth.example", await kept_keys(Records(store)))
    principal = await verifier.verify(made.make(subject="anna", client="demo", audience=RESOURCE, scopes=["read"]))
    assert principal is not None
    assert (principal.subject, principal.scopes) == ("anna", frozenset({"read"}))
    assert await verifier.verify(made.make(subject="anna", client="demo", audience="https://other.example")) is None
    with pytest.raises(ValueError, match="audience"):
        issuer.verifier("")
    await store.close()
    await issuer.close()


def test_an_authorization_server_alone_loads_no_guard() -> None:
    told = "import sys, splice.auth.issuer.local; print([m for m in sys.modules if m.startswith('splice.auth.guard')])"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, timeout=30, check=True)
    assert done.stdout == "[]\n"


async def test_consent_is_asked_for_anew_where_the_client_wants_that() -> None:
    """OpenID Connect Core section 11 has clients say so with offline_access."""
    async with serving() as served:
        await served.code()
        assert (await served.get(served.ask())).status == 303
        assert (await served.get(served.ask(scope="read offline_access", prompt="consent"))).status == 200
