"""Targets: everything a client can be pointed at, and how each kind becomes a link.

a URL, or HTTPServer(url, headers=...)            Streamable HTTP
a command, or StdioServer("python", "server.py")  a child process
"server.py", a Path, "server.py:name", "pkg.module:name"
                                                  Python code with a `Server`, run as `splice run` does
a `Server`, or any `Service`                      in this process, without any transport
{"command": ...} or {"url": ...}                  one entry of an `mcpServers` configuration
an object with `connect`                          a `Target` of your own
"""

import re
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from copy import copy
from pathlib import Path
from typing import Any, Protocol, TypeAlias, cast

from msgspec import Struct

from splice.protocol import uri
from splice.protocol.jsonrpc import MAX_ANSWER_BYTES, MAX_MESSAGE_BYTES
from splice.rules.http.headers import check_header
from splice.transports import base, memory
from splice.transports.stdio.client import StdioLink

_CODE = re.compile(r".+\.py(:[^\W\d][\w.]*)?|[^\W\d][\w.]*:[^\W\d][\w.]*")
"""A Python file, or something by its name in a file or module."""

_ADDRESS = re.compile(r"\w+://\S+|[\w.-]+:\d+(/.*)?")
"""A URL of another kind, or a host and a port."""

_FILE = re.compile(r"\S+\.json(#\S*)?")
"""A configuration file."""


Headers: TypeAlias = Mapping[str, str] | None


class Target(Protocol):
    """A server that can be reached."""

    @property
    def kind(self) -> str:
        """The transport: ``stdio``, ``http``, ``memory`` or the name of one of your own.

        What is ``http`` gets headers that repeat arguments, and streams of changes that are opened again.
        """
        ...

    @property
    def name(self) -> str:
        """The name for it in errors and logs."""
        ...

    async def connect(self, receiver: base.Receiver) -> base.Link:
        """Make a link to it, which gives what the server begins to `receiver`. Raises `ConnectionClosed`."""
        ...


class Holder(Protocol):
    """An object that stands for a service in this process. `Server` is one."""

    @property
    def service(self) -> base.Service:
        """Answers the requests."""
        ...


class StdioServer:
    """A server to be started as a child process.

    Besides `env` it sees only a little of our environment: PATH, HOME, the locale and the like. `on_stderr` is given
    what it writes to stderr, as it comes. `max_message` is the size of the largest message that it may write, in bytes.
    """

    kind = "stdio"

    def __init__(
        self,
        command: str,
        *args: str,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        on_stderr: Callable[[bytes], None] | None = None,
        max_message: int = MAX_ANSWER_BYTES,
    ) -> None:
        self.command = (command, *args)
        self.name = shlex.join([Path(command).name, *args])[:60]
        """The command, in short."""
        self.env = env
        self.cwd = cwd
        self.on_stderr = on_stderr
        self.max_message = max_message

    async def connect(self, receiver: base.Receiver) -> base.Link:
        """Start the process."""
        link = StdioLink(self.name, receiver, self.on_stderr, self.max_message)
        await link.start(self.command, self.env, self.cwd)
        return link


class HTTPServer:
    """A server behind a URL. `headers` go out with every request, and to no other origin.

    `auth` gets the tokens for it: a token, a function that returns one, `def` or `async def`, or a policy such as
    `splice.auth.OAuth()`; a client that can show its user a page needs none. Its `Authorization` goes before one in
    `headers`. `max_message` is the size of the largest message that it may answer with, in bytes.
    """

    kind = "http"

    def __init__(
        self, url: str, *, headers: Headers = None, auth: Any = None, max_message: int = MAX_MESSAGE_BYTES
    ) -> None:
        if isinstance(auth, type):
            raise TypeError(f"auth= takes an object, so write {auth.__name__}() and not {auth.__name__}")
        self.url, self.auth = url, auth
        self.name = uri.shown_url(url)
        """The URL, without what may be secret in it."""
        self.headers, self.max_message = headers, max_message
        for name, value in (headers or {}).items():
            check_header(name, value)

    async def connect(self, receiver: base.Receiver) -> base.Link:
        """Make a pool of connections; none is opened yet."""
        from splice.transports.http.link import HTTPLink  # noqa: PLC0415 - a stdio client loads no HTTP library

        link = HTTPLink(self.url, self.headers or {}, receiver, self.max_message)
        shows = None if "authorization" in map(str.lower, self.headers or {}) else getattr(receiver, "shows", None)
        if self.auth is not None or shows is not None:
            from splice.auth.login.authorizer import authorizer_of  # noqa: PLC0415 - others load nothing of auth

            pause = getattr(receiver, "pause", nullcontext)
            link.endpoint.authorizer = authorizer_of(self.auth, self.url, pause, shows)
        return link


class InProcess(Struct):
    """A service in this process."""

    service: base.Service
    name: str
    kind: str = "memory"

    async def connect(self, receiver: base.Receiver) -> base.Link:
        """Make a link that calls the service."""
        return memory.MemoryLink(self.service, receiver)


AnyTarget: TypeAlias = Target | Holder | base.Service | str | Path | Sequence[str] | Mapping[str, Any]
"""Everything `resolve` understands."""


def resolve(target: AnyTarget) -> Target:
    """Tell what kind of target this is.

    Raises `TypeError` and `ValueError`.
    """
    if isinstance(target, str):
        return _text(target)
    if isinstance(target, Path):
        return _code(str(target)) if target.suffix == ".py" else StdioServer(str(target))
    if isinstance(target, Mapping):
        return _entry(target)
    if isinstance(target, Sequence):
        return _command(target)
    given: Any = target
    if hasattr(given, "connect"):
        if not hasattr(given, "kind") or not hasattr(given, "name"):
            raise TypeError(f"{type(given).__name__} has `connect`, but a target needs `kind` and `name` too")
        return cast("Target", given)
    service = getattr(given, "service", given)
    if hasattr(service, "handle"):
        return InProcess(service, str(getattr(given, "name", type(given).__name__)))
    kind = type(given).__name__
    raise TypeError(f"a client needs a server object, a URL, a command, a file or an mcpServers entry, not {kind}")


def adjusted(target: Target, options: Mapping[str, Any]) -> Target:
    """Give a target those options of a client that are its own. Raises `TypeError` when it has none of that name."""
    for name in {"max_message", "auth"} & {name for name, value in options.items() if value is not None}:
        if not isinstance(target, StdioServer | HTTPServer) or not hasattr(target, name):
            where = "a URL" if name == "auth" else "a command or a URL"
            raise TypeError(f"{name}= of Client is for {where}; {target.name} has no such option")
        target = copy(target)
        setattr(target, name, options[name])
    return target


def _text(target: str) -> Target:
    if target.startswith(("http://", "https://")):
        return HTTPServer(target)
    if _ADDRESS.fullmatch(target):
        raise ValueError(f"{target!r} is no http or https URL: did you mean http://{target.rpartition('://')[2]}?")
    if _FILE.fullmatch(target):
        raise ValueError(f"{target!r} is for `splice call`; Client takes an entry: json.load(file)['mcpServers'][name]")
    words = shlex.split(target)
    return _code(target) if len(words) == 1 and _CODE.fullmatch(target) else _command(words)


def _code(target: str) -> StdioServer:
    """Run Python code as `splice run` does. Raises `ValueError` for a file that does not exist."""
    file = target.rpartition(":")[0] or target
    if file.endswith(".py") and not Path(file).is_file():
        raise ValueError(f"there is no file {file!r}")
    server = StdioServer(sys.executable, "-m", "splice.cli", "run", target)
    server.name = target
    return server


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
