"""What stays of a question that was set aside: how far it was read, and what was typed."""

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Kept:
    """Kept as long as the question waits."""

    seen: bool = False
    scroll: float = 0.0
    values: dict[str, Any] = field(default_factory=dict)
    """What was typed, by the dialog's own names."""
