"""A user logs in on another device: what is shown, how often is asked, and when that ends."""

from typing import Any

import pytest

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.challenges import Challenge
from splice.auth.login.device import DeviceCode
from splice.auth.login.discovery import Needed
from splice.auth.login.kept import Grant, Kept, Registration
from splice.auth.login.steps import HTTP, HTTPReply, Show, Wait
from splice.errors import ConnectionClosed
from support.flows import Web, form, jwt, reply
from support.tables import rows

MCP, AS, NOW = "https://mcp.example/mcp", "https://as.example", 1_800_000_000.0
DEVICE, TOKEN, PAGE = f"{AS}/device", f"{AS}/token", "https://as.example/enter"
NEEDED = Needed(url=MCP, now=NOW)
CODES: dict[str, Any] = {
    "device_code": "d3vice-c0de",
    "user_code": "WDJB-MJHT",
    "verification_uri": PAGE,
    "expires_in": 60,
    "interval": 5,
}
GOOD = reply(access_token="abc", token_type="Bearer", refresh_token="r3fresh", expires_in=300)
PENDING, SLOWER = reply(400, error="authorization_pending"), reply(400, error="slow_down")


def sites(*answers: Any, codes: Any = None, **metadata: Any) -> Web:
    described = {
        "issuer": AS,
        "token_endpoint": TOKEN,
        "device_authorization_endpoint": DEVICE,
        "registration_endpoint": f"{AS}/register",
        **metadata,
    }
    return Web(
        {
            "https://mcp.example/.well-known/oauth-protected-resource/mcp": reply(
                resource=MCP, authorization_servers=[AS], scopes_supported=["read"]
            ),
            f"{AS}/.well-known/oauth-authorization-server": reply(**described),
            f"{AS}/register": [reply(201, client_id="given", token_endpoint_auth_method="none")],
            DEVICE: reply(**CODES) if codes is None else codes,
            TOKEN: list(answers),
        }
    )


def obtain(web: Web, policy: DeviceCode | None = None, request: Needed = NEEDED, kept: Kept | None = None) -> Kept:
    return web.run((policy or DeviceCode(client_id="me")).obtain(request, kept or Kept()))


def waits(web: Web) -> list[float]:
    return [step.seconds for step in web.steps if isinstance(step, Wait)]


def test_a_code_is_shown_and_asked_for_until_it_was_entered() -> None:
    web = sites(PENDING, PENDING, GOOD)
    kept = obtain(web)
    assert form(web.sent(DEVICE)[0]) == {"client_id": "me", "scope": "read", "resource": MCP}
    assert [step for step in web.steps if isinstance(step, Show)] == [Show(PAGE, "WDJB-MJHT")]
    assert waits(web) == [5, 5, 5]
    assert [form(request) for request in web.sent(TOKEN)] == [
        {
            "grant_type": "urn:ietf:params:oauth:grant-type:device_code",
            "device_code": "d3vice-c0de",
            "client_id": "me",
            "resource": MCP,
        }
    ] * 3
    assert kept.grant is not None
    assert (kept.grant.access_token, kept.grant.refresh_token, kept.grant.expires) == ("abc", "r3fresh", NOW + 15 + 300)
    assert isinstance(web.steps[-1], HTTP)
    order = [type(step) for step in web.steps[-7:]]
    assert order == [Show, Wait, HTTP, Wait, HTTP, Wait, HTTP]


def test_a_client_registers_itself_for_this_grant() -> None:
    web = sites(GOOD)
    kept = obtain(web, DeviceCode(client_name="kiosk"))
    (request,) = web.sent(f"{AS}/register")
    body = HTTPReply(200, {}, request.body).members()
    assert body["grant_types"] == ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"]
    assert "redirect_uris" not in body
    assert kept.registration is not None
    assert (kept.registration.client_id, kept.registration.is_dynamic) == ("given", True)


