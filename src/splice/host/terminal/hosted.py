"""The commands of the host that this face gives: what it needs of `Host`, and nothing else of the engine."""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from splice.errors import MCPError
from splice.host.asked import Answer, By, Json
from splice.host.board import Board
from splice.host.connecting.wire import Message
from splice.host.failing import HostError
from splice.host.looks import Look
from splice.types import (
    PromptMessage,
    PromptReference,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    ResourceTemplateReference,
)

Effect = Literal["allow", "ask", "deny"]
"""What a rule does."""

REFUSED = (HostError, MCPError, OSError)
"""What a command may raise: it was not done, and the text says why."""

Ref = PromptReference | ResourceTemplateReference
"""Whose argument is completed."""


class Written(Protocol):
    """A line that a server wrote."""

    @property
    def number(self) -> int:
        """Counts the lines of a server, from 1."""
        ...

    @property
    def at(self) -> float:
        """When it was written."""
        ...

    @property
    def source(self) -> str:
        """``stderr`` or ``log``."""
        ...

    @property
    def level(self) -> str:
        """How grave it is, of a log message."""
        ...

    @property
    def text(self) -> str:
        """As it came."""
        ...


class Listed(Protocol):
    """What a server has to read."""

    @property
    def resources(self) -> Sequence[Resource]:
        """Its resources."""
        ...

    @property
    def templates(self) -> Sequence[ResourceTemplate]:
        """Its templates."""
        ...

    @property
    def problem(self) -> str:
        """Why there are not all; empty while all is well."""
        ...


class Recorded(Protocol):
    """A line of the activity log."""

    @property
    def number(self) -> int:
        """Counts the lines of the log, from 1."""
        ...

    @property
    def at(self) -> float:
        """When it happened."""
        ...

    @property
    def kind(self) -> str:
        """Its kind: ``call``, ``answer``."""
        ...

    @property
    def server(self) -> str:
        """With which server; empty: none."""
        ...

    @property
    def turn(self) -> int:
        """In which turn of its chat; 0: in none."""
        ...

    @property
    def facts(self) -> Mapping[str, Any]:
        """Everything else."""
        ...


class Recording(Protocol):
    """The activity log."""

    def read(
        self, *, before: int | None = None, count: int = 200, server: str = "", kind: str = "", words: str = ""
    ) -> Sequence[Recorded]:
        """Read backwards from a number, the newest first."""
        ...


Page: TypeAlias = Callable[[], Coroutine[Any, Any, str]]
"""Opens the host on a web page too; returns an address that opens one browser, once. Raises what the host raises."""


class Hosted(Protocol):
    """`splice.host.host.Host`, as this face sees it."""

    @property
    def board(self) -> Board:
        """What is shown."""
        ...

    @property
    def activity(self) -> Recording:
        """What happened."""
        ...

    async def say(
        self, text: str = "", *, prompt: str = "", arguments: dict[str, str] | None = None, tool: Json = None
    ) -> int:
        """Begin a turn."""
        ...

    async def wait(self) -> Any:
        """Wait until the turn is over."""
        ...

    async def stop(self) -> None:
        """Stop the turn."""
        ...

    async def cancel(self, call: str) -> None:
        """Cancel one call."""
        ...

    def answer(self, question: str, answer: Answer, by: By) -> str:
        """Answer a question; tell who answered it before, if somebody did."""
        ...

    def ended(self, question: str) -> str:
        """Tell who answered a question, or why it was withdrawn."""
        ...

    async def visit(self, question: str) -> None:
        """Open the address of a visit in the user's browser."""
        ...

    def draft(self, question: str, value: Json) -> None:
        """Keep what was typed so far."""
        ...

    async def new_chat(self) -> str:
        """Begin a chat."""
        ...

    async def open_chat(self, id: str) -> None:
        """Open a chat."""
        ...

    async def rename_chat(self, id: str, title: str) -> None:
        """Give a chat another title."""
        ...

    async def delete_chat(self, id: str) -> None:
        """Delete a chat."""
        ...

    def review_server(self, name: str, entry: Mapping[str, Any]) -> Look:
        """Tell what would run if this were added."""
        ...

    async def add_server(self, name: str, entry: Mapping[str, Any]) -> None:
        """Add a server to the user's own file."""
        ...

    async def remove_server(self, name: str) -> None:
        """Stop a server, and take it out of the user's own file."""
        ...

    async def start_server(self, name: str) -> None:
        """Start a server."""
        ...

    async def restart_server(self, name: str) -> None:
        """Start a server anew."""
        ...

    async def stop_server(self, name: str) -> None:
        """Stop a server."""
        ...

    async def reload(self) -> str:
        """Read the files of servers again."""
        ...

    async def log_in(self, name: str) -> None:
        """Log in to a server."""
        ...

    def switch_server(self, name: str, on: bool) -> None:
        """Switch a server on or off."""
        ...

    def output(self, server: str, after: int = 0) -> Sequence[Written]:
        """List what a server wrote."""
        ...

    def messages(self, server: str, after: int = 0) -> Sequence[Message]:
        """List the JSON-RPC messages to and from a server."""
        ...

    def switch_tool(self, id: str, on: bool) -> None:
        """Switch a tool on or off."""
        ...

    def accept_tool(self, id: str) -> None:
        """Accept a tool as it is now."""
        ...

    async def resources(self, server: str) -> Listed:
        """List what a server has to read."""
        ...

    async def read(self, server: str, uri: str) -> ReadResourceResult:
        """Read a resource."""
        ...

    async def complete(self, server: str, ref: Ref, name: str, value: str, known: dict[str, str]) -> list[str]:
        """Complete an argument."""
        ...

    async def attach(self, server: str, uri: str) -> None:
        """Give a resource to the chat."""
        ...

    def detach(self, uri: str) -> None:
        """Take it away again."""
        ...

    async def refresh(self, uri: str) -> None:
        """Read anew what changed since it was given."""
        ...

    async def preview(self, server: str, prompt: str, arguments: dict[str, str]) -> list[PromptMessage]:
        """Get the messages of a prompt, without saying them."""
        ...

    def grant(self, effect: Effect, what: str) -> str:
        """Make a lasting rule."""
        ...

    def revoke(self, rule: str) -> None:
        """Take a permission back."""
        ...

    def restore(self, rule: str) -> None:
        """Give a permission again that was taken back."""
        ...

    async def add_root(self, path: str) -> None:
        """Tell servers of a folder."""
        ...

    async def remove_root(self, uri: str) -> None:
        """Tell them of it no more."""
        ...

    async def choose_model(self, id: str) -> None:
        """Choose the model that answers."""
        ...

    async def find_models(self) -> object:
        """Look for models on this computer."""
        ...

    async def set(self, name: str, value: Json) -> None:
        """Change a setting; None: back to its default."""
        ...
