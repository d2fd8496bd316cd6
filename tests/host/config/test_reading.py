"""Files of other hosts, as they are found in the wild, and what is wrong with some."""

import json
from pathlib import Path
from typing import Any

import pytest

from splice.host.config.entries import Entry, SamplingLimits, ToolFilter
from splice.host.config.reading import Configuration, entry_of, gathered, read, standard_files
from splice.host.places import Places
from support.tables import rows

CLAUDE = {
    "numStartups": 5,
    "projects": {
        "PROJECT": {"mcpServers": {"db": {"command": "local"}}},
        "/else": {"mcpServers": {"no": {"command": "x"}}},
    },
    "mcpServers": {"db": {"command": "user"}, "only": {"type": "stdio", "command": "o"}},
}
CODE = """{
  // VS Code
  "inputs": [
    {"type": "promptString", "id": "key", "description": "API key", "password": true},
    {"type": "pickString", "id": "env", "options": ["dev", "prod"], "default": "dev"},
    {"type": "command", "id": "odd"},
  ],
  "servers": {
    "x": {"type": "stdio", "command": "uvx", "args": ["srv"], "cwd": "${workspaceFolder}",
          "env": {"KEY": "${input:key}"},
          "envFile": "${workspaceFolder}/.env", "sandboxEnabled": true, "dev": {"watch": "src/**"}},
    "y": {"type": "http", "url": "https://y.example/mcp", "headers": {"Authorization": "Bearer ${input:key}"}},
  },
}"""


def file(path: Path, value: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return path


def named(found: Configuration) -> dict[str, Entry]:
    return {each.name: each for each in found.entries}


def test_vs_code(tmp_path: Path) -> None:
    found = read(file(tmp_path / ".vscode/mcp.json", CODE), "project")
    x, y = found.entries
    assert (x.transport, x.runs, x.folder, x.env_file) == ("stdio", "uvx srv", tmp_path, "${workspaceFolder}/.env")
    assert x.ignored == ("sandboxEnabled: true", 'dev: {"watch":"src/**"}')
    assert x.variables == ["KEY (from input:key)", "all of ${workspaceFolder}/.env"]
    assert (y.transport, y.words, y.variables) == (
        "http",
        ["https://y.example/mcp"],
        ["Authorization (from input:key)"],
    )
    assert [(each.id, each.password, each.options) for each in found.inputs] == [
        ("key", True, ()),
        ("env", False, ("dev", "prod")),
    ]
    assert len(found.problems) == 1
    assert "the input 'odd' cannot be used" in found.problems[0]


def test_claude_code_and_which_of_one_name_counts(tmp_path: Path) -> None:
    text = json.dumps(CLAUDE).replace("PROJECT", str(tmp_path))
    user = read(file(tmp_path / ".claude.json", text), "user", cwd=tmp_path)
    project = read(
        file(tmp_path / ".mcp.json", {"mcpServers": {"db": {"command": "p"}, "only": {"url": "http://p/"}}}), "project"
    )
    assert not user.problems
    both = gathered([user, project])
    (told,) = both.problems
    assert told.startswith("the server 'only' is the project's, ")
    found = named(both)
    assert {name: (each.runs, each.scope) for name, each in found.items()} == {
        "db": ("local", "user"),  # the user's own for this folder
        "only": ("http://p/", "project"),  # as a whole: nothing of the user's `only` is left in it
    }
    assert found["only"].command == ""
    assert [each.needs_trust for each in found.values()] == [False, True]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"serverUrl": "https://w/"}, {"transport": "http", "url": "https://w/"}),
        ({"httpUrl": "https://g/", "trust": True}, {"url": "https://g/", "ignored": ("trust: true",)}),
        ({"type": "streamableHttp", "url": "${B:-https://b}/mcp"}, {"transport": "http", "url": "${B:-https://b}/mcp"}),
        ({"type": "sse", "url": "https://s/"}, {"transport": "sse"}),
        ({"command": "x", "env": {"PORT": 80}}, {"env": {"PORT": "80"}}),
        ({"command": "x", "enabled": False}, {"disabled": True}),
        ({"command": "x", "autoApprove": ["a", "b"], "alwaysAllow": []}, {"ignored": ("autoApprove: a, b",)}),
        (
            {
                "url": "https://a/",
                "oauth": {"clientId": "c", "callbackPort": 80, "scopes": "a b"},
                "headersHelper": "/bin/x",
            },
            {"ignored": ('headersHelper: "/bin/x"',)},
        ),
    ],
)
def test_other_spellings(raw: dict[str, Any], expected: dict[str, Any]) -> None:
    entry = entry_of("a", raw)
    assert not entry.problem
    assert {name: getattr(entry, name) for name in expected} == expected


