"""The server: what an author adds features to.

A server object knows no transport and no era. It can be run on stdio, mounted as an ASGI application, and called in
the same process, all at once; transports are given its `service`.

https://modelcontextprotocol.io/specification/2026-07-28/server
"""

import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias, TypeVar, Unpack, get_args, overload

from msgspec.structs import replace

from splice.protocol.versions import VERSIONS
from splice.protocol.wire import Icon, Implementation
from splice.rules import eras, seal
from splice.rules.extensions import Extension
from splice.rules.options import Option, checked, option_table
from splice.server import call, handlers, lifespan, prompts, resources, service, sessions, threads, tools
from splice.server.failures import ErrorPolicy
from splice.server.sources import Source

if TYPE_CHECKING:
    from splice.auth.guard.guard import Auth
    from splice.transports.http.app import HTTPApp, HTTPOptions, ListenOptions

Transport: TypeAlias = Literal["stdio", "http"]

F = TypeVar("F", bound=Callable[..., Any])

is_loading = False
"""Set while the command line loads a file for the server in it: one that serves meanwhile would take its stdin."""

_TEXT = Option(str, "text")
_LIFESPAN = Option(Callable, "a function with `@asynccontextmanager`", lambda fn: not inspect.isasyncgenfunction(fn))
_PROTOCOLS = Option(
    (list, tuple),
    f"a list of at least one of {', '.join(VERSIONS)}",
    lambda protocols: protocols and set(protocols) <= set(VERSIONS),
    item=str,
)


class ServerOptions(resources.Caching, total=False):
    """Options of a server."""

    version: Annotated[str, _TEXT]
    """The server's own version. "0.1.0" by default."""
    title: Annotated[str, _TEXT]
    """Its name for people."""
    website_url: Annotated[str, _TEXT]
    """Where to read about it."""
    icons: Annotated[Sequence[Icon], Option(Sequence, "a list of `Icon`", item=Icon)]
    """The same picture in several sizes and themes."""
    instructions: Annotated[str | None, _TEXT]
    """How to use the server, for the model."""
    lifespan: Annotated["Callable[[Server], AbstractAsyncContextManager[Any]] | None", _LIFESPAN]
    """Makes a context manager that is entered before the first request; what it yields is `Context.lifespan`."""
    errors: Annotated[ErrorPolicy, Option(str, "'type', 'message' or 'hidden'", get_args(ErrorPolicy).__contains__)]
    """How much others read of an exception that a handler did not mean for them. "type" by default."""
    middleware: Annotated[Sequence[call.Middleware], Option(Sequence, "a list of `(call, proceed)`", item=Callable)]
    """Stands around every request, the first one outermost."""
    state_keys: Annotated[Sequence[bytes], Option(Sequence, "a list of `bytes`", item=bytes, is_secret=True)]
    """32 bytes each; the first one seals, all open. Replicas of one server must share them. By default one is derived
    from the environment variable SPLICE_SECRET, or made anew per process without that."""
    page_size: Annotated[int | None, Option(int, "a number, at least 1, or None for one page", lambda size: size > 0)]
    """Cuts lists into pages; None, the default, does not."""
    strict: Annotated[bool, Option(bool, "True or False")]
    """Refuses arguments that do not fit as they are, such as "5" for 5, instead of repairing them."""
    protocols: Annotated[Sequence[str], _PROTOCOLS]
    """The protocol versions to speak, of `splice.types.VERSIONS`; all of them by default."""
    store: Annotated[str | os.PathLike[str], Option((str, os.PathLike), "a path")]
    """A file for what is to outlive a connection, such as events for clients that come back for them. In memory by
    default."""
    auth: Annotated["Auth", Option(object, "an Auth of splice.auth", lambda auth: hasattr(auth, "admit"))]
    """Checks who calls over HTTP."""
    extensions: Annotated[Sequence[Extension[call.Call]], Option(Sequence, "a list of `Extension`", item=Extension)]
    """Methods and notifications beside those of the specification, or instead of them."""


_OPTIONS = option_table(ServerOptions)


def _described(name: str | Implementation, given: Mapping[str, Any]) -> Implementation:
    """Put together what clients are told of the server. Raises `TypeError` and `ValueError` for a name that is none."""
    if not isinstance(name, (str, Implementation)):  # pyright: ignore[reportUnnecessaryIsInstance]  # callers err
        raise TypeError(f"a server's name is text or an `Implementation`, not {name!r}")
    info = name if isinstance(name, Implementation) else Implementation(name=name, version="0.1.0")
    if not info.name:
        raise ValueError("a server needs a name that is not empty")
    info = replace(info, **{field: given[field] for field in given.keys() & info.__struct_fields__})
    if problems := "; ".join(handlers.problems_of(info)):
        raise ValueError(f"Server: {problems}")
    return info


