"""What a client can be pointed at, and how each kind of target becomes a link.

a URL, or HTTPServer(url, headers=...)            Streamable HTTP
a command, or StdioServer("python", "server.py")  a child process
a `Server`, or anything else that serves          in this process, without any transport
{"command": ...} or {"url": ...}                  one entry of an `mcpServers` configuration
"""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias, cast

from splice.transports.base import Link, Service, TransportKind
from splice.transports.memory import MemoryLink
from splice.transports.stdio_client import spawn

_SHOWN_NAME = 60


class Target(Protocol):
    """A server that can be reached."""

    kind: ClassVar[TransportKind]

    @property
    def name(self) -> str:
        """What errors and logs call it."""
        ...

    async def connect(self) -> Link:
        """Make a link to it. Raises `ConnectionClosed`."""
        ...


class StdioServer:
    """A server to be started as a child process.

    Besides `env` it sees only a little of our environment: PATH, HOME, the locale and the like.
    """

    kind: ClassVar[TransportKind] = "stdio"

    def __init__(
        self, command: str, *args: str, env: Mapping[str, str] | None = None, cwd: str | Path | None = None
    ) -> None:
        self.command = (command, *args)
        self.env = env
        self.cwd = cwd

    @property
    def name(self) -> str:
        """The command, in short."""
        program, *args = self.command
        return shlex.join([Path(program).name, *args])[:_SHOWN_NAME]

    async def connect(self) -> Link:
        """Start the process."""
        return await spawn(self.command, env=self.env, cwd=self.cwd, name=self.name)


class HTTPServer:
    """A server behind a URL. `headers` go out with every request, and to no other origin."""

    kind: ClassVar[TransportKind] = "http"

    def __init__(self, url: str, *, headers: Mapping[str, str] | None = None) -> None:
        self.url = url
        self.headers = headers

    @property
    def name(self) -> str:
        """The URL."""
        return self.url

    async def connect(self) -> Link:
        """Make a pool of connections; none is opened yet."""
        from splice.transports.http_link import HTTPLink  # noqa: PLC0415 - a stdio client loads no HTTP library

        return HTTPLink(self.url, self.headers)


class InProcess:
    """A server object in this process."""

    kind: ClassVar[TransportKind] = "memory"

    def __init__(self, service: Service) -> None:
        self.service = service

    @property
    def name(self) -> str:
        """The name the object has, or what it is."""
        return str(getattr(self.service, "name", type(self.service).__name__))

    async def connect(self) -> Link:
        """Let the server know of us."""
        link = MemoryLink(self.service)
        await link.open()
        return link


AnyTarget: TypeAlias = Target | Service | str | Sequence[str] | Mapping[str, Any]
"""Everything `resolve` understands."""


def resolve(target: AnyTarget) -> Target:
    """Tell what kind of target this is.

    Raises `TypeError` and `ValueError`.
    """
    if isinstance(target, str):
        if target.startswith(("http://", "https://")):
            return HTTPServer(target)
        return _command(shlex.split(target))
    if isinstance(target, Mapping):
        return _entry(target)
    if isinstance(target, Sequence):
        return _command(target)
    if hasattr(target, "connect"):
        return cast("Target", target)
    if all(hasattr(target, verb) for verb in ("handle", "hear", "open", "close")):
        service: Any = target
        return InProcess(service)
    raise TypeError(
        f"a client needs a server object, a URL, a command or an mcpServers entry, not {type(target).__name__}"
    )


def _command(words: Sequence[str]) -> StdioServer:
    if not words:
        raise ValueError("the command is empty")
    return StdioServer(*words)


def _entry(entry: Mapping[str, Any]) -> Target:
    """Read an entry of `mcpServers`, or a whole configuration that has just one."""
    servers = entry.get("mcpServers")
    if isinstance(servers, Mapping):
        entries = list(cast("Mapping[str, Mapping[str, Any]]", servers).values())
        if len(entries) != 1:
            raise ValueError(f"a client talks to one server; this configuration has {len(entries)}")
        return _entry(entries[0])
    if "command" in entry:
        return StdioServer(entry["command"], *entry.get("args", ()), env=entry.get("env"), cwd=entry.get("cwd"))
    if "url" in entry:
        return HTTPServer(entry["url"], headers=entry.get("headers"))
    raise ValueError("an mcpServers entry needs `command` or `url`")
