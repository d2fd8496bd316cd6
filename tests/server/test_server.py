"""The server object: what an author writes to."""

import pytest

from splice import Server
from splice.protocol.wire import Implementation


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
    assert Server(named).service.home.info is named
    assert Server(named).instructions is None


def test_a_kind_of_source_that_does_not_exist_is_refused() -> None:
    with pytest.raises(ValueError, match="'bogus': sources have tools, prompts, resources, templates"):
        Server("s").add_source("bogus", object())  # type: ignore[call-overload]  # that is the point


def test_http_options_that_do_not_exist_or_are_one_text_are_refused() -> None:
    with pytest.raises(TypeError, match=r"HTTP has no option 'max_bdy'; it has .*max_body"):
        Server("s").http_app(max_bdy=1)
    with pytest.raises(TypeError, match=r"give a list of names, such as \['mcp.example.com'\]"):
        Server("s").http_app(allowed_hosts="example.com")


def test_a_resource_without_a_uri_is_refused() -> None:
    with pytest.raises(TypeError, match="a resource needs a URI"):

        @Server("s").resource  # type: ignore[arg-type]  # that is the point
        def nowhere() -> str:
            return ""
