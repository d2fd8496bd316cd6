"""The pages that people see, in a real browser: each can be used, is quiet, and loads nothing.

With the variable PICTURES, which names a folder, a picture of each page is put there: wide and narrow, light and dark.
"""

import asyncio
import os
from typing import Any
from urllib.parse import urlencode

import pytest
from aiohttp import ClientSession

from interop.peer import browsed, free_port
from interop.serving import at_home, called, guarded
from splice.auth import (
    Auth,
    AuthorizationFailed,
    DeviceCode,
    JWTVerifier,
    LocalAuthorizationServer,
    OAuth,
    OAuthProxy,
)
from splice.auth.issuer.providers import openid
from splice.auth.issuer.users import Cost
from splice.auth.login.steps import Show

PASSWORD = "correct horse"
STATUS = "Failed to load resource: the server responded with a status of "
"""What a browser says of a page that tells that something is wrong."""


class Walk:
    """A way through pages, one step after the other."""

    def __init__(self) -> None:
        self.steps: list[dict[str, Any]] = []
        self.texts: list[str] = []

    def to(self, name: str, **step: Any) -> None:
        """Take a step to a page, and name that."""
        folder = os.environ.get("PICTURES")
        self.steps.append(step | ({} if folder is None else {"shot": f"{folder}/{name}"}))

    async def take(self, url: str) -> None:
        """Begin at `url`, and take all steps."""
        first, *others = self.steps
        seen = await browsed({"open": url, **first}, *others)
        assert [error for error in seen["errors"] if not error.startswith(STATUS)] == []
        assert seen["elsewhere"] == []
        assert [page["url"] for page in seen["pages"] if page["isWide"]] == []
        self.texts = [page["text"] for page in seen["pages"]]


def signing_in(walk: Walk) -> None:
    """Fill in the form, wrong first."""
    walk.to("sign-in")
    walk.to("wrong", fill={"[name=user]": "anna", "[name=password]": "wrong"}, click="[value=login]")


def password() -> dict[str, Any]:
    return {"fill": {"[name=user]": "anna", "[name=password]": PASSWORD}, "click": "[value=login]"}


def local(base: str, *scopes: str) -> Any:
    """Make an authorization server, and a server beside it."""
    issuer = LocalAuthorizationServer(
        base, users={"anna": PASSWORD}, scopes=["notes", "notes:write", *scopes], password_cost=Cost(n=2, r=1, p=1)
    )
    server = guarded(Auth(JWTVerifier(base, f"{base}/mcp"), scopes=["notes"]))
    return issuer.app(beside=server.http_app(path="/mcp"))


async def test_this_browser_tells_what_a_policy_forbids() -> None:
    async def strict(scope: Any, receive: Any, send: Any) -> None:
        policy = (b"content-security-policy", b"default-src 'none'; form-action 'none'")
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html"), policy]})
        page = b"<style>p { width: 9999px }</style><img src='https://example.com/x.png'><p>text"
        await send({"type": "http.response.body", "body": page})

    async with at_home(lambda _: strict) as base:
        seen = await browsed({"open": base})
    assert len([each for each in seen["errors"] if "Content Security Policy" in each]) == 2
    assert seen["elsewhere"] == []
    assert not seen["pages"][0]["isWide"]


async def test_a_user_signs_in_and_allows_a_program() -> None:
    walk = Walk()
    signing_in(walk)
    walk.to("consent", **password())
    walk.to("signed-out", click="[value=switch]")
    walk.to("consent", **password())
    walk.to("callback", click="[value=allow]")
    async with at_home(local) as base:
        assert await called(f"{base}/mcp", OAuth(browse=walk.take)) == "anna"
    sign_in, wrong, consent, again, _, callback = walk.texts
    assert "Sign in" in sign_in
    assert "Sign in" in again
    assert "wrong" in wrong
    assert "notes" in consent
    assert "You can close this window" in callback


