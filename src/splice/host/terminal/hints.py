"""Keys on the screen that can be clicked, in their own colours."""

from textual.reactive import var
from textual.widgets import Static


class Hints(Static):
    """Text with keys as `drawn.keys` draws them. Textual's colours of links stay away from it."""

    auto_links = var(default=False)
