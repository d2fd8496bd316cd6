"""What a TARGET may be."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import SERVER, Splice
from splice import HTTPServer, StdioServer
from splice.cli.outcomes import OK, USAGE, Stop
from splice.cli.targets import Target, take_target

SHOP = {"command": sys.executable, "args": [SERVER], "env": {"SHOP": "open"}}
WEB = {"type": "http", "url": "http://127.0.0.1:9/mcp", "headers": {"A": "1", "B": "2"}}


def config(directory: Path, value: Any, name: str = "mcp.json") -> str:
    path = directory / name
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def taken(target: str, *headers: str) -> Target:
    return take_target((target,), [], headers)[0]


@pytest.mark.parametrize("key", ["mcpServers", "servers"])
def test_an_entry_of_a_configuration(splice: Splice, tmp_path: Path, key: str) -> None:
    file = config(tmp_path, {key: {"shop": SHOP, "web": WEB}, "other": 1})
    assert splice("call", f"{file}#shop", "add", "a=2")[:2] == (OK, "3\n")
    place = taken(f"{file}#shop").place
    assert isinstance(place, StdioServer)
    assert place.env is not None
    assert place.env["SHOP"] == "open"
    assert "PATH" in place.env


def test_comments_and_variables_in_a_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_KEY", "k")
    text = '{"servers": {"web": {"url": "http://127.0.0.1:9/", "headers": {"A": "${SHOP_KEY} $${B}"}, /* odd */}}}'
    place = taken(config(tmp_path, text)).place
    assert isinstance(place, HTTPServer)
    assert place.headers == {"A": "k ${B}"}


def test_the_only_entry_needs_no_name(splice: Splice, tmp_path: Path) -> None:
    assert splice("call", config(tmp_path, {"mcpServers": {"shop": SHOP}}), "add", "a=2").out == "3\n"


@pytest.mark.parametrize("key", ["url", "serverUrl", "httpUrl"])
def test_an_entry_with_a_url(tmp_path: Path, key: str) -> None:
    file = config(tmp_path, {"mcpServers": {"web": {key: "http://127.0.0.1:9/", "headers": {"A": "1", "B": "2"}}}})
    place = taken(file, "B: 3").place
    assert isinstance(place, HTTPServer)
    assert (place.url, place.headers) == ("http://127.0.0.1:9/", {"A": "1", "B": "3"})


@pytest.mark.parametrize(
    ("value", "suffix", "message"),
    [
        ({"mcpServers": {"a": SHOP, "b": SHOP}}, "", "has several servers: a, b; say which, as in .*#a"),
        ({"mcpServers": {"a": SHOP}}, "#c", "has no server 'c'; there are a"),
        ({"mcpServers": {"a": SHOP}}, "#", "has no server ''; there are a"),
        ({"mcpServers": {"a": 5}}, "#a", "it is not an object"),
        ({"mcpServers": {"a": {}}}, "", "has neither `command` nor `url`"),
        ({"mcpServers": {"a": {"command": "x", "args": [1]}}}, "", "1 should be text"),
        ({"mcpServers": {"a": {"command": "x", "env": []}}}, "", "should be an object of texts"),
        ({"mcpServers": {"a": {"command": "x", "args": "abc"}}}, "", '"abc" should be a list of texts'),
        ({"mcpServers": {"a": {"command": "x", "cwd": 5}}}, "", "5 should be text"),
        ({"mcpServers": {"a": {"command": "${NOT_SET_HERE}"}}}, "", "the variable NOT_SET_HERE is not set"),
        ({"mcpServers": {"a": {"command": "x", "args": ["${input:key}"]}}}, "", "needs a value for the input 'key'"),
        ({"mcpServers": {"a": {"url": "http://a/", "headers": {"a b": "c"}}}}, "", "cannot be the name of a header"),
        ({"mcpServers": {"a": {"url": "http://["}}}, "", "Invalid IPv6 URL"),
        ({"mcpServers": {}}, "", "has no servers"),
        ([], "", "it is not an object"),
        ("{ // comment\n}", "", "has no servers"),
        ('{"mcpServers": {"a": }}', "", "line 1, column 22: not a value"),
    ],
)
def test_an_entry_that_cannot_be_used(tmp_path: Path, value: Any, suffix: str, message: str) -> None:
    with pytest.raises(Stop, match=message) as caught:
        taken(config(tmp_path, value) + suffix)
    assert caught.value.code == USAGE


def test_a_configuration_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="cannot read"):
        taken(str(tmp_path / "mcp.json"))


def test_a_header_that_cannot_be_sent() -> None:
    with pytest.raises(Stop, match="cannot be the name of a header") as caught:
        taken("http://127.0.0.1:9/", "a b: c")
    assert caught.value.code == USAGE


def test_headers_are_for_urls(tmp_path: Path) -> None:
    with pytest.raises(Stop, match="--header is for URLs"):
        taken(config(tmp_path, {"mcpServers": {"a": SHOP}}), "A: b")


def test_a_module_and_a_factory(splice: Splice, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "stand.py").write_text(
        "from splice import Server\ndef make() -> Server:\n    server = Server('made')\n"
        "    server.add_tool(lambda: 'hello', name='greet')\n    return server\n"
    )
    monkeypatch.chdir(tmp_path)
    for target in ("stand.py:make", "stand:make"):
        assert splice("call", target, "greet")[:2] == (OK, "hello\n")
