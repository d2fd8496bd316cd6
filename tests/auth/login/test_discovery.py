"""Who issues tokens for a server: tables of what servers say, and what comes of it."""

from typing import Any

import pytest

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.challenges import Challenge
from splice.auth.login.discovery import Found, discover
from splice.auth.login.steps import HTTPReply
from splice.errors import ConnectionClosed
from support.flows import Web, reply
from support.tables import rows

URL = "https://mcp.example.com/tools/mcp"
ORIGIN = "https://mcp.example.com"
PRM = f"{ORIGIN}/.well-known/oauth-protected-resource"
PATH_PRM = f"{PRM}/tools/mcp"
AS = "https://auth.example.com"
AS_METADATA = f"{AS}/.well-known/oauth-authorization-server"
OPENID = f"{AS}/.well-known/openid-configuration"


def prm(resource: object = URL, servers: object = (AS,), **more: Any) -> HTTPReply:
    return reply(resource=resource, authorization_servers=servers, **more)


def metadata(base: str = AS, /, **more: Any) -> HTTPReply:
    fields: dict[str, Any] = {
        "issuer": base,
        "authorization_endpoint": f"{base}/authorize",
        "token_endpoint": f"{base}/token",
        "registration_endpoint": f"{base}/register",
        "code_challenge_methods_supported": ["S256"],
    }
    return reply(**{**fields, **more})


def look(sites: dict[str, Any], url: str = URL, header: str | None = None, **options: Any) -> tuple[Found, list[str]]:
    web = Web(sites)
    challenge = None if header is None else Challenge("bearer", {"resource_metadata": header})
    found = web.run(discover(url, challenge, **options))
    return found, [request.url for request in web.requests]


def refuse(sites: dict[str, Any], url: str = URL, header: str | None = None, **options: Any) -> tuple[str, list[str]]:
    web = Web(sites)
    challenge = None if header is None else Challenge("bearer", {"resource_metadata": header})
    with pytest.raises(AuthorizationFailed) as caught:
        web.run(discover(url, challenge, **options))
    assert "\n" not in str(caught.value)
    return str(caught.value), [request.url for request in web.requests]


@pytest.mark.requirement(449, 454)
def test_the_metadata_that_the_challenge_names_is_the_only_one_asked_for() -> None:
    found, asked = look({PATH_PRM: prm(scopes_supported=["a"]), AS_METADATA: metadata()}, header=PATH_PRM)

    assert asked == [PATH_PRM, AS_METADATA]
    assert (found.resource, found.issuer, found.scopes_supported) == (URL, AS, ("a",))
    assert found.metadata.token_endpoint == f"{AS}/token"
    assert found.has_resource_metadata


@pytest.mark.requirement(443, 454)
def test_without_a_name_the_path_is_asked_then_the_root() -> None:
    found, asked = look({PRM: prm(ORIGIN), AS_METADATA: metadata()})

    assert asked == [PATH_PRM, PRM, AS_METADATA]
    assert found.resource == ORIGIN


def test_a_server_at_the_root_has_one_place_for_metadata() -> None:
    _, asked = look({PRM: prm(ORIGIN), AS_METADATA: metadata()}, url=f"{ORIGIN}/")

    assert asked == [PRM, AS_METADATA]


def test_a_query_belongs_to_the_path() -> None:
    _, asked = look({f"{PATH_PRM}?tenant=1": prm(f"{URL}?tenant=1"), AS_METADATA: metadata()}, url=f"{URL}?tenant=1")

    assert asked[0] == f"{PATH_PRM}?tenant=1"


def test_metadata_that_the_challenge_names_and_nobody_has() -> None:
    message, asked = refuse({PATH_PRM: prm(), AS_METADATA: metadata()}, header=f"{ORIGIN}/elsewhere")

    assert asked == [f"{ORIGIN}/elsewhere"]
    assert "HTTP 404" in message


