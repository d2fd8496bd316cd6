"""The proxy as clients, users and attackers meet it."""

import base64
import hashlib
import logging
import sqlite3
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from joserfc import jwt
from joserfc.jwk import KeySet

from auth.issuer.browser import Browser, Reply, post_form, request
from auth.issuer.openid_provider import CLIENT_ID, CLIENT_SECRET, Identities, identities, query_of, with_query
from splice.auth.fetcher import Fetcher
from splice.auth.guard.jwts import JWTVerifier
from splice.auth.issuer import logins
from splice.auth.issuer.proxy import OAuthProxy
from splice.auth.login.code import OAuth
from splice.auth.login.discovery import Needed
from splice.auth.login.kept import Kept
from splice.auth.login.steps import HTTP, Browse, HTTPReply, Redirect
from support.tables import rows

ISSUER = "https://proxy.test"
RESOURCE = "https://mcp.test/mcp"
OTHER = "https://mcp.test/other"
BACK = "http://127.0.0.1:3210/back"
VERIFIER = "verifier-" * 6
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


class Scene:
    """A proxy in front of a provider, a client that registered there, and a user in front of a browser."""

    def __init__(self, provider: Identities, **options: Any) -> None:
        self.provider = provider
        self.now = time.time()
        provider.clock = lambda: self.now
        given = {"resources": [RESOURCE, OTHER], "scopes": ["read", "write"]} | options
        path = given.pop("path", ":memory:")
        upstream = given.pop("upstream", None) or provider.provider()
        self.proxy = OAuthProxy(
            given.pop("issuer", ISSUER),
            upstream,
            path,
            client_id=CLIENT_ID,
            client_secret=CLIENT_SECRET,
            fetcher=Fetcher(allow_loopback=True, timeout=5),
            clock=lambda: self.now,
            **given,
        )
        self.browser = Browser(self.proxy)
        self.client_id = ""

    async def register(self, redirect_uri: str = BACK, **more: Any) -> str:
        body = {"client_name": "A client", "redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"} | more
        grants = {"grant_types": ["authorization_code", "refresh_token"]}
        reply = await self.send("POST", "/register", msgspec.json.encode(grants | body))
        assert reply.status == 201, reply.text
        return str(reply.json["client_id"])

    async def send(self, method: str, path: str, body: bytes = b"") -> Reply:
        return await request(self.proxy, method, self.proxy.issuer + path, body, {"content-type": "application/json"})

    def url(self, **other: str | None) -> str:
        asked = {
            "client_id": self.client_id,
            "redirect_uri": BACK,
            "response_type": "code",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            "state": "client-state",
            "scope": "read",
            "resource": RESOURCE,
        } | other
        given = {name: value for name, value in asked.items() if value is not None}
        return with_query(f"{self.proxy.issuer}/authorize", given)

    async def allowed(self, **other: str | None) -> str:
        """Let the user allow the client. Returns where the browser is sent then."""
        url = self.url(**other)
        reply = await self.browser.answer(url, await self.browser.get(url), "allow")
        assert reply.status == 303, reply.text
        return reply.location

    async def back(self, address: str, **other: str | None) -> Reply:
        """Let the user say yes at the provider, and come back."""
        back = with_query(f"{self.proxy.issuer}/callback", self.provider.decide(address, **other))
        return await self.browser.get(back)

    async def code(self, **other: str | None) -> str:
        reply = await self.back(await self.allowed(**other))
        assert reply.location.startswith(f"{BACK}?")
        return reply.brought["code"]

    async def redeem(self, given: str, **other: str) -> Reply:
        form = {
            "grant_type": "authorization_code",
            "code": given,
            "redirect_uri": BACK,
            "code_verifier": VERIFIER,
            "client_id": self.client_id,
            "resource": RESOURCE,
        }
        return await post_form(self.proxy, f"{self.proxy.issuer}/token", form | other)

    async def refresh(self, token: str, **other: str) -> Reply:
        form = {"grant_type": "refresh_token", "refresh_token": token, "client_id": self.client_id}
        return await post_form(self.proxy, f"{self.proxy.issuer}/token", form | other)

    async def claims(self, token: str) -> dict[str, Any]:
        keys = KeySet.import_key_set((await self.send("GET", "/jwks.json")).json)
        claims: dict[str, Any] = jwt.decode(token, keys, algorithms=["ES256"]).claims
        return claims


