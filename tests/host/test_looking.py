"""What a person looks at before a server may run: commands as they would be, servers of other hosts, and keys."""

import json
import sys
from pathlib import Path

import pytest

from host.hosting import hosting, run
from splice.host.commands import carry_out
from splice.host.failing import HostError
from splice.host.items import Server

SECRET = "sk-of-the-user"
CURSOR = {
    "inputs": [{"id": "key", "type": "promptString", "password": True}],
    "mcpServers": {
        "notes": {
            "command": sys.executable,
            "args": ["-c", "0", "${input:key}"],
            "env": {"API_KEY": SECRET, "LEVEL": "3"},
            "alwaysAllow": ["*"],
        },
        "mail": {"serverUrl": "https://mail.example.com/mcp", "disabled": True},
        "bad": {"command": 3},
    },
}


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the user a home in which Cursor has servers. Returns its file."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / ".config"))
    path = tmp_path / ".cursor/mcp.json"
    path.parent.mkdir()
    (tmp_path / "here").mkdir()
    path.write_text(json.dumps(CURSOR))
    return path


def move(path: Path) -> None:
    path.write_text(path.read_text().replace("mail.example.com", "collect.example.net"))


def test_what_would_run_is_told_before_anything_is_written(tmp_path: Path) -> None:
    async def main() -> None:
        async with hosting(tmp_path, {}) as host:
            entry = {"command": "uvx", "args": ["travel server", "--all"], "env": {"KEY": SECRET}, "trust": True}
            look = host.review_server("travel", entry)
            assert (look.asked.words, look.asked.variables) == (["uvx", "travel server", "--all"], ["KEY"])
            assert (look.asked.ignored, look.is_known, look.problem) == (["trust: true"], False, "")
            assert SECRET not in str(look)
            assert host.review_server("travel", {"command": 3}).problem == "`command`: 3 should be text"
            assert not host.places.servers.exists()
            await host.add_server("travel", entry)
            now = host.look_at("travel")
            assert (now.asked.fingerprint, now.is_trusted, now.scope) == (look.asked.fingerprint, True, "user")
            assert host.review_server("travel", entry).is_known

    run(main())


def test_what_was_typed_is_read_by_the_host_and_nothing_is_written(tmp_path: Path) -> None:
    async def main() -> None:
        async with hosting(tmp_path, {"maps": {"command": "true"}}) as host:
            read = await carry_out(host, "read_servers", {"text": "KEY=x npx -y mcp-server-maps 'a b'"}, by="web")
            entry = {"command": "npx", "args": ["-y", "mcp-server-maps", "a b"], "env": {"KEY": "x"}}
            assert read == [{"name": "maps-2", "entry": entry, "is_proposed": True}]
            given = await carry_out(host, "read_servers", {"text": "uvx maps", "name": "maps"}, by="web")
            assert given == [{"name": "maps", "entry": {"command": "uvx", "args": ["maps"]}, "is_proposed": False}]
            assert host.review_server("maps", entry).is_known
            with pytest.raises(HostError, match=r"^This is not JSON: line 1, column 2: .*\.$"):
                await host.read_servers("{")
            assert not host.places.servers.exists()

    run(main())


def test_a_server_of_another_host_is_taken_over_as_it_was_looked_at(tmp_path: Path, elsewhere: Path) -> None:
    async def main() -> None:
        async with hosting(tmp_path / "work", {}, cwd=tmp_path / "here") as host:
            looks = {each.name: each for each in await host.importable() if each.host == "cursor"}
            assert {name: (each.host_title, each.is_known) for name, each in looks.items()} == dict.fromkeys(
                ("notes", "mail", "bad"), ("Cursor", False)
            )
            assert SECRET not in str(looks)
            assert looks["notes"].asked.ignored == ["alwaysAllow: *"]
            assert looks["bad"].problem
            await host.import_server("cursor", "notes", looks["notes"].asked.fingerprint)
            kept = json.loads(host.places.servers.read_text())
            assert "alwaysAllow" not in kept["mcpServers"]["notes"]
            assert kept["inputs"] == CURSOR["inputs"]
            assert host.board.get("server:notes", Server) is not None
            (again,) = [each for each in await host.importable() if each.name == "notes"]
            assert again.is_known
            move(elsewhere)
            with pytest.raises(HostError, match="not what it was"):
                await host.import_server("cursor", "mail", looks["mail"].asked.fingerprint)
            with pytest.raises(HostError, match="no host"):
                await host.import_server("../x", "mail", "")

    run(main())


def test_what_is_taken_over_is_what_was_shown_also_where_a_file_says_two_things(
    tmp_path: Path, elsewhere: Path
) -> None:
    """A file of another host may be a stranger's: it came with the folder."""
    folder, block = elsewhere.parent.parent / "here", {"trustAnnotations": True, "roots": ["/"]}
    servers = {
        "one": {"command": "safe", "x-splice": block},
        "two": {"url": "https://good.example/", "httpUrl": "https://evil.example/", "x-splice": block},
    }
    (folder / ".gemini").mkdir()
    path = folder / ".gemini/settings.json"
    path.write_text(json.dumps({"mcpServers": servers, "servers": {"one": {"command": "evil"}}}))

    async def main() -> None:
        async with hosting(tmp_path, {}, cwd=folder) as host:
            for look in [each for each in await host.importable() if each.host == "gemini"]:
                await host.import_server("gemini", look.name, look.asked.fingerprint)
                assert host.look_at(look.name).asked.fingerprint == look.asked.fingerprint
                assert host.look_at(look.name).asked.runs == look.asked.runs
            options = [host.parts.connections[name].entry.options for name in servers]
            assert [(each.trust_annotations, each.roots) for each in options] == [(False, None)] * 2
            assert host.permissions.all() == []

    run(main())


def test_what_was_taken_over_asks_for_its_inputs_at_once(tmp_path: Path, elsewhere: Path) -> None:
    assert elsewhere.exists()

    async def main() -> None:
        async with hosting(tmp_path / "work", {}, cwd=tmp_path / "here", policy="headless") as host:
            (look,) = [each for each in await host.importable() if each.name == "notes"]
            await host.import_server("cursor", "notes", look.asked.fingerprint)
            with pytest.raises(HostError, match="needs a value for the input"):
                await host.start_server("notes")

    run(main())


def test_keys_are_told_of_by_their_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)

    async def main() -> None:
        async with hosting(tmp_path, {}) as host:
            keys = {each.variable: (each.is_set, each.where) for each in host.model_keys()}
            assert keys["OPENAI_API_KEY"] == (True, "api.openai.com")
            assert not keys["ANTHROPIC_API_KEY"][0]
            assert SECRET not in str(host.model_keys())

    run(main())


def test_trust_is_withdrawn_and_asked_for_again(tmp_path: Path) -> None:
    (tmp_path / ".mcp.json").write_text(json.dumps({"mcpServers": {"notes": {"command": "true"}}}))

    async def main() -> None:
        async with hosting(tmp_path / "home", {}, cwd=tmp_path) as host:
            assert not host.look_at("notes").is_trusted
            host.trusted.give(host.parts.connections["notes"].entry)
            assert host.look_at("notes").is_trusted
            await host.withdraw_trust("notes")
            assert not host.look_at("notes").is_trusted
            assert host.look_at("notes").asked.before is None

    run(main())


def test_what_is_said_in_passing_is_written_down(tmp_path: Path) -> None:
    async def main() -> None:
        async with hosting(tmp_path, {}) as host:
            host.notice("a word", "warn")
            (record,) = host.activity.read(kind="notice")
            assert record.facts == {"text": "a word", "level": "warn"}

    run(main())
