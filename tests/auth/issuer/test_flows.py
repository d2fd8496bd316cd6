"""Our own clients log in at our own authorization server, and our own verifiers take its tokens."""

import json
import time
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from joserfc.jwk import ECKey, KeySet

from auth.issuer.serving import SECRET, Served, serving
from splice.auth.guard.jwts import JWTVerifier
from splice.auth.login.code import OAuth
from splice.auth.login.device import DeviceCode
from splice.auth.login.discovery import Needed
from splice.auth.login.kept import Kept
from splice.auth.login.machines import ClientCredentials
from splice.auth.login.steps import HTTP, Browse, Flow, HTTPReply, Show, Wait


async def beside(scope: Any, receive: Any, send: Any) -> None:
    """Answer as an MCP server does that names us as its authorization server."""
    base = "http://" + dict(scope["headers"])[b"host"].decode()
    status = 200 if scope["path"] == "/.well-known/oauth-protected-resource/mcp" else 404
    members = {"resource": f"{base}/mcp", "authorization_servers": [base], "scopes_supported": ["read"]}
    headers = [(b"content-type", b"application/json")]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps(members).encode()})


async def drive(served: Served, flow: Flow[Kept]) -> Kept:
    """Carry out the steps of a flow, as Anna would."""
    outcome: Any = None
    while True:
        try:
            step = flow.send(outcome)
        except StopIteration as end:
            found: Kept = end.value
            return found
        match step:
            case HTTP():
                got = await served.send(step.method, step.url, data=step.body or None, headers=dict(step.headers))
                headers = {name.lower(): value for name, value in got.headers.items()}
                outcome = HTTPReply(got.status, headers, got.text.encode())
            case Browse():
                await served.browser.sign_in(step.url)
                back = await served.browser.fill(step.url, answer="allow")
                outcome = parse_qsl(urlsplit(back.headers["location"]).query)
            case Show():
                assert step.complete_url is not None
                await served.browser.sign_in(step.complete_url)
                await served.browser.fill(step.complete_url, answer="allow")
                outcome = None
            case Wait():
                served.clock.now += step.seconds
                outcome = None


async def log_in(served: Served, policy: Any, kept: Kept | None = None) -> Kept:
    served.clock.now = time.time()
    needed = Needed(
        url=f"{served.browser.base}/mcp",
        now=served.clock.now,
        redirect_uri="http://127.0.0.1:50000/callback",
    )
    return await drive(served, policy.obtain(needed, kept or Kept()))


async def check(served: Served, kept: Kept, subject: str) -> None:
    """Let both verifiers look at the token."""
    assert kept.grant is not None
    base, token = served.browser.base, kept.grant.access_token
    by_key = JWTVerifier(base, f"{base}/mcp", keys=await served.issuer.jwks())
    principal = await by_key.verify(token)
    assert principal is not None
    assert (principal.subject, principal.issuer) == (subject, base)
    assert await JWTVerifier(base, f"{base}/other", keys=await served.issuer.jwks()).verify(token) is None


async def test_a_user_logs_in_with_a_browser_and_the_login_is_refreshed() -> None:
    async with serving(beside=beside, scopes=["read"]) as served:
        kept = await log_in(served, OAuth())
        assert kept.registration is not None
        assert kept.registration.is_dynamic
        await check(served, kept, "anna")
        assert kept.grant is not None
        before = kept.grant.access_token, kept.grant.refresh_token
        again = await log_in(served, OAuth(), kept)
        assert again.grant is not None
        assert again.grant.access_token != before[0]
        assert again.grant.refresh_token not in (None, before[1])


async def test_a_user_logs_in_with_a_bound_token() -> None:
    async with serving(beside=beside, dpop_nonces=True) as served:
        kept = await log_in(served, OAuth(dpop=True))
        assert kept.grant is not None
        assert kept.grant.token_type == "DPoP"
        assert (await served.introspect(kept.grant.access_token))["cnf"]


async def test_a_user_logs_in_on_another_device() -> None:
    async with serving(beside=beside) as served:
        await check(served, await log_in(served, DeviceCode(show=lambda _: None)), "anna")


@pytest.mark.requirement(527)
async def test_a_program_logs_in_by_secret_or_key() -> None:
    key = ECKey.generate_key("P-256", auto_kid=True)
    jwks: Any = KeySet([key]).as_dict(private=False)
    async with serving(beside=beside) as served:
        await served.issuer.add_client("robot", jwks=jwks)
        await check(served, await log_in(served, ClientCredentials("api", SECRET)), "client:api")
        by_key = ClientCredentials("robot", private_key=key.as_pem(private=True).decode())
        await check(served, await log_in(served, by_key), "client:robot")


async def test_a_server_that_asks_notices_a_revoked_token() -> None:
    async with serving(beside=beside) as served:
        kept = await log_in(served, OAuth(client_id="demo"))
        assert kept.grant is not None
        await served.post("/revoke", token=kept.grant.access_token, client_id="demo")
        assert (await served.introspect(kept.grant.access_token)) == {"active": False}
