"""What a person types or pastes for a server, in all its shapes, and what is said of what is none."""

import json
import re
from typing import Any

import pytest

from splice.host.config.entering import MAX_COMMAND, MAX_TEXT, NotRead, Typed, of_json, typed
from splice.host.config.reading import MAX_SERVERS, entry_of
from support.tables import rows

B = {"command": "b"}
WHOLE = {"a": B, "c": {"url": "https://c.example/mcp"}}
COMMENTED = """// from the README
{
  /* all of them */
  "servers": {
    "a": {"command": "b",}, // the last one
  },
}"""


def run(command: str, *args: str, **env: str) -> dict[str, Any]:
    return {"command": command, **({"args": list(args)} if args else {}), **({"env": env} if env else {})}


def told(text: str) -> str:
    """Read a text; return what is wrong with it."""
    try:
        typed(text)
    except NotRead as error:
        return str(error)
    return ""


def at(url: str, **headers: str) -> dict[str, Any]:
    return {"type": "http", "url": url, **({"headers": headers} if headers else {})}


@rows(
    ("text", "entry"),
    [
        ("uvx travel-server", run("uvx", "travel-server")),
        (" \n./server\t--flag\r\n", run("./server", "--flag")),
        ("a 'b c' \"d 'e'\" f'g h'i ''", run("a", "b c", "d 'e'", "fg hi", "")),
        ("npx\u00a0-y\u3000maps\ufeff", run("npx", "-y", "maps")),  # blanks of web pages
        ("npx maps \\\n  --all \\\n", run("npx", "maps", "--all")),
        ("a # b $HOME *.py `c` | d > e", run("a", "#", "b", "$HOME", "*.py", "`c`", "|", "d", ">", "e")),
        (r'/my\ files/run --say "a \"b\" \\ c" \'x\'', run("/my files/run", "--say", r'a "b" \ c', "'x'")),
        (r"a 'C \d+' \$x", run("a", r"C \d+", "$x")),
        (r"run --re '\d+\w' --say \"hi\"", run("run", "--re", r"\d+\w", "--say", '"hi"')),
        (r'run "{\"root\": \"C:\\\\tmp\"}"', run("run", r'{"root": "C:\\tmp"}')),
        (r"C:\Users\me\server.exe C:\data\ --x", run(r"C:\Users\me\server.exe", "C:\\data\\", "--x")),
        (r'"C:\Program Files\a b\x.exe" "C:\data\" y', run(r"C:\Program Files\a b\x.exe", "C:\\data\\", "y")),
        (r"node C:\srv\new\index.js --root=D:\x", run("node", r"C:\srv\new\index.js", r"--root=D:\x")),
        (r"tools\sub\x.exe a", run(r"tools\sub\x.exe", "a")),
        (r".\x.exe ..\a %APPDATA%\b", run(r".\x.exe", r"..\a", r"%APPDATA%\b")),
        (r"\\host\share\x.exe y", run(r"\\host\share\x.exe", "y")),
        ("KEY=a B_2='c d' npx x E=f", run("npx", "x", "E=f", KEY="a", B_2="c d")),
        (r"ROOT=C:\data\ x.exe", run("x.exe", ROOT="C:\\data\\")),
        ("--x=1 y", run("--x=1", "y")),
        ("https://mcp.acme.example/mcp", at("https://mcp.acme.example/mcp")),
        ("HTTP://127.0.0.1:8000/", at("HTTP://127.0.0.1:8000/")),
        ("https://x.example/it's?a=%20&b='#c", at("https://x.example/it's?a=%20&b='#c")),
        (
            "https://x.example/mcp -H 'Authorization: Bearer ${KEY}' --header=X-Team:a --header 'B: c:d'",
            at("https://x.example/mcp", **{"Authorization": "Bearer ${KEY}", "X-Team": "a", "B": "c:d"}),
        ),
        ("run https://x.example -H a", run("run", "https://x.example", "-H", "a")),
        ("\u202eevil \x1b[31m\0", run("\u202eevil", "\x1b[31m\0")),
    ],
)
def test_a_line_is_read_as_a_shell_parts_it(text: str, entry: dict[str, Any]) -> None:
    (found,) = typed(text)
    assert found.entry == entry


@rows(
    ("value", "found"),
    [
        ({"mcpServers": WHOLE}, WHOLE),
        ({"servers": WHOLE, "inputs": [], "type": "settings"}, WHOLE),
        ({"mcp": {"servers": WHOLE}, "editor.fontSize": 12}, WHOLE),
        ({"mcpServers": None, "servers": {"a": B}}, {"a": B}),
        ({"mcpServers": {"a": B}, "servers": {"a": {"command": "other"}, "d": B}}, {"a": B, "d": B}),
        (WHOLE, WHOLE),
        ({"a": {"serverUrl": "https://a.example"}, "b": {"args": []}}, None),
        ({"mcpServers": {"a/b": {"command": 3}, "\u202e": {}}}, {"a/b": {"command": 3}, "\u202e": {}}),
        ({"command": B}, {"command": B}),
        (B, {"": B}),
        ({"httpUrl": "https://x.example"}, {"": {"httpUrl": "https://x.example"}}),
        ({"command": 3}, {"": {"command": 3}}),
        ({"type": "stdio"}, {"": {"type": "stdio"}}),
        ({"command": "x", "port": 2**70}, {"": {"command": "x", "port": 2**70}}),
    ],
)
def test_json_is_read_in_the_shapes_that_hosts_have(value: Any, found: dict[str, Any] | None) -> None:
    assert dict(of_json(json.dumps(value))) == (value if found is None else found)
    assert [each.entry for each in typed(f"\ufeff\n{json.dumps(value, indent=2)}\n")] == [*(found or value).values()]


