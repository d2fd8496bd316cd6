"""The commands by name. Each lives in a file of its own, which is imported when it is called."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import click

COMMANDS = {
    "demo": "Show what Splice does: a server, a client, both eras, stdio and HTTP.",
    "run": "Run the server in a Python file, on stdin and stdout or as a web server.",
    "serve": "Run a reference server: files, git, databases, memory and more.",
    "list": "List what a server offers.",
    "call": "Call a tool.",
    "read": "Read a resource.",
    "prompt": "Fill in a prompt.",
    "doctor": "Find out whether a server works, and if not, where it breaks and what to do.",
    "host": "Let a model use servers, with you in control: chat, run, a web page, and which servers there are.",
    "login": "Log in to a server with a browser, for all commands that come after.",
    "logout": "Forget a login.",
    "install": "Let a host, such as Claude Desktop or VS Code, use a server.",
    "auth": "Run an authorization server of your own, and say who may sign in.",
    "completion": "Print the script that completes words in your shell.",
}


def command_of(name: str) -> "click.Command":
    """Import a command."""
    command: click.Command = import_module(f"splice.cli.{name}").command
    return command
