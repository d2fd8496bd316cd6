"""`splice completion`: the script that lets a shell complete the words of `splice`.

The shell asks back by running `splice` with `_SPLICE_COMPLETE` set, which click answers.
"""

import click
from click.shell_completion import shell_complete

from splice.cli.commands import COMMANDS, command_of

VARIABLE = "_SPLICE_COMPLETE"
SHELLS = ("bash", "zsh", "fish")


@click.command(epilog='bash, zsh: eval "$(splice completion bash)"; fish: splice completion fish | source')
@click.argument("shell", type=click.Choice(SHELLS))
@click.option("--debug", is_flag=True, expose_value=False, help="Show tracebacks.")
def command(shell: str) -> int:
    """Print the script that completes commands, options and files in your shell."""
    return complete(f"{shell}_source")


def complete(instruction: str) -> int:
    """Answer a shell: `bash_source` wants the script, `bash_complete` the words that may follow those typed."""
    return shell_complete(_All("splice"), {}, "splice", VARIABLE, instruction)


class _All(click.Group):
    """All commands in one, each imported when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        return command_of(cmd_name) if cmd_name in COMMANDS else None
