"""No secret of a login is told: in no log, error, `repr` or URL, whoever takes part and whatever fails."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest
from joserfc.jwk import ECKey, KeySet

from auth.issuer.browser import Browser as Visitor
from auth.issuer.openid_provider import CLIENT_SECRET
from auth.issuer.serving import CHEAP, Reply, browser, serving
from auth.issuer.test_flows import beside, log_in
from auth.issuer.test_proxy import scene
from auth.watching import Watch
from splice import Client, Context, HTTPServer, Server
from splice.auth.guard.guard import Auth
from splice.auth.guard.introspection import IntrospectionVerifier
from splice.auth.guard.jwts import JWTVerifier
from splice.auth.guard.keys import APIKeys
from splice.auth.issuer.local import LocalAuthorizationServer
from splice.auth.login.code import OAuth
from splice.auth.login.device import DeviceCode
from splice.auth.login.keeping import MemoryTokens
from splice.auth.login.kept import Kept
from splice.auth.login.machines import ClientCredentials, EnterpriseManaged, WorkloadIdentity
from support.listening import listening

PASSWORD, API_KEY = "the-password-of-anna", "the-api-key-of-a-shop"
SECRET = "the-secret-of-a-client-by-name"
ASSERTION, ID_TOKEN = "the-assertion-of-a-platform", "the-id-token-of-a-user"


class World:
    """An authorization server and a guarded server on one port, both of which are watched."""

    def __init__(self, base: str, verifier: Any = None) -> None:
        self.base, self.url = base, f"{base}/mcp"
        self.issuer = LocalAuthorizationServer(
            base, users={"anna": PASSWORD}, password_cost=CHEAP, scopes=["read"], access_seconds=1
        )
        self.auth = Auth(verifier or JWTVerifier(base, self.url), scopes=["read"])
        self.server = Server("guarded", auth=self.auth)
        self.server.add_tool(who)
        self.mcp: Any = self.server.http_app(path="/mcp")
        self.app = self.issuer.app(beside=self.mcp)


def who(ctx: Context) -> str:
    """Tell who calls."""
    return repr(ctx.principal)


@asynccontextmanager
async def world(watch: Watch, verifier: Callable[[str], Any] | None = None) -> AsyncIterator[World]:
    held: list[World] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await watch.tap(held[0].app)(scope, receive, send)

    async with listening(app) as url:
        base = url.removesuffix("/mcp")
        held.append(World(base, verifier(base) if verifier else None))
        service = held[0].server.service
        await service.open()
        try:
            yield held[0]
        finally:
            await held[0].mcp.stop(0.5)
            await service.close()
            await held[0].issuer.close()
            watch.show(*vars(held[0]).values())


async def used(watch: Watch, client: Client) -> None:
    """Call a tool; that a call or the login failed is told as a program would."""
    try:
        async with client:
            watch.show(client, await client.call_tool("who"))
    except Exception as error:  # noqa: BLE001 - of whatever kind
        watch.fail(error)
    else:
        return
    watch.plant(failed="it-failed-at-least-once")


async def stale(tokens: MemoryTokens, url: str) -> Kept:
    """Make the access token that is kept one that no server takes."""
    kept = await tokens.load(url)
    assert kept is not None
    assert kept.grant is not None
    kept.grant.access_token += "x"
    await tokens.save(url, kept)
    return kept


async def a_user(watch: Watch) -> None:
    """Sign in, call, be refreshed, lose the grant, and decline to sign in again."""
    watch.plant(client_secret=SECRET)
    async with world(watch) as made, browser(made.base) as anna:
        visits = list[str]()

        async def person(url: str) -> None:
            asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
            back = {"state": asked["state"], "iss": made.base, "error": "access_denied"}
            location = f"{asked['redirect_uri']}?{urlencode(back)}"
            if not visits:
                await anna.sign_in(url, password=PASSWORD)
                location = (await anna.fill(url, answer="allow")).headers["location"]
            visits.append(url)
            watch.passed("", {"location": location}, b"")
            assert (await anna.get(location)).status < 400

        await made.issuer.add_client("cli", secret=SECRET, redirect_uris=["http://127.0.0.1/callback"])
        tokens = MemoryTokens()
        policy = OAuth(client_id="cli", client_secret=SECRET, browse=person, tokens=tokens)
        await used(watch, Client(made.url, auth=policy))
        first = await stale(tokens, made.url)
        await asyncio.to_thread(watch.show, policy, tokens, first, first.grant, first.registration)
        await used(watch, Client(made.url, auth=policy))
        assert len(visits) == 1  # it was refreshed
        second = await stale(tokens, made.url)
        assert second.grant is not None
        await used(
            watch, Client(HTTPServer(made.url, headers={"Authorization": f"Bearer {second.grant.access_token}"}))
        )
        form = {"token": second.grant.refresh_token, "client_id": "cli", "client_secret": SECRET}
        await anna.send("POST", "/revoke", data=form)
        await used(watch, Client(made.url, auth=policy))
        assert len(visits) == 2
    watch.check(
        *("password", "client_secret", "state", "code", "code_verifier", "access_token", "refresh_token", "token"),
        *("authorization", "set-cookie", "cookie", "failed"),
    )


async def a_program(watch: Watch) -> None:
    """Prove itself by a secret or a key; the server asks about its tokens, and at last has a wrong secret itself."""
    key = ECKey.generate_key("P-256", auto_kid=True)
    jwks: Any = KeySet([key]).as_dict(private=False)
    watch.plant(client_secret=SECRET, private_key=str(key.as_dict(private=True)["d"]))
    asking: list[IntrospectionVerifier] = []

    def verifier(base: str) -> IntrospectionVerifier:
        asking.append(IntrospectionVerifier(f"{base}/introspect", "api", SECRET, audience=f"{base}/mcp"))
        return asking[0]

    async with world(watch, verifier) as made:
        await made.issuer.add_client("api", secret=SECRET)
        await made.issuer.add_client("robot", jwks=jwks)
        by_secret = ClientCredentials("api", SECRET)
        by_key = ClientCredentials("robot", private_key=key.as_pem(private=True).decode())
        for policy in (by_secret, by_key, ClientCredentials("api", f"{SECRET}-of-old")):
            await used(watch, Client(made.url, auth=policy))
        await made.issuer.add_client("api", secret="another-secret-of-this-client")
        await used(watch, Client(made.url, auth=by_key))
        watch.show(by_secret, by_key, *asking)
    watch.check(*("client_secret", "private_key", "access_token", "client_assertion", "authorization", "failed"))


async def a_key(watch: Watch) -> None:
    """Send an API key in a header of its own; also a wrong one."""
    watch.plant(api_key=API_KEY)
    keys = APIKeys({API_KEY: "shop"})
    async with world(watch, lambda _: keys) as made:
        for given in (API_KEY, f"{API_KEY}-of-old"):
            target = HTTPServer(made.url, headers={"X-API-Key": given})
            watch.show(target)
            await used(watch, Client(target))
        watch.show(keys)
    watch.check("api_key", "x-api-key", "failed")


async def an_assertion(watch: Watch) -> None:
    """Let a platform or a company vouch for the program; the authorization server does not take that."""
    watch.plant(assertion=ASSERTION, id_token=ID_TOKEN, client_secret=SECRET)
    async with world(watch) as made:
        company = {"idp_token_endpoint": f"{made.base}/token", "idp_client_id": "me", "idp_client_secret": SECRET}
        managed = EnterpriseManaged("me", SECRET, id_token=ID_TOKEN, **company)  # type: ignore[arg-type]  # are texts
        for policy in (WorkloadIdentity("me", assertion=ASSERTION), managed):
            watch.show(policy)
            await used(watch, Client(made.url, auth=policy))
    watch.check("assertion", "subject_token", "client_secret", "failed")


async def a_bound_token(watch: Watch) -> None:
    """Bind a token to a private key."""
    async with world(watch) as made, browser(made.base) as anna:

        async def person(url: str) -> None:
            await anna.sign_in(url, password=PASSWORD)
            await anna.get((await anna.fill(url, answer="allow")).headers["location"])

        tokens = MemoryTokens()
        policy = OAuth(dpop=True, browse=person, tokens=tokens)
        await used(watch, Client(made.url, auth=policy))
        kept = await tokens.load(made.url)
        assert kept is not None
        assert kept.grant is not None
        watch.plant(private_key=json.loads(kept.grant.dpop_key or "{}")["d"])
        watch.show(policy, tokens, kept, kept.grant)
    watch.check("private_key", "dpop", "access_token")


async def a_device(watch: Watch) -> None:
    """Log in on another device; only a user code is shown. The refresh token is refused later."""
    async with serving(beside=beside) as served:
        send = served.send

        async def noted(method: str, path: str, **options: Any) -> Reply:
            reply = await send(method, path, **options)
            kind = {"content-type": "application/x-www-form-urlencoded"}
            watch.passed(path, kind, options.get("data") or b"")
            watch.passed("", {name.lower(): value for name, value in reply.headers.items()}, reply.text.encode())
            return reply

        served.send = noted
        policy = DeviceCode(show=lambda _: None)
        kept = await log_in(served, policy)
        assert kept.grant is not None
        watch.show(policy, kept, kept.grant)
        kept.grant.refresh_token = "a-token-that-nobody-gave"
        watch.show(await log_in(served, policy, kept))
    watch.check("device_code", "access_token", "refresh_token")


async def a_proxy(watch: Watch) -> None:
    """Log in at another provider, which at last refuses the code, and says it back to us."""
    watch.plant(client_secret=CLIENT_SECRET, access_token="upstream-t0ken", refresh_token="upstream-r3fresh")
    async with scene() as made:
        tapped = watch.tap(made.proxy)
        made.browser = Visitor(tapped)
        code = await made.code()
        reply = await made.redeem(code)
        again = await made.refresh(reply.json["refresh_token"])
        for each in (reply, again, await made.refresh(reply.json["refresh_token"] + "x"), await made.redeem(code)):
            watch.passed("", each.headers, each.body)
        made.provider.token_error = "invalid_grant"
        refused = await made.back(await made.allowed())
        watch.told += [refused.text, refused.brought["error_description"]]
        watch.show(made.proxy, made.provider.provider())
        for visit in made.provider.server.visits:
            watch.passed(visit.path, visit.headers, visit.body)
    watch.check("client_secret", "code", "code_verifier", "state", "refresh_token", "access_token", "cookie")


RUNS: dict[str, Callable[[Watch], Awaitable[None]]] = {
    "a user": a_user,
    "a program": a_program,
    "an API key": a_key,
    "an assertion": an_assertion,
    "a bound token": a_bound_token,
    "a device": a_device,
    "a proxy": a_proxy,
}


@pytest.mark.requirement(487)
@pytest.mark.parametrize("run", RUNS)
async def test_no_secret_is_told_anywhere(
    run: str, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    watch = Watch(caplog)
    await RUNS[run](watch)
    watch.told += capfd.readouterr()
    watch.check()