@asynccontextmanager
async def scene(**options: Any) -> AsyncIterator[Scene]:
    async with identities() as provider:
        made = Scene(provider, **options)
        try:
            made.client_id = await made.register() if options.get("registration", True) else ""
            yield made
        finally:
            await made.proxy.close()


@pytest.mark.requirement(446, 473)
async def test_a_client_gets_a_token_for_a_user_of_the_provider() -> None:
    async with scene() as made:
        metadata = (await made.send("GET", "/.well-known/oauth-authorization-server")).json
        answered = await made.back(await made.allowed())
        assert {name: answered.brought[name] for name in ("state", "iss")} == {"state": "client-state", "iss": ISSUER}
        reply = (await made.redeem(answered.brought["code"])).json
        claims = await made.claims(reply["access_token"])
    assert metadata["issuer"] == ISSUER
    assert metadata["grant_types_supported"] == ["authorization_code", "refresh_token"]
    assert metadata["registration_endpoint"] == f"{ISSUER}/register"
    paths = {value.removeprefix(ISSUER) for name, value in metadata.items() if name.endswith(("_endpoint", "_uri"))}
    assert paths == {"/authorize", "/token", "/register", "/revoke", "/jwks.json"}
    assert (claims["iss"], claims["sub"], claims["aud"], claims["scope"]) == (ISSUER, "ann", RESOURCE, "read")
    assert claims["client_id"] == made.client_id
    assert reply["expires_in"] == 3600


