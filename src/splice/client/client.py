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

from splice.client.calls import NO_OPTIONS, Options, RequestOptions
from splice.client.conversation import ClientOptions, Conversation
from splice.client.forwarding import forward
from splice.client.lists import items, mirrored, tools
from splice.client.notices import Change
from splice.client.targets import AnyTarget, resolve
from splice.errors import HeaderMismatch, LocalProtocolError
from splice.protocol import completion
from splice.protocol.capabilities import ServerCapabilities
from splice.protocol.input import ROOTS_CHANGED
from splice.protocol.jsonrpc import Notification, Request, Response, raw
from splice.protocol.lifecycle import DISCOVER, PING
from splice.protocol.logging import LOGGING_LEVELS, LoggingLevel
from splice.protocol.methods import Method, Note
from splice.protocol.narrow import narrow
from splice.protocol.prompts import PROMPTS_GET, PROMPTS_LIST, GetPromptParams, GetPromptResult, Prompt
from splice.protocol.resources import (
    RESOURCES_LIST,
    RESOURCES_READ,
    RESOURCES_TEMPLATES_LIST,
    ReadResourceParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
)
from splice.protocol.tools import TOOLS_CALL, CallToolParams, CallToolResult, Tool
from splice.protocol.wire import Implementation, NoParams, Params
from splice.transports.base import Hear

__all__ = ["Change", "Client"]

P = TypeVar("P", bound=Params)
N = TypeVar("N", bound=Struct)
R = TypeVar("R", bound=Struct)


