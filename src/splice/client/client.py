"""The client: one object to use a server with, whatever the server speaks and wherever it runs.

    async with Client("https://example.com/mcp") as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})

https://modelcontextprotocol.io/specification/2026-07-28/basic
"""

from collections.abc import AsyncIterator, Mapping
from typing import Any, Self, TypeVar, Unpack

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from splice.client import conversation, targets
from splice.client.calls import NO_OPTIONS, REQUEST_OPTIONS, Options, RequestOptions
from splice.client.lives import State
from splice.client.options import ClientOptions, written
from splice.errors import LocalProtocolError
from splice.protocol import completion, jsonrpc, lifecycle, methods, notifications, questions, resources, wire
from splice.protocol.capabilities import ServerCapabilities
from splice.protocol.narrow import narrow
from splice.protocol.prompts import PROMPTS_GET, PROMPTS_LIST, GetPromptParams, GetPromptResult, Prompt
from splice.protocol.resources import ReadResourceResult, Resource, ResourceTemplate
from splice.protocol.tools import TOOLS_CALL, TOOLS_LIST, CallToolParams, CallToolResult, Tool
from splice.rules.options import checked
from splice.transports.base import Hear

P = TypeVar("P", bound=wire.Params)
N = TypeVar("N", bound=Struct)
R = TypeVar("R", bound=Struct)
T = TypeVar("T")