@pytest.mark.requirement(480, 496, 528)
async def test_nothing_of_the_provider_reaches_a_client(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither its tokens nor our secret there, in no answer, no file and no log."""
    caplog.set_level(logging.DEBUG)
    async with scene(path=tmp_path / "proxy.db") as made:
        address = await made.allowed()
        answered = await made.back(address)
        reply = await made.redeem(answered.brought["code"])
        told = [address, str(answered.fields), reply.text, str(await made.claims(reply.json["access_token"]))]
    rows = [str(row) for row in sqlite3.connect(tmp_path / "proxy.db").iterdump()]
    states = [query_of(address)["state"], *made.browser.cookies.values(), reply.json["refresh_token"]]
    for text in (*told, *rows, caplog.text, repr(made.proxy)):
        assert "upstream-" not in text
        assert CLIENT_SECRET not in text
        assert "ann@example.com" not in text
    for text in (*rows, caplog.text):
        assert not any(state in text for state in states)


@pytest.mark.requirement(497)
async def test_the_question_names_who_asks_and_what_for() -> None:
    async with scene() as made:
        made.client_id = await made.register("https://app.evil.test/cb", client_name="<b>Bank</b>")
        url = made.url(redirect_uri="https://app.evil.test/cb")
        page = await made.browser.get(url)
    for text in ("&lt;b&gt;Bank&lt;/b&gt;", "app.evil.test", RESOURCE, "read", "Tests"):
        assert text in page.text
    assert "<b>Bank" not in page.text
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["x-frame-options"] == "DENY"
    assert page.status == 200


@pytest.mark.requirement(495, 497)
async def test_the_provider_is_not_asked_before_the_user_allowed_the_client() -> None:
    async with scene() as made:
        page = await made.browser.get(made.url())
        assert page.status == 200
        assert not any("splice-login" in name for name in made.browser.cookies)
        denied = await made.browser.answer(made.url(), page, "deny")
        assert denied.location.startswith(BACK)
        assert (denied.brought["error"], denied.brought["iss"]) == ("access_denied", ISSUER)
        await made.code()
        again = await made.browser.get(made.url())  # and each time anew
        assert again.status == 200
        assert "Allow" in again.text


@pytest.mark.parametrize("answer", ["", "deny", "ALLOW", "switch", "login"])
async def test_only_allow_allows(answer: str) -> None:
    async with scene() as made:
        url = made.url()
        reply = await made.browser.answer(url, await made.browser.get(url), answer)
    assert reply.brought["error"] == "access_denied"


@pytest.mark.requirement(497)
@pytest.mark.parametrize("token", ["", "x", "é"])
async def test_a_forged_form_allows_nothing(token: str) -> None:
    async with scene() as made:
        await made.browser.get(made.url())
        reply = await made.browser.post(made.url(), {"token": token, "answer": "allow"})
    assert reply.status in (400, 403)
    assert "location" not in reply.headers


async def test_a_form_of_another_request_or_browser_allows_nothing() -> None:
    async with scene() as made:
        page = await made.browser.get(made.url())
        assert (await made.browser.answer(made.url(scope="read write"), page, "allow")).status == 403
        assert (await Browser(made.proxy).answer(made.url(), page, "allow")).status == 403


@pytest.mark.requirement(497)
async def test_the_cookie_of_a_login() -> None:
    async with scene() as made:
        url = made.url()
        allowed = await made.browser.answer(url, await made.browser.get(url), "allow")
        [cookie] = [value for name, value in allowed.fields if name == "set-cookie"]
        name, _, value = cookie.partition(";")[0].partition("=")
        assert name.startswith("__Host-splice-login-")
        assert len(value) == 43
        assert set(cookie.split("; ")[1:]) == {"HttpOnly", "SameSite=Lax", "Path=/", "Secure", "Max-Age=600"}
        answered = await made.back(allowed.location)
        assert answered.headers["set-cookie"].startswith(f"{name}=;")
        assert "Max-Age=0" in answered.headers["set-cookie"]


@pytest.mark.requirement(497)
async def test_a_link_from_the_middle_of_a_login_is_of_no_use_to_somebody_else() -> None:
    """The attacker allows a client in his own browser, and sends the user on from there."""
    async with scene() as made:
        attacker, victim = made.browser, Browser(made.proxy)
        address = await made.allowed()
        made.browser = victim
        await victim.get(made.url())
        reply = await made.back(address)
        assert reply.status == 403
        assert "location" not in reply.headers
        victim.cookies |= dict.fromkeys(attacker.cookies, "x" * 43)
        assert (await made.back(address)).status == 403
        assert not any(visit.path.endswith("/token") for visit in made.provider.server.visits)
        made.browser = attacker
        assert (await made.back(address)).status == 303  # it is not disturbed for whoever began it


async def test_the_cookie_of_one_login_is_of_no_use_in_another() -> None:
    async with scene() as made:
        attacker, victim = made.browser, Browser(made.proxy)
        theirs = await made.allowed()
        made.browser = victim
        await made.allowed()
        [own] = [value for name, value in victim.cookies.items() if "login" in name]
        [name] = [name for name in attacker.cookies if "login" in name]
        victim.cookies[name] = own
        assert (await made.back(theirs)).status == 403


@pytest.mark.requirement(497)
async def test_a_login_is_taken_back_once() -> None:
    async with scene() as made:
        address = await made.allowed()
        cookies = dict(made.browser.cookies)
        assert (await made.back(address)).status == 303
        made.browser.cookies = cookies
        assert (await made.back(address)).status == 403


@pytest.mark.parametrize("state", [None, "", "x", "x" * 43])
async def test_a_state_of_somebody_else(state: str | None) -> None:
    async with scene() as made:
        reply = await made.back(await made.allowed(), state=state)
    assert reply.status == 403
    assert "location" not in reply.headers


@pytest.mark.requirement(497)
async def test_a_login_ends_after_ten_minutes() -> None:
    async with scene() as made:
        address = await made.allowed()
        made.now += 601
        assert (await made.back(address)).status == 403


@pytest.mark.parametrize("iss", ["https://evil.test", "", "x"])
async def test_an_answer_of_another_provider(iss: str) -> None:
    async with scene() as made:
        reply = await made.back(await made.allowed(), iss=iss or f"{made.provider.issuer}/")
        assert reply.status == 403
        assert "location" not in reply.headers


async def test_an_answer_that_does_not_name_its_issuer() -> None:
    async with scene() as made:
        assert (await made.back(await made.allowed(), iss=None)).status == 303


@pytest.mark.parametrize(
    ("other", "error"),
    [
        ({"code": None, "error": "access_denied", "error_description": "s3cr3t"}, "access_denied"),
        ({"error": "server_error"}, "access_denied"),
        ({"code": None}, "access_denied"),
        ({"code": "unknown"}, "server_error"),
    ],
)
async def test_a_login_that_fails_is_told_to_the_client(other: dict[str, str | None], error: str) -> None:
    async with scene() as made:
        reply = await made.back(await made.allowed(), **other)
    assert reply.location.startswith(f"{BACK}?")
    assert (reply.brought["error"], reply.brought["state"], reply.brought["iss"]) == (error, "client-state", ISSUER)
    assert "code" not in reply.brought
    assert "s3cr3t" not in reply.location


async def test_not_all_at_once_begin_a_login(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logins, "LOGIN_BURST", 2.0)
    monkeypatch.setattr(logins, "LOGIN_RATE", 0.001)
    async with scene() as made:
        url = made.url()
        page = await made.browser.get(url)
        assert [(await made.browser.answer(url, page, "allow")).status for _ in range(3)] == [303, 303, 503]


async def test_who_may_come_in() -> None:
    async with scene(admits=lambda who: who.claims.get("hd") == "example.com") as made:
        assert (await made.back(await made.allowed())).brought["error"] == "access_denied"
        made.provider.claims = {"hd": "example.com"}
        assert "code" in (await made.back(await made.allowed())).brought


async def _admits_later(_: Any) -> bool:
    return True


@pytest.mark.parametrize("admits", [_admits_later, lambda who: who.claims["hd"]])
async def test_who_cannot_be_judged_does_not_come_in(admits: Any, caplog: pytest.LogCaptureFixture) -> None:
    async with scene(admits=admits) as made:
        answered = await made.back(await made.allowed())
        assert answered.brought["error"] == "access_denied"
        assert "admits= of OAuthProxy" in caplog.text


async def test_a_provider_that_is_not_there(caplog: pytest.LogCaptureFixture) -> None:
    async with scene() as made:
        made.provider.metadata = {"issuer": "https://evil.test"}
        url = made.url()
        reply = await made.browser.answer(url, await made.browser.get(url), "allow")
    assert reply.status == 503
    assert "another issuer" in caplog.text
    assert "evil" not in reply.text


@pytest.mark.parametrize(
    ("other", "error"),
    [
        ({"resource": "https://mcp.test"}, "invalid_target"),
        ({"resource": f"{RESOURCE}/"}, "invalid_target"),
        ({"resource": f"{RESOURCE}#x"}, "invalid_target"),
        ({"scope": "admin"}, "invalid_scope"),
        ({"code_challenge": None}, "invalid_request"),
        ({"code_challenge_method": "plain"}, "invalid_request"),
        ({"code_challenge_method": None}, "invalid_request"),
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"prompt": "none"}, "consent_required"),
    ],
)
async def test_what_a_client_may_not_ask(other: dict[str, str | None], error: str) -> None:
    async with scene() as made:
        reply = await made.browser.get(made.url(**other))
    assert reply.brought["error"] == error


@pytest.mark.requirement(492, 497, 528)
@rows(
    "redirect_uri",
    [
        *(
            "http://127.0.0.1:3210/back/",
            "http://127.0.0.1:3210/",
            "http://127.0.0.1:3210/back?x=1",
            "http://evil.test/back",
        ),
        *("http://127.0.0.1.evil.test/back", "http://127.0.0.1:3210@evil.test/back", "http://localhost:3210/back"),
        *("https://127.0.0.1:3210/back", "http://127.0.0.1:3210/back#x", "http://127.0.0.1:3210/%62ack", "", None),
        *("http://127.0.0.1:3210/ba\tck", "http://127.0.0.1:3210/ba\r\nck", " http://127.0.0.1:3210/back"),
    ],
)
async def test_redirect_uris_match_exactly(redirect_uri: str | None) -> None:
    async with scene() as made:
        reply = await made.browser.get(made.url(redirect_uri=redirect_uri))
    assert reply.status == 400
    assert "location" not in reply.headers


async def test_a_client_that_is_not_known() -> None:
    async with scene() as made:
        reply = await made.browser.get(made.url(client_id="nobody"))
    assert reply.status == 400
    assert "location" not in reply.headers


@pytest.mark.parametrize(
    "other",
    [
        {"code_verifier": "x" * 43},
        {"code_verifier": ""},
        {"redirect_uri": "http://127.0.0.1:1/back"},
        {"resource": OTHER},
        {"code": "x"},
    ],
)
async def test_a_code_fits_only_what_it_was_made_for(other: dict[str, str]) -> None:
    async with scene() as made:
        reply = await made.redeem(await made.code(), **other)
    assert (reply.status, reply.json["error"]) == (400, "invalid_grant")


async def test_a_code_of_another_client() -> None:
    async with scene() as made:
        code = await made.code()
        made.client_id = await made.register()
        assert (await made.redeem(code)).json["error"] == "invalid_grant"


async def test_a_code_is_good_once() -> None:
    async with scene() as made:
        code = await made.code()
        first = await made.redeem(code)
        assert (await made.redeem(code)).json["error"] == "invalid_grant"
        assert (await made.refresh(first.json["refresh_token"])).json["error"] == "invalid_grant"


@pytest.mark.requirement(531)
async def test_a_token_is_for_the_resource_it_was_asked_for() -> None:
    async with scene() as made:
        reply = await made.redeem(await made.code(resource=OTHER), resource=OTHER)
        claims = await made.claims(reply.json["access_token"])
        again = await made.refresh(reply.json["refresh_token"], resource=RESOURCE)
    assert claims["aud"] == OTHER
    assert again.json["error"] == "invalid_target"


@pytest.mark.requirement(498)
async def test_a_server_takes_the_tokens_that_are_for_it() -> None:
    async with scene() as made:
        token = (await made.redeem(await made.code())).json["access_token"]
        keys = (await made.proxy.jwks())["keys"]
        principal = await JWTVerifier(ISSUER, RESOURCE, keys=keys).verify(token)
        assert principal is not None
        assert (principal.subject, principal.issuer, principal.client) == ("ann", ISSUER, made.client_id)
        assert principal.scopes == {"read"}
        for audience in (OTHER, ISSUER, "https://mcp.test", f"{RESOURCE}/", CLIENT_ID):
            assert await JWTVerifier(ISSUER, audience, keys=keys).verify(token) is None


@pytest.mark.requirement(488)
async def test_refresh_tokens_are_replaced_and_a_stolen_one_ends_all() -> None:
    async with scene() as made:
        first = (await made.redeem(await made.code())).json["refresh_token"]
        second = (await made.refresh(first)).json["refresh_token"]
        third = (await made.refresh(second)).json["refresh_token"]
        assert len({first, second, third}) == 3
        made.now += 60
        assert (await made.refresh(first)).json["error"] == "invalid_grant"
        assert (await made.refresh(third)).json["error"] == "invalid_grant"


@pytest.mark.requirement(528)
async def test_a_login_counts_for_a_while_only() -> None:
    """However often a client refreshes: who was dismissed at the provider does not stay for ever."""
    async with scene(login_seconds=7200) as made:
        token = (await made.redeem(await made.code())).json["refresh_token"]
        for _ in range(3):
            made.now += 2000
            token = (await made.refresh(token)).json["refresh_token"]
        made.now += 2000
        assert (await made.refresh(token)).json["error"] == "invalid_grant"
        token = (await made.redeem(await made.code())).json["refresh_token"]
        assert (await made.refresh(token)).status == 200


async def test_a_user_can_be_dismissed_here() -> None:
    async with scene() as made:
        token = (await made.redeem(await made.code())).json["refresh_token"]
        assert await made.proxy.dismiss("ann")
        assert not await made.proxy.dismiss("ann")
        assert (await made.refresh(token)).json["error"] == "invalid_grant"


async def test_a_restart_keeps_clients_and_grants(tmp_path: Path) -> None:
    async with identities() as provider:
        first = Scene(provider, path=tmp_path / "proxy.db")
        first.client_id = await first.register()
        reply = (await first.redeem(await first.code())).json
        address, cookies = await first.allowed(), first.browser.cookies
        await first.proxy.close()
        second = Scene(provider, path=tmp_path / "proxy.db")
        second.client_id, second.browser.cookies = first.client_id, cookies
        assert (await second.claims(reply["access_token"]))["sub"] == "ann"
        assert (await second.refresh(reply["refresh_token"])).status == 200
        assert (await second.back(address)).status == 303
        await second.proxy.close()


async def test_a_proxy_below_a_path() -> None:
    async with scene(issuer="https://host.test/auth") as made:
        metadata = await request(made.proxy, "GET", "https://host.test/.well-known/oauth-authorization-server/auth")
        address = await made.allowed()
        assert query_of(address)["redirect_uri"] == "https://host.test/auth/callback"
        assert "code" in (await made.back(address)).brought
    assert metadata.json["authorization_endpoint"] == "https://host.test/auth/authorize"


async def test_on_this_machine_cookies_need_no_https() -> None:
    async with scene(issuer="http://127.0.0.1:9000") as made:
        await made.code()
        assert not any(name.startswith("__Host-") for name in made.browser.cookies)
        made.browser.app = made.proxy
        foreign = await request(made.proxy, "GET", "http://evil.test/jwks.json")
    assert foreign.status == 421


async def test_without_registration() -> None:
    async with scene(registration=False) as made:
        assert (await made.send("POST", "/register", b"{}")).status == 404
        assert "registration_endpoint" not in (await made.send("GET", "/.well-known/openid-configuration")).json


async def test_no_program_acts_for_itself() -> None:
    async with scene() as made:
        reply = await made.redeem("", grant_type="client_credentials")
    assert reply.json["error"] == "unsupported_grant_type"


@pytest.mark.requirement(489)
@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"resources": []}, "resources= of OAuthProxy"),
        ({"resources": None}, "resources= of OAuthProxy"),
        ({"client_secret": ""}, "needs the client id and the secret"),
        ({"client_id": ""}, "needs the client id and the secret"),
        ({"issuer": "http://proxy.test"}, "the issuer is a URL"),
        ({"issuer": "https://proxy.test/"}, "slash at the end"),
        ({"access_seconds": 3601}, "access_seconds="),
    ],
)
def test_options_that_cannot_be_meant(options: dict[str, Any], told: str) -> None:
    provider = Identities()
    provider.issuer = "https://id.test"
    given: dict[str, Any] = {"client_id": "a", "client_secret": "b", "resources": [RESOURCE]} | options
    with pytest.raises(ValueError, match=told):
        OAuthProxy(given.pop("issuer", ISSUER), provider.provider(), **given)


class Program:
    """A client of ours: it carries out the steps of a flow, with the user of a scene in front of its browser."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    async def log_in(self, policy: OAuth, kept: Kept) -> Kept:
        flow = policy.obtain(Needed(url=RESOURCE, now=self.scene.now, redirect_uri=BACK), kept)
        answer: Any = None
        while True:
            try:
                step = flow.send(answer)
            except StopIteration as end:
                found: Kept = end.value
                return found
            answer = await (self._browse(step.url) if isinstance(step, Browse) else self._send(step))

    async def _send(self, step: Any) -> HTTPReply:
        assert isinstance(step, HTTP)
        if step.url.startswith("https://mcp.test/"):
            document = {"resource": RESOURCE, "authorization_servers": [ISSUER], "scopes_supported": ["read"]}
            return HTTPReply(200, {}, msgspec.json.encode(document))
        reply = await request(self.scene.proxy, step.method, step.url, step.body, step.headers)
        return HTTPReply(reply.status, reply.headers, reply.body)

    async def _browse(self, url: str) -> Redirect:
        browser = self.scene.browser
        allowed = await browser.answer(url, await browser.get(url), "allow")
        return list((await self.scene.back(allowed.location)).brought.items())


@pytest.mark.parametrize("dpop", [False, True])
async def test_our_client_logs_in_and_refreshes(dpop: bool) -> None:
    async with scene() as made:
        program, policy = Program(made), OAuth(dpop=dpop)
        first = await program.log_in(policy, Kept())
        assert first.grant is not None
        claims = await made.claims(first.grant.access_token)
        assert (claims["sub"], claims["aud"], "cnf" in claims) == ("ann", RESOURCE, dpop)
        visits = len(made.provider.server.visits)
        second = await program.log_in(policy, first)
        assert second.grant is not None
        assert second.grant.access_token != first.grant.access_token
        assert second.grant.refresh_token != first.grant.refresh_token
        assert len(made.provider.server.visits) == visits
