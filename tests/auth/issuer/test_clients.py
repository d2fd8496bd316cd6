"""Clients: which redirect URIs fit, who registers, and whose document is believed."""

import json
from typing import Any

import pytest

from auth.issuer.serving import CALLBACK, Clock, serving
from splice.auth.errors import AuthorizationFailed
from splice.auth.issuer import clients
from splice.auth.issuer.clients import Clients, checked_redirect_uri, fits, is_document, shown_name
from splice.auth.issuer.local import LocalAuthorizationServer
from splice.auth.issuer.refused import Refused
from splice.auth.issuer.store import Records
from splice.auth.login.steps import HTTP, HTTPReply
from splice.stores.base import Conflict, StoreError
from splice.stores.memory import MemoryStore
from support.tables import rows

DOCUMENT = "https://app.example/client.json"
METADATA = {"client_id": DOCUMENT, "client_name": "App", "redirect_uris": ["https://app.example/back"]}


class Web:
    """Answers with what a test put at a URL."""

    def __init__(self, **members: Any) -> None:
        self.reply = HTTPReply(200, {}, json.dumps({**METADATA, **members}).encode())
        self.asked: list[str] = []
        self.error: Exception | None = None

    async def send(self, step: HTTP) -> HTTPReply:
        self.asked.append(step.url)
        if self.error:
            raise self.error
        return self.reply


@pytest.mark.requirement(492)
@rows(
    ("registered", "asked", "is_fit"),
    [
        ("https://a.example/x", "https://a.example/x", True),
        ("https://a.example/x", "https://a.example/x/", False),
        ("https://a.example/x", "https://a.example:443/x", False),
        ("https://a.example/x", "https://A.example/x", False),
        ("http://127.0.0.1/x", "http://127.0.0.1:5000/x", True),
        ("http://127.0.0.1:1/x", "http://127.0.0.1:5000/x", True),
        ("http://localhost:1/x?a=b", "http://localhost:2/x?a=b", True),
        ("http://[::1]:1/x", "http://[::1]:2/x", True),
        ("http://127.0.0.1/x", "http://localhost/x", False),
        ("http://127.0.0.1/x", "https://127.0.0.1:1/x", False),
        ("http://127.0.0.1/x", "http://127.0.0.1:1/y", False),
        ("http://127.0.0.1/x", "http://127.0.0.1:1/x?a", False),
        ("http://127.0.0.1/x", "http://evil@127.0.0.1:1/x", False),
        ("http://127.0.0.1/x", "http://127.0.0.1:port/x", False),
        ("http://127.0.0.1/x", "http://127.0.0.1.evil.example/x", False),
        ("http://127.0.0.1/x", "http://[::1", False),
        ("http://[::1]/x", "http://[::1].evil.example:80/x", False),
        ("http://[::1]/x", "http://[::1]evil.example/x", False),
    ],
)
def test_redirect_uris_are_compared_as_strings_but_for_ports_of_this_machine(
    registered: str, asked: str, is_fit: bool
) -> None:
    assert fits(registered, asked) is is_fit


@pytest.mark.requirement(489)
@rows(
    "uri",
    [
        "http://app.example/back",
        "javascript:alert(1)",
        "data:text/html,x",
        "cursor://back",
        "//app.example/back",
        "https:///back",
        "https://app.example/back#part",
        "https://me@app.example/back",
        "https://app.example\\@evil.example/",
        "https://app.example/a b",
        "https://app.example/\r\nset-cookie: x=y",
        "https://äpp.example/",
        "http://127.0.0.1:99999/x",
        "http://[::1].evil.example/x",
        'https://a"b/x',
        f"https://app.example/{'x' * 2000}",
        7,
        None,
    ],
)
def test_addresses_that_may_not_be_registered(uri: Any) -> None:
    with pytest.raises(Refused) as refused:
        checked_redirect_uri(uri)
    assert refused.value.code == "invalid_redirect_uri"
    assert len(refused.value.description) < 300


@pytest.mark.requirement(459)
@pytest.mark.parametrize(
    ("client_id", "is_one"),
    [
        (DOCUMENT, True),
        ("https://app.example:8443/a/b?v=1", True),
        ("https://app.example", False),
        ("https://app.example/", False),
        ("http://app.example/client.json", False),
        ("https://me@app.example/client.json", False),
        ("https://app.example/client.json#x", False),
        ("https://app.example/a/../client.json", False),
        ("HTTPS://app.example/client.json", False),
        ("https://app.example/client json", False),
        ("demo", False),
    ],
)
def test_which_ids_are_documents(client_id: str, is_one: bool) -> None:
    assert is_document(client_id) is is_one


