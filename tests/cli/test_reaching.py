"""What the commands that talk to a server say when it refuses."""

from splice import RPCError
from splice.cli.reaching import told
from splice.errors import URLElicitationRequired
from splice.types import ElicitParams


def test_the_command_line_shows_where_to_go() -> None:
    error = RPCError.received(-32042, "Sign in first")
    assert isinstance(error, URLElicitationRequired)
    error.elicitations = (ElicitParams(mode="url", message="Sign \x1b[1min", url="https://a.example"),)
    assert told(error) == "Sign in first (code -32042)\n  visit https://a.example (Sign \\x1b[1min)"