class Client:
    """Uses one server.

    `target` is a server object, a URL, a command or an `mcpServers` entry (see `splice.client.targets`). Open it with
    `async with`, or with `open` and `close`, from any task. The options are:

    - `on_elicit` answers for the user, `on_sample` for a model, `roots` lists places to work in. These functions,
      `def` or `async def`, serve every version, and what is declared to the server follows from them;
    - `can` lists what they can do beyond the ordinary: ``elicitation.url``, ``sampling.tools``, ``sampling.context``;
      `on_elicit_complete` is told that a user has done what was to be done at a URL (2025-11-25);
    - `on_log` is told log messages, `on_change` that something changed;
    - `protocol` is ``auto``, ``legacy``, ``modern`` or a version;
    - `timeout` is how many seconds opening, or one call with all that it sets off, may take (60), None for ever;
      waiting for the user does not count;
    - `cache=False` keeps no lists and resources, which otherwise are asked for again when they are no longer fresh;
    - `name` and `version`, or `info` with more, are how the client introduces itself;
    - `extensions` add methods that the server may call, notifications to be told of, and kinds of result;
    - `restart=False` leaves a server process that has ended alone, which otherwise is started again when it is needed;
      `on_state` is told each new `state`, and why if something was lost;
    - `retries` is how often a request is sent again (0) that certainly was not carried out, or changes nothing;
    - `auth` gets the tokens for a URL: a token, a function that returns one, or a policy such as `splice.auth.OAuth()`;
    - `max_message` is the size of the largest message that the server may send, in bytes.
    """

    def __init__(self, target: targets.AnyTarget, **options: Unpack[ClientOptions]) -> None:
        self._made_of = targets.resolve(target), options
        self._begin()

    def _begin(self) -> None:
        self._conversation = conversation.Conversation(*self._made_of)
        self._calls = self._conversation.calls

    def __del__(self) -> None:
        if hasattr(self, "_conversation"):
            self._conversation.drop()

    # Opening and closing.

    async def open(self) -> Self:
        """Connect, and agree on a version. Opening what is open is fine; what was closed begins anew.

        Raises `TransportError`, `RPCError` and `RemoteProtocolError`.
        """
        await self._here().open()
        return self

    async def close(self) -> None:
        """Let go of the server; what is still running fails with `ConnectionClosed`. Closing twice is fine."""
        await self._here().close()

    def _here(self) -> conversation.Conversation:
        """Return the conversation: a new one if the last was left open on an event loop that is over."""
        if self._conversation.is_stranded:
            self._conversation.drop()
            self._begin()
        return self._conversation

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    @property
    def state(self) -> State:
        """What it is doing: ``new``, ``opening``, ``open``, ``lost``, ``reconnecting`` or ``closed``.

        When the connection is ``lost``, the next call brings it back, if `restart` allows it.
        """
        return self._conversation.states.now

    # What was agreed.

    @property
    def server_info(self) -> wire.Implementation:
        """Which program the server is; without a name if it does not say."""
        return self._calls.current().server

    @property
    def protocol_version(self) -> str:
        """The protocol version spoken."""
        return self._calls.current().facts.version

    @property
    def capabilities(self) -> ServerCapabilities:
        """The server's capabilities: which features it offers."""
        return self._calls.current().capabilities

    @property
    def instructions(self) -> str | None:
        """How to use the server, for the model."""
        return self._calls.current().instructions

    # Tools.

    def tools(self, **options: Unpack[RequestOptions]) -> AsyncIterator[Tool]:
        """Yield all tools, page by page; none if the server has none. `timeout` counts for a page."""
        return self._calls.tools(_read(options))

    async def list_tools(self, **options: Unpack[RequestOptions]) -> list[Tool]:
        """List all tools. Over HTTP, since 2026-07-28, without those whose header marks break the rules."""
        return await self._all(self.tools(**options), TOOLS_LIST, options)

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, **options: Unpack[RequestOptions]
    ) -> CallToolResult:
        """Call a tool. One that failed is a result with `is_error`.

        Structured content is checked against the tool's schema if the tool has been listed.
        `RequestOptions` says what the options are.
        Raises `RPCError`, `TransportError` and `ProtocolError`.
        """
        params = CallToolParams(name=name, arguments=written(name, arguments or {}))
        result = await self._calls.request(TOOLS_CALL, params, _read(options))
        self._calls.cache.check(name, result)
        return result

    # Resources.

    def resources(self, **options: Unpack[RequestOptions]) -> AsyncIterator[Resource]:
        """Yield all resources, page by page; as `tools` otherwise."""
        return self._calls.items(resources.RESOURCES_LIST, lambda page: page.resources, _read(options))

    async def list_resources(self, **options: Unpack[RequestOptions]) -> list[Resource]:
        """List all resources."""
        return await self._all(self.resources(**options), resources.RESOURCES_LIST, options)

    def resource_templates(self, **options: Unpack[RequestOptions]) -> AsyncIterator[ResourceTemplate]:
        """Yield all resource templates, page by page; as `tools` otherwise."""
        row = resources.RESOURCES_TEMPLATES_LIST
        return self._calls.items(row, lambda page: page.resource_templates, _read(options))

    async def list_resource_templates(self, **options: Unpack[RequestOptions]) -> list[ResourceTemplate]:
        """List all resource templates."""
        return await self._all(self.resource_templates(**options), resources.RESOURCES_TEMPLATES_LIST, options)

    async def read_resource(self, uri: str, **options: Unpack[RequestOptions]) -> ReadResourceResult:
        """Read a resource. Raises as `call_tool` does."""
        self._need("resources")
        row, params = resources.RESOURCES_READ, resources.ReadResourceParams(uri=uri)
        return (await self._calls.fetch(row, params, ("resource", row.name, uri), _read(options)))[0]

    async def subscribe(self, uri: str, **options: Unpack[RequestOptions]) -> None:
        """Let `on_change` hear of changes of one resource, until the client is closed.

        Raises `LocalProtocolError` if the server does not tell.
        """
        await self._conversation.subscriptions.add(uri, _read(options))

    async def unsubscribe(self, uri: str, **options: Unpack[RequestOptions]) -> None:
        """Hear no more of it."""
        await self._conversation.subscriptions.remove(uri, _read(options))

    # Prompts and completion.

    def prompts(self, **options: Unpack[RequestOptions]) -> AsyncIterator[Prompt]:
        """Yield all prompts, page by page; as `tools` otherwise."""
        return self._calls.items(PROMPTS_LIST, lambda page: page.prompts, _read(options))

    async def list_prompts(self, **options: Unpack[RequestOptions]) -> list[Prompt]:
        """List all prompts."""
        return await self._all(self.prompts(**options), PROMPTS_LIST, options)

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, **options: Unpack[RequestOptions]
    ) -> GetPromptResult:
        """Get a prompt with its arguments filled in. Raises as `call_tool` does."""
        self._need("prompts")
        for argument, value in (arguments or {}).items():
            if not isinstance(value, str):  # pyright: ignore[reportUnnecessaryIsInstance]  # not everybody checks types
                kind = type(value).__name__
                raise LocalProtocolError(f"Argument {argument!r} of prompt {name} must be text, not {kind}: {value!r}")
        params = GetPromptParams(name=name, arguments=None if arguments is None else dict(arguments))
        return await self._calls.request(PROMPTS_GET, params, _read(options))

    async def complete(
        self,
        ref: completion.PromptReference | completion.ResourceTemplateReference,
        name: str,
        value: str,
        context: Mapping[str, str] | None = None,
        **options: Unpack[RequestOptions],
    ) -> completion.Completion:
        """Complete an argument of a prompt or a variable of a resource template; `context` are the other arguments."""
        if narrow(ServerCapabilities(completions={}), self.protocol_version).completions is not None:
            self._need("completions")
        known = None if context is None else completion.CompletionContext(arguments=dict(context))
        argument = completion.CompletionArgument(name=name, value=value)
        ours = narrow(completion.CompleteParams(ref=ref, argument=argument, context=known), self.protocol_version)
        return (await self._calls.request(completion.COMPLETE, ours, _read(options))).completion

    # Requests and notifications of any kind.

    async def request(self, row: methods.Method[P, R], params: P, **options: Unpack[RequestOptions]) -> R:
        """Send a request of your own, and return its result, or one of a type that an extension adds.

        What may be answered with questions has `input_responses` and `request_state` among its params.
        Raises as `call_tool` does, and `LocalProtocolError` if the version has no such request.
        """
        self._check_exists(row)
        if params.meta is not None:
            own = msgspec.json.decode(params.meta, type=dict[str, Raw])
            options["meta"] = {**own, **(options.get("meta") or {})}
        ours = replace(narrow(params, self.protocol_version))
        return await self._calls.request(row, ours, _read(options))

    async def notify(self, row: methods.Note[N], params: N | None = None) -> None:
        """Send a notification. Raises `LocalProtocolError` if the version has none of this kind."""
        self._check_exists(row)
        await self._calls.notify(jsonrpc.Notification(row.name, narrow(params, self.protocol_version)))

    async def forward(self, request: jsonrpc.Request, hear: Hear) -> jsonrpc.Response:
        """Pass a request on as it came, and return the response to it: what a proxy does.

        Params and result are not read, so no field is lost. In `_meta`, our version, capabilities and client info take
        the place of the sender's. `hear` is given the notifications that come before the response, progress under the
        sender's own token. There is no time limit: cancel the call to cancel the request.
        Raises `TransportError`, and `LocalProtocolError` for an argument that no header can mirror.
        """
        return await self._calls.forward(request, hear)

    def _check_exists(self, row: methods.Note[Any]) -> None:
        if not row.exists(self.protocol_version):
            raise LocalProtocolError(f"{row.name} does not exist in protocol version {self.protocol_version}")

    def _need(self, capability: str) -> None:
        """Raise `LocalProtocolError` if the server did not declare a capability."""
        if getattr(self.capabilities, capability) is None:
            name = self._calls.current().server_name
            raise LocalProtocolError(f"{name} did not declare the capability `{capability}`, so nothing was sent")

    async def _all(self, listed: AsyncIterator[T], row: methods.Method[Any, Any], options: RequestOptions) -> list[T]:
        with self._calls.within(row.name, options.get("timeout")):
            return [item async for item in listed]

    # Everything else.

    async def set_log_level(self, level: notifications.LoggingLevel) -> None:
        """Say from which severity on `on_log` wants to hear of log messages."""
        if level not in notifications.LOGGING_LEVELS:
            raise ValueError(f"level must be one of {', '.join(notifications.LOGGING_LEVELS)}, not {level!r}")
        self._need("logging")
        await self._conversation.set_log_level(level)

    async def ping(self, **options: Unpack[RequestOptions]) -> None:
        """Find out whether the server answers."""
        has_ping = lifecycle.PING.exists(self.protocol_version)
        row: methods.Method[Any, Any] = lifecycle.PING if has_ping else lifecycle.DISCOVER
        await self._calls.request(row, wire.NoParams(), _read(options))

    async def roots_changed(self) -> None:
        """Tell the server that `roots` would answer differently now. Since 2026-07-28 it asks whenever it needs to."""
        if self._calls.current().stamp.capabilities.roots is None:
            raise LocalProtocolError("This client has no roots to change: pass roots= to Client")
        if questions.ROOTS_CHANGED.exists(self.protocol_version):
            await self.notify(questions.ROOTS_CHANGED)


def _read(options: RequestOptions) -> Options:
    return Options(**checked("a request", options, REQUEST_OPTIONS)) if options else NO_OPTIONS
