"""Logging in at the command line: with a browser of one's own, against a server and an authorization server."""

import asyncio
import json
import shlex
import subprocess
import sys
import threading
import webbrowser
from collections.abc import Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import pytest

from auth.login.scripted import Scripted, scripted
from cli.conftest import Splice
from splice import Server
from splice.auth import APIKeys, Auth
from splice.auth.login.keeping import FileTokens
from support.listening import listening
from support.warm import warm_python

T = TypeVar("T")

BROWSER = """#!{python}
import sys, urllib.request
urllib.request.build_opener(urllib.request.ProxyHandler({{}})).open(sys.argv[1]).read()
"""


@contextmanager
def running(opened: AbstractAsyncContextManager[T]) -> Iterator[T]:
    """Run servers on a thread with a loop of their own."""
    ready: list[Any] = []
    began = threading.Event()

    async def run() -> None:
        async with opened as made:
            end = asyncio.Event()
            ready.extend([made, asyncio.get_running_loop(), end])
            began.set()
            await end.wait()

    thread = threading.Thread(target=asyncio.run, args=(run(),))
    thread.start()
    assert began.wait(10)
    try:
        yield ready[0]
    finally:
        ready[1].call_soon_threadsafe(ready[2].set)
        thread.join(10)


@pytest.fixture
def both() -> Iterator[Scripted]:
    with running(scripted()) as made:
        yield made


@pytest.fixture(autouse=True)
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script = tmp_path / "browser"
    script.write_text(BROWSER.format(python=sys.executable))
    script.chmod(0o700)
    monkeypatch.setenv("BROWSER", f"{script} %s")
    monkeypatch.setattr(webbrowser, "_tryorder", None)  # or that of the last test is opened
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return script


def test_log_in_use_it_and_log_out(splice: Splice, both: Scripted) -> None:
    done = splice("call", both.url, "add", "a=1", "b=2")
    assert done.code == 3
    assert f"`splice login {both.url}`" in done.err
    assert not both.seen["/register"]

    done = splice("login", both.url, "--scope", "basic")
    assert done.code == 0, done.err
    assert f"Logged in to {both.url}, by {both.origin}, with the scopes basic.\nKept in /" in done.out

    for _ in range(2):
        done = splice("call", both.url, "add", "a=1", "b=2")
        assert (done.code, done.out.strip()) == (0, "3"), done.err
    assert both.seen["/token"] == 1

    both.tokens.clear()
    done = splice("list", both.url)
    assert done.code == 0, done.err
    assert both.forms[-1]["grant_type"] == "refresh_token"
    assert splice("doctor", both.url).code == 0

    done = splice("logout", both.url)
    assert (done.code, done.out) == (0, f"Forgot the login at {both.url}.\n")
    assert splice("logout", both.url).out == f"There was no login at {both.url}.\n"
    assert splice("list", both.url).code == 3


def test_a_login_that_is_over_says_what_to_do(splice: Splice, both: Scripted, browser: Path) -> None:
    assert splice("login", both.url).code == 0
    both.tokens.clear()
    both.refresh_tokens.clear()
    registered = both.seen["/register"]
    done = splice("call", both.url, "add", "a=1", "b=2")
    assert done.code == 3
    assert f"Log in again: `splice login {both.url}`" in done.err
    assert "Traceback" not in done.err
    assert both.seen["/register"] == registered
    assert both.seen["/authorization"] == 1
    assert splice("login", both.url).code == 0
    assert splice("call", both.url, "add", "a=1", "b=2").code == 0


def test_more_scopes_take_another_login(splice: Splice, both: Scripted) -> None:
    both.needs["secret"] = "more"
    assert splice("login", both.url).code == 0
    done = splice("call", both.url, "secret")
    assert done.code == 1
    assert done.err == f"splice: {both.url}: needs the scope more: splice login {both.url} --scope more\n"
    assert splice("login", both.url, "--scope", "more").code == 0
    assert splice("call", both.url, "secret").out.strip() == "42"


def test_what_a_server_calls_a_scope_is_quoted_for_the_shell(splice: Splice, both: Scripted) -> None:
    both.needs["secret"] = "$(reboot) ok ;`reboot`"
    assert splice("login", both.url).code == 0
    done = splice("call", both.url, "secret")
    _, colon, command = done.err.rstrip("\n").partition(": splice login ")
    assert colon
    assert shlex.split(command) == [both.url, "--scope", "$(reboot)", "--scope", "ok", "--scope", ";`reboot`"]
    assert "needs the scopes '$(reboot)' ok ';`reboot`': " in done.err


def test_a_scope_that_nobody_grants_takes_no_other_login(splice: Splice, both: Scripted) -> None:
    both.needs["secret"], both.grants = "more", {"basic"}
    assert splice("login", both.url, "--scope", "basic more").code == 0
    done = splice("call", both.url, "secret")
    assert done.err == (
        f"splice: {both.url}: needs the scope more, which the login asked for and did not get: "
        "this user may not do that\n"
    )


def test_a_refusal_names_the_server_once(splice: Splice) -> None:
    server = Server("keyed", auth=Auth(APIKeys({"a-key-of-many-letters": "ann"})))
    with running(listening(server.http_app())) as url:
        done = splice("list", url)
    told = (
        f"splice: could not connect to {url}: answered HTTP 401: This server needs to know who calls: send the header"
    )
    assert done.err.startswith(told), done.err
    assert "auth=" not in done.err
    assert done.err.count(url) == 1


def test_more_scopes_than_a_command_holds_make_no_command(splice: Splice, both: Scripted) -> None:
    both.needs["secret"] = " ".join(f"scope-{count}" for count in range(600))
    assert splice("login", both.url).code == 0
    done = splice("call", both.url, "secret")
    assert "wants more scopes than" in done.err
    assert len(done.err) < 300