def test_comments_and_trailing_commas_may_stand_in_it() -> None:
    assert typed(COMMENTED) == [Typed("a", B)]


@rows(
    ("text", "name"),
    [
        ("https://mcp.acme.example/mcp", "acme"),
        ("https://api.acme.example", "acme"),
        ("https://secret:token@www.acme.example/", "acme"),
        ("http://127.0.0.1:8000/mcp", "127.0.0.1"),
        ("http://[::1]/", ""),
        ("uvx -q travel-server@2 x", "travel"),
        ("uvx --from travel-server==2.3.1 travel-server", "travel"),
        ("npx -y @acme/mcp-server-maps@1.2 .", "maps"),
        ("KEY=x npx -y maps-mcp", "maps"),
        ("cmd /c npx -y @acme/maps", "maps"),
        ("docker run -i --rm -e KEY mcp/fetch", "fetch"),
        ("uv run /srv/weather.py", "weather"),
        ("python3.12 -m mcp_server_time", "time"),
        (r"C:\Apps\node.exe C:\srv\mail.js", "mail"),
        ("/usr/bin/files --root /", "files"),
        ("npx", "npx"),
        ("'my server'", "my-server"),
        ("\u202eevil\x1b[31m", "evil-31m"),
        ("\u3164", ""),  # a letter that is drawn as nothing
        ("x" * 500, "x" * 90),
        ('{"command": "uvx", "args": ["mail-mcp", 5]}', "mail"),
        ('{"name": "post", "url": "https://mail.example"}', "post"),
        ('{"name": 5, "serverUrl": "https://mail.example"}', "mail"),
        ('{"mcpServers": {" ": {"command": "mail"}}}', "mail"),
        ('{"command": 3, "args": {}}', ""),
        ('{"url": 3}', ""),
    ],
)
def test_a_name_is_proposed_that_can_be_used(text: str, name: str) -> None:
    (found,) = typed(text)
    assert (found.name, found.is_proposed) == (name, True)
    assert not name or not re.search("name", entry_of(name, found.entry).problem)


def test_a_proposed_name_is_one_that_is_not_taken_and_a_given_one_stays() -> None:
    assert typed("uvx maps", taken=("maps", "maps-2")) == [Typed("maps-3", run("uvx", "maps"), True)]
    assert typed("uvx maps", " maps ", taken=("maps",)) == [Typed("maps", run("uvx", "maps"))]
    assert typed(json.dumps({"servers": {"a": B}}), "other", taken=("a",)) == [Typed("a", B)]
    assert typed(json.dumps(B), "other") == [Typed("other", B)]


@rows(
    ("text", "said"),
    [
        ("", "Write a command, an address or JSON"),
        (" \n\ufeff", "Write a command, an address or JSON"),
        ("npx 'maps", "A quotation mark is not closed"),
        ("it's", "A quotation mark is not closed"),
        ("KEY=x B=c", "Write a command behind the variables"),
        ("https://x.example y", "A URL has no environment and no arguments: -H 'Name: value' sends what it needs"),
        ("KEY=x https://x.example", "A URL has no environment"),
        ("https://x.example -H nothing", "The header 'nothing' is not of the form 'Name: value'"),
        ("https://x.example -H", "The header '' is not"),
        ("{", "This is not JSON: line 1, column 2: "),
        ('{\n  "a": {"command" "x"}}', "This is not JSON: line 2, column 19: not a colon"),
        ('{"a": {"command": "x"}, "a": {"command": "y"}}', 'the name "a" twice'),
        ('{"command": "x"} y', "something after the end"),
        ('{"command": "\\ud800"}', "half of a surrogate pair"),
        ("[" * 100_000, "nested deeper than 100"),
        ('{"a": ' + "[" * 100_000, "nested deeper than 100"),
        ("[]", 'A server is a JSON object, such as {"command"'),
        ('{"a": 1}', "It names no server: it has neither `command` nor `url`, but `a`: one is an object such as"),
        ("{}", "It names no server: it has neither `command` nor `url`"),
        ('{"mcpServers": {}}', "It names no server: one is an object such as"),
        ('{"mcpServers": []}', "It names no server: one is an object such as"),
        ('{"mcpServers": {"a\\u202e": "uvx a"}}', r"'a\\u202e' is not a server"),
        (json.dumps({f"s{number}": B for number in range(MAX_SERVERS + 1)}), "It names 501 servers: 500 are read"),
    ],
)
def test_what_is_no_server_is_told_so_that_it_can_be_mended(text: str, said: str) -> None:
    with pytest.raises(NotRead, match=re.escape(said)):
        typed(text)


@rows(
    "text",
    [
        *(
            part * (MAX_TEXT // len(part))
            for part in ("\\", '"', "'\\", "a\\b", "/*", "/**/", "//\n", " ", "=", "[", "{")
        ),
        *(
            part * (MAX_COMMAND // len(part))
            for part in ('\\"', "'", '"\\', "a\\b", "a=\\", "@", "-", "/", "%a", "\\\\")
        ),
        "https://" + "a@" * 500_000,
        json.dumps({"a": "x" * 1_000_000}),
        "x" * (MAX_TEXT + 1),
        "{" * (MAX_TEXT + 1),
    ],
)
def test_a_megabyte_of_anything_is_read_or_refused(text: str) -> None:
    assert len(told(text)) < 200


def test_a_megabyte_of_servers_is_read() -> None:
    many = {f"s{number}": {"command": "x", "args": ["y" * 2_000]} for number in range(MAX_SERVERS)}
    text = json.dumps({"mcpServers": many})
    assert 1_000_000 < len(text) <= MAX_TEXT
    assert {each.name: each.entry for each in typed(text)} == many
