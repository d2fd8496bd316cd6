"""The questions of a modern server: answered, and the request sent again, until the result is complete.

Every round is a request of its own with a new id. What the server gave as `requestState` goes back as it came, and
only where it came.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

import asyncio
from typing import Any, TypeVar

from msgspec import UNSET, Raw, Struct, UnsetType

from splice.client.calls import Calls, Options
from splice.client.handlers import OPTION_FOR, Handlers
from splice.errors import LocalProtocolError, RemoteProtocolError
from splice.protocol.input import InputRequest, InputRequiredResult
from splice.protocol.jsonrpc import raw
from splice.protocol.methods import Method
from splice.protocol.prompts import GetPromptParams
from splice.protocol.resources import ReadResourceParams
from splice.protocol.tools import CallToolParams

R = TypeVar("R", bound=Struct)

MAX_ROUNDS = 16
"""How often one call may come back with questions."""

WAIT_SECONDS = (0.0, 0.1, 0.2, 0.5, 1.0, 2.0)
"""How long to wait before asking again when the server only says: later."""


async def converse(
    calls: Calls,
    handlers: Handlers,
    method: Method[Any, R],
    params: CallToolParams | ReadResourceParams | GetPromptParams,
    options: Options,
) -> R:
    """Send a request, answering what the server asks, until it is done.

    Raises `LocalProtocolError` for a question there is no handler for, what a handler raises, and all that
    `Calls.request` raises.
    """
    result = await calls.request(method, params, options)
    rounds = 0
    while isinstance(result, InputRequiredResult):
        if rounds == MAX_ROUNDS:
            raise RemoteProtocolError(f"The server still has questions after {MAX_ROUNDS} rounds of {method.name}")
        params.request_state = result.request_state
        if result.input_requests:
            params.input_responses = await _answers(calls, handlers, result.input_requests)
        else:
            params.input_responses = UNSET
            await asyncio.sleep(WAIT_SECONDS[min(rounds, len(WAIT_SECONDS) - 1)])
        rounds += 1
        result = await calls.request(method, params, options)
    return result


async def _answers(calls: Calls, handlers: Handlers, asked: dict[str, InputRequest] | UnsetType) -> dict[str, Raw]:
    """Answer one question after the other, as a person would."""
    answers: dict[str, Raw] = {}
    for key, request in (asked or {}).items():
        if request.method not in handlers.methods:
            option = OPTION_FOR.get(request.method)
            advice = f"; pass {option}= to Client" if option else ""
            raise LocalProtocolError(f"The server asks for {request.method}, which nothing here answers{advice}")
        answers[key] = raw(await handlers.result_for(request.method, request.params, calls.terms.facts))
    return answers
