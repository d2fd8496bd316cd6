"""How a command ends: its exit codes, and the one exception that carries them."""

OK = 0
FAILED = 1
"""The server was reached, and the call failed."""

USAGE = 2
"""The command line, or a file it names, is not what it should be."""

UNREACHABLE = 3
"""There is no server to talk to."""

DENIED = 4
"""Something was not allowed: by a rule, by the user, or because nobody was there to answer."""

INTERRUPTED = 130
"""Ctrl-C."""


class Stop(Exception):
    """Ends a command with an exit code and one line that says what happened, where, and what to do.

    `shown` is the failed result, if it was printed already. `said` is what the server wrote to stderr about it,
    or where its code failed.
    """

    def __init__(self, code: int, message: str, *, shown: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.shown = shown
        self.said = ""
