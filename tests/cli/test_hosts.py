"""`splice install`, and the files of hosts that it writes."""

import json
import os
import stat
import sys
from pathlib import Path
from typing import Any

import pytest

from cli.conftest import SERVER, Splice
from splice.cli.outcomes import FAILED, OK, USAGE
from splice.cli.targets import this_splice
from splice.host.config.hosts import HOSTS

PLACES = {
    "claude": ".config/Claude/claude_desktop_config.json",
    "claude-code": "project/.mcp.json",
    "cursor": ".cursor/mcp.json",
    "vscode": "project/.vscode/mcp.json",
    "windsurf": ".codeium/windsurf/mcp_config.json",
    "gemini": ".gemini/settings.json",
}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be at home, in a project."""
    (tmp_path / "project").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


@pytest.mark.parametrize("host", HOSTS)
def test_each_host_gets_an_entry_where_it_looks_and_keeps_the_rest(splice: Splice, home: Path, host: str) -> None:
    path, key = home / PLACES[host], HOSTS[host].key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"theme": "d\u00e4rk", key: {"other": {"command": "x", "odd": [1]}}}))
    path.chmod(0o640)
    done = splice("install", "shop", SERVER, "--to", host, "--env", "A=b c", "--env", "B=$(rm)")
    assert (done.code, done.err) == (OK, "")
    assert str(path).removeprefix(f"{home}/project/") in done.out
    found = json.loads(path.read_text())
    assert found["theme"] == "d\u00e4rk"
    assert found[key]["other"] == {"command": "x", "odd": [1]}
    command, *args = this_splice("run", SERVER)
    entry = {"command": command, "args": args, "env": {"A": "b c", "B": "$(rm)"}}
    assert found[key]["shop"] == ({"type": "stdio"} if HOSTS[host].typed else {}) | entry
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert list(path.parent.iterdir()) == [path]


def test_what_was_installed_works(splice: Splice, home: Path) -> None:
    assert splice("install", "shop", SERVER, "--to", "cursor").code == OK
    assert splice("call", f"{home}/.cursor/mcp.json#shop", "add", "a=2").out == "3\n"


@pytest.mark.parametrize(
    ("host", "entry"),
    [
        ("cursor", {"url": "https://example.com/mcp"}),
        ("windsurf", {"serverUrl": "https://example.com/mcp"}),
        ("gemini", {"httpUrl": "https://example.com/mcp"}),
        ("vscode", {"type": "http", "url": "https://example.com/mcp"}),
        ("claude-code", {"type": "http", "url": "https://example.com/mcp"}),
    ],
)
def test_urls(splice: Splice, home: Path, host: str, entry: dict[str, Any]) -> None:
    done = splice("install", "web", "https://example.com/mcp", "--to", host, "--print")
    assert done.json == {HOSTS[host].key: {"web": entry}}
    assert not (home / PLACES[host]).exists()


def test_a_command_stays_a_list_of_words(splice: Splice, home: Path) -> None:
    done = splice("install", "files", "--to", "cursor", "--print", "--", sys.executable, "-m", "a; b", "$HOME")
    assert done.json["mcpServers"]["files"] == {"command": sys.executable, "args": ["-m", "a; b", "$HOME"]}
    done = splice("install", "files", "--to", "cursor", "--", "no-such-program")
    assert done.code == OK
    assert "there is no program 'no-such-program' here" in done.err


def test_a_module_of_the_project_is_found_from_everywhere(splice: Splice, home: Path) -> None:
    (home / "project" / "shop.py").write_text("")
    entry = splice("install", "s", "shop:make", "--to", "cursor", "--print").json["mcpServers"]["s"]
    assert entry["args"][-1] == f"{home}/project/shop.py:make"
    entry = splice("install", "s", "installed.shop:make", "--to", "cursor", "--print").json["mcpServers"]["s"]
    assert entry["args"][-1] == "installed.shop:make"


def test_a_name_that_is_taken_needs_force(splice: Splice, home: Path) -> None:
    assert splice("install", "s", "https://a.example/", "--to", "cursor").code == OK
    before = (home / PLACES["cursor"]).read_text()
    done = splice("install", "s", "https://b.example/", "--to", "cursor")
    assert done.code == USAGE
    assert "has a server 's' already; --force replaces it" in done.err
    assert (home / PLACES["cursor"]).read_text() == before
    assert splice("install", "s", "https://b.example/", "--to", "cursor", "--force").code == OK
    assert "b.example" in (home / PLACES["cursor"]).read_text()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("servers: {}", "line 1, column 1: not a value; it was left as it is: see `splice install --print`"),
        ("[]", "has no object 'servers'"),
        ('{"servers": []}', "has no object 'servers'"),
        (b"\xff", "cannot read"),
        ('{"servers": {"a": 1, "a": 2}}', 'column 22: an object has the name "a" twice'),
        ('{"a": NaN}', "not a value"),
        ('{"a": 1e999}', "this number is too large"),
        ('{"a": "\\ud800"}', "half of a surrogate pair"),
    ],
)
def test_a_file_that_cannot_be_kept_is_left_alone(splice: Splice, home: Path, text: Any, message: str) -> None:
    path = home / PLACES["vscode"]
    path.parent.mkdir()
    data = text if isinstance(text, bytes) else text.encode()
    path.write_bytes(data)
    done = splice("install", "s", SERVER, "--to", "vscode")
    assert done.code == FAILED
    assert message in done.err
    assert path.read_bytes() == data


def test_comments_and_the_layout_stay(splice: Splice, home: Path) -> None:
    path = home / PLACES["cursor"]
    path.parent.mkdir()
    text = '// mine\n{\n\t"mcpServers": {\n\t\t"old": {"command": "x"} // keep\n\t},\n\t/* the end */\n}\n'
    path.write_text(text)
    assert splice("install", "web", "https://a.example/", "--to", "cursor").code == OK
    entry = '"web": {\n\t\t\t"url": "https://a.example/"\n\t\t}'
    assert path.read_text() == text.replace('"x"} // keep', f'"x"}}, // keep\n\t\t{entry}')


def test_what_is_no_file_is_left_alone(splice: Splice, home: Path) -> None:
    (home / ".cursor").mkdir()
    os.mkfifo(home / PLACES["cursor"])
    done = splice("install", "s", SERVER, "--to", "cursor")
    assert (done.code, "is not a regular file" in done.err) == (FAILED, True)
    assert (home / PLACES["cursor"]).is_fifo()


def test_a_link_stays_a_link(splice: Splice, home: Path) -> None:
    real = home / "dotfiles.json"
    real.write_text("")
    (home / ".cursor").mkdir()
    (home / PLACES["cursor"]).symlink_to(real)
    assert splice("install", "s", SERVER, "--to", "cursor").code == OK
    assert (home / PLACES["cursor"]).is_symlink()
    assert "mcpServers" in real.read_text()


def test_a_file_that_cannot_be_written(splice: Splice, home: Path) -> None:
    (home / ".cursor").write_text("not a directory")
    assert "cannot" in splice("install", "s", SERVER, "--to", "cursor").err


@pytest.mark.parametrize(("platform", "path"), [("darwin", "Library/Application Support"), ("win32", "Roaming")])
def test_claude_desktop_elsewhere(
    splice: Splice, home: Path, monkeypatch: pytest.MonkeyPatch, platform: str, path: str
) -> None:
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setenv("APPDATA", str(home / "Roaming"))
    assert splice("install", "s", SERVER, "--to", "claude").code == OK
    assert (home / path / "Claude" / "claude_desktop_config.json").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["s"], "give a name for the server and the TARGET"),
        (["s", "a.py", "b.py"], "give a name for the server and the TARGET"),
        ([], "give a name for the server and the TARGET"),
        (["s", "nowhere.py"], "there is no file 'nowhere.py'"),
        (["s", "nothing"], "is not a server"),
        (["s", "https://a.example/", "--env", "A=b"], "--env is for programs"),
        (["s", SERVER, "--env", "A"], "not of the form key=value"),
    ],
)
def test_wrong_usage(splice: Splice, home: Path, words: list[str], message: str) -> None:
    done = splice("install", *words, "--to", "cursor")
    assert done.code == USAGE
    assert message in done.err
    assert splice("install", "s", "https://a.example/", "--to", "claude").code == USAGE
