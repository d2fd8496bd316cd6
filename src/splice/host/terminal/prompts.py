"""A line that begins with `/`: which prompt it names, and the arguments that stand in it."""

import shlex
from dataclasses import dataclass, field

from splice.host.board import Board
from splice.host.items import Prompt


@dataclass(frozen=True)
class Named:
    """A prompt as it was written: ``/plan-vacation destination=Barcelona``."""

    name: str
    arguments: dict[str, str] = field(default_factory=dict)
    rest: str = ""
    """Words without a name in front."""


def parse(line: str) -> Named:
    """Read a line that begins with `/`. Quotes hold words together; a quote without its end is a letter like others."""
    try:
        words = shlex.split(line.removeprefix("/"))
    except ValueError:
        words = line.removeprefix("/").split()
    arguments = {name: value for name, sign, value in (word.partition("=") for word in words[1:]) if sign}
    rest = " ".join(word for word in words[1:] if "=" not in word)
    return Named(words[0] if words else "", arguments, rest)


def find(board: Board, name: str) -> list[Prompt]:
    """Find the prompts of a name, or of `SERVER/NAME`: several servers may have the same."""
    return [each for each in board.all(Prompt) if name in (each.name, f"{each.server}/{each.name}")]


def missing(prompt: Prompt, arguments: dict[str, str]) -> list[str]:
    """List the required arguments that are not there."""
    return [each.name for each in prompt.arguments if each.is_required and not arguments.get(each.name)]