def test_a_client_with_a_secret_proves_itself() -> None:
    web = sites(GOOD)
    obtain(web, DeviceCode(client_id="me", client_secret="s3cret"))
    for request in (*web.sent(DEVICE), *web.sent(TOKEN)):
        assert request.headers["authorization"].startswith("Basic ")


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([PENDING, SLOWER, PENDING, SLOWER, GOOD], [5, 5, 10, 10, 15]),
        ([ConnectionClosed("gone"), PENDING, GOOD], [5, 10, 10]),
        ([HTTPReply(503), GOOD], [5, 10]),
        ([HTTPReply(503, {"retry-after": "30"}), GOOD], [5, 30]),
        ([HTTPReply(429, {"retry-after": "1"}), GOOD], [5, 10]),
    ],
)
def test_a_server_may_ask_for_more_time(answers: list[Any], expected: list[float]) -> None:
    web = sites(*answers)
    obtain(web)
    assert waits(web) == expected


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [(None, 5), (0, 1), (-7, 1), (0.2, 1), (2.5, 2.5), (10**9, 60), ("3", 5), (True, 5), ([], 5), (1e300, 60)],
)
def test_an_interval_has_bounds(interval: Any, seconds: float) -> None:
    web = sites(GOOD, codes=reply(**{**CODES, "interval": interval, "expires_in": 900}))
    obtain(web)
    assert waits(web) == [seconds]


@pytest.mark.parametrize(
    ("expires", "questions"), [(12, 2), (0, 0), (-5, 0), (4, 0), (None, 120), ("x", 120), (10**12, 360), (1e300, 360)]
)
def test_a_code_expires_in_any_case(expires: Any, questions: int) -> None:
    web = sites(*[PENDING] * questions, codes=reply(**{**CODES, "expires_in": expires}))
    with pytest.raises(
        AuthorizationFailed, match=r"nobody entered the code at 'https://as\.example/enter' in time"
    ) as e:
        obtain(web)
    assert e.value.code == "expired_token"
    assert len(web.sent(TOKEN)) == questions


def test_a_server_that_slows_down_for_ever_ends() -> None:
    web = sites(*[SLOWER] * 20)
    with pytest.raises(AuthorizationFailed, match="in time"):
        obtain(web)
    assert sum(waits(web)) <= 60


@pytest.mark.parametrize(
    ("answer", "why", "code"),
    [
        (reply(400, error="access_denied"), "the user did not allow it at 'https://as.example/enter'", "access_denied"),
        (reply(400, error="expired_token"), "start again", "expired_token"),
        (reply(400, error="invalid_grant"), "invalid_grant", "invalid_grant"),
        (reply(400, error="invalid_client", error_description="d3vice-c0de"), "invalid_client", "invalid_client"),
        (HTTPReply(302, {"location": "https://rogue.example"}), "it redirects", None),
        (HTTPReply(404), "HTTP 404", None),
        (reply(access_token="a\nb", token_type="Bearer"), "cannot be sent in a header", None),
    ],
)
def test_a_final_answer_is_final(answer: HTTPReply, why: str, code: str | None) -> None:
    web = sites(PENDING, answer)
    with pytest.raises(AuthorizationFailed, match=why) as caught:
        obtain(web)
    assert caught.value.code == code
    assert "d3vice" not in str(caught.value)


@rows(
    ("codes", "why"),
    [
        (HTTPReply(200), "no device_code"),
        (HTTPReply(500), "try again later"),
        (reply(400, error="unauthorized_client"), "unauthorized_client"),
        (reply(**{**CODES, "device_code": ""}), "no device_code"),
        (reply(**{**CODES, "device_code": 5}), "no device_code"),
        (reply(**{**CODES, "device_code": "x" * 5000}), "no device_code"),
        (reply(**{**CODES, "user_code": None}), "no user_code"),
        (reply(**{**CODES, "user_code": ""}), "no user_code"),
        (reply(**{**CODES, "user_code": " "}), "no user_code"),
        (reply(**{**CODES, "user_code": "A\x1b[2J"}), "no user_code"),
        (reply(**{**CODES, "user_code": "A\u202eB"}), "no user_code"),
        (reply(**{**CODES, "user_code": "A" * 65}), "no user_code"),
        *[
            (reply(**{**CODES, "verification_uri": url}), "no verification_uri")
            for url in ("", 5, None, "http://as.example/", "javascript:alert(1)", "file:///etc/passwd", "https://a b/")
        ],
        (reply(**{**CODES, "verification_uri": "https://as.example/\x1b[2J"}), "no verification_uri"),
    ],
)
def test_what_a_user_should_not_see_is_not_shown(codes: HTTPReply, why: str) -> None:
    web = sites(codes=codes)
    with pytest.raises(AuthorizationFailed, match=why):
        obtain(web)
    assert not any(isinstance(step, Show) for step in web.steps)


