"""The console that writes in colour, where there is a terminal that can show it."""

from rich.console import Console


def console(*, quiet: bool = False) -> Console:
    """Make a console that takes text as it is: no markup, no emoji codes, no guessing what to highlight."""
    return Console(markup=False, emoji=False, highlight=False, quiet=quiet, soft_wrap=True)