def test_names_are_one_line_without_tricks() -> None:
    assert shown_name("A\u202eB\n\u200bC\0", "x") == "A B C"
    assert shown_name("\u200b", "x") == "x"
    assert shown_name(7, "x") == "x"
    assert len(shown_name("n" * 1000, "x")) == 100


@pytest.mark.requirement(526)
async def test_a_client_registers_itself() -> None:
    async with serving() as served:
        asked = {"redirect_uris": [CALLBACK, CALLBACK], "client_name": "App", "token_endpoint_auth_method": "none"}
        reply = await served.send("POST", "/register", json={**asked, "grant_types": ["authorization_code", "x"]})
        assert reply.status == 201
        assert "client_secret" not in reply.json
        assert reply.json["redirect_uris"] == [CALLBACK]
        assert reply.json["grant_types"] == ["authorization_code"]
        client_id = reply.json["client_id"]
        code = await served.code(client_id=client_id)
        tokens = (await served.redeem(code, client_id=client_id)).json
        assert "refresh_token" not in tokens
        assert (await served.introspect(tokens["access_token"]))["active"] is True


async def test_a_client_without_a_wish_gets_a_secret() -> None:
    async with serving() as served:
        made = (await served.send("POST", "/register", json={"redirect_uris": [CALLBACK]})).json
        assert made["token_endpoint_auth_method"] == "client_secret_basic"
        code = await served.code(client_id=made["client_id"])
        bare = await served.redeem(code, client_id=made["client_id"])
        assert (bare.status, bare.json["error"]) == (401, "invalid_client")
        wrong = await served.redeem(code, client_id=made["client_id"], client_secret="x")
        assert wrong.json["error"] == "invalid_client"
        right = await served.redeem(code, client_id=made["client_id"], client_secret=made["client_secret"])
        assert right.status == 200


@pytest.mark.parametrize(
    ("metadata", "error"),
    [
        ({}, "invalid_redirect_uri"),
        ({"redirect_uris": []}, "invalid_redirect_uri"),
        ({"redirect_uris": "x"}, "invalid_client_metadata"),
        ({"redirect_uris": [7]}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK] * 21}, "invalid_redirect_uri"),
        ({"redirect_uris": ["http://app.example/"]}, "invalid_redirect_uri"),
        ({"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "tls"}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "grant_types": ["client_credentials"]}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "grant_types": "authorization_code"}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "scope": ["a"]}, "invalid_client_metadata"),
        ({"redirect_uris": [CALLBACK], "scope": "x" * 3000}, "invalid_client_metadata"),
    ],
)
async def test_wrong_registrations_are_refused(metadata: Any, error: str) -> None:
    async with serving() as served:
        reply = await served.send("POST", "/register", json=metadata)
        assert (reply.status, reply.json["error"]) == (400, error)


async def test_what_is_no_json_object_is_refused() -> None:
    async with serving() as served:
        for body in (b"", b"[]", b"{", b"\xff", b"[" * 30_000):
            assert (await served.send("POST", "/register", data=body)).status == 400


async def test_registration_may_be_closed() -> None:
    async with serving(registration=False) as served:
        assert (await served.send("POST", "/register", json={})).status == 404
        metadata = await served.get("/.well-known/oauth-authorization-server")
        assert "registration_endpoint" not in metadata.json


async def test_of_too_many_registrations_the_one_unused_longest_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MAX_REGISTERED", 3)
    known = Clients(Records(MemoryStore()))
    made = [(await known.register({"redirect_uris": [CALLBACK]}))[0] for _ in range(4)]
    with pytest.raises(Refused):
        await known.find(made[0].client_id)
    for each in made[1:]:
        await known.used(each)
    await known.used(made[1])
    await known.used((await known.register({"redirect_uris": [CALLBACK]}))[0])
    assert await known.find(made[1].client_id)
    with pytest.raises(Refused):
        await known.find(made[2].client_id)


async def test_a_flood_of_registrations_pushes_out_no_client_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MAX_REGISTERED", 3)
    known = Clients(Records(MemoryStore()))
    honest, _ = await known.register({"redirect_uris": [CALLBACK]})
    await known.used(honest)
    for _ in range(10):
        await known.register({"redirect_uris": [CALLBACK]})
    assert await known.find(honest.client_id)


@pytest.mark.parametrize("error", [Conflict("registered", 1), StoreError("full")])
async def test_tokens_are_given_though_it_cannot_be_noted_who_used_them(error: Exception) -> None:
    class Busy(MemoryStore):
        is_busy = False

        async def put(self, key: str, value: bytes, *, ttl: float | None, expect: int | None = None) -> int:
            if self.is_busy and "registered" in key:
                raise error
            return await super().put(key, value, ttl=ttl, expect=expect)

    store = Busy()
    async with serving(store) as served:
        asked = {"redirect_uris": [CALLBACK], "token_endpoint_auth_method": "none"}
        client_id = (await served.send("POST", "/register", json=asked)).json["client_id"]
        code = await served.code(client_id=client_id)
        store.is_busy = True
        assert (await served.redeem(code, client_id=client_id)).status == 200