@pytest.mark.parametrize("header", ["http://mcp.example.com/x", "javascript:alert(1)", "file:///etc/passwd", "x y", ""])
def test_metadata_at_an_address_that_may_not_be_asked(header: str) -> None:
    message, asked = refuse({}, header=header)

    assert asked == []
    assert "neither https nor on this machine" in message


@pytest.mark.parametrize(
    "url",
    [
        "http://mcp.example.com/mcp",
        "https://u:p@h/mcp",
        "https://h\\@evil/",
        "ftp://h/",
        "https://[",
        "https://h:99999/",
        "https://h:0/",
        "h",
    ],
)
def test_a_server_that_no_token_may_be_sent_to(url: str) -> None:
    message, asked = refuse({}, url=url)

    assert asked == []
    assert "https" in message
    assert "u:p" not in message


@pytest.mark.requirement(476)
@rows(
    ("resource", "fits"),
    [
        (URL, True),
        (f"{URL}/", True),
        (f"{ORIGIN}/tools", True),
        (f"{ORIGIN}/tools/", True),
        (ORIGIN, True),
        (f"{ORIGIN}/", True),
        ("HTTPS://MCP.example.com/tools/mcp", True),
        ("https://mcp.example.com:443/tools/mcp", True),
        ("https://evil.example.com/tools/mcp", False),
        ("https://mcp.example.com.evil.example/tools/mcp", False),
        ("https://mcp.example.com:8443/tools/mcp", False),
        ("http://mcp.example.com/tools/mcp", False),
        (f"{ORIGIN}/tools/mc", False),
        (f"{URL}/below", False),
        (f"{ORIGIN}/tool", False),
        (f"{URL}?x=1", False),
        (f"{URL}#there", False),
        ("https://user@mcp.example.com/tools/mcp", False),
        ("not a URL", False),
        ("", False),
    ],
)
def test_metadata_has_to_be_of_the_server(resource: str, fits: bool) -> None:
    sites: dict[str, Any] = {PATH_PRM: prm(resource), AS_METADATA: metadata()}
    if fits:
        assert look(sites)[0].resource == resource  # byte for byte
    else:
        message, asked = refuse(sites)
        assert asked == [PATH_PRM]
        assert "a token for the one must not go to the other" in message


@pytest.mark.parametrize(
    "document",
    [
        prm(None),
        prm(17),
        prm(servers="https://auth.example.com"),
        prm(servers=[17]),
        prm(scopes_supported="a b"),
        HTTPReply(200, {}, b"[]"),
        HTTPReply(200, {}, b"{"),
        HTTPReply(200, {}, b"\xff"),
        HTTPReply(200, {}, b'{"resource":' + b"[" * 100_000),
    ],
)
def test_a_document_of_another_form_is_not_used(document: HTTPReply) -> None:
    message, asked = refuse({PATH_PRM: document, AS_METADATA: metadata()}, header=PATH_PRM)

    assert asked == [PATH_PRM]
    assert ascii(PATH_PRM) in message


@pytest.mark.parametrize("servers", [(), ("ftp://a",), ("http://auth.example.com",), (f"{AS}?x=1",), ("\x00",)])
def test_no_authorization_server_that_could_be_asked(servers: tuple[str, ...]) -> None:
    message, asked = refuse({PATH_PRM: prm(servers=servers)})

    assert asked == [PATH_PRM]
    assert "no authorization server" in message


