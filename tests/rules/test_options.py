"""Options are checked by tables, and every option that type checkers know is in one."""

from typing import Any

import pytest

from splice.client.options import OPTIONS, ClientOptions
from splice.rules.options import Option, checked
from splice.server import server
from splice.server.server import ServerOptions
from splice.transports.http.app import HTTP_OPTIONS, LISTEN_OPTIONS, HTTPOptions, ListenOptions


@pytest.mark.parametrize(
    ("table", "typed"),
    [
        (server._OPTIONS, ServerOptions),
        (OPTIONS, ClientOptions),
        (HTTP_OPTIONS, HTTPOptions),
        (LISTEN_OPTIONS, ListenOptions),
    ],
    ids=["Server", "Client", "HTTP", "a listener"],
)
def test_each_option_is_in_its_table(table: dict[str, Option], typed: Any) -> None:
    assert table.keys() == typed.__annotations__.keys()


KNOWN = {
    "size": Option(int, "a number above 0", lambda size: size > 0),
    "is_fast": Option(bool, "True or False"),
    "names": Option((list, tuple), "a list of text", item=str),
    "key": Option(bytes, "bytes", is_secret=True),
}


def test_none_is_an_option_left_out() -> None:
    assert checked("it", {"size": 5, "names": None}, KNOWN) == {"size": 5}


@pytest.mark.parametrize(
    ("given", "kind", "told"),
    [
        ({"siz": 1, "a": 2}, TypeError, "it has no option a, siz; there are size, is_fast, names, key"),
        ({"size": "5"}, TypeError, "size= of it takes a number above 0, not '5'"),
        ({"size": True}, TypeError, "size= of it takes a number above 0, not True"),
        ({"size": 0}, ValueError, "size= of it takes a number above 0, not 0"),
        ({"is_fast": 1}, TypeError, "is_fast= of it takes True or False, not 1"),
        ({"names": "ab"}, TypeError, "names= of it takes a list of text, not 'ab'"),
        ({"names": ["a", 5]}, TypeError, "names= of it takes a list of text, not ['a', 5]"),
        ({"key": "s3cret"}, TypeError, "key= of it takes bytes"),
    ],
    ids=str,
)
def test_what_an_option_does_not_take_is_refused(given: Any, kind: type[Exception], told: str) -> None:
    with pytest.raises(kind) as caught:
        checked("it", given, KNOWN)
    assert str(caught.value) == told


def test_what_takes_no_options_says_so() -> None:
    with pytest.raises(TypeError, match="stdio has no option port; there are none"):
        checked("stdio", {"port": 1}, {})
