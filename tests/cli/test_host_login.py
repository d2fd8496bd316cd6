"""Logging in to a server of the host by its name: with a browser, against a server and an authorization server."""

from pathlib import Path

from auth.login.scripted import Scripted
from cli.conftest import Splice
from cli.test_host_mcp import home
from cli.test_login import both, browser
from splice.cli.outcomes import OK, UNREACHABLE

__all__ = ["both", "browser", "home"]


def test_log_in_use_it_and_log_out(splice: Splice, home: Path, both: Scripted) -> None:
    assert splice("host", "mcp", "add", "adder", both.url).code == OK
    wanted = splice("host", "mcp", "test", "adder")
    assert (wanted.code, wanted.out) == (UNREACHABLE, "")
    assert wanted.err.startswith("error  adder wants a login\n")
    assert wanted.err.endswith("try    splice host mcp login adder\n")
    done = splice("host", "mcp", "login", "adder")
    assert (done.code, done.out) == (OK, "Logged in to adder.\n"), done.err
    assert splice("host", "mcp", "test", "adder").code == OK
    assert splice("host", "mcp", "logout", "adder").out == "Forgot the login at adder.\n"
    assert splice("host", "mcp", "test", "adder").code == UNREACHABLE
