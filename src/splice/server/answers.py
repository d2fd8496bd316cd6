"""One function per method: how a server answers each request.

https://modelcontextprotocol.io/specification/2026-07-28/schema
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import UNSET, Raw, UnsetType

from splice.errors import InvalidParams, InvalidRequest, LocalProtocolError, MethodNotFound, ResourceNotFound
from splice.protocol.lifecycle import (
    DiscoverResult,
    EmptyResult,
    InitializeParams,
    InitializeResult,
    PageResult,
    Result,
)
from splice.protocol.methods import (
    COMPLETE,
    DISCOVER,
    INITIALIZE,
    PING,
    PROMPTS_GET,
    PROMPTS_LIST,
    RESOURCES_LIST,
    RESOURCES_READ,
    RESOURCES_SUBSCRIBE,
    RESOURCES_TEMPLATES_LIST,
    RESOURCES_UNSUBSCRIBE,
    SET_LEVEL,
    SUBSCRIPTIONS_LISTEN,
    TOOLS_CALL,
    TOOLS_LIST,
)
from splice.protocol.narrow import narrow
from splice.protocol.notifications import SubscriptionFilter
from splice.protocol.prompts import CompleteResult, ListPromptsResult, PromptReference, ResourceTemplateReference
from splice.protocol.resources import ListResourcesResult, ListResourceTemplatesResult, ReadResourceResult
from splice.protocol.tools import ListToolsResult
from splice.protocol.versions import MODERN_VERSIONS
from splice.rules.eras import Admitted, Answer, Session, handshake_version
from splice.server.context import Context, InputRequired
from splice.server.features import Catalogue
from splice.server.resources import ResourceEntry, TemplateEntry
from splice.transports.base import Exchange

if TYPE_CHECKING:
    from splice.server.server import Server

Method: TypeAlias = "Callable[[Server, Exchange, Admitted], Awaitable[Answer | Raw]]"

MAX_SUBSCRIPTIONS = 10_000
"""How many resources one legacy session may subscribe to."""


async def initialize(server: "Server", exchange: Exchange, admitted: Admitted) -> Result:
    """Open the session. The only method that changes what later requests may do."""
    session = _session(exchange)
    if session.version is not None:
        raise InvalidRequest("This session is initialized already")
    params: InitializeParams = admitted.params
    session.version = handshake_version(params.protocol_version)
    session.capabilities = params.capabilities
    session.client_info = params.client_info
    result = InitializeResult(
        protocol_version=session.version,
        capabilities=server.capabilities,
        server_info=server.info,
        instructions=server.instructions or UNSET,
    )
    return narrow(result, session.version)


async def ping(_server: "Server", _exchange: Exchange, _admitted: Admitted) -> Result:
    """Say that we are here."""
    return EmptyResult()


async def discover(server: "Server", _exchange: Exchange, _admitted: Admitted) -> Result:
    """Say what this server speaks and offers."""
    return DiscoverResult(
        supported_versions=list(MODERN_VERSIONS),
        capabilities=server.capabilities,
        instructions=server.instructions or UNSET,
    )


async def set_level(_server: "Server", exchange: Exchange, admitted: Admitted) -> Result:
    """Remember from which level on this session wants log messages."""
    _session(exchange).log_level = admitted.params.level
    return EmptyResult()


async def subscribe(server: "Server", exchange: Exchange, admitted: Admitted) -> Result:
    """Remember that this session wants to hear when a resource changes."""
    session = _session(exchange)
    _offered(server.resources, server.templates)
    if len(session.subscriptions) >= MAX_SUBSCRIPTIONS and admitted.params.uri not in session.subscriptions:
        raise InvalidRequest(f"This session has {MAX_SUBSCRIPTIONS} subscriptions, and may have no more")
    session.subscriptions.add(admitted.params.uri)
    return EmptyResult()


async def unsubscribe(_server: "Server", exchange: Exchange, admitted: Admitted) -> Result:
    """Forget a subscription; one that does not exist is forgotten already."""
    _session(exchange).subscriptions.discard(admitted.params.uri)
    return EmptyResult()


async def listen(server: "Server", exchange: Exchange, admitted: Admitted) -> Result:
    """Pass on the changes that a modern client asked for, until it closes the stream or the server stops."""
    wanted: SubscriptionFilter = admitted.params.notifications
    has = server.capabilities
    honoured = SubscriptionFilter(
        tools_list_changed=wanted.tools_list_changed if has.tools else UNSET,
        prompts_list_changed=wanted.prompts_list_changed if has.prompts else UNSET,
        resources_list_changed=wanted.resources_list_changed if has.resources else UNSET,
        resource_subscriptions=wanted.resource_subscriptions if has.resources else UNSET,
    )
    return await server.subscriptions.listen(exchange, honoured)


async def list_tools(server: "Server", _exchange: Exchange, admitted: Admitted) -> Raw:
    """List the tools."""
    _offered(server.tools)
    facts = admitted.facts
    return server.tools.page(
        admitted,
        lambda page: ListToolsResult(tools=[tool.defined_for(facts) for tool in page]),
        _finish(server, admitted),
    )


async def list_resources(server: "Server", _exchange: Exchange, admitted: Admitted) -> Raw:
    """List the resources that have a URI of their own."""
    _offered(server.resources, server.templates)
    return server.resources.page(
        admitted,
        lambda page: ListResourcesResult(resources=[entry.definition for entry in page]),
        _finish(server, admitted),
    )


async def list_templates(server: "Server", _exchange: Exchange, admitted: Admitted) -> Raw:
    """List the resource templates."""
    _offered(server.resources, server.templates)
    return server.templates.page(
        admitted,
        lambda page: ListResourceTemplatesResult(resource_templates=[entry.definition for entry in page]),
        _finish(server, admitted),
    )


async def list_prompts(server: "Server", _exchange: Exchange, admitted: Admitted) -> Raw:
    """List the prompts."""
    _offered(server.prompts)
    return server.prompts.page(
        admitted,
        lambda page: ListPromptsResult(prompts=[entry.definition for entry in page]),
        _finish(server, admitted),
    )


async def call_tool(server: "Server", exchange: Exchange, admitted: Admitted) -> Answer:
    """Call a tool."""
    params = admitted.params
    entry = server.tools.get(params.name)
    if entry is None:
        raise InvalidParams(f"Unknown tool: {params.name}")
    if entry.handler.context_name is None:
        result = await entry.run(params.arguments, admitted.facts, None)
        if isinstance(result, InputRequired):
            raise LocalProtocolError(f"{entry.key} returns InputRequired but takes no Context to find the answers in")
        return result
    context = server.context(exchange, admitted)
    run = partial(entry.run, params.arguments, admitted.facts, context)
    return await server.asking.run(context, exchange, admitted, run)


async def get_prompt(server: "Server", exchange: Exchange, admitted: Admitted) -> Answer:
    """Fill in a prompt."""
    params = admitted.params
    entry = server.prompts.get(params.name)
    if entry is None:
        raise InvalidParams(f"Unknown prompt: {params.name}")
    context = server.context(exchange, admitted)
    texts: dict[str, str] = {} if isinstance(params.arguments, UnsetType) else params.arguments
    return await server.asking.run(context, exchange, admitted, partial(entry.run, texts, context))


async def read_resource(server: "Server", exchange: Exchange, admitted: Admitted) -> Answer:
    """Read a resource."""
    context = server.context(exchange, admitted)
    run = partial(read, server, admitted.params.uri, context)
    return await server.asking.run(context, exchange, admitted, run)


async def read(server: "Server", uri: str, context: Context) -> ReadResourceResult | InputRequired:
    """Read the resource a URI names: one listed under it, else the first template that matches.

    Raises `ResourceNotFound`.
    """
    found = find(server, uri)
    if found is None:
        raise ResourceNotFound(f"Resource not found: {uri}", {"uri": uri})
    entry, arguments = found
    return await entry.run(uri, arguments, context)


def find(server: "Server", uri: str) -> tuple[ResourceEntry | TemplateEntry, dict[str, str]] | None:
    """Find what serves a URI, with the arguments that the URI holds."""
    entry = server.resources.get(uri)
    if entry is not None:
        return entry, {}
    for template in server.templates:
        arguments = template.template.match(uri)
        if arguments is not None:
            return template, arguments
    return None


async def complete(server: "Server", _exchange: Exchange, admitted: Admitted) -> Result:
    """Complete an argument of a prompt or template."""
    if not server.completions:
        raise MethodNotFound("This server completes nothing")
    ref: PromptReference | ResourceTemplateReference = admitted.params.ref
    if isinstance(ref, PromptReference):
        target, known = ref.name, server.prompts.get(ref.name) is not None
    else:
        target, known = ref.uri, server.templates.get(ref.uri) is not None or find(server, ref.uri) is not None
    if not known and not server.completions.completes(target):
        raise InvalidParams(f"There is no prompt or resource template {target!r} here")
    return CompleteResult(completion=await server.completions.complete(admitted.params))


ANSWERS: dict[str, Method] = {
    INITIALIZE.name: initialize,
    PING.name: ping,
    DISCOVER.name: discover,
    SET_LEVEL.name: set_level,
    TOOLS_LIST.name: list_tools,
    TOOLS_CALL.name: call_tool,
    RESOURCES_LIST.name: list_resources,
    RESOURCES_TEMPLATES_LIST.name: list_templates,
    RESOURCES_READ.name: read_resource,
    RESOURCES_SUBSCRIBE.name: subscribe,
    RESOURCES_UNSUBSCRIBE.name: unsubscribe,
    SUBSCRIPTIONS_LISTEN.name: listen,
    PROMPTS_LIST.name: list_prompts,
    PROMPTS_GET.name: get_prompt,
    COMPLETE.name: complete,
}


def _session(exchange: Exchange) -> Session:
    session = exchange.sender.session
    if session is None:
        raise InvalidRequest("This transport keeps no sessions")
    return session


def _offered(*catalogues: Catalogue[Any]) -> None:
    """Refuse to list what the server does not offer at all, as its capabilities say."""
    if not any(catalogue.offered for catalogue in catalogues):
        raise MethodNotFound("This server does not offer that")


def _finish(server: "Server", admitted: Admitted) -> Callable[[PageResult], Any]:
    return lambda result: admitted.era.finish(result, admitted, server.info_json)
