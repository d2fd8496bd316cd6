"""`splice host mcp`: servers into files and out of them, listed without starting any, tested, trusted."""

import json
import shlex
import stat
from pathlib import Path

import pytest

from cli.conftest import SERVER, Splice
from cli.hosting import own, place, shop
from splice.cli import host_starting, host_trusting
from splice.cli.host_table import cut, table, width_of
from splice.cli.outcomes import DENIED, FAILED, OK, UNREACHABLE, USAGE
from splice.cli.targets import this_splice
from splice.host.config.hosts import HOSTS

NONE = "\u2013"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a project, with a home of one's own."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("SPLICE_HOME", str(tmp_path / "splice"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "splice"


def test_nothing_is_configured_and_the_way_on_is_said(splice: Splice, home: Path) -> None:
    done = splice("host", "mcp", "list")
    assert (done.code, done.out) == (OK, "")
    assert done.err == "note   no servers are configured\ntry    splice host mcp add NAME -- COMMAND\n"
    assert splice("host", "mcp", "list", "--json").json == {"ok": True, "servers": [], "problems": []}
    assert not home.exists(), "looking makes no files"


def test_groups_name_their_commands(splice: Splice) -> None:
    assert splice("host").code == splice("host", "mcp").code == USAGE
    shown = splice("host", "mcp", "--help")
    assert (shown.code, shown.err) == (OK, "")
    for name in ("add", "add-json", "import", "list", "get", "remove", "test", "trust", "accept", "login", "logout"):
        assert f"\n  {name} " in shown.out
        assert splice("host", "mcp", name, "--help").code == OK
    for name in ("chat", "run", "web", "log", "models"):
        assert splice("host", name, "--help").code == OK
    done = splice("host", "mcp", "lst")
    assert done.err == "error  No such command 'lst'.\ntry    splice host mcp --help\n"


def test_a_server_is_added_tested_and_listed_with_what_it_offers(splice: Splice, home: Path) -> None:
    words = this_splice("run", SERVER)
    done = splice("host", "mcp", "add", "--env", "A=b c", "shop", "--", *words)
    assert done.code == OK, done.err
    assert done.out == f"Added shop to ~/splice/config/mcp.json: {shlex.join(words)}\n"
    assert own(home) == {"mcpServers": {"shop": shop(env={"A": "b c"})}}
    assert stat.S_IMODE((home / "config" / "mcp.json").stat().st_mode) == 0o600
    assert splice("host", "mcp", "list", "--no-header").out.split("\t")[:5] == ["shop", "yours", "asleep", NONE, NONE]

    shown = splice("host", "mcp", "test", "shop")
    assert shown.code == FAILED, "it works, and has tools that deceive"
    assert "warning  evil, description: has 2 characters that cannot be seen" in shown.err
    assert shown.out.startswith("shop \\x1b[31m 1.0  · 2026-07-28, stdio, ")
    assert "Say \\x1b[31mred\\u202e." in shown.out
    assert "\x1b" not in shown.out + shown.err
    listed = splice("host", "mcp", "list").out.splitlines()
    assert listed[0] == "Server\tFrom\tState\tProtocol\tTools\tStarted by"
    assert listed[1].startswith("shop\tyours\tasleep\t2026-07-28\t")
    told = splice("host", "mcp", "get", "shop", "--json").json
    assert (told["state"], told["line"], told["variables"]) == ("asleep", 3, ["A=b c"])
    assert "add" in told["tools"]
    assert "runs" in splice("host", "mcp", "get", "shop").out


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        (["x", "https://x.example/mcp"], {"type": "http", "url": "https://x.example/mcp"}),
        (["-t", "sse", "x", "https://x.example/sse"], {"type": "sse", "url": "https://x.example/sse"}),
        (
            ["-H", "Authorization: Bearer ${KEY}", "x", "https://x.example"],
            {"type": "http", "url": "https://x.example", "headers": {"Authorization": "Bearer ${KEY}"}},
        ),
        (["x", "uvx", "server"], {"command": "uvx", "args": ["server"]}),
        (["x", "--", "./server", "--flag"], {"command": "./server", "args": ["--flag"]}),
    ],
)
def test_what_is_typed_becomes_an_entry(splice: Splice, home: Path, words: list[str], entry: object) -> None:
    done = splice("host", "mcp", "add", *words)
    assert done.code == OK, done.err
    assert own(home)["mcpServers"]["x"] == entry
    assert splice("host", "mcp", "add", *words).code == USAGE
    assert splice("host", "mcp", "add", "--force", *words).code == OK


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add"], "which name"),
        (["add", "x"], "what is the server?"),
        (["add", "x", "y", "--", "z"], "The command stands after `--`"),
        (["add", "--env", "A=b", "x", "https://x.example"], "a URL has no environment"),
        (["add", "-H", "nothing", "x", "https://x.example"], "not of the form"),
        (["add", "-H", "A: b", "x", "--", "y"], "--header is for URLs"),
        (["add", "-t", "http", "x", "--", "y"], "needs a URL"),
        (["add", "bad\u202ename", "--", "y"], "its name is empty, too long, or has characters"),
        (["add-json", "x", "{"], "this is not JSON"),
        (["add-json", "x", "[]"], "a server is a JSON object"),
        (["add-json", "x", '{"command": 3}'], "`command`: 3 should be text"),
        (["add-json", "x", '{"comand": "y"}'], "neither `command` nor `url`, but `comand`"),
        (["add-json", "x", '{"servers": {"a": {"command": "y"}, "b": {"url": "z"}}}'], "it names 2 servers: a, b"),
        (["get", "x"], "there is no server 'x', and no other"),
        (["remove", "x"], "there is no server 'x'"),
        (["list", "--config", "nowhere.json"], "there is no file 'nowhere.json'"),
        (["import"], "from which host?"),
        (["import", "--from", "nowhere.json"], "there is no file nowhere.json"),
        (["import", "--from", "windsurf"], "there is no file ~/.codeium/windsurf/mcp_config.json"),
    ],
)
def test_wrong_usage_says_what_is_wrong(splice: Splice, home: Path, words: list[str], said: str) -> None:
    done = splice("host", "mcp", *words)
    assert (done.code, done.out) == (USAGE, "")
    assert done.err.startswith("error  ")
    assert said in done.err
    assert "\u202e" not in done.err


