"""The host: many servers, one conversation, and a person in control.

    async with Host.from_config(".mcp.json") as host:
        await host.say("Plan a trip to Barcelona")
        message = await host.wait()

A face shows `host.board`, gives these commands, and answers the questions that stand on the board.
"""

from pathlib import Path
from typing import Self, Unpack

from splice.host.chats import Chats
from splice.host.choices import Choices
from splice.host.config.sources import Sources
from splice.host.failing import HostError
from splice.host.options import HostOptions, check_names
from splice.host.places import Places, places
from splice.host.reading import Reading
from splice.host.serving import Serving

__all__ = ["Host", "HostError", "HostOptions"]


class Host(Chats, Serving, Reading, Choices):
    """All commands. They are for one event loop; each raises `HostError` with a sentence for the user."""

    async def __aenter__(self) -> Self:
        """Open the host with a new chat. No server is started. Raises `HostError` if its files cannot be used."""
        await self.open()
        await self.new_chat()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @classmethod
    def from_config(cls, *paths: str | Path, **options: Unpack[HostOptions]) -> Self:
        """Make a host for the servers of these files; without any, of the project's and the user's own.

        Files are read now, and no server is started. One that cannot be read is said on the board, and hides no other.
        The options are those of `HostOptions`: `model`, `home`, `policy`, `answers`, `cwd`, `roots`, `servers`
        and `record`.
        Raises `HostError` for options that cannot be used.
        """
        check_names(options)
        cwd = Path(options.get("cwd") or Path.cwd()).absolute()
        home = options.get("home")
        kept = places() if home is None else Places.under(Path(home).expanduser().absolute())
        sources = Sources(cwd, kept, tuple(cwd / path for path in paths))
        return cls(sources.read(), options, sources)
