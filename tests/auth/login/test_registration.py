"""How a client gets an id: which of the ways is taken, and what a server may answer."""

import json
from typing import Any

import pytest

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.discovery import Found, ServerMetadata
from splice.auth.login.kept import Kept, Registration
from splice.auth.login.registration import Identity, pinned_issuer, register
from splice.auth.login.steps import HTTPReply
from support.flows import Driver, reply
from support.tables import rows

AS = "https://auth.example.com"
BACK = "http://127.0.0.1:49152/callback"
NOW = 1000.0
METADATA_URL = "https://client.example.com/me.json"


def found(**metadata: Any) -> Found:
    base = {"registration_endpoint": f"{AS}/register", "token_endpoint_auth_methods_supported": ("none",)}
    described = ServerMetadata(issuer=AS, token_endpoint=f"{AS}/token", **{**base, **metadata})
    return Found(url="https://h/mcp", resource="https://h/mcp", issuer=AS, metadata=described)


def run(
    *outcomes: HTTPReply, at: Found | None = None, identity: Identity | None = None, kept: Kept | None = None
) -> tuple[Registration, list[dict[str, Any]]]:
    driver = Driver(*outcomes)
    flow = register(
        at or found(), identity or Identity(), kept or Kept(), now=NOW, redirect_uri=BACK, scopes=("a", "b")
    )
    return driver.run(flow), [json.loads(request.body) for request in driver.requests]


def refuse(*outcomes: HTTPReply, at: Found | None = None, identity: Identity | None = None) -> AuthorizationFailed:
    with pytest.raises(AuthorizationFailed) as caught:
        run(*outcomes, at=at, identity=identity)
    return caught.value


@pytest.mark.requirement(438, 463, 481, 492, 526)
def test_a_client_registers_itself() -> None:
    registration, [wanted] = run(reply(201, client_id="c"))

    assert wanted == {
        "client_name": "splice",
        "redirect_uris": [BACK],
        "grant_types": ["authorization_code", "refresh_token"],
        "response_types": ["code"],
        "token_endpoint_auth_method": "none",
        "application_type": "native",
        "scope": "a b",
    }
    assert registration == Registration(issuer=AS, client_id="c", redirect_uris=(BACK,), is_dynamic=True)


def test_a_grant_without_a_browser_registers_no_redirect() -> None:
    driver = Driver(reply(201, client_id="c"))
    identity = Identity(grant_types=("urn:ietf:params:oauth:grant-type:device_code",))

    registration = driver.run(register(found(), identity, Kept(), now=NOW))

    wanted = json.loads(driver.requests[0].body)
    assert not {"redirect_uris", "response_types", "scope"} & wanted.keys()
    assert registration.redirect_uris == ()


@pytest.mark.parametrize(
    ("supported", "asked"),
    [
        (None, "client_secret_basic"),
        (("client_secret_post", "none"), "none"),
        (("client_secret_basic", "client_secret_post"), "client_secret_post"),
        (("client_secret_basic",), "client_secret_basic"),
        (("private_key_jwt", "client_secret_post"), "client_secret_post"),
    ],
)
def test_the_way_to_prove_itself_is_one_that_the_server_supports(supported: Any, asked: str) -> None:
    _, [wanted] = run(
        reply(201, client_id="c", client_secret="s"), at=found(token_endpoint_auth_methods_supported=supported)
    )

    assert wanted["token_endpoint_auth_method"] == asked


def test_a_server_that_supports_no_way_that_we_know() -> None:
    assert "client_id=" in str(refuse(at=found(token_endpoint_auth_methods_supported=("tls_client_auth",))))


@pytest.mark.parametrize(
    ("answer", "method", "secret", "expires"),
    [
        ({}, "none", None, None),
        ({"client_secret": "s"}, "client_secret_basic", "s", None),
        ({"client_secret": "s", "token_endpoint_auth_method": "client_secret_post"}, "client_secret_post", "s", None),
        ({"client_secret": "s", "token_endpoint_auth_method": "none"}, "none", None, None),
        ({"client_secret": "s", "client_secret_expires_at": 0}, "client_secret_basic", "s", None),
        ({"client_secret": "s", "client_secret_expires_at": 5000}, "client_secret_basic", "s", 5000.0),
        ({"client_secret": "s", "client_secret_expires_at": -1}, "client_secret_basic", "s", None),
        ({"client_secret": "s", "client_secret_expires_at": 10**300}, "client_secret_basic", "s", None),
        ({"client_secret": "s", "client_secret_expires_at": "soon"}, "client_secret_basic", "s", None),
        ({"client_secret": "", "client_secret_expires_at": 5000}, "none", None, None),
        ({"client_secret": None, "token_endpoint_auth_method": "none"}, "none", None, None),
    ],
)
def test_what_the_server_says_replaces_what_was_asked_for(
    answer: dict[str, Any], method: str, secret: str | None, expires: float | None
) -> None:
    registration, _ = run(reply(201, client_id="c", **answer))

    assert (registration.method, registration.client_secret, registration.expires) == (method, secret, expires)
    assert "'s'" not in repr(registration)