def test_an_entry_may_stand_in_what_stands_around_it_in_files(splice: Splice, home: Path) -> None:
    pasted = '{"mcpServers": {"theirs": {"command": "y"}}} // of the README'
    assert splice("host", "mcp", "add-json", "mine", pasted).code == OK
    assert own(home)["mcpServers"] == {"mine": {"command": "y"}}


def test_a_project_is_read_everywhere_and_kept_as_it_is(splice: Splice, home: Path) -> None:
    path = place(Path.cwd(), a={"command": "x", "odd": 1})
    Path(".vscode").mkdir()
    Path(".vscode/mcp.json").write_text('{"servers": {"a": {"command": "hidden"}, "b": {"url": "http://127.0.0.1:9"}}}')
    assert splice("host", "mcp", "add-json", "c", '{"command": "z", "autoApprove": ["*"]}', "-s", "project").code == OK
    assert path.read_text().startswith("// ours\n")
    rows = [line.split("\t")[:3] for line in splice("host", "mcp", "list", "--no-header").out.splitlines()]
    assert rows == [
        ["a", ".mcp.json", "untrusted"],
        ["c", ".mcp.json", "asleep"],  # typed, so trusted
        ["b", ".vscode/mcp.json", "untrusted"],
    ]
    assert splice("host", "mcp", "list", "--config", ".vscode/mcp.json", "--json").json["servers"][0]["name"] == "a"
    hidden = splice("host", "mcp", "add", "a", "--", "mine")
    assert "warning  a of .mcp.json goes before it in this folder; take another name" in hidden.err
    refused = splice("host", "mcp", "remove", "a", "--json")
    assert (refused.code, refused.json["error"]["what"]) == (
        USAGE,
        "a stands in .mcp.json and .vscode/mcp.json and ~/splice/config/mcp.json",
    )
    assert refused.json["error"]["mend"] == "say whose: --scope user, or --scope project"
    by_hand = splice("host", "mcp", "remove", "a", "--scope", "project")
    assert (by_hand.code, "by hand" in by_hand.err) == (USAGE, True)
    assert splice("host", "mcp", "remove", "a", "--scope", "user").out == "Removed a from ~/splice/config/mcp.json.\n"
    assert splice("host", "mcp", "remove", "b").out == "Removed b from .vscode/mcp.json.\n"
    assert '"odd": 1' in path.read_text()


def test_trust_shows_all_of_the_command_and_is_for_that_one(splice: Splice, home: Path) -> None:
    place(Path.cwd(), a={"command": "run", "args": ["--all", "a b\x1b"], "env": {"KEY": "${KEY:-x}"}})
    assert splice("host", "mcp", "test", "a").code == DENIED
    done = splice("host", "mcp", "trust", "a")
    assert done.code == DENIED
    for shown in (".mcp.json wants a to run as you", "\n    --all\n    a b\\x1b\n", "KEY (from KEY)", "--yes "):
        assert shown in done.err
    print_ = splice("host", "mcp", "get", "a", "--json").json["fingerprint"]
    assert splice("host", "mcp", "trust", "a", "--yes", print_[:4]).code == DENIED
    assert splice("host", "mcp", "trust", "a", "--yes", print_[:16]).out == "a: it is trusted.\n"
    assert splice("host", "mcp", "trust", "a").out == "a: it is trusted already.\n"
    place(Path.cwd(), a={"command": "run", "args": ["--none"]})
    changed = splice("host", "mcp", "trust", "a", "--yes", print_)
    assert changed.code == DENIED
    assert "[-" in changed.err
    assert "[+" in changed.err
    assert splice("host", "mcp", "trust", "a", "--withdraw").code == OK


