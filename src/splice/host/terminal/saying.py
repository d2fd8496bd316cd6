"""What the user says: a text, or a prompt of a server with its arguments; and the line that would say the same."""

import shlex
from dataclasses import dataclass, field
from typing import Any

from splice.host.terminal.hosted import Hosted


@dataclass(frozen=True)
class Saying:
    """A message before it is said."""

    text: str
    prompt: str = ""
    """``SERVER/NAME``."""
    arguments: dict[str, str] = field(default_factory=dict[str, str])
    tool: str = ""
    """The id of the tool that the model has to begin with."""

    @property
    def line(self) -> str:
        """Write it as it is typed."""
        if not self.prompt:
            return self.text
        words = [shlex.quote(f"{name}={value}") for name, value in self.arguments.items()]
        return " ".join([f"/{self.prompt}", *words, self.text]).rstrip()

    async def to(self, host: Hosted) -> Any:
        """Say it. Raises what the host raises."""
        if self.prompt:
            return await host.say(self.text, prompt=self.prompt, arguments=self.arguments)
        return await host.say(self.text, tool=self.tool)

    def with_more(self, more: "Saying") -> "Saying | None":
        """Put another text under this one; None: they are two messages."""
        if self.prompt or more.prompt:
            return None
        return Saying(f"{self.text}\n{more.text}", tool=self.tool or more.tool)
