"""The application: beside another one, without its store, and when it ends."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

import pytest

from auth.issuer.browser import request
from auth.issuer.openid_provider import Identities
from auth.issuer.serving import CHEAP
from splice.auth.issuer import web
from splice.auth.issuer.local import LocalAuthorizationServer
from splice.auth.issuer.proxy import OAuthProxy
from splice.stores.base import StoreError
from splice.stores.memory import MemoryStore

ISSUER = "http://127.0.0.1:9000/tenant"
APP = Callable[[Any, Any, Any], Awaitable[None]]


async def ask(
    app: APP, path: str, *, method: str = "GET", host: str = "127.0.0.1:9000", is_slow: bool = False
) -> tuple[int, dict[str, str]]:
    sent: list[Any] = []

    async def receive() -> Any:
        if is_slow:
            await asyncio.Event().wait()
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"host", host.encode())]
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers}
    await app(scope, receive, send)
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


async def other(scope: Any, receive: Any, send: Any) -> None:
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 299, "headers": []})


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/.well-known/oauth-authorization-server/tenant", 200),
        ("/.well-known/openid-configuration/tenant", 200),
        ("/tenant/.well-known/openid-configuration", 200),
        ("/tenant/jwks.json", 200),
        ("/tenant/authorize", 400),
        ("/.well-known/oauth-authorization-server", 299),
        ("/jwks.json", 299),
        ("/mcp", 299),
    ],
)
async def test_it_answers_at_its_own_paths_and_lets_the_rest_through(path: str, status: int) -> None:
    app = LocalAuthorizationServer(ISSUER).app(beside=other)
    assert (await ask(app, path))[0] == status


async def test_pages_of_any_origin_may_use_what_takes_no_cookies() -> None:
    app = LocalAuthorizationServer(ISSUER)
    status, headers = await ask(app, "/tenant/token", method="OPTIONS")
    assert (status, headers["access-control-allow-origin"]) == (204, "*")
    assert (await ask(app, "/tenant/authorize", method="OPTIONS"))[0] == 405
    assert "access-control-allow-origin" not in (await ask(app, "/tenant/authorize"))[1]
    assert "access-control-allow-origin" not in (await ask(app, "/tenant/device"))[1]


async def test_a_server_for_everybody_does_not_look_at_host() -> None:
    app = LocalAuthorizationServer("https://auth.example")
    assert (await ask(app, "/jwks.json", host="10.0.0.7:8080"))[0] == 200


class Broken(MemoryStore):
    """A store that can do nothing."""

    async def put(self, *_: Any, **__: Any) -> int:
        raise StoreError("the disk is full")


async def test_without_its_store_it_says_so(caplog: pytest.LogCaptureFixture) -> None:
    status, _ = await ask(LocalAuthorizationServer(ISSUER, Broken()), "/tenant/jwks.json")
    assert status == 503
    assert "the disk is full" in caplog.text


class Life:
    """The lifespan as an ASGI server drives it."""

    def __init__(self) -> None:
        self.sent: list[str] = []
        self._messages = ["lifespan.startup", "lifespan.shutdown"]

    async def receive(self) -> Any:
        return {"type": self._messages.pop(0)}

    async def send(self, message: Any) -> None:
        self.sent.append(message["type"])


async def test_it_begins_and_ends_with_its_server(tmp_path: Any) -> None:
    issuer = LocalAuthorizationServer(
        ISSUER, tmp_path / "auth.db", users={"anna": "correct horse"}, password_cost=CHEAP
    )
    life = Life()
    await issuer({"type": "lifespan"}, life.receive, life.send)
    assert life.sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
    with pytest.raises(StoreError, match="closed"):
        await issuer.add_user("bob", "correct horse")


async def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, "BODY_SECONDS", 0.0)
    assert (await ask(LocalAuthorizationServer(ISSUER), "/tenant/token", method="POST", is_slow=True))[0] == 408


def proxy() -> OAuthProxy:
    provider = Identities()
    provider.issuer = "https://id.test"
    return OAuthProxy(ISSUER, provider.provider(), client_id="a", client_secret="b", resources=["https://mcp.test"])


@pytest.mark.parametrize("make", [lambda: LocalAuthorizationServer(ISSUER), proxy], ids=["local", "proxy"])
async def test_a_body_without_end_is_read_at_no_route(make: Callable[[], Any]) -> None:
    made = make()
    metadata = f"{ISSUER}/.well-known/openid-configuration"
    described = (await request(made, "GET", metadata)).json
    places = [metadata, *(url for name, url in described.items() if name.endswith(("_endpoint", "_uri")))]
    assert len(places) > 5
    for path in (urlsplit(url).path for url in (*places, f"{ISSUER}/callback")):
        sent, read = list[Any](), list[Any]()

        async def receive(read: list[Any] = read) -> Any:
            read.append(b"x" * 16_384)
            return {"type": "http.request", "body": read[-1], "more_body": True}

        async def send(message: Any, sent: list[Any] = sent) -> None:
            sent.append(message)

        headers = [(b"host", b"127.0.0.1:9000"), (b"content-type", b"application/x-www-form-urlencoded")]
        scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": headers}
        await made(scope, receive, send)
        assert sent[0]["status"] in (404, 405, 413), path
        assert sum(map(len, read)) <= web.MAX_BODY_BYTES + 16_384
    await made.close()
