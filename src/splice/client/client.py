"""The client: one object to use a server with, whatever the server speaks and wherever it runs.

    async with Client("https://example.com/mcp") as client:
        result = await client.call_tool("add", {"a": 1, "b": 2})

https://modelcontextprotocol.io/specification/2026-07-28/basic
"""

import logging
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

from msgspec import UNSET, UnsetType
from msgspec.structs import replace

from splice.client.calls import NO_OPTIONS, Calls, Options
from splice.client.conversation import Conversation
from splice.client.handlers import Handlers, OnElicit, OnSample, Roots
from splice.client.input import converse
from splice.client.notices import Change, OnChange, OnLog, OnProgress
from splice.client.targets import AnyTarget, resolve
from splice.errors import (
    HeaderMismatch,
    RemoteProtocolError,
    RPCError,
)
from splice.protocol.jsonrpc import Notification, raw
from splice.protocol.lifecycle import (
    LOGGING_LEVELS,
    Implementation,
    LoggingLevel,
    NoParams,
    PageParams,
    PageResult,
    ServerCapabilities,
)
from splice.protocol.methods import (
    COMPLETE,
    DISCOVER,
    PING,
    PROMPTS_GET,
    PROMPTS_LIST,
    RESOURCES_LIST,
    RESOURCES_READ,
    RESOURCES_TEMPLATES_LIST,
    ROOTS_CHANGED,
    TOOLS_CALL,
    TOOLS_LIST,
    Method,
)
from splice.protocol.narrow import narrow
from splice.protocol.prompts import (
    CompleteParams,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptParams,
    GetPromptResult,
    Prompt,
    PromptReference,
    ResourceTemplateReference,
)
from splice.protocol.resources import ReadResourceParams, ReadResourceResult, Resource, ResourceTemplate
from splice.protocol.tools import CallToolParams, CallToolResult, Tool
from splice.rules.negotiation import preference

__all__ = ["Change", "Client"]

MAX_PAGES = 10_000
"""How many pages a list may have; a server that counts further is playing with us."""

P = TypeVar("P", bound=PageResult)
log = logging.getLogger("splice.client")


