"""How reference servers are started: flags, the environment, entries for hosts, and what is told when it fails."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from servers.making import made
from splice import Client, HTTPRefused, HTTPServer
from splice.cli import main
from splice.cli.serve import SERVERS
from splice.servers.starting import FAILED, USAGE, Command
from support.warm import warm_python


def command(make: str = "servers.making:make") -> Command:
    told = Command("told-off", "tell settings", make)
    told.setting("directories", nargs="*", is_path=True, help="where to look")
    told.setting("--read-only", action="store_true", help="change nothing")
    told.setting("--level", type=int, choices=[1, 2, 9], env=("LEVEL", "OLD_LEVEL"), help="how much; 100%% is all")
    told.setting("-n", "--name", action="append", help="a name; repeatable")
    return told


def settings(*words: str) -> dict[str, Any]:
    assert command().main(words) == 0
    return made.pop()


def refused(
    capsys: pytest.CaptureFixture[str], *words: str, status: int = USAGE, make: str = "servers.making:make"
) -> str:
    with pytest.raises(SystemExit) as ended:
        command(make).main(words)
    assert ended.value.code == status
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1, "one line"
    return said.err


def test_settings_come_from_flags() -> None:
    assert settings() == {"run": ("stdio", {})}
    assert settings("a", "b", "--read-only", "--level", "2", "-n", "x", "--name=y") == {
        "directories": ["a", "b"],
        "read_only": True,
        "level": 2,
        "name": ["x", "y"],
        "run": ("stdio", {}),
    }
    assert settings("--http", "--port", "0", "--allowed-host", "h", "--path", "/x") == {
        "run": ("http", {"port": 0, "allowed_hosts": ["h"], "path": "/x"})
    }


def test_directories_may_stand_among_flags_and_behind_dashes(capsys: pytest.CaptureFixture[str]) -> None:
    assert settings("a", "--read-only", "b")["directories"] == ["a", "b"]
    assert settings("--read-only", "--", "-a", "b")["directories"] == ["-a", "b"]
    assert main(["serve", "filesystem", "--print-config", "--", "-a"]) == 0
    assert '/-a"' in capsys.readouterr().out


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLICE_TOLD_OFF_DIRECTORIES", f"/a{os.pathsep}{os.pathsep}/b{os.pathsep}")
    monkeypatch.setenv("SPLICE_TOLD_OFF_READ_ONLY", "Yes")
    monkeypatch.setenv("LEVEL", "1")
    monkeypatch.setenv("OLD_LEVEL", "2")
    assert settings() == {"directories": ["/a", "/b"], "read_only": True, "level": 1, "run": ("stdio", {})}
    monkeypatch.setenv("SPLICE_TOLD_OFF_LEVEL", "2")
    monkeypatch.setenv("SPLICE_TOLD_OFF_READ_ONLY", "0")
    assert settings() == {"directories": ["/a", "/b"], "read_only": False, "level": 2, "run": ("stdio", {})}


def test_a_flag_goes_before_the_environment_and_an_empty_variable_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLICE_TOLD_OFF_LEVEL", "many")
    monkeypatch.setenv("SPLICE_TOLD_OFF_DIRECTORIES", "")
    monkeypatch.setenv("SPLICE_TOLD_OFF_READ_ONLY", "")
    assert settings("--level", "1") == {"level": 1, "run": ("stdio", {})}


def test_a_wrong_setting_is_one_line_that_names_where_it_stands(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert "argument --level: invalid int value: 'x'" in refused(capsys, "--level", "x")
    assert "unrecognized arguments: --levle" in refused(capsys, "--levle", "1")
    assert "--allowed-host needs --http" in refused(capsys, "--allowed-host", "h")
    assert "--port needs --http" in refused(capsys, "--port", "1")
    assert "splice serve told-off: level 9 is more than there is" in refused(capsys, "--level", "9")
    for name, value, why in (
        ("LEVEL", "x", "invalid int value"),
        ("OLD_LEVEL", "3", "it is one of 1, 2, 9"),
        ("SPLICE_TOLD_OFF_READ_ONLY", "maybe", "it is 1 or 0"),
    ):
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            said = refused(capsys)
            assert f"{name} is '{value}'" in said
            assert why in said


def test_handles_that_the_host_closed_are_not_given_to_others() -> None:
    program = (
        "import os, sys; from splice.servers.time.__main__ import COMMAND; COMMAND.entry = lambda *_: ''; "
        "COMMAND.main(['--print-config']); sys.exit(os.fstat(2).st_rdev != os.stat(os.devnull).st_rdev)"
    )
    command = ["sh", "-c", '"$0" -c "$1" 2>&-', sys.executable, program]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == 0


def test_what_hinders_a_server_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    lacking = refused(capsys, status=FAILED, make="servers.lacking:make")
    assert "needs library_that_nobody_has: pip install 'splice[told-off]'" in lacking
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        said = refused(capsys, "--http", "--port", port, status=FAILED, make="servers.making:make_real")
    assert f"cannot listen on 127.0.0.1:{port}" in said


def test_where_to_listen_is_checked_in_the_words_of_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    for words, why in (
        (("--port", "70000"), "argument --port: a number up to 65535"),
        (("--port", "-1"), "argument --port"),
        (("--path", "mcp"), "argument --path: a path with its slash"),
    ):
        assert why in refused(capsys, "--http", *words)
        assert why in refused(capsys, "--print-config", "--http", *words)
    assert "--port needs --http" in refused(capsys, "--print-config", "--port", "1")
    beyond = refused(capsys, "--http", "--host", "0.0.0.0", make="servers.making:make_real")
    assert "(--allowed-host mcp.example.com)" in beyond


def test_the_entry_for_a_host_starts_the_same(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    def entry(*words: str) -> Any:
        assert command().main(("--print-config", *words)) == 0
        return json.loads(capsys.readouterr().out)["mcpServers"]["told-off"]

    words = ["-m", "splice.servers.told_off", str(tmp_path / "a b"), "--level", "2", "--name", "a", "--name=-b"]
    given = entry("--name", "a", "--level", "2", str(tmp_path / "a b"), "-n=-b")
    assert given == {"command": sys.executable, "args": words}
    assert entry("--http") == {"type": "http", "url": "http://127.0.0.1:8000/mcp"}
    assert entry("--http", "--host", "::1", "--port", "1", "--path", "/x")["url"] == "http://[::1]:1/x"
    assert entry("--http", "--host", "0.0.0.0", "--allowed-host", "mcp.example")["url"] == "http://mcp.example:8000/mcp"
    assert "--port that stays the same" in refused(capsys, "--print-config", "--http", "--port", "0")


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("postgresql://ann:s3cr3t@h:5/db", "postgresql://ann:PASSWORD@h:5/db"),
        ("http://ann:s3:c/r@3t@h", "http://ann:PASSWORD@h"),
        ("http://:s3cr3t@[::1]:5/", "http://:PASSWORD@[::1]:5/"),
        ("host=h password=s3cr3t user=ann", "host=h password=PASSWORD user=ann"),
        ("host=h password = 's3 cr3t'", "host=h password = PASSWORD"),
        ("postgresql://h/db?PASSWORD=s3cr3t&user=ann", "postgresql://h/db?PASSWORD=PASSWORD&user=ann"),
        ("postgresql://h/db?sslpassword=s3cr3t", "postgresql://h/db?sslpassword=PASSWORD"),
    ],
)
def test_the_entry_for_a_host_has_no_password(value: str, shown: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It is printed, and often committed; and other users of the machine see the command lines of programs."""
    for words in (["--place", value], [f"--place={value}"]):
        told = command()
        told.setting("--place", help="where it is")
        assert told.main(["--print-config", *words, "a:b@c", "--level", "2"]) == 0
        entry = json.loads(capsys.readouterr().out)["mcpServers"]["told-off"]
        assert entry["args"][2:] == [str(Path.cwd() / "a:b@c"), "--level", "2"]
        assert entry["env"] == {"SPLICE_TOLD_OFF_PLACE": shown}


