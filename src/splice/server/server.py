"""The server: what an author adds features to, and what a transport hands requests to.

A server object knows no transport and no era. It can be run on stdio, mounted as an ASGI application, and called in
the same process, all at once.

https://modelcontextprotocol.io/specification/2026-07-28/server
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, Unpack, overload

from msgspec import UNSET, Raw

from splice.errors import (
    InternalError,
    LocalProtocolError,
    MCPError,
    MissingClientCapability,
    ResourceNotFound,
    RPCError,
    URLElicitationRequired,
)
from splice.protocol.jsonrpc import Notification, Response, Success, failure, raw
from splice.protocol.lifecycle import (
    Implementation,
    PromptsCapability,
    ResourcesCapability,
    ServerCapabilities,
    ToolsCapability,
)
from splice.protocol.methods import INITIALIZED, PROMPTS_CHANGED, RESOURCES_CHANGED, TOOLS_CHANGED
from splice.protocol.resources import ReadResourceResult
from splice.protocol.versions import Facts
from splice.rules.eras import Admitted, Answer, Session, admit
from splice.rules.journal import Journal
from splice.rules.seal import Sealer
from splice.server.answers import ANSWERS, Method, read
from splice.server.asking import Asking
from splice.server.context import Context, InputRequired
from splice.server.failures import ErrorPolicy, report
from splice.server.features import Catalogue
from splice.server.lifespan import Life, Lifespan
from splice.server.options import FeatureOptions, ResourceOptions, ToolOptions
from splice.server.prompts import Completions, PromptEntry
from splice.server.resources import ResourceEntry, TemplateEntry, resource_entry
from splice.server.subscriptions import Change, Subscriptions
from splice.server.tools import ToolEntry
from splice.transports.base import Exchange, Sender

if TYPE_CHECKING:
    from splice.transports.http_server import HTTPApp

F = TypeVar("F", bound=Callable[..., Any])

Proceed: TypeAlias = Callable[[], Awaitable[Answer | Raw]]
Middleware: TypeAlias = Callable[[Context, Proceed], Awaitable[Answer | Raw]]
"""Stands around every request. A list arrives as the JSON that was written before; everything else as its Struct."""


class Server:
    """An MCP server.

    `name` and `version` are what clients see; `instructions` tell a model how to use the server. `lifespan` is an
    async context manager factory: it is entered before the first request, and what it yields is `Context.lifespan`.
    `errors` says what others read of an exception that a handler did not mean for them. `state_keys` (32 bytes each,
    the first one seals, all open) must be shared by all replicas of one server; by default they are made anew per
    process. `page_size` cuts lists into pages.
    """

    def __init__(
        self,
        name: str | Implementation,
        *,
        version: str = "0.1.0",
        instructions: str | None = None,
        lifespan: Lifespan | None = None,
        errors: ErrorPolicy = "type",
        middleware: Sequence[Middleware] = (),
        state_keys: Sequence[bytes] = (),
        page_size: int | None = None,
    ) -> None:
        self.info = Implementation(name=name, version=version) if isinstance(name, str) else name
        self.info_json: Raw = raw(self.info)
        self.instructions = instructions
        self.subscriptions = Subscriptions()
        self.asking = Asking(Sealer(state_keys))
        self.completions = Completions()
        self.tools: Catalogue[ToolEntry] = self._catalogue("tool", TOOLS_CHANGED.name, page_size)
        self.resources: Catalogue[ResourceEntry] = self._catalogue("resource", RESOURCES_CHANGED.name, page_size)
        self.templates: Catalogue[TemplateEntry] = self._catalogue(
            "resource template", RESOURCES_CHANGED.name, page_size
        )
        self.prompts: Catalogue[PromptEntry] = self._catalogue("prompt", PROMPTS_CHANGED.name, page_size)
        self._errors: ErrorPolicy = errors
        self._middleware = tuple(middleware)
        self._life = Life(self, lifespan)

    # What the server offers.

    @property
    def name(self) -> str:
        """The server's name."""
        return self.info.name

    @property
    def lifespan_state(self) -> Any:
        """What the lifespan yielded."""
        return self._life.state

    @property
    def capabilities(self) -> ServerCapabilities:
        """What the server can do, as far as features were added."""
        resources = self.resources.offered or self.templates.offered
        return ServerCapabilities(
            logging={},
            tools=ToolsCapability(list_changed=True) if self.tools.offered else UNSET,
            resources=ResourcesCapability(subscribe=True, list_changed=True) if resources else UNSET,
            prompts=PromptsCapability(list_changed=True) if self.prompts.offered else UNSET,
            completions={} if self.completions else UNSET,
        )

    @overload
    def tool(self, fn: F) -> F: ...
    @overload
    def tool(self, **options: Unpack[ToolOptions]) -> Callable[[F], F]: ...
    def tool(self, fn: F | None = None, **options: Unpack[ToolOptions]) -> F | Callable[[F], F]:
        """Decorate a function to offer it as a tool, with or without options."""
        decorate: Callable[[F], F] = _decorator(lambda given: self.add_tool(given, **options))
        return decorate if fn is None else decorate(fn)

    def add_tool(self, fn: Callable[..., Any], **options: Unpack[ToolOptions]) -> None:
        """Offer a function as a tool. Name, description and schemas come from the function unless given.

        Raises `TypeError` for a signature that cannot be called by name, `ValueError` for a name that is taken.
        """
        self.tools.add(ToolEntry.of(fn, self._errors, options))

    def remove_tool(self, name: str) -> None:
        """Offer a tool no more. Raises `KeyError`."""
        self.tools.remove(name)

    def resource(self, uri: str, **options: Unpack[ResourceOptions]) -> Callable[[F], F]:
        """Decorate a function to offer what it returns under `uri`."""
        return _decorator(lambda given: self.add_resource(given, uri, **options))

    def add_resource(self, fn: Callable[..., Any], uri: str, **options: Unpack[ResourceOptions]) -> None:
        """Offer a resource; a `uri` with `{variables}` is a template, and the function takes them as parameters.

        Raises `TypeError` when parameters and variables differ, `ValueError` for a URI that is taken or malformed.
        """
        entry = resource_entry(fn, uri, options)
        if isinstance(entry, TemplateEntry):
            self.templates.add(entry)
        else:
            self.resources.add(entry)

    def remove_resource(self, uri: str) -> None:
        """Offer a resource, or a template, no more. Raises `KeyError`."""
        (self.resources if self.resources.get(uri) is not None else self.templates).remove(uri)

    @overload
    def prompt(self, fn: F) -> F: ...
    @overload
    def prompt(self, **options: Unpack[FeatureOptions]) -> Callable[[F], F]: ...
    def prompt(self, fn: F | None = None, **options: Unpack[FeatureOptions]) -> F | Callable[[F], F]:
        """Decorate a function to offer it as a prompt, with or without options."""
        decorate: Callable[[F], F] = _decorator(lambda given: self.add_prompt(given, **options))
        return decorate if fn is None else decorate(fn)

    def add_prompt(self, fn: Callable[..., Any], **options: Unpack[FeatureOptions]) -> None:
        """Offer a function as a prompt. Its parameters are the prompt's arguments."""
        self.prompts.add(PromptEntry.of(fn, options))

    def remove_prompt(self, name: str) -> None:
        """Offer a prompt no more. Raises `KeyError`."""
        self.prompts.remove(name)

    def completion(self, target: str, argument: str) -> Callable[[F], F]:
        """Decorate a function that completes `argument` of the prompt or URI template `target`.

        It takes what was typed so far, and if it wants them the arguments that are known, and returns the values.
        """
        return _decorator(lambda given: self.completions.add(target, argument, given))

    # What a transport needs: `splice.transports.base.Service`.

    async def handle(self, exchange: Exchange) -> Response:
        """Answer one request, whatever transport it came by. Never raises, but for being cancelled."""
        request = exchange.request
        facts: Facts | None = None
        try:
            admitted = admit(request, exchange.sender.session, ANSWERS)
            facts = admitted.facts
            method = ANSWERS[admitted.method.name]
            await self._life.begin()
            result = await (
                self._through(method, exchange, admitted) if self._middleware else method(self, exchange, admitted)
            )
            if not isinstance(result, Raw):
                result = admitted.era.finish(result, admitted, self.info_json)
            return Success(request.id, result)
        except RPCError as error:
            return failure(request.id, _coded(error, facts))
        except MCPError as error:
            return failure(request.id, InternalError(str(error)))
        except BaseException as error:
            if _ends_us(error):
                raise
            return failure(request.id, InternalError(report(request.method, error, self._errors)))

    async def hear(self, note: Notification, sender: Sender) -> None:
        """Take note of a notification that concerns no exchange: of all there are, only that the client is ready."""
        if note.method == INITIALIZED.name and sender.session is not None:
            sender.session.ready = True

    async def open(self, session: Session) -> None:
        """Tell a legacy session of changes from now on."""
        self.subscriptions.join(session)

    async def close(self, session: Session) -> None:
        """Forget a legacy session."""
        self.subscriptions.leave(session)

    async def stop(self) -> None:
        """End the streams that would run for ever."""
        self.subscriptions.close()

    async def end(self) -> None:
        """Leave the lifespan. Raises what it raises."""
        await self._life.end()

    def header_parameters(self, tool: str) -> Mapping[tuple[str, ...], str] | None:
        """Tell which arguments of a tool HTTP headers must mirror."""
        entry = self.tools.get(tool)
        return None if entry is None else entry.header_parameters

    # What a handler's context needs.

    def context(self, exchange: Exchange, admitted: Admitted) -> Context:
        """Build the context of a request, or take the one that middleware has got already.

        Raises `InvalidParams` for a `requestState` that cannot be trusted.
        """
        if admitted.context is not None:
            shared: Context = admitted.context
            return shared
        journal = self.asking.journal(exchange, admitted) if admitted.method.may_ask else Journal()
        return Context(self, exchange, admitted, journal)

    async def read(self, uri: str, context: Context) -> ReadResourceResult:
        """Read one of this server's own resources for a running handler.

        Raises `ResourceNotFound`, and `LocalProtocolError` for one that wants to ask the client by hand.
        """
        result = await read(self, uri, context)
        if isinstance(result, InputRequired):
            raise LocalProtocolError(f"{uri} returned InputRequired, which only a request of its own can answer")
        return result

    def publish(self, change: Change) -> None:
        """Tell every client that wants to know of a change."""
        self.subscriptions.publish(change)

    # Running.

    def http_app(self, **options: Any) -> "HTTPApp":
        """Build the MCP endpoint as an ASGI application, to be served or mounted anywhere.

        `options` are those of `HTTPApp`: `path`, `allowed_hosts`, `allowed_origins`, `json_response`, `stateless`,
        `max_body`.
        """
        from splice.transports.http_server import HTTPApp  # noqa: PLC0415 - stdio must not load the HTTP endpoint

        return HTTPApp(self, **options)

    def run(self, transport: Literal["stdio", "http"] = "stdio", **options: Any) -> None:
        """Serve until the client leaves (stdio), or until SIGTERM or Ctrl-C.

        For "http": `host` and `port` (127.0.0.1:8000), `path` (/mcp), and the options of `http_app`. Listening beyond
        this machine needs `allowed_hosts`. Raises `OSError` when the address cannot be listened on.
        """
        from splice.server import running  # noqa: PLC0415 - a server object that is only mounted needs none of it

        running.run(self, transport, **options)

    async def _through(self, method: Method, exchange: Exchange, admitted: Admitted) -> Answer | Raw:
        """Pass a request through the middleware, the first one outermost."""
        admitted.context = context = self.context(exchange, admitted)

        def proceed_from(index: int) -> Proceed:
            if index == len(self._middleware):
                return lambda: method(self, exchange, admitted)
            return lambda: self._middleware[index](context, proceed_from(index + 1))

        run = proceed_from(0)
        return await (self.asking.run(context, exchange, admitted, run) if admitted.method.may_ask else run())

    def _catalogue(self, kind: str, method: str, page_size: int | None) -> Catalogue[Any]:
        return Catalogue(kind, lambda: self.publish((method, None)), page_size)


def _decorator(add: Callable[[Callable[..., Any]], None]) -> Callable[[F], F]:
    """Make a decorator that leaves the function as it is."""

    def decorate(fn: F) -> F:
        add(fn)
        return fn

    return decorate


def _ends_us(error: BaseException) -> bool:
    """Tell whether an exception is for the one who runs us, and no accident of a handler's, such as `sys.exit`."""
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        return task is not None and task.cancelling() > 0
    return isinstance(error, (KeyboardInterrupt, GeneratorExit))


def _coded(error: RPCError, facts: Facts | None) -> RPCError:
    """Give an error the code that it has in the version of the request."""
    if facts is not None and isinstance(error, ResourceNotFound):
        error.code = facts.resource_not_found
    elif facts is not None and isinstance(error, MissingClientCapability):
        error.code = facts.missing_capability
    elif facts is not None and isinstance(error, URLElicitationRequired):
        error.code = facts.url_elicitation_required
    return error