def test_how_to_log_in_is_read_as_two_hosts_write_it() -> None:
    ours = entry_of("a", {"url": "https://a/", "oauth": {"clientId": "c", "callbackPort": 80, "scopes": "a b"}}).login
    theirs = entry_of(
        "a", {"url": "https://a/", "auth": {"CLIENT_ID": "c", "CLIENT_SECRET": "s", "scopes": ["a"]}}
    ).login
    assert (ours.client_id, ours.port, ours.scopes) == ("c", 80, ("a", "b"))
    assert (theirs.client_id, theirs.client_secret, theirs.scopes) == ("c", "s", ("a",))


def test_our_block_and_what_a_project_may_not_say(tmp_path: Path) -> None:
    block = {
        "protocol": "legacy",
        "roots": ["src", "/etc", "~no-such-user"],
        "sampling": {"models": ["small"], "perMinute": 2},
        "elicitation": "form",
        "tools": {"include": ["get_*"]},
        "timeout": 5,
        "startup": "eager",
        "logLevel": "debug",
        "trustAnnotations": True,
    }
    raw = {"command": "x", "x-splice": block, "trust": True}
    own, strange = (entry_of("a", raw, scope=scope, folder=tmp_path) for scope in ("user", "project"))
    assert own.options.sampling == SamplingLimits(models=("small",), per_minute=2)
    assert own.options.tools == ToolFilter(include=("get_*",))
    assert (own.options.trust_annotations, own.options.roots) == (True, ("src", "/etc", "~no-such-user"))
    assert (strange.options.trust_annotations, strange.options.roots) == (False, ("src", "~no-such-user"))
    assert strange.ignored == ("trust: true", "trustAnnotations: true", "root /etc, which is outside of the project")


@rows(
    ("raw", "problem"),
    [
        (5, "it is not an object"),
        ({}, "neither `command` nor `url`"),
        ({"comand": "x", "args": []}, "neither `command` nor `url`, but `comand`, `args`"),
        ({"type": "stdio"}, "no `command`"),
        ({"type": "http", "command": "x"}, "no `url`"),
        ({"command": "x", "url": "http://y"}, "both `command` and `url`"),
        ({"type": ["stdio"], "command": "x"}, 'its `type` is ["stdio"]'),
        ({"command": ["x"]}, "should be text"),
        ({"command": "x\0"}, "null character"),
        ({"command": "x\ud800"}, "half of a surrogate pair"),
        ({"command": "x", "args": "abc"}, "should be a list of texts"),
        ({"command": "x", "env": {"A": None}}, "null should be text"),
        ({"url": "http://x", "headers": []}, "should be an object of texts"),
        ({"url": "http://x", "oauth": {"callbackPort": "x"}}, "not a port"),
        ({"url": "http://x", "oauth": {"scopes": 5}}, "should be a list of texts"),
        ({"command": "x", "x-splice": {"timeout": 0}}, "`timeout` is a number of seconds"),
        ({"command": "x", "x-splice": {"elicitation": "yes"}}, "Invalid enum value 'yes'"),
        ({"command": "x", "x-splice": {"colour": 1}}, "unknown field `colour`"),
        ({"command": "x", "x-splice": None}, "Expected `object`"),
        ({"command": "x", "x-splice": {"roots": ["a\0"]}}, "null character"),
    ],
)
def test_an_entry_that_cannot_be_used_says_why(raw: Any, problem: str) -> None:
    assert problem in entry_of("a", raw).problem


