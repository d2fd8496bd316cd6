"""Whoever reads what a peer names reads nothing inside a network: each of our programs, by its own defaults."""

import asyncio
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from auth.guard.test_published import SECOND, issuing
from auth.issuer.serving import serving
from auth.issuer.test_proxy import scene
from splice import Client
from splice.auth.errors import AuthorizationFailed
from splice.auth.guard.challenges import Unavailable
from splice.auth.issuer.clients import document_fetcher
from splice.auth.login.code import OAuth
from splice.auth.login.steps import HTTP
from transports.raw_http import Visit, raw_server

INWARD = ["https://10.0.0.1", "https://169.254.169.254", "https://[fd00::1]", "https://[::ffff:10.0.0.1]", "https://0/"]
PRM, AS = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"


class Rogue:
    """A server, and an authorization server, of which one thing leads inward."""

    def __init__(self, place: str, inward: str) -> None:
        self.place, self.inward, self.origin = place, inward, ""

    def named(self, place: str, honest: str) -> str:
        return f"{self.inward}/{place}" if place == self.place else self.origin + honest

    async def __call__(self, visit: Visit) -> None:
        if visit.path == "/mcp":
            told = f'Bearer resource_metadata="{self.named("resource_metadata", PRM)}"'
            await visit.reply(401, www_authenticate=told)
        elif visit.path == PRM:
            servers = [self.named("authorization_servers", "")]
            await visit.json({"resource": f"{self.origin}/mcp", "authorization_servers": servers})
        elif visit.path == AS:
            endpoints = {
                name: self.named(name, f"/{name}")
                for name in ("authorization_endpoint", "token_endpoint", "registration_endpoint")
            }
            said: dict[str, Any] = {"code_challenge_methods_supported": ["S256"], **endpoints}
            await visit.json({"issuer": self.origin, **said})
        elif visit.path == "/registration_endpoint":
            await visit.json({"client_id": "c", "token_endpoint_auth_method": "none"}, 201)
        else:
            await visit.reply(404)


async def come_back(url: str) -> None:
    """Allow everything at once."""
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    back = urlsplit(asked["redirect_uri"])
    reader, writer = await asyncio.open_connection(back.hostname, back.port)
    target = f"{back.path}?code=the-code&state={asked['state']}"
    writer.write(f"GET {target} HTTP/1.1\r\nHost: {back.netloc}\r\n\r\n".encode())
    await reader.read()
    writer.close()


@pytest.mark.requirement(499)
@pytest.mark.parametrize("inward", INWARD)
@pytest.mark.parametrize(
    "place", ["resource_metadata", "authorization_servers", "registration_endpoint", "token_endpoint"]
)
async def test_a_client_asks_nothing_inside(place: str, inward: str) -> None:
    rogue = Rogue(place, inward.rstrip("/"))
    async with raw_server(rogue) as server, asyncio.timeout(5):
        rogue.origin = server.url.removesuffix("/mcp")
        with pytest.raises(AuthorizationFailed, match="is not a public address"):
            async with Client(server.url, auth=OAuth(browse=come_back)):
                pass


@pytest.mark.parametrize("inward", INWARD)
async def test_a_guarded_server_asks_nothing_inside(inward: str, caplog: pytest.LogCaptureFixture) -> None:
    async with issuing() as issuer, asyncio.timeout(5):
        issuer.metadata[AS] = {"issuer": issuer.url, "jwks_uri": f"{inward}/jwks"}
        with pytest.raises(Unavailable):
            await issuer.verifier().verify(issuer.token(SECOND))
    assert "is not a public address" in caplog.text


DOCUMENTS = [f"{each.rstrip('/')}/client.json" for each in (*INWARD, "https://127.0.0.1", "https://localhost")]


@pytest.mark.requirement(442, 461)
@pytest.mark.parametrize("client_id", DOCUMENTS)
async def test_authorization_servers_read_no_document_inside(client_id: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG")
    async with serving() as served, scene() as made, asyncio.timeout(5):
        local = await served.get(served.ask(client_id=client_id))
        proxied = await made.browser.get(made.url(client_id=client_id))
    for status, text in ((local.status, local.text), (proxied.status, proxied.text)):
        assert status == 400
        assert "not a public address" not in text  # a stranger does not learn what is there


@pytest.mark.requirement(461)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_document_is_where_its_url_says(status: int) -> None:
    """It is the client's id: where a redirect leads is another client's."""
    async with raw_server(lambda visit: visit.reply(status, location="/other")) as server:
        fetch = document_fetcher()
        fetch.allow_loopback = True
        assert (await fetch.send(HTTP(url=server.url))).status == status
    assert [visit.path for visit in server.visits] == ["/mcp"]