def test_the_entry_for_a_host_has_paths_in_full(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, words in (
        ("filesystem", ("work",)),
        ("git", ("--repository", "work")),
        ("memory", ("--file", "work")),
        ("sqlite", ("--db-path", "work")),
    ):
        assert main(["serve", name, *words, "--print-config"]) == 0
        args = json.loads(capsys.readouterr().out)["mcpServers"][name]["args"]
        assert args[2:] == [*words[:-1], str(tmp_path / "work")]


def test_paths_may_begin_with_the_home_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    assert settings("~/a")["directories"] == ["/home/ann/a"]
    monkeypatch.setenv("SPLICE_TOLD_OFF_DIRECTORIES", f"~/a{os.pathsep}~")
    assert settings()["directories"] == ["/home/ann/a", "/home/ann"]


def test_who_waits_at_a_terminal_is_told_what_this_is(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    assert settings("--http") == {"run": ("http", {})}
    assert capsys.readouterr().err == ""
    assert settings() == {"run": ("stdio", {})}
    assert "told-off waits for a client on stdin. Try: splice list -- splice serve" in capsys.readouterr().err


def test_help_tells_each_setting_with_its_variables(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command().main(["--help"])
    assert ended.value.code == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "how much; 100% is all [SPLICE_TOLD_OFF_LEVEL, LEVEL, OLD_LEVEL]" in said
    assert "--http" in said


def test_splice_serve_knows_its_servers(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve"]) == USAGE
    assert f"name a reference server; there are {', '.join(SERVERS)}" in capsys.readouterr().err
    assert main(["serve", "tiem"]) == USAGE
    assert "there is no reference server 'tiem'. Did you mean 'time'?" in capsys.readouterr().err
    assert main(["serve", "--help"]) == 0
    said = capsys.readouterr().out
    assert all(name in said and summary in said for name, summary in SERVERS.items())


@pytest.mark.parametrize("name", SERVERS)
def test_each_server_tells_of_itself_as_its_list_does(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["serve", name, "--help"])
    assert ended.value.code == 0
    assert main(["serve", name, "--print-config"]) == 0
    said = capsys.readouterr().out
    assert SERVERS[name] in " ".join(said.split())
    assert f"splice.servers.{name.replace('-', '_')}" in said


async def test_over_http_both_eras_are_served_and_foreign_hosts_are_not() -> None:
    line = ["-m", "splice.servers.time", "--http", "--port", "0", "--path", "/clock"]
    process = await asyncio.create_subprocess_exec(
        sys.executable, *line, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT
    )
    try:
        assert process.stdout is not None
        url = (await process.stdout.readline()).decode().split()[-1]
        assert url.endswith("/clock")
        for protocol in ("modern", "legacy"):
            async with Client(url, protocol=protocol) as client:
                assert (await client.call_tool("get_current_time", {"timezone": "UTC"})).structured_content
        with pytest.raises(HTTPRefused, match="Host header"):
            await Client(HTTPServer(url, headers={"Host": "evil.example"})).open()
    finally:
        process.terminate()
        assert await process.wait() == 0


def test_the_module_and_the_command_are_the_same(tmp_path: Path) -> None:
    for words in (["-m", "splice.servers.time"], ["-m", "splice.cli", "serve", "time"]):
        line = [warm_python(), *words, "--local-timezone", "Mars/X"]
        done = subprocess.run(line, capture_output=True, text=True, cwd=tmp_path, timeout=30, check=False)
        assert (done.returncode, done.stdout) == (USAGE, "")
        assert done.stderr.startswith("splice serve time: Invalid timezone")
        assert done.stderr.count("\n") == 1