class Client:
    """Uses one server.

    `target` is a server object, a URL, a command or an `mcpServers` entry (see `splice.client.targets`). Open it with
    `async with`, or with `open` and `close`, from any task. The options are:

    - `on_elicit` answers for the user, `on_sample` for a model, `roots` lists places to work in. These functions,
      `def` or `async def`, serve every version, and what is declared to the server follows from them;
    - `on_log` is told log messages, `on_change` that something changed;
    - `protocol` is ``auto``, ``legacy``, ``modern`` or a version;
    - `timeout` is how many seconds a request may take (60), None for ever; waiting for the user does not count;
    - `info` is how the client introduces itself;
    - `extensions` add methods that the server may call, notifications to be told of, and kinds of result.
    """

    def __init__(self, target: AnyTarget, **options: Unpack[ClientOptions]) -> None:
        unknown = options.keys() - ClientOptions.__annotations__
        if unknown:
            raise TypeError(f"Client has no option {', '.join(sorted(unknown))}")
        self._conversation = Conversation(resolve(target), options)
        self._calls = self._conversation.calls

    # Opening and closing.

    async def open(self) -> Self:
        """Connect, and agree on a version. Opening what is open is fine; what was closed stays closed.

        Raises `TransportError`, `RPCError` and `RemoteProtocolError`.
        """
        await self._conversation.open()
        return self

    async def close(self) -> None:
        """Let go of the server; what is still running fails with `ConnectionClosed`. Closing twice is fine."""
        await self._conversation.close()

    async def __aenter__(self) -> Self:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    # What was agreed.

    @property
    def server(self) -> Implementation:
        """Which program the server is; without a name if it does not say."""
        return self._calls.terms.server

    @property
    def version(self) -> str:
        """The protocol version spoken."""
        return self._calls.terms.facts.version

    @property
    def capabilities(self) -> ServerCapabilities:
        """The server's capabilities: which features it offers."""
        return self._calls.terms.capabilities

    @property
    def instructions(self) -> str | None:
        """How to use the server, for the model."""
        return self._calls.terms.instructions

    # Tools.

    def tools(self) -> AsyncIterator[Tool]:
        """Yield all tools, page by page."""
        return tools(self._calls, self._conversation.known)

    async def list_tools(self) -> list[Tool]:
        """List all tools. Over HTTP, since 2026-07-28, without those whose header marks break the rules."""
        return [tool async for tool in self.tools()]

    async def call_tool(
        self, name: str, arguments: Mapping[str, Any] | None = None, **options: Unpack[RequestOptions]
    ) -> CallToolResult:
        """Call a tool. One that failed is a result with `is_error`.

        Structured content is checked against the tool's schema if the tool has been listed.
        `RequestOptions` says what the options are.
        Raises `RPCError`, `TransportError` and `ProtocolError`.
        """
        calls, known = self._calls, self._conversation.known
        arguments = arguments or {}
        params = CallToolParams(name=name, arguments=raw(arguments))
        if not calls.terms.mirrors:
            result = await calls.request(TOOLS_CALL, params, _read(options))
        else:
            headers = await mirrored(calls, known, name, arguments)
            try:
                result = await calls.request(TOOLS_CALL, params, Options(**options, mirrored=headers))
            except HeaderMismatch:  # the schema may have changed
                known.forget()
                headers = await mirrored(calls, known, name, arguments)
                params = CallToolParams(name=name, arguments=params.arguments)
                result = await calls.request(TOOLS_CALL, params, Options(**options, mirrored=headers))
        known.check(name, result)
        return result

    # Resources.

    def resources(self) -> AsyncIterator[Resource]:
        """Yield all resources, page by page."""
        return items(self._calls, RESOURCES_LIST, lambda page: page.resources)

    async def list_resources(self) -> list[Resource]:
        """List all resources."""
        return [resource async for resource in self.resources()]

    def resource_templates(self) -> AsyncIterator[ResourceTemplate]:
        """Yield all resource templates, page by page."""
        return items(self._calls, RESOURCES_TEMPLATES_LIST, lambda page: page.resource_templates)

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """List all resource templates."""
        return [template async for template in self.resource_templates()]

    async def read_resource(self, uri: str, **options: Unpack[RequestOptions]) -> ReadResourceResult:
        """Read a resource. Raises as `call_tool` does."""
        return await self._calls.request(RESOURCES_READ, ReadResourceParams(uri=uri), _read(options))

    async def subscribe(self, uri: str) -> None:
        """Let `on_change` hear of changes of one resource. Raises `LocalProtocolError` if the server does not tell."""
        await self._conversation.subscriptions.add(uri)

    async def unsubscribe(self, uri: str) -> None:
        """Hear no more of it."""
        await self._conversation.subscriptions.remove(uri)

    # Prompts and completion.

    def prompts(self) -> AsyncIterator[Prompt]:
        """Yield all prompts, page by page."""
        return items(self._calls, PROMPTS_LIST, lambda page: page.prompts)

    async def list_prompts(self) -> list[Prompt]:
        """List all prompts."""
        return [prompt async for prompt in self.prompts()]

    async def get_prompt(
        self, name: str, arguments: Mapping[str, str] | None = None, **options: Unpack[RequestOptions]
    ) -> GetPromptResult:
        """Get a prompt with its arguments filled in. Raises as `call_tool` does."""
        params = GetPromptParams(name=name, arguments=None if arguments is None else dict(arguments))
        return await self._calls.request(PROMPTS_GET, params, _read(options))

    async def complete(
        self,
        ref: completion.PromptReference | completion.ResourceTemplateReference,
        name: str,
        value: str,
        context: Mapping[str, str] | None = None,
    ) -> completion.Completion:
        """Complete an argument of a prompt or a variable of a resource template; `context` are the other arguments."""
        known = None if context is None else completion.CompletionContext(arguments=dict(context))
        params = completion.CompleteParams(
            ref=ref, argument=completion.CompletionArgument(name=name, value=value), context=known
        )
        return (await self._calls.request(completion.COMPLETE, narrow(params, self.version))).completion

    # Requests and notifications of any kind.

    async def request(self, row: Method[P, R], params: P, **options: Unpack[RequestOptions]) -> R:
        """Send a request of your own, and return its result, or one of a type that an extension adds.

        What may be answered with questions has `input_responses` and `request_state` among its params.
        Raises as `call_tool` does, and `LocalProtocolError` if the version has no such request.
        """
        self._check_exists(row)
        if params.meta is not None:
            own = msgspec.json.decode(params.meta, type=dict[str, Raw])
            options["meta"] = {**own, **(options.get("meta") or {})}
        ours = replace(narrow(params, self.version))
        return await self._calls.request(row, ours, _read(options))

    async def notify(self, row: Note[N], params: N | None = None) -> None:
        """Send a notification. Raises `LocalProtocolError` if the version has none of this kind."""
        self._check_exists(row)
        await self._calls.notify(Notification(row.name, None if params is None else narrow(params, self.version)))

    async def forward(self, request: Request, hear: Hear) -> Response:
        """Pass a request on as it came, and return the response to it: what a proxy does.

        Params and result are not read, so no field is lost. In `_meta`, our version, capabilities and client info take
        the place of the sender's. `hear` is given the notifications that come before the response, progress under the
        sender's own token. There is no time limit: cancel the call to cancel the request.
        Raises `TransportError`, and `LocalProtocolError` for an argument that no header can mirror.
        """
        return await forward(self._calls, self._conversation.known, request, hear)

    def _check_exists(self, row: Note[Any]) -> None:
        if not row.exists(self.version):
            raise LocalProtocolError(f"{row.name} does not exist in protocol version {self.version}")

    # Everything else.

    async def set_log_level(self, level: LoggingLevel) -> None:
        """Say from which severity on `on_log` wants to hear of log messages."""
        if level not in LOGGING_LEVELS:
            raise ValueError(f"level must be one of {', '.join(LOGGING_LEVELS)}, not {level!r}")
        await self._conversation.set_log_level(level)

    async def ping(self) -> None:
        """Find out whether the server answers."""
        row: Method[Any, Any] = PING if PING.exists(self.version) else DISCOVER
        await self._calls.request(row, NoParams())

    async def roots_changed(self) -> None:
        """Tell the server that `roots` would answer differently now. Since 2026-07-28 it asks whenever it needs to."""
        if ROOTS_CHANGED.exists(self.version):
            await self.notify(ROOTS_CHANGED)


def _read(options: RequestOptions) -> Options:
    return Options(**options) if options else NO_OPTIONS