async def test_too_many_registrations_at_once_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "REGISTRATION_BURST", 2.0)
    known = Clients(Records(MemoryStore(clock=Clock())))
    for _ in range(2):
        await known.register({"redirect_uris": [CALLBACK]})
    with pytest.raises(Refused) as refused:
        await known.register({"redirect_uris": [CALLBACK]})
    assert refused.value.status == 429


@pytest.mark.requirement(447, 460)
async def test_a_document_is_a_registration() -> None:
    web = Web(grant_types=["authorization_code", "refresh_token"])
    async with serving(fetch=web) as served:
        asked = {"client_id": DOCUMENT, "redirect_uri": "https://app.example/back"}
        code = await served.code(**asked)
        page = await served.get(served.ask(**asked, prompt="consent"))
        assert "app.example" in page.text
        reply = await served.redeem(code, **asked)
        assert reply.status == 200
        assert "refresh_token" in reply.json
        assert web.asked == [DOCUMENT]


@pytest.mark.requirement(442, 460)
@pytest.mark.parametrize(
    ("members", "why"),
    [
        ({"client_id": "https://app.example/other.json"}, "not exactly that URL"),
        ({"client_id": None}, "not exactly that URL"),
        ({"client_name": None}, "no client_name"),
        ({"client_secret": "x"}, "client_secret"),
        ({"redirect_uris": None}, "redirect_uris"),
        ({"redirect_uris": ["http://app.example/"]}, "https"),
        ({"token_endpoint_auth_method": "client_secret_post"}, "one of none, private_key_jwt"),
        ({"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": "x"}, "jwks"),
    ],
)
async def test_documents_that_are_not_believed(members: dict[str, Any], why: str) -> None:
    known = Clients(Records(MemoryStore()), Web(**members))
    with pytest.raises(Refused, match=why):
        await known.find(DOCUMENT)


async def test_a_document_that_cannot_be_had_is_told_and_not_asked_for_again_at_once() -> None:
    web, clock = Web(), Clock()
    known = Clients(Records(MemoryStore()), web, clock)
    for failure in (AuthorizationFailed("http://10.0.0.1 is private"), HTTPReply(404), HTTPReply(200, {}, b"[]")):
        web.asked.clear()
        web.error = failure if isinstance(failure, Exception) else None
        web.reply = failure if isinstance(failure, HTTPReply) else web.reply
        for _ in range(2):
            with pytest.raises(Refused) as refused:
                await known.find(DOCUMENT)
            assert "10.0.0.1" not in refused.value.description
        assert len(web.asked) == 1
        clock.now += 31


@pytest.mark.requirement(461)
@pytest.mark.parametrize(("said", "seconds"), [("", 300), ("max-age=0", 60), ("max-age=999999", 86_400), ("x", 300)])
async def test_a_document_is_remembered_within_bounds(said: str, seconds: int) -> None:
    web, clock = Web(), Clock()
    web.reply.headers = {"cache-control": said}
    known = Clients(Records(MemoryStore()), web, clock)
    for later, times in ((0, 1), (seconds - 1, 1), (2, 2)):
        clock.now += later
        await known.find(DOCUMENT)
        assert len(web.asked) == times


async def test_remembered_documents_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clients, "MAX_DOCUMENTS", 2)
    web = Web()
    known = Clients(Records(MemoryStore()), web)
    for number in range(5):
        with pytest.raises(Refused):
            await known.find(f"https://app.example/{number}")
    assert len(known._documents) == 2


@pytest.mark.requirement(461)
async def test_a_document_of_a_program_on_this_computer_is_asked_about_each_time() -> None:
    async with serving(fetch=Web(redirect_uris=[CALLBACK])) as served:
        await served.code(client_id=DOCUMENT)
        page = await served.get(served.ask(client_id=DOCUMENT))
        assert page.status == 200
        assert "a program on your own computer" in page.text


async def test_documents_may_be_switched_off() -> None:
    async with serving(fetch=Web(), documents=False) as served:
        assert (await served.get(served.ask(client_id=DOCUMENT))).status == 400
        metadata = await served.get("/.well-known/oauth-authorization-server")
        assert metadata.json["client_id_metadata_document_supported"] is False


def test_no_redirect_leads_to_another_document() -> None:
    fetch: Any = LocalAuthorizationServer("https://login.example")._clients._fetch
    assert (fetch._redirects, fetch._max_bytes) == (0, clients.MAX_DOCUMENT_BYTES)