@pytest.mark.parametrize(
    ("members", "shown"),
    [
        ({"verification_uri_complete": f"{PAGE}?c=WDJB"}, Show(PAGE, "WDJB-MJHT", f"{PAGE}?c=WDJB")),
        ({"verification_uri_complete": "javascript:alert(1)"}, Show(PAGE, "WDJB-MJHT")),
        ({"verification_uri_complete": 5}, Show(PAGE, "WDJB-MJHT")),
        ({"verification_url": "https://as.example/old"}, Show("https://as.example/old", "WDJB-MJHT")),
    ],
)
def test_a_page_may_have_the_code_in_it(members: dict[str, Any], shown: Show) -> None:
    codes = {**CODES, **members}
    if "verification_url" in members:
        del codes["verification_uri"]
    web = sites(GOOD, codes=reply(**codes))
    obtain(web)
    assert shown in web.steps


def test_a_server_without_this_login_says_so() -> None:
    with pytest.raises(AuthorizationFailed, match="has no login on another device"):
        obtain(sites(device_authorization_endpoint=None))


@pytest.mark.parametrize("url", ["http://as.example/device", "file:///etc/passwd"])
def test_a_device_endpoint_must_be_one_that_may_be_asked(url: str) -> None:
    web = sites(device_authorization_endpoint=url)
    with pytest.raises(AuthorizationFailed, match="neither https nor on this machine"):
        obtain(web)
    assert {request.method for request in web.requests} == {"GET"}


def test_a_grant_is_refreshed_first() -> None:
    old = Kept(
        registration=Registration(issuer=AS, client_id="me"),
        grant=Grant(issuer=AS, access_token="old", refresh_token="r3fresh", resource=MCP),
    )
    web = sites(GOOD)
    obtain(web, kept=old)
    assert form(web.sent(TOKEN)[0])["grant_type"] == "refresh_token"
    assert web.sent(DEVICE) == []
    web = sites(reply(400, error="invalid_grant"), GOOD)
    assert obtain(web, kept=old).grant is not None
    assert len(web.sent(DEVICE)) == 1


def test_a_token_can_be_bound_to_a_key() -> None:
    nonce = reply(400, {"dpop-nonce": "n-1"}, error="use_dpop_nonce")
    web = sites(PENDING, nonce, reply(access_token="abc", token_type="DPoP"))
    kept = obtain(web, DeviceCode(client_id="me", dpop=True))
    proofs = [jwt(request.headers["dpop"])[1] for request in web.sent(TOKEN)]
    assert len({proof["jti"] for proof in proofs}) == 3
    assert [proof["iat"] for proof in proofs] == [NOW + 5, NOW + 10, NOW + 10]
    assert [proof.get("nonce") for proof in proofs] == [None, None, "n-1"]
    assert "dpop" not in web.sent(DEVICE)[0].headers
    assert kept.grant is not None
    assert kept.grant.dpop_key is not None


def test_a_step_up_asks_for_more() -> None:
    challenge = Challenge("bearer", {"error": "insufficient_scope", "scope": "write"})
    web = sites(GOOD)
    kept = obtain(web, request=Needed(url=MCP, now=NOW, status=403, challenge=challenge), kept=Kept(asked=("read",)))
    assert form(web.sent(DEVICE)[0])["scope"] == "read write"
    assert kept.asked == ("read", "write")


def test_a_server_of_the_first_days_is_sent_no_resource() -> None:
    web = sites(GOOD)
    del web.sites["https://mcp.example/.well-known/oauth-protected-resource/mcp"]
    known: Any = web.sites.pop(f"{AS}/.well-known/oauth-authorization-server")
    described = {**known.members(), "issuer": "https://mcp.example"}
    web.sites["https://mcp.example/.well-known/oauth-authorization-server"] = reply(**described)
    obtain(web)
    assert form(web.sent(DEVICE)[0]) == {"client_id": "me"}
    assert "resource" not in form(web.sent(TOKEN)[0])


def test_a_program_may_show_the_code_itself() -> None:
    assert DeviceCode().show is None
    assert DeviceCode(show=print).show is print


@pytest.mark.parametrize(
    ("options", "error", "why"),
    [
        ({"redirect_port": 5}, TypeError, "DeviceCode has no option redirect_port"),
        ({"client_secret": "s3cret"}, ValueError, "of DeviceCode belong to a client_id="),
        ({"client_id": ""}, ValueError, "client_id= of DeviceCode takes"),
    ],
)
def test_what_cannot_be_meant_is_refused_at_once(options: Any, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=why) as caught:
        DeviceCode(**options)
    assert "s3cret" not in str(caught.value)