def _keys(given: Sequence[bytes] | None) -> Sequence[bytes]:
    """Choose the keys that seal: as given, else from the environment. Raises `ValueError` for a secret too short."""
    secret = os.environ.get("SPLICE_SECRET")
    return given or ([seal.key_of(secret, "SPLICE_SECRET")] if secret else ())


class Server:
    """An MCP server.

    `name` is what clients see. `service` is what transports are given. Raises `TypeError` and `ValueError` for options
    that make no sense.
    """

    def __init__(self, name: str | Implementation, **options: Unpack[ServerOptions]) -> None:
        given, chapter = checked("Server", options, _OPTIONS), sessions.Sessions()
        publish, live = chapter.publish, given.get("lifespan")
        self._tools, self._prompts = tools.Tools(publish), prompts.Prompts(publish)
        self._resources = resources.Resources(publish)
        self._completions = prompts.Completions(self._prompts, self._resources)
        features = self._tools, self._prompts, self._resources, self._completions
        protocols = eras.Protocols.of(given.pop("protocols", VERSIONS))
        settings = {option: given[option] for option in given.keys() & call.Home.__struct_fields__}
        home = call.Home(
            info=_described(name, given),
            chapters=(chapter, *features, *given.get("extensions", ())),
            life=None if live is None else lifespan.Life(partial(live, self)),
            sealer=seal.Sealer(_keys(given.get("state_keys"))),
            threads=threads.Threads(),
            publish=publish,
            expect=chapter.expect,
            read=self._resources.read_within,
            lend=self._tools.lend,
            protocols=protocols,
            hints=resources.hints("Server", given),
            **settings,
        )
        self.name = home.info.name
        """The server's name."""
        self.instructions = home.instructions
        """How to use the server, for the model."""
        self.service = service.ChapterService(home)
        """Answers requests; what a transport is given."""
        self.service.auth = given.get("auth")
        home.capabilities()  # refuses what cannot be declared
        if "store" in given:
            from splice.stores import opening  # noqa: PLC0415 - a server that keeps nothing loads no stores

            self.service.store = opening.open(given["store"])

    @overload
    def tool(self, fn: F) -> F: ...
    @overload
    def tool(self, fn: str | None = None, **options: Unpack[tools.ToolOptions]) -> Callable[[F], F]: ...
    def tool(self, fn: F | str | None = None, **options: Unpack[tools.ToolOptions]) -> F | Callable[[F], F]:
        """Decorate a function to offer it as a tool, with or without options. A text in its place is its name."""
        return _decorating(self.add_tool, fn, options)

    def add_tool(self, fn: Callable[..., Any], **options: Unpack[tools.ToolOptions]) -> None:
        """Offer a function as a tool. Name, description and schemas come from the function unless given.

        Raises `TypeError` for a signature that cannot be called by name, `ValueError` for a name that is taken and
        for options that do not fit.
        """
        self._limit(options)
        self._tools.listing.local.add(tools.ToolEntry(fn, options))

    def remove_tool(self, name: str) -> None:
        """Offer a tool no more. Raises `KeyError`."""
        self._tools.listing.local.remove(name)

    def resource(self, uri: str, **options: Unpack[resources.ResourceOptions]) -> Callable[[F], F]:
        """Decorate a function to offer what it returns under `uri`. Raises `TypeError` when used without a URI."""
        if not isinstance(uri, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # what decorates a function, bare
            raise TypeError('a resource needs a URI: @server.resource("notes://today")')
        return _decorator(lambda given: self.add_resource(given, uri, **options))

    def add_resource(self, fn: Callable[..., Any], uri: str, **options: Unpack[resources.ResourceOptions]) -> None:
        """Offer a resource; a `uri` with `{variables}` is a template, and the function takes them as parameters.

        Raises `TypeError` when parameters and variables differ, `ValueError` for a URI that is taken or malformed.
        """
        self._limit(options)
        self._resources.add(fn, uri, options)

    def remove_resource(self, uri: str) -> None:
        """Offer a resource, or a template, no more. Raises `KeyError`."""
        self._resources.remove(uri)

    @overload
    def prompt(self, fn: F) -> F: ...
    @overload
    def prompt(self, fn: str | None = None, **options: Unpack[handlers.FeatureOptions]) -> Callable[[F], F]: ...
    def prompt(self, fn: F | str | None = None, **options: Unpack[handlers.FeatureOptions]) -> F | Callable[[F], F]:
        """Decorate a function to offer it as a prompt, as `tool` does."""
        return _decorating(self.add_prompt, fn, options)

    def add_prompt(self, fn: Callable[..., Any], **options: Unpack[handlers.FeatureOptions]) -> None:
        """Offer a function as a prompt. Its parameters are the prompt's arguments."""
        self._limit(options)
        self._prompts.listing.local.add(prompts.prompt_entry(fn, options))

    def remove_prompt(self, name: str) -> None:
        """Offer a prompt no more. Raises `KeyError`."""
        self._prompts.listing.local.remove(name)

    def completion(self, target: str, argument: str) -> Callable[[F], F]:
        """Decorate a function that completes `argument` of the prompt or URI template `target`, which is there already.

        It takes what was typed so far, then if it wants them the arguments that are known, and a `Context` anywhere; it
        returns the values. Raises `ValueError` for a target or argument that is not there.
        """
        return _decorator(lambda given: self._completions.add(target, argument, given))

    def add_source(self, kind: Literal["tools", "prompts", "resources", "templates"], source: Source[Any]) -> None:
        """Offer what a source gives, behind what was added before; of two entries of one name the first one counts.

        To be called before the server is served, so that its capabilities tell of it. Raises `ValueError` for another
        kind.
        """
        chapters = {listed: each for each in (self._tools, self._prompts, self._resources) for listed in each.lists}
        if kind not in chapters:
            raise ValueError(f"unknown kind {kind!r}: sources have {', '.join(chapters)}")
        chapters[kind].add_source(kind, source)

    def _limit(self, options: handlers.FeatureOptions) -> None:
        """Check who calls before everything else, from the first feature on that is not for everybody."""
        if "scopes" in options or "visible" in options:
            from splice.auth.guard.access import limited  # noqa: PLC0415 - few servers have such features

            self.service.surround(limited(options))

    def publish(self, change: call.Change) -> None:
        """Tell every client that wants to know of a change: (method of a notification, URI or None). On any thread.

        `("notifications/elicitation/complete", id)` tells the one client that was sent to a link with that id.
        """
        self.service.home.publish(change)

    def route(self, path: str, methods: Sequence[str] = ("GET",), *, public: bool = False) -> Callable[[F], F]:
        """Decorate an async function that answers plain HTTP at `path`, beside the MCP endpoint.

        It takes nothing, or an `HTTPRequest`, and returns text, bytes, an ASGI response such as Starlette's, or what is
        sent as JSON. With `auth`, callers are checked here too, unless the route is `public`. Raises `TypeError` for
        another function and when used without a path, `ValueError` for a path without its slash, with a variable, or
        taken, and for methods that are not a list of methods.
        """
        if callable(path):
            raise TypeError('a route needs a path: @server.route("/health")')
        from splice.transports.http.routes import add_route  # noqa: PLC0415 - stdio must not load the HTTP endpoint

        return _decorator(lambda given: add_route(self.service, path, given, methods, public=public))

    def http_app(self, **options: "Unpack[HTTPOptions]") -> "HTTPApp":
        """Build the MCP endpoint as an ASGI application, to be served or mounted anywhere."""
        from splice.transports.http.app import HTTPApp  # noqa: PLC0415 - stdio must not load the HTTP endpoint

        return HTTPApp(self.service, **options)

    def run(self, transport: Transport = "stdio", **options: "Unpack[ListenOptions]") -> None:
        """Serve until the client leaves (stdio), or until SIGTERM or Ctrl-C.

        For "http": `host` and `port` (127.0.0.1:8000), `path` (/mcp), and the options of `http_app`. Listening beyond
        this machine needs `allowed_hosts`. Raises `OSError` when the address cannot be listened on, and `RuntimeError`
        for a lifespan that fails on entry, where an event loop runs already, and while the command line loads the file.
        """
        from splice.server import running  # noqa: PLC0415 - a server object that is only mounted needs none of it

        running.run(_to_be_run(self), transport, **options)

    async def run_async(self, transport: Transport = "stdio", **options: "Unpack[ListenOptions]") -> None:
        """Serve as `run` does, on the event loop that runs already."""
        from splice.server import running  # noqa: PLC0415 - as in `run`

        await running.serving(_to_be_run(self), transport, **options)


def _to_be_run(server: Server) -> service.ChapterService:
    """Give what a server runs by. Raises `RuntimeError` in a file that is only loaded."""
    if is_loading:
        raise RuntimeError("it serves while it is loaded; put that under `if __name__ == '__main__':`")
    return server.service


def _decorating(add: Callable[..., None], fn: F | str | None, options: handlers.FeatureOptions) -> F | Callable[[F], F]:
    """Decorate a function, or make what will; a text in its place is its name."""
    if isinstance(fn, str):
        options["name"], fn = fn, None
    decorate: Callable[[F], F] = _decorator(partial(add, **options))
    return decorate if fn is None else decorate(fn)


def _decorator(add: Callable[[Callable[..., Any]], None]) -> Callable[[F], F]:
    """Make a decorator that leaves the function as it is."""

    def decorate(fn: F) -> F:
        add(fn)
        return fn

    return decorate
