"""People who log in at a real OpenID provider, with a browser: through our proxy, and directly."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from interop.peer import HERE, NODE, NODE_HOME, browsed, free_port, serving
from interop.serving import at_home, called, guarded
from splice.auth import Auth, AuthorizationFailed, IntrospectionVerifier, JWTVerifier, MemoryTokens, OAuth, OAuthProxy
from splice.auth.issuer.providers import openid

SECRET = "a-secret+of(the)client:100%"
ALLOW = {"click": "[value=allow]"}
LOG_IN = {"fill": {"[name=login]": "anna", "[name=password]": "any"}, "click": "[type=submit]"}
AGREE = {"click": "[type=submit]"}


class Person:
    """Somebody in front of a browser, and what they do with each page that they are sent to."""

    def __init__(self, *steps: dict[str, Any], cookies: Path | None = None) -> None:
        self.steps = list(steps)
        self.seen: list[dict[str, Any]] = []
        self._cookies = cookies

    async def browse(self, url: str) -> None:
        self.seen.append(await browsed({"open": url}, *self.steps, cookies=self._cookies))

    @property
    def texts(self) -> list[str]:
        """What stood on the pages of the last time."""
        return [page["text"] for page in self.seen[-1]["pages"]]


@contextmanager
def provider(port: int, *redirect_uris: str) -> Iterator[None]:
    """Run the provider. It knows one client, which has these redirect URIs."""
    script = str(HERE / "peers" / "oidc_provider.mjs")
    command = [str(NODE), script, str(port), "splice", SECRET, *redirect_uris]
    with serving(*command, port=port, env={"PEERS": str(NODE_HOME)}):
        yield


def proxied(base: str, port: int) -> Any:
    """Make a proxy in front of the provider, and beside it a server that takes its tokens."""
    proxy = OAuthProxy(
        base,
        openid(f"http://127.0.0.1:{port}", name="the provider"),
        client_id="splice",
        client_secret=SECRET,
        resources=[f"{base}/mcp"],
        scopes=["notes"],
    )
    server = guarded(Auth(JWTVerifier(base, f"{base}/mcp"), scopes=["notes"]))
    return proxy.app(beside=server.http_app(path="/mcp"))


async def spoil(tokens: MemoryTokens, url: str) -> str:
    """Make the access token one that nobody knows; returns the refresh token that there is."""
    kept = await tokens.load(url)
    assert kept is not None
    assert kept.grant is not None
    await tokens.save(url, replace(kept, grant=replace(kept.grant, access_token="spoiled", expires=None)))
    assert kept.grant.refresh_token is not None
    return kept.grant.refresh_token


async def test_a_user_of_the_provider_comes_in_by_the_proxy_and_stays(tmp_path: Path) -> None:
    port, tokens = free_port(), MemoryTokens()
    anna = Person(ALLOW, LOG_IN, AGREE, cookies=tmp_path / "cookies")
    async with at_home(lambda base: proxied(base, port)) as base:
        with provider(port, f"{base}/callback"):
            url = f"{base}/mcp"
            assert await called(url, OAuth(browse=anna.browse, tokens=tokens)) == "anna"
            assert "you sign in with the provider" in anna.texts[0]
            assert "You can close this window" in anna.texts[-1]
            first = await spoil(tokens, url)
            assert await called(url, OAuth(browse=anna.browse, tokens=tokens)) == "anna"
            assert await spoil(tokens, url) != first
            assert len(anna.seen) == 1  # it was refreshed

            anna.steps = [ALLOW]  # the provider knows her, and what she allowed the proxy
            other = OAuth(browse=anna.browse, client_name="another client")
            assert await called(url, other) == "anna"
            assert "another client" in anna.texts[0]
            assert "You can close this window" in anna.texts[-1]


async def test_a_login_that_began_in_one_browser_does_not_end_in_another() -> None:
    port = free_port()
    victim = Person(LOG_IN, AGREE)

    async def attacker(url: str) -> None:
        begun = await browsed({"open": url}, ALLOW)
        link = next(each for each in begun["visited"] if each.startswith(f"http://127.0.0.1:{port}/auth?"))
        await victim.browse(link)
        raise AuthorizationFailed("the attacker waits in vain")

    async with at_home(lambda base: proxied(base, port)) as base:
        with provider(port, f"{base}/callback"), pytest.raises(AuthorizationFailed, match="in vain"):
            await called(f"{base}/mcp", OAuth(browse=attacker))
    assert victim.seen[0]["pages"][-1]["url"].startswith(f"{base}/callback?code=")
    assert "This login did not begin in this browser" in victim.texts[-1]


async def test_who_does_not_log_in_at_the_provider_does_not_come_in() -> None:
    port, nobody = free_port(), Person(ALLOW, {"click": "text=Cancel"})
    async with at_home(lambda base: proxied(base, port)) as base:
        with provider(port, f"{base}/callback"), pytest.raises(AuthorizationFailed, match="no login at the provider"):
            await called(f"{base}/mcp", OAuth(browse=nobody.browse))
    assert "You can close this window" in nobody.texts[-1]


def verifier(issuer: str, audience: str) -> JWTVerifier | IntrospectionVerifier:
    """Check the provider's own tokens: those for a URL that ends with /opaque tell nothing by themselves."""
    if not audience.endswith("/opaque"):
        return JWTVerifier(issuer, audience)
    return IntrospectionVerifier(f"{issuer}/token/introspection", "splice", SECRET, issuer=issuer, audience=audience)


@pytest.mark.parametrize("path", ["/mcp", "/opaque"])
async def test_a_user_of_the_provider_comes_in_with_its_own_tokens(path: str) -> None:
    port, back, tokens = free_port(), free_port(), MemoryTokens()
    issuer, anna = f"http://127.0.0.1:{port}", Person(LOG_IN, AGREE)

    def served(base: str) -> Any:
        return guarded(Auth(verifier(issuer, base + path), scopes=["notes"])).http_app(path=path)

    def login() -> OAuth:
        return OAuth(client_id="splice", client_secret=SECRET, redirect_port=back, browse=anna.browse, tokens=tokens)

    async with at_home(served) as base:
        with provider(port, f"http://127.0.0.1:{back}/callback"):
            assert await called(base + path, login()) == "anna"
            kept = await tokens.load(base + path)
            assert kept is not None
            assert kept.grant is not None
            assert (kept.grant.access_token.count(".") == 2) is (path == "/mcp")  # a JWT
            assert await verifier(issuer, base + path).verify(kept.grant.access_token) is not None
            assert await verifier(issuer, f"{base}/other{path}").verify(kept.grant.access_token) is None
            await spoil(tokens, base + path)
            assert await called(base + path, login()) == "anna"
    assert len(anna.seen) == 1  # it was refreshed