async def test_a_user_connects_a_device() -> None:
    walk = Walk()
    walk.to("sign-in")
    walk.to("device", **password())
    walk.to("device-wrong", fill={"[name=user_code]": "BCDF-GHJK"}, click="[value=code]")
    background: list[asyncio.Task[None]] = []

    def show(step: Show) -> None:
        walk.to("device-consent", fill={"[name=user_code]": step.code}, click="[value=code]")
        walk.to("device-allowed", click="[value=allow]")
        background.append(asyncio.get_running_loop().create_task(walk.take(step.url)))

    async with at_home(local) as base:
        assert await called(f"{base}/mcp", DeviceCode(show=show)) == "anna"
        await background[0]
    assert "No device waits with this code" in walk.texts[2]
    assert "Did you start this yourself, just now?" in walk.texts[3]
    assert "Allowed by you" in walk.texts[4]


async def test_a_request_that_is_wrong_is_explained() -> None:
    walk = Walk()
    walk.to("error")
    async with at_home(local) as base:
        await walk.take(f"{base}/authorize?client_id=nobody")
    assert "This request cannot be answered" in walk.texts[0]


@pytest.mark.parametrize("answer", ["deny", "allow"])
async def test_a_user_is_asked_by_a_proxy(answer: str) -> None:
    walk = Walk()
    walk.to("proxy")
    walk.to(f"proxy-{answer}", click=f"[value={answer}]")
    gone = openid(f"http://127.0.0.1:{free_port()}", name="The Provider")

    def served(base: str) -> Any:
        resources = [f"{base}/mcp"]
        proxy = OAuthProxy(base, gone, client_id="id", client_secret="secret", resources=resources, scopes=["notes"])
        server = guarded(Auth(JWTVerifier(base, resources[0]), scopes=["notes"]))
        return proxy.app(beside=server.http_app(path="/mcp"))

    async def browse(url: str) -> None:
        await walk.take(url)
        if answer == "allow":
            raise AuthorizationFailed("The user said no, in the end")

    async with at_home(served) as base:
        with pytest.raises(AuthorizationFailed, match="The user said no"):
            await called(f"{base}/mcp", OAuth(browse=browse))
    assert "you sign in with The Provider" in walk.texts[0]
    assert ("The Provider cannot be reached" if answer == "allow" else "You can close") in walk.texts[1]


LONG = "W" * 100


@pytest.mark.parametrize(
    ("name", "redirect_uri", "asked", "expected"),
    [
        ("long", f"https://{'long.' * 20}example.com/back", "notes notes:write " + "a" * 90, "Nobody has checked"),
        ("right-to-left", "http://127.0.0.1/back", "notes", "a program on your own computer"),
        ("wrong", "https://app.example.com/back", "unknown", "Go back to app.example.com"),
    ],
)
async def test_what_a_program_says_of_itself_stays_in_its_place(
    name: str, redirect_uri: str, asked: str, expected: str
) -> None:
    called = {"long": LONG, "right-to-left": "\u05e9\u05dc\u05d5\u05dd \u202eabc"}.get(name, name)
    walk = Walk()
    if name != "wrong":
        walk.to("sign-in")
    walk.to(f"client-{name}", **({} if name == "wrong" else password()))
    async with at_home(lambda base: local(base, "a" * 90)) as base:
        body = {"client_name": called, "redirect_uris": [redirect_uri], "token_endpoint_auth_method": "none"}
        async with ClientSession() as session, session.post(f"{base}/register", json=body) as reply:
            client_id = (await reply.json())["client_id"]
        query = {"response_type": "code", "client_id": client_id, "redirect_uri": redirect_uri, "scope": asked}
        query |= {"code_challenge": "c" * 43, "code_challenge_method": "S256", "resource": f"{base}/{'path/' * 40}mcp"}
        await walk.take(f"{base}/authorize?{urlencode(query)}")
    assert expected in walk.texts[-1]
