"""Middleware: what a client sees depends on what it can do.

A tool that asks for what a client cannot answer is not in its list. In sessions the client said once what it can do;
since 2026-07-28 each request says it, so each list is made for its own request. Whoever calls such a tool by name all
the same gets the error that names the missing capability, which says more than that there is no such tool.

https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
"""

from collections.abc import Callable, Mapping
from typing import Any

from splice import Answer, Call, Context
from splice.types import ClientCapabilities, ListToolsResult

_LOGGED = {
    "resources/subscribe": "Subscribe Resource request for URI:",
    "resources/unsubscribe": "Unsubscribe Resource request:",
}


def can_fill_in(client: ClientCapabilities) -> bool:
    """Tell whether the client shows forms: to declare elicitation without parts is to declare forms."""
    asks = client.elicitation
    return asks is not None and (asks.form is not None or asks.url is None)


def can_visit(client: ClientCapabilities) -> bool:
    """Tell whether the client sends its user to a URL."""
    return client.elicitation is not None and client.elicitation.url is not None


def can_sample(client: ClientCapabilities) -> bool:
    """Tell whether the client asks a model."""
    return client.sampling is not None


def can_sample_with_tools(client: ClientCapabilities) -> bool:
    """Tell whether the client's model can be offered tools."""
    return client.sampling is not None and client.sampling.tools is not None


def has_roots(client: ClientCapabilities) -> bool:
    """Tell whether the client tells its roots."""
    return client.roots is not None


NEEDS: Mapping[str, Callable[[ClientCapabilities], bool]] = {
    "get-roots-list": has_roots,
    "trigger-elicitation-request": can_fill_in,
    "trigger-url-elicitation": can_visit,
    "trigger-sampling-request": can_sample,
    "trigger-questions-in-rounds": can_fill_in,
    "trigger-questions-at-once": can_fill_in,
    "trigger-sampling-with-tools": can_sample_with_tools,
}
"""By tool: what its client has to be able to do."""


async def only_what_the_client_can(call: Call, proceed: Answer) -> Any:
    """Leave tools out of the list that the client could not answer."""
    result = await proceed(call)
    if isinstance(result, ListToolsResult):
        can = call.declared.capabilities
        result.tools = [tool for tool in result.tools if tool.name not in NEEDS or NEEDS[tool.name](can)]
    return result


async def tell_of_subscriptions(call: Call, proceed: Answer) -> Any:
    """Log to the client that its subscription arrived."""
    result = await proceed(call)
    if what := _LOGGED.get(call.row.name):
        await Context(call).info(f"Received {what} {call.params.uri} ")
    return result