def test_one_broken_entry_or_file_hides_no_other(tmp_path: Path) -> None:
    good = {
        "mcpServers": {
            "bad": 5,
            "\x1b[2J": {"command": "x"},
            "a/b": {"command": "x"},
            "a.b": {"command": "y"},
            "good": {"command": "x"},
        }
    }
    found = gathered(
        [
            read(tmp_path / "gone.json", "given"),
            read(file(tmp_path / "broken.json", '{"mcpServers": {'), "given"),
            read(file(tmp_path / "list.json", []), "given"),
            read(file(tmp_path / "other.json", {"mcpServers": [], "theme": 1}), "given"),
            read(file(tmp_path / "none.json", {"theme": 1}), "given"),
            read(tmp_path, "given"),
            read(file(tmp_path / "good.json", good), "given"),
        ]
    )
    assert {name: bool(each.problem) for name, each in named(found).items()} == {
        "bad": True,
        "\\x1b[2J": True,
        "a.b": False,
        "good": False,
    }
    told = "\n".join(found.problems)
    for part in (
        "gone.json: cannot read it: No such file",
        "broken.json: line 1, column 17",
        "list.json: it is not an object",
        "other.json: `mcpServers` is not an object",
        "none.json has no servers",
        "not a regular file",
        "a server 'a.b' already",
    ):
        assert part in told


def test_the_fingerprint_covers_all_that_is_run() -> None:
    raw = {"command": "x", "args": ["a b"], "env": {"K": "${K}"}, "cwd": "c", "envFile": "f"}
    changes: list[dict[str, Any]] = [
        {"command": "y"},
        {"args": ["a", "b"]},
        {"env": {"K": "${L}"}},
        {"env": {"J": "${K}"}},
        {"cwd": "d"},
        {"envFile": "g"},
        {"type": "http", "url": "https://x", "headers": {"A": "1"}},
        {"type": "http", "url": "https://x", "headers": {"A": "${K}"}},
    ]
    prints = {entry_of("a", {**raw, **change}).fingerprint for change in ({}, *changes)}
    assert len(prints) == len(changes) + 1
    assert entry_of("b", {**raw, "disabled": True}).fingerprint in prints


def test_standard_files(tmp_path: Path) -> None:
    places = Places.under(tmp_path / "home")
    assert standard_files(tmp_path, places) == []
    file(tmp_path / ".mcp.json", {})
    file(places.servers, {})
    assert standard_files(tmp_path, places) == [(tmp_path / ".mcp.json", "project"), (places.servers, "user")]


def test_a_project_cannot_pose_as_the_users_own_for_its_folder(tmp_path: Path) -> None:
    strange = {"projects": {str(tmp_path): {"mcpServers": {"db": {"command": "strange"}}}}, "mcpServers": {}}
    own = {"projects": {str(tmp_path): {"mcpServers": {"db": {"command": "own"}}}}}
    found = gathered(
        [
            read(file(tmp_path / ".mcp.json", strange), "project", cwd=tmp_path),
            read(file(tmp_path / "claude.json", own), "user", cwd=tmp_path),
        ]
    )
    assert [each.runs for each in found.entries] == ["own"]


@pytest.mark.parametrize(
    ("raw", "told"),
    [
        ({"url": "https://h.example/?key=x${KEY}"}, ["its URL (from KEY)"]),
        ({"url": "https://u:x${KEY:-&}@h.example/"}, ["its URL (from KEY)"]),
        ({"url": "https://h.example/", "oauth": {"clientSecret": "${KEY}"}}, ["its login (from KEY)"]),
        (
            {"command": "x", "env": {"PATH": "./bin", "API_KEY": "secret", "DB": "db://u:secret@h/"}},
            ["API_KEY", "DB=db://u:***@h/", "PATH=./bin"],
        ),
    ],
)
def test_what_an_entry_gets_is_told(raw: dict[str, Any], told: list[str]) -> None:
    assert entry_of("s", raw).variables == told


def test_where_a_login_goes_is_part_of_what_is_trusted() -> None:
    one, other = (
        entry_of("s", {"url": "https://h.example/", "oauth": {"clientId": "c", "clientSecret": secret}})
        for secret in ("own", "${AWS_SECRET}")
    )
    assert one.fingerprint != other.fingerprint