class Client:
    """Uses one server.

    `target` is a server object, a URL, a command or an `mcpServers` entry (see `splice.client.targets`). Open it with
    `async with`, or with `open` and `close`, from any task.

    Handlers, `def` or `async def`, serve both eras, and what is declared to the server follows from them: `on_elicit`
    answers for the user, `on_sample` for a model, `roots` lists places to work in; `on_log` is told log messages,
    `on_change` that something changed. `protocol` is ``auto``, ``legacy``, ``modern`` or a version. `timeout` is how
    many seconds a request may take, None for ever; waiting for the user's answer does not count.
    """

    def __init__(
        self,
        target: AnyTarget,
        *,
        on_elicit: OnElicit | None = None,
        on_sample: OnSample | None = None,
        roots: Roots | None = None,
        on_log: OnLog | None = None,
        on_change: OnChange | None = None,
        protocol: str = "auto",
        timeout: float | None = 60.0,
    ) -> None:
        self._conversation = Conversation(
            resolve(target), preference(protocol), Handlers(on_elicit, on_sample, roots), on_log, on_change, timeout
        )

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

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.close()

    # What was agreed.

    @property
    def server(self) -> Implementation:
        """Which program the server is; without a name if it does not say."""
        return self._conversation.calls.terms.server

    @property
    def version(self) -> str:
        """The protocol version spoken."""
        return self._conversation.calls.terms.facts.version

    @property
    def capabilities(self) -> ServerCapabilities:
        """What the server offers."""
        return self._conversation.calls.terms.capabilities

    @property
    def instructions(self) -> str | None:
        """How to use the server, for the model."""
        return self._conversation.calls.terms.instructions

    # Tools.

    async def tools(self) -> AsyncIterator[Tool]:
        """Yield all tools, page by page."""
        calls, known = self._conversation.calls, self._conversation.known
        edition = known.edition
        async for page in _pages(calls, TOOLS_LIST):
            for tool in known.learn(page.tools, mirrors=calls.mirrors):
                yield tool
        known.complete = known.edition == edition

    async def list_tools(self) -> list[Tool]:
        """List all tools. Over HTTP, since 2026-07-28, without those whose header marks break the rules."""
        return [tool async for tool in self.tools()]

    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - one limit per request, and there may be several
        progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> CallToolResult:
        """Call a tool. One that failed is a result with `is_error`.

        Structured content is checked against the tool's schema if the tool has been listed.
        `timeout` replaces the client's own for each request that this takes. `progress` is called with how far it is,
        how far it goes and what is being done. Raises `RPCError`, `TransportError` and `ProtocolError`.
        """
        calls = self._conversation.calls
        options = _options(timeout, progress, meta)
        if calls.mirrors:
            result = await self._call_mirrored(calls, name, arguments or {}, options)
        else:
            params = CallToolParams(name=name, arguments=raw(arguments or {}))
            result = await converse(calls, self._conversation.handlers, TOOLS_CALL, params, options)
        self._conversation.known.check(name, result)
        return result

    async def _call_mirrored(
        self, calls: Calls, name: str, arguments: Mapping[str, Any], options: Options
    ) -> CallToolResult:
        """Call a tool with the headers its schema asks for; if the server disagrees, look at the schema again, once."""
        known = self._conversation.known

        async def attempt() -> CallToolResult:
            if not known.complete:
                try:
                    await self.list_tools()
                except RPCError:  # then there is nothing to know
                    known.complete = True
            params = CallToolParams(name=name, arguments=raw(arguments))
            headers = known.headers(name, arguments)
            return await converse(
                calls, self._conversation.handlers, TOOLS_CALL, params, replace(options, headers=headers)
            )

        try:
            return await attempt()
        except HeaderMismatch:
            known.forget()
            return await attempt()

    # Resources.

    async def resources(self) -> AsyncIterator[Resource]:
        """Yield all resources, page by page."""
        async for page in _pages(self._conversation.calls, RESOURCES_LIST):
            for resource in page.resources:
                yield resource

    async def list_resources(self) -> list[Resource]:
        """List all resources."""
        return [resource async for resource in self.resources()]

    async def resource_templates(self) -> AsyncIterator[ResourceTemplate]:
        """Yield all resource templates, page by page."""
        async for page in _pages(self._conversation.calls, RESOURCES_TEMPLATES_LIST):
            for template in page.resource_templates:
                yield template

    async def list_resource_templates(self) -> list[ResourceTemplate]:
        """List all resource templates."""
        return [template async for template in self.resource_templates()]

    async def read_resource(
        self,
        uri: str,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - one limit per request, and there may be several
        progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> ReadResourceResult:
        """Read a resource. Raises as `call_tool` does."""
        params = ReadResourceParams(uri=uri)
        return await converse(
            self._conversation.calls,
            self._conversation.handlers,
            RESOURCES_READ,
            params,
            _options(timeout, progress, meta),
        )

    async def subscribe(self, uri: str) -> None:
        """Let `on_change` hear of changes of one resource. Raises `LocalProtocolError` if the server does not tell."""
        await self._conversation.subscriptions.add(uri)

    async def unsubscribe(self, uri: str) -> None:
        """Hear no more of it."""
        await self._conversation.subscriptions.remove(uri)

    # Prompts and completion.

    async def prompts(self) -> AsyncIterator[Prompt]:
        """Yield all prompts, page by page."""
        async for page in _pages(self._conversation.calls, PROMPTS_LIST):
            for prompt in page.prompts:
                yield prompt

    async def list_prompts(self) -> list[Prompt]:
        """List all prompts."""
        return [prompt async for prompt in self.prompts()]

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        timeout: float | None = None,  # noqa: ASYNC109 - one limit per request, and there may be several
        progress: OnProgress | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> GetPromptResult:
        """Get a prompt with its arguments filled in. Raises as `call_tool` does."""
        params = GetPromptParams(name=name, arguments=UNSET if arguments is None else dict(arguments))
        return await converse(
            self._conversation.calls,
            self._conversation.handlers,
            PROMPTS_GET,
            params,
            _options(timeout, progress, meta),
        )

    async def complete(
        self,
        ref: PromptReference | ResourceTemplateReference,
        name: str,
        value: str,
        context: Mapping[str, str] | None = None,
    ) -> Completion:
        """Complete an argument of a prompt or a variable of a resource template; `context` are the other arguments."""
        calls = self._conversation.calls
        known = UNSET if context is None else CompletionContext(arguments=dict(context))
        params = CompleteParams(ref=ref, argument=CompletionArgument(name=name, value=value), context=known)
        return (await calls.complete(COMPLETE, narrow(params, calls.terms.facts.version))).completion

    # Everything else.

    async def set_log_level(self, level: LoggingLevel) -> None:
        """Say from which severity on `on_log` wants to hear of log messages."""
        if level not in LOGGING_LEVELS:
            raise ValueError(f"level must be one of {', '.join(LOGGING_LEVELS)}, not {level!r}")
        await self._conversation.set_log_level(level)

    async def ping(self) -> None:
        """Find out whether the server answers."""
        calls = self._conversation.calls
        method: Method[Any, Any] = PING if PING.exists(calls.terms.facts.version) else DISCOVER
        await calls.complete(method, NoParams())

    async def roots_changed(self) -> None:
        """Tell the server that `roots` would answer differently now. Since 2026-07-28 it asks whenever it needs to."""
        calls = self._conversation.calls
        if ROOTS_CHANGED.exists(calls.terms.facts.version):
            await calls.link.notify(Notification(ROOTS_CHANGED.name))


def _options(timeout: float | None, progress: OnProgress | None, meta: Mapping[str, Any] | None) -> Options:
    if timeout is None and progress is None and meta is None:
        return NO_OPTIONS
    return Options(timeout, progress, meta)


async def _pages(calls: Calls, method: Method[Any, P]) -> AsyncIterator[P]:
    """Yield each page of a list. Raises `RemoteProtocolError` for one that goes round in circles."""
    cursor: str | UnsetType = UNSET
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        page = await calls.complete(method, PageParams(cursor=cursor))
        yield page
        cursor = page.next_cursor
        if isinstance(cursor, UnsetType) or not (cursor or calls.terms.facts.empty_cursor):
            return
        if cursor in seen:
            break
        seen.add(cursor)
    raise RemoteProtocolError(f"The pages of {method.name} never end")
