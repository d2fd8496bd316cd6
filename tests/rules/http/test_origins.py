"""Host and Origin: welcome only when they name one of ours, whole."""

import pytest

from splice.errors import HeaderMismatch
from splice.rules.http.headers import Headers
from splice.rules.http.origins import Origins, Refusal, is_loopback, parse_authority, status_of
from support.tables import rows


@rows(
    ("text", "expected"),
    [
        ("localhost", ("localhost", None)),
        ("LocalHost:80", ("localhost", 80)),
        ("127.0.0.1:8000", ("127.0.0.1", 8000)),
        ("[::1]", ("[::1]", None)),
        ("[::1]:8000", ("[::1]", 8000)),
        ("a-b.example_1.com", ("a-b.example_1.com", None)),
        *(
            (bad, None)
            for bad in (
                *("", ":80", "a:", "a:b", "a:80:80", "a:999999", "a b", " a", "a ", "a/", "a?b", "a#b", "user@a"),
                *("http://a", "[::1", "::1", "[::1]x", "[::1]:", "[zz]", "a:٣", "é", "a,b", "a\n", "a:-1", "a:+1"),
            )
        ),
    ],
)
def test_authorities_are_parsed_strictly(text: str, expected: tuple[str, int | None] | None) -> None:
    assert parse_authority(text) == expected


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:1", "LOCALHOST:65535", "127.0.0.1:8000", "[::1]:8000", "[::1]"]
)
def test_loopback_is_welcome_by_default(host: str) -> None:
    origins = Origins()
    assert origins.welcomes_host(host.encode("latin-1"))
    assert origins.welcomes_origin(f"http://{host}")
    assert origins.welcomes_origin(f"https://{host}")


FOREIGN = [
    *("evil.example.com", "localhost.evil.com", "evil-localhost", "127.0.0.1.evil.com", "127.0.0.2", "0.0.0.0:8000"),
    *("localhost@evil.com", "evil.com:localhost", "localhost.", "", "[::]", "[::1].evil.com", "localhost, evil.com"),
]


@rows("host", FOREIGN)
def test_everything_else_is_foreign_by_default(host: str) -> None:
    origins = Origins()
    assert not origins.welcomes_host(host.encode("latin-1"))
    assert not origins.welcomes_origin(f"http://{host}")


@pytest.mark.parametrize(
    "origin",
    ["null", "", "localhost", "ftp://localhost", "file://localhost", "http://localhost/", "http://u@localhost"],
)
def test_odd_origins_are_foreign_by_default(origin: str) -> None:
    assert not Origins().welcomes_origin(origin)


def test_named_hosts_replace_the_default() -> None:
    origins = Origins(["mcp.example.com", "other.example.com:8443"])
    assert origins.welcomes_host(b"mcp.example.com")
    assert origins.welcomes_host(b"MCP.example.com:444")
    assert origins.welcomes_host(b"other.example.com:8443")
    assert origins.welcomes_origin("https://mcp.example.com")
    assert origins.welcomes_origin("https://other.example.com:8443")
    for host in ("other.example.com", "other.example.com:443", "localhost", "mcp.example.com.evil.com"):
        assert not origins.welcomes_host(host.encode("latin-1"))
    assert not origins.welcomes_origin("https://other.example.com")


def test_no_hosts_at_all_means_none() -> None:
    assert not Origins([]).welcomes_host(b"localhost")


def test_named_origins_are_compared_whole() -> None:
    origins = Origins(origins=["https://app.example.com", "http://a.com:80", "vscode-webview://x1", "null"])
    for origin in (
        "https://app.example.com",
        "HTTPS://APP.example.com:443",
        "http://a.com",
        "vscode-webview://x1",
        "null",
    ):
        assert origins.welcomes_origin(origin)
    for origin in ("http://app.example.com", "https://app.example.com:444", "https://app.example.com.evil.com"):
        assert not origins.welcomes_origin(origin)
    assert not origins.welcomes_origin("http://localhost")


def test_everyone_must_be_said() -> None:
    origins = Origins(["*"], ["*"])
    assert origins.welcomes_host(b"evil.example.com")
    assert not origins.welcomes_host(b"not a host")
    assert origins.welcomes_origin("https://evil.example.com")
    assert origins.welcomes_origin("null")
    hosts_only = Origins(["*"])
    assert hosts_only.welcomes_host(b"evil.example.com")
    assert not hosts_only.welcomes_origin("https://evil.example.com")
    assert hosts_only.welcomes_origin("http://localhost:3000")


@pytest.mark.parametrize("host", ["http://a.com", "a.com/mcp", ""])
def test_a_badly_configured_host_is_named(host: str) -> None:
    with pytest.raises(ValueError, match="is not a host"):
        Origins([host])


def headers(**values: str) -> Headers:
    return Headers([(name.encode(), value.encode()) for name, value in values.items()])


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (headers(), "Host header missing"),
        (headers(host="evil.com"), "Host header 'evil.com' not allowed"),
        (headers(host="localhost", origin="http://evil.com"), "Origin header 'http://evil.com' not allowed"),
        (Headers([(b"host", b"localhost"), (b"host", b"evil.com")]), "Host header"),
        (Headers([(b"host", b"localhost"), (b"host", b"localhost")]), "Host header"),
    ],
)
def test_a_refusal_says_which_header_and_why(given: Headers, shown: str) -> None:
    with pytest.raises(Refusal, match=shown) as caught:
        Origins().check(given)
    assert caught.value.status == 403


def test_welcome_hosts_are_remembered_but_not_without_end() -> None:
    origins = Origins()
    for port in range(1, 200):
        origins.check(headers(host=f"localhost:{port}", origin="http://localhost"))
        origins.check(headers(host=f"localhost:{port}"))
    assert parse_authority.cache_info().currsize <= 64


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("localhost", True),
        ("a.localhost", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("[::1]", True),
        ("0.0.0.0", False),
        ("::", False),
        ("localhost.example.com", False),
        ("", False),
    ],
)
def test_which_hosts_are_this_machine(host: str, expected: bool) -> None:
    assert is_loopback(host) == expected


@pytest.mark.parametrize(
    ("code", "status"),
    [
        *((code, 400) for code in (-32700, -32600, -32602, -32020, -32021, -32022)),
        (-32601, 404),
        *((code, 200) for code in (-32603, -32002, -1, 7)),
    ],
)
def test_the_status_follows_the_error(code: int, status: int) -> None:
    assert status_of(code) == status


def test_a_refusal_carries_the_answer() -> None:
    refusal = Refusal(400, HeaderMismatch("no"), [(b"allow", b"POST")])
    assert (refusal.status, refusal.error.code, list(refusal.headers)) == (400, -32020, [(b"allow", b"POST")])
    assert str(refusal) == "no"