def test_a_person_may_trust_at_the_terminal(splice: Splice, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place(Path.cwd(), a={"command": "nothing-here"})
    for module in (host_trusting, host_starting):
        monkeypatch.setattr(module, "has_terminal", lambda: True)
    monkeypatch.setattr("click.confirm", lambda *_, **__: False)
    assert splice("host", "mcp", "trust", "a").err.endswith("error  a is not trusted, so it is not started\n")
    monkeypatch.setattr("click.confirm", lambda *_, **__: True)
    done = splice("host", "mcp", "test", "a")
    assert done.code == UNREACHABLE
    assert "mend   install nothing-here, or name it with its whole path in .mcp.json:4\n" in done.err
    assert splice("host", "mcp", "trust", "a").out == "a: it is trusted already.\n"


@pytest.mark.parametrize(
    ("entry", "said", "mend"),
    [
        (
            {"command": "{python}", "args": ["-c", "import os; os.environ['CALENDAR_TOKEN']"]},
            "│  KeyError: 'CALENDAR_TOKEN'\n",
            "set CALENDAR_TOKEN, or name it under env of a in ~/splice/config/mcp.json:3",
        ),
        ({"command": "python3", "args": ["gone.py"]}, "can't open file", "check the path of the script in ~/splice/"),
        ({"url": "http://127.0.0.1:9/mcp"}, "nothing listens at", "start the server, or check the port in "),
        ({"command": "x", "args": ["${NOT_SET_HERE}"]}, "the variable NOT_SET_HERE is not set", ""),
    ],
)
def test_a_server_that_fails_says_why_and_what_to_do(
    splice: Splice, home: Path, entry: dict[str, object], said: str, mend: str
) -> None:
    text = json.dumps(entry).replace("{python}", "python3")
    assert splice("host", "mcp", "add-json", "a", text).code == OK
    done = splice("host", "mcp", "test", "a")
    assert (done.code, done.out) == (UNREACHABLE, "")
    assert done.err.startswith("error  a cannot be started: ")
    assert said in done.err
    assert mend in done.err
    assert done.err.count("Traceback") <= 1
    told = splice("host", "mcp", "list", "--json").json["servers"][0]
    assert told["state"] == ("failed" if "NOT_SET" in text else "asleep")


def test_import_shows_first_and_takes_no_approvals(splice: Splice, home: Path) -> None:
    cursor = HOSTS["cursor"].path().expanduser()
    cursor.parent.mkdir(parents=True)
    cursor.write_text(
        json.dumps(
            {
                "inputs": [{"id": "k", "type": "promptString"}, {"id": "other", "type": "promptString"}],
                "mcpServers": {
                    "a": {"command": "x", "args": ["${input:k}"], "autoApprove": ["*"], "odd": [1]},
                    "b": {"serverUrl": "https://b.example/mcp", "disabled": True},
                    "bad": {"command": 3},
                },
            }
        )
    )
    shown = splice("host", "mcp", "import", "--from", "cursor")
    assert shown.code == OK
    assert "a\t~/.cursor/mcp.json\tautoApprove: *\tx '${input:k}'\n" in shown.out
    assert not home.exists()
    done = splice("host", "mcp", "import", "--from", "cursor", "--all")
    assert (done.code, done.out.count("Took ")) == (FAILED, 2)
    assert "warning  bad is left: `command`: 3 should be text" in done.err
    assert own(home) == {
        "mcpServers": {
            "a": {"command": "x", "args": ["${input:k}"], "odd": [1]},
            "b": {"url": "https://b.example/mcp"},
        },
        "inputs": [{"id": "k", "type": "promptString"}],
    }
    again = splice("host", "mcp", "import", "--from", "cursor", "a", "--json")
    assert (again.code, again.json["taken"]) == (FAILED, [])
    assert splice("host", "mcp", "import", "--from", "cursor", "nope").code == USAGE


def test_a_login_is_for_urls(splice: Splice, home: Path) -> None:
    splice("host", "mcp", "add", "a", "--", "x")
    splice("host", "mcp", "add", "b", "http://127.0.0.1:9/mcp")
    assert splice("host", "mcp", "login", "a").err == "error  a is a program, which needs no login\n"
    assert splice("host", "mcp", "logout", "b").out == "There was no login at b.\n"
    assert splice("host", "mcp", "login", "b", "--no-browser").code in (FAILED, UNREACHABLE)


def test_tracebacks_are_for_who_asks(splice: Splice, home: Path) -> None:
    assert "Traceback" not in splice("host", "mcp", "add-json", "a", "{").err
    assert "BadConfiguration" in splice("host", "mcp", "add-json", "a", "{", "--debug").err
    assert (
        splice("host", "mcp", "add", "-e", "x", "a", "--", "b", "--json").err
        == "error  'x' is not of the form key=value\n"
    )
    told = splice("host", "mcp", "add", "-e", "x", "--json", "a", "--", "b").json
    assert told == {"ok": False, "error": {"what": "'x' is not of the form key=value", "code": "usage"}}


def test_a_table_fits_the_terminal(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    table(("Server", "Started by"), [["一二", "x" * 60]], marks=[("●", "green")])
    head, row = capsys.readouterr().out.splitlines()
    assert head == "    Server  Started by"
    assert row.startswith("  ● 一二    xxx")
    assert row.endswith("…")
    assert width_of(row) == 40
    assert cut("一二三", 4) == "一…"