def test_a_scope_that_the_token_has_takes_no_other_login(splice: Splice, both: Scripted) -> None:
    both.needs["secret"] = "more"
    assert splice("login", both.url, "--scope", "more").code == 0
    for scopes in both.tokens.values():
        scopes.clear()
    done = splice("call", both.url, "secret")
    assert "does not see that the token has them" in done.err
    assert "splice login" not in done.err
    assert done.err.count(both.url) == 1


def test_two_scopes_that_are_asked_for_in_turn_are_both_kept(splice: Splice, both: Scripted) -> None:
    both.needs |= {"secret": "more", "add": "adding"}
    for tool, scope in [("secret", "more"), ("add", "adding")]:
        assert f"--scope {scope}\n" in splice("call", both.url, tool).err or splice("login", both.url).code == 0
        assert splice("login", both.url, "--scope", scope).code == 0
    assert splice("call", both.url, "secret").code == 0
    assert splice("call", both.url, "add", "a=1", "b=2").code == 0
    assert splice("login", both.url).code == 0
    assert splice("call", both.url, "secret").code == 1


def test_scopes_in_one_word(splice: Splice, both: Scripted) -> None:
    done = splice("login", both.url, "--scope", "a b", "--scope", "c")
    assert "with the scopes a b c." in done.out, done.err


def test_a_login_that_fails_leaves_the_last_one(splice: Splice, both: Scripted) -> None:
    assert splice("login", both.url).code == 0
    both.denies = True
    done = splice("login", both.url)
    assert done.code == 1
    assert "could not log in to" in done.err
    assert "declined" in done.err
    assert splice("call", both.url, "add", "a=1", "b=2").code == 0


def test_an_entry_of_a_configuration_and_one_with_a_token(splice: Splice, both: Scripted, tmp_path: Path) -> None:
    config = tmp_path / "mcp.json"
    config.write_text(json.dumps({"mcpServers": {"it": {"url": both.url}}}))
    assert splice("login", f"{config}#it").code == 0
    assert splice("list", both.url).code == 0
    both.tokens["mine"] = set()
    both.seen.clear()
    assert splice("list", both.url, "--header", "authorization: Bearer mine").code == 0
    assert {each for each in both.seen if each.startswith("mcp")} == {"mcp Bearer mine"}


def test_a_client_that_somebody_registered(splice: Splice, both: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SPLICE_CLIENT_SECRET", "s3cret")
    done = splice("login", both.url, "--client-id", "desk", "--scope", "a", "--scope", "b")
    assert done.code == 0, done.err
    assert "scopes a b." in done.out
    monkeypatch.delenv("SPLICE_CLIENT_SECRET")
    both.tokens.clear()
    done = splice("call", both.url, "add", "a=1", "b=2")
    assert done.code == 0, done.err
    assert both.forms[-1]["grant_type"] == "refresh_token"
    assert not both.seen["/register"]


def test_processes_at_the_same_time_refresh_once(splice: Splice, both: Scripted) -> None:
    assert splice("login", both.url).code == 0
    both.tokens.clear()
    both.seen.clear()
    command = [warm_python(), "-m", "splice.cli", "call", both.url, "add", "a=1", "b=2"]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert [each.communicate(timeout=30)[0] for each in processes] == ["3\n"] * 3
    assert both.seen["/token"] == 1


def test_without_a_browser_the_address_is_said(
    splice: Splice, both: Scripted, browser: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("splice.auth.login.callback.LOGIN_SECONDS", 0.05)
    opened = browser.with_name("opened")
    browser.write_text(f"#!/bin/sh\ntouch {opened}\n")
    done = splice("login", both.url, "--no-browser")
    assert done.code == 1
    assert f"  {both.origin}/authorization?" in done.err
    assert "Nobody logged in" in done.err
    assert not opened.exists()


def test_a_damaged_file_is_reported_and_logout_mends_it(splice: Splice, both: Scripted) -> None:
    assert splice("login", both.url).code == 0
    file = FileTokens().file_of(both.url)
    file.write_text("{")
    for words in (["list", both.url], ["login", both.url]):
        done = splice(*words)
        assert done.code != 0
        assert f"{file} is damaged" in done.err
    assert file.read_text() == "{"
    assert splice("logout", both.url).code == 0
    assert splice("login", both.url).code == 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "which server?"),
        (["server.py:x", "y"], "one server at a time"),
        (["http://127.0.0.1:1/mcp", "--device", "--no-browser"], "--device needs no browser"),
        (["http://127.0.0.1:1/mcp", "--client-metadata-url", "http://x"], "client_metadata_url= of OAuth takes"),
        (["--", "program"], "is a program, which needs no login"),
    ],
)
def test_wrong_usage(splice: Splice, words: list[str], told: str, tmp_path: Path) -> None:
    if words[:1] == ["server.py:x"]:
        (tmp_path / "server.py").write_text("")
        words = [str(tmp_path / "server.py"), "y"]
    done = splice("login", *words)
    assert done.code == 2
    assert told in done.err


def test_no_server(splice: Splice) -> None:
    done = splice("login", "http://127.0.0.1:9/mcp")
    assert done.code == 3
    assert "could not connect" in done.err


def test_no_secret_is_printed(splice: Splice, both: Scripted) -> None:
    said = [splice("login", both.url), splice("list", both.url, "--debug"), splice("list", both.url, "--json")]
    planted = {*both.tokens, *both.refresh_tokens}
    assert planted
    assert not [each for each in planted for done in said if each in done.out + done.err]
