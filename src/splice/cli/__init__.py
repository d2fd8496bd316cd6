"""The `splice` command. Nothing stands here but its entry: `splice.cli.list` would hide the builtin from the rest."""

from splice.cli.entry import main as main
