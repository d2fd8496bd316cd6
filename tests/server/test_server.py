"""The server object: what an author writes to."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from splice import Server
from splice.protocol.wire import Icon, Implementation
from splice.rules.seal import SealBroken
from support.tables import rows


def test_an_http_app_is_made_of_it() -> None:
    from splice.transports.http.app import HTTPApp

    assert isinstance(Server("s").http_app(path="/mcp"), HTTPApp)


def test_an_option_that_does_not_exist_is_refused() -> None:
    with pytest.raises(TypeError, match="bogus, verson"):
        Server("s", verson="1", bogus=2)  # type: ignore[call-arg]  # that is the point


def test_an_author_sees_few_names() -> None:
    names = [name for name in dir(Server("s")) if not name.startswith("_")]
    assert len(names) <= 20, names


def test_it_says_what_it_is_called_and_how_to_use_it() -> None:
    server = Server("shop", version="2", instructions="Look first.")
    assert (server.name, server.instructions) == ("shop", "Look first.")
    assert server.service.home.info.version == "2"
    named = Implementation(name="n", version="v", title="T")
    assert Server(named).service.home.info == named
    icons = [Icon(src="https://a.example/i.png")]
    said = Server("n", title="T", website_url="https://a.example", icons=icons).service.home.info
    assert (said.title, said.website_url, said.icons) == ("T", "https://a.example", icons)
    assert Server(named, title="U").service.home.info == Implementation(name="n", version="v", title="U")
    assert named.title == "T"
    assert Server(named).instructions is None


SETTINGS: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
    (5, {}, TypeError, "name is text or an `Implementation`, not 5"),
    ("", {}, ValueError, "a name that is not empty"),
    (Implementation(name="", version="1"), {}, ValueError, "a name that is not empty"),
    ("s", {"version": 1}, TypeError, "version= of Server takes text, not 1"),
    ("s", {"instructions": b"x"}, TypeError, "instructions"),
    ("s", {"icons": "x.png"}, TypeError, "a list of `Icon`, not 'x.png'"),
    ("s", {"lifespan": 5}, TypeError, "lifespan"),
    ("s", {"errors": "typ"}, ValueError, "'type', 'message' or 'hidden', not 'typ'"),
    ("s", {"page_size": 0}, ValueError, "page_size= of Server takes a number, at least 1, or None for .*, not 0"),
    ("s", {"page_size": "3"}, TypeError, "page_size"),
    ("s", {"middleware": [5]}, TypeError, "middleware"),
    ("s", {"extensions": [5]}, TypeError, "extensions"),
    ("s", {"state_keys": ["x" * 32]}, TypeError, "state_keys= of Server takes a list of `bytes`$"),
    ("s", {"state_keys": [b"x"]}, ValueError, "32 bytes"),
]


@rows(("name", "options", "kind", "told"), SETTINGS)
def test_a_setting_that_makes_no_sense_is_refused_where_it_is_given(
    name: Any, options: dict[str, Any], kind: type[Exception], told: str
) -> None:
    with pytest.raises(kind, match=told) as caught:
        Server(name, **options)
    assert "x" * 32 not in str(caught.value), "keys are secret"


def test_a_lifespan_without_its_decorator_is_refused() -> None:
    async def undecorated(server: Server) -> AsyncIterator[int]:
        yield 1

    with pytest.raises(ValueError, match="takes a function with `@asynccontextmanager`, not <function"):
        Server("s", lifespan=undecorated)  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]


def test_none_is_a_setting_left_out() -> None:
    server = Server("s", instructions=None, lifespan=None, page_size=None, icons=None)  # type: ignore[arg-type]  # porters
    assert server.service.home.page_size > 10**6


def test_a_secret_of_the_environment_gives_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    def sealed(**options: Any) -> tuple[Any, str]:
        sealer = Server("s", **options).service.home.sealer
        return sealer, sealer.seal(b"1", b"", 0)

    monkeypatch.setenv("SPLICE_SECRET", "correct horse battery staple")
    (one, text), (other, _) = sealed(), sealed()
    assert one.is_shared
    assert other.open(text, b"", 0) == b"1"
    given, _ = sealed(state_keys=[b"k" * 32])
    with pytest.raises(SealBroken):
        given.open(text, b"", 0)
    monkeypatch.setenv("SPLICE_SECRET", "too short")
    with pytest.raises(ValueError, match="SPLICE_SECRET must have at least 16 characters"):
        Server("s")
    monkeypatch.setenv("SPLICE_SECRET", "")
    assert not sealed()[0].is_shared


def test_a_kind_of_source_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'bogus': sources have tools, prompts, resources, templates"):
        Server("s").add_source("bogus", object())  # type: ignore[arg-type]  # that is the point


def test_http_options_that_do_not_exist_or_are_one_text_are_refused() -> None:
    with pytest.raises(TypeError, match=r"HTTP has no option max_bdy; there are .*max_body"):
        Server("s").http_app(max_bdy=1)  # type: ignore[call-arg]  # that is the point
    with pytest.raises(TypeError, match=r"takes a list of names, such as \['mcp.example.com'\], not 'example.com'"):
        Server("s").http_app(allowed_hosts="example.com")


def test_a_resource_without_a_uri_is_refused() -> None:
    with pytest.raises(TypeError, match="a resource needs a URI"):

        @Server("s").resource  # type: ignore[arg-type]  # that is the point
        def nowhere() -> str:
            return ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"icons": [Icon(src="javascript:alert(1)")]}, "'javascript:alert(1)' is not an https: or data: URI"),
        (
            {"icons": [Icon(src="https://a/b", mime_type="png")]},
            "'png' is not a MIME type; write one such as text/plain",
        ),
        ({"website_url": "example.com"}, "'example.com' is not a URL of https or http"),
        ({"website_url": "javascript:alert(1)"}, "'javascript:alert(1)' is not a URL of https or http"),
    ],
)
def test_what_a_server_says_of_itself_is_checked_where_it_is_given(options: Any, message: str) -> None:
    with pytest.raises(ValueError) as caught:
        Server("s", **options)
    assert str(caught.value) == f"Server: {message}"
    with pytest.raises(ValueError):
        Server(Implementation(name="s", version="1", **options))