@rows(
    "answer",
    [
        reply(201),
        reply(201, client_id=""),
        reply(201, client_id=7),
        reply(201, client_id="a\nb"),
        reply(201, client_id="x" * 10_000),
        reply(201, client_id="c", client_secret="\u00e9"),
        reply(201, client_id="c", client_secret=["s"]),
        reply(201, client_id="c", token_endpoint_auth_method="client_secret_basic"),
        reply(201, client_id="c", client_secret="s", token_endpoint_auth_method="private_key_jwt"),
        reply(201, client_id="c", client_secret="s", token_endpoint_auth_method=["none"]),
        HTTPReply(201, {}, b"<html>"),
        HTTPReply(201, {}, b"[]"),
        reply(302, client_id="c"),
        reply(500, client_id="c"),
    ],
)
def test_an_answer_that_is_of_no_use(answer: HTTPReply) -> None:
    assert "\n" not in str(refuse(answer))


@pytest.mark.requirement(464)
def test_a_refusal_is_told() -> None:
    error = refuse(reply(400, error="invalid_redirect_uri", error_description="only https\x1b[2J"))

    assert error.code == "invalid_redirect_uri"
    assert "HTTP 400" in str(error)
    assert "only https" in str(error)
    assert "\x1b" not in str(error)
    assert "client_id=" in str(refuse(reply(403)))


def test_a_refusal_of_a_server_that_only_was_guessed_says_so() -> None:
    guessed = found()
    guessed.has_resource_metadata = False

    assert "its origin was asked" in str(refuse(reply(404), at=guessed))


@pytest.mark.requirement(458)
def test_a_server_that_registers_nobody() -> None:
    message = str(refuse(at=found(registration_endpoint=None)))

    assert BACK in message
    assert "client_id=" in message


@pytest.mark.requirement(438, 458)
def test_an_id_of_a_person_comes_first() -> None:
    known = Registration(issuer=AS, client_id="old", is_dynamic=True, redirect_uris=(BACK,))
    identity = Identity(client_id="pre", client_secret="s", client_metadata_url=METADATA_URL)

    registration, sent = run(
        at=found(client_id_metadata_document_supported=True), identity=identity, kept=Kept(registration=known)
    )

    assert registration == Registration(issuer=AS, client_id="pre", client_secret="s", method="client_secret_basic")
    assert sent == []
    assert "'s'" not in repr(identity)


@pytest.mark.parametrize(
    ("supported", "method"),
    [
        (("client_secret_post",), "client_secret_post"),
        (("client_secret_post", "client_secret_basic"), "client_secret_basic"),
        (("none",), "client_secret_basic"),
        (None, "client_secret_basic"),
    ],
)
def test_how_an_id_with_a_secret_is_used(supported: Any, method: str) -> None:
    at = found(token_endpoint_auth_methods_supported=supported)

    assert run(at=at, identity=Identity(client_id="c", client_secret="s"))[0].method == method
    assert run(at=at, identity=Identity(client_id="c"))[0].method == "none"
    chosen = Identity(client_id="c", client_secret="s", method="client_secret_post")
    assert run(at=at, identity=chosen)[0].method == "client_secret_post"


@pytest.mark.requirement(438, 440, 458, 462)
def test_the_url_of_a_document_is_an_id_where_that_is_supported() -> None:
    identity = Identity(client_metadata_url=METADATA_URL)

    assert run(at=found(client_id_metadata_document_supported=True), identity=identity)[0].client_id == METADATA_URL
    assert run(reply(201, client_id="c"), identity=identity)[0].client_id == "c"
    assert "URL of a client's metadata" in str(refuse(at=found(registration_endpoint=None), identity=identity))


@pytest.mark.requirement(465)
@pytest.mark.parametrize(
    ("change", "is_used"),
    [
        ({}, True),
        ({"expires": NOW + 3600}, True),
        ({"expires": NOW + 1}, False),
        ({"expires": NOW - 1}, False),
        ({"issuer": "https://other.example.com"}, False),
        ({"is_dynamic": False}, False),
        ({"redirect_uris": ("http://127.0.0.1:1/callback",)}, False),
    ],
)
def test_a_registration_is_used_again_while_it_is_good(change: dict[str, Any], is_used: bool) -> None:
    fields: dict[str, Any] = {"issuer": AS, "client_id": "old", "is_dynamic": True, "redirect_uris": (BACK,), **change}
    replies = [] if is_used else [reply(201, client_id="new")]

    registration, _ = run(*replies, kept=Kept(registration=Registration(**fields)))

    assert registration.client_id == ("old" if is_used else "new")


@pytest.mark.requirement(466)
@pytest.mark.parametrize(
    ("identity", "client_id", "issuer"),
    [
        (Identity(client_id="c", issuer=AS), None, AS),
        (Identity(client_id="c"), None, None),
        (Identity(client_id="c"), "c", AS),
        (Identity(client_id="c"), "another", None),
        (Identity(), "c", None),
    ],
)
def test_credentials_of_a_person_belong_to_the_issuer_met_first(
    identity: Identity, client_id: str | None, issuer: str | None
) -> None:
    known = None if client_id is None else Registration(issuer=AS, client_id=client_id)

    assert pinned_issuer(identity, Kept(registration=known)) == issuer