@pytest.mark.requirement(450, 456, 530)
@pytest.mark.parametrize(
    ("issuer", "places"),
    [
        (AS, [AS_METADATA, OPENID]),
        (f"{AS}/", [AS_METADATA, OPENID]),
        (f"{AS}/t/1", [f"{AS_METADATA}/t/1", f"{OPENID}/t/1", f"{AS}/t/1/.well-known/openid-configuration"]),
        (f"{AS}/t/1/", [f"{AS_METADATA}/t/1", f"{OPENID}/t/1", f"{AS}/t/1/.well-known/openid-configuration"]),
    ],
)
def test_all_places_for_the_metadata_of_an_issuer_in_their_order(issuer: str, places: list[str]) -> None:
    message, asked = refuse({PATH_PRM: prm(servers=[issuer])})
    assert asked == [PATH_PRM, *places]
    assert all(ascii(place) in message for place in places)

    for place in places:
        found, _ = look({PATH_PRM: prm(servers=[issuer]), place: metadata(issuer)})
        assert found.issuer == issuer


@pytest.mark.requirement(457, 489, 490, 505)
@rows(
    ("change", "why"),
    [
        ({"issuer": "https://attacker.example.com"}, "attacker"),
        ({"issuer": f"{AS}/"}, "of the issuer"),
        ({"issuer": None}, "issuer"),
        ({"issuer": 7}, "issuer"),
        ({"token_endpoint": None}, "token_endpoint"),
        ({"token_endpoint": "http://auth.example.com/token"}, "token_endpoint"),
        ({"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"),
        ({"authorization_endpoint": "https://a/$(reboot)`x`"}, "authorization_endpoint"),
        ({"authorization_endpoint": "-https://a/"}, "authorization_endpoint"),
        ({"registration_endpoint": "file:///etc/passwd"}, "registration_endpoint"),
        ({"code_challenge_methods_supported": None}, "S256"),
        ({"code_challenge_methods_supported": ["plain"]}, "S256"),
        ({"code_challenge_methods_supported": "S256"}, "code_challenge_methods_supported"),
        ({"authorization_response_iss_parameter_supported": "true"}, "authorization_response_iss_parameter_supported"),
    ],
)
def test_metadata_of_an_authorization_server_that_is_not_used(change: dict[str, Any], why: str) -> None:
    message, asked = refuse({PATH_PRM: prm(), AS_METADATA: metadata(**change)})

    assert asked == [PATH_PRM, AS_METADATA, OPENID]
    assert why in message


@pytest.mark.parametrize(
    "inward", ["http://127.0.0.1:8080", "https://localhost", "http://[::1]:1", "http://a.localhost"]
)
def test_a_server_elsewhere_names_nothing_on_this_machine(inward: str) -> None:
    there = f"{inward}/somewhere"
    message, asked = refuse({}, header=there)
    assert asked == []
    assert "where the server is not" in message

    refuse({PATH_PRM: prm(servers=[there]), f"{inward}/.well-known/oauth-authorization-server": metadata(there)})
    for name in ("authorization_endpoint", "token_endpoint", "registration_endpoint"):
        message, _ = refuse({PATH_PRM: prm(), AS_METADATA: metadata(**{name: there})})
        assert name in message


@pytest.mark.parametrize("base", ["http://127.0.0.1:8000", "http://localhost:8000", "http://[::1]:8000"])
def test_a_server_on_this_machine_may(base: str) -> None:
    issuer = "http://localhost:9000"
    found, _ = look(
        {
            f"{base}/.well-known/oauth-protected-resource/mcp": prm(f"{base}/mcp", [issuer]),
            f"{issuer}/.well-known/oauth-authorization-server": metadata(issuer),
        },
        url=f"{base}/mcp",
    )

    assert (found.issuer, found.resource) == (issuer, f"{base}/mcp")


def test_programs_need_no_pkce() -> None:
    found, _ = look({PATH_PRM: prm(), AS_METADATA: metadata(code_challenge_methods_supported=None)}, pkce=False)

    assert found.issuer == AS


def test_the_next_place_is_asked_when_one_does_not_answer() -> None:
    found, _ = look({PATH_PRM: prm(), AS_METADATA: ConnectionClosed("reset"), OPENID: metadata()})

    assert found.issuer == AS


def test_the_next_authorization_server_is_asked_when_one_cannot_be_used() -> None:
    found, _ = look({PATH_PRM: prm(servers=["ftp://x", "https://dead.example.com", AS]), AS_METADATA: metadata()})

    assert found.issuer == AS


def test_not_every_server_of_a_long_list_is_asked() -> None:
    _, asked = refuse({PATH_PRM: prm(servers=[f"https://{number}.example.com" for number in range(1000)])})

    assert len(asked) < 15


@pytest.mark.requirement(466)
def test_credentials_for_one_issuer_are_used_at_no_other_one() -> None:
    message, asked = refuse({PATH_PRM: prm(servers=["https://rogue.example.com"])}, issuer=AS)
    assert asked == [PATH_PRM]
    assert "rogue" in message
    assert AS in message

    found, asked = look({PATH_PRM: prm(servers=["https://other.example.com", AS]), AS_METADATA: metadata()}, issuer=AS)
    assert asked == [PATH_PRM, AS_METADATA]
    assert found.issuer == AS


def test_a_server_without_metadata_issues_its_tokens_at_its_origin() -> None:
    place = f"{ORIGIN}/.well-known/oauth-authorization-server"

    found, asked = look({place: metadata(ORIGIN, token_endpoint=f"{ORIGIN}/oauth/token")})

    assert asked == [PATH_PRM, PRM, place]
    assert (found.has_resource_metadata, found.issuer, found.resource) == (False, ORIGIN, URL)
    assert found.metadata.token_endpoint == f"{ORIGIN}/oauth/token"


@pytest.mark.parametrize("answer", [HTTPReply(404), HTTPReply(401), HTTPReply(200, {}, b"<html>")])
def test_a_server_without_any_metadata_has_its_endpoints_where_they_always_were(answer: HTTPReply) -> None:
    found, _ = look({f"{ORIGIN}/.well-known/oauth-authorization-server": answer, PRM: answer, PATH_PRM: answer})

    assert found.issuer == ORIGIN
    assert found.metadata.authorization_endpoint == f"{ORIGIN}/authorize"
    assert found.metadata.token_endpoint == f"{ORIGIN}/token"
    assert found.metadata.registration_endpoint == f"{ORIGIN}/register"


@pytest.mark.parametrize("trouble", [HTTPReply(500), HTTPReply(429), ConnectionClosed("reset")])
@pytest.mark.parametrize("place", [PATH_PRM, PRM, f"{ORIGIN}/.well-known/oauth-authorization-server"])
def test_trouble_is_not_taken_for_a_server_of_the_old_kind(trouble: object, place: str) -> None:
    message, asked = refuse({place: trouble})

    assert ascii(place) in message
    assert f"{ORIGIN}/token" not in asked


@pytest.mark.parametrize(
    ("change", "is_used"),
    [
        ({"code_challenge_methods_supported": None}, True),
        ({"code_challenge_methods_supported": ["plain"]}, False),
        ({"issuer": None}, True),
        ({"issuer": f"{ORIGIN}/"}, True),
        ({"issuer": AS}, False),
        ({"issuer": []}, True),
        ({"token_endpoint": None}, False),
    ],
)
def test_how_much_the_metadata_of_an_old_server_has_to_say(change: dict[str, Any], is_used: bool) -> None:
    sites: dict[str, Any] = {f"{ORIGIN}/.well-known/oauth-authorization-server": metadata(ORIGIN, **change)}

    if is_used:
        look(sites)
    else:
        refuse(sites)


def test_credentials_for_an_issuer_are_not_used_at_the_origin_of_an_old_server() -> None:
    message, _ = refuse({}, issuer=AS)

    assert "not sent elsewhere" in message


def test_what_a_peer_sent_is_escaped_in_a_message() -> None:
    message, _ = refuse({PATH_PRM: prm("https://evil.example/\x1b[31m\u202e" + "x" * 5000)})

    assert "\x1b" not in message
    assert "\u202e" not in message
    assert len(message) < 1000
