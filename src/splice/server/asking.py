"""Running a handler that may ask the client something, in either era.

A modern run that lacks an answer ends with an `input_required` result, whose sealed `requestState` carries the
journal; a handler that returns `InputRequired` itself gets its questions asked in one such result, or one by one on
a legacy session, and is run again with the answers.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

import hashlib
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec
from msgspec import Raw, UnsetType

from splice.errors import InvalidParams, LocalProtocolError
from splice.protocol.input import InputRequest, InputRequiredResult
from splice.rules.eras import Admitted
from splice.rules.journal import Journal, Suspend
from splice.rules.seal import SealBroken, Sealer
from splice.server.context import Context, InputRequired
from splice.server.failures import culprit, leaves
from splice.transports.base import Exchange

R = TypeVar("R")

MAX_ROUNDS = 16
"""How often a legacy handler may return `InputRequired` for one request."""

_PER_ROUND = frozenset({"_meta", "inputResponses", "requestState"})


class Asking:
    """Opens and seals the journals of one server's requests."""

    def __init__(self, sealer: Sealer) -> None:
        self._sealer = sealer

    def journal(self, exchange: Exchange, admitted: Admitted) -> Journal:
        """Open the journal of a request. Raises `InvalidParams` for a state that is forged, foreign or too old."""
        params = admitted.params
        state: str | UnsetType = params.request_state
        responses: dict[str, Raw] | UnsetType = params.input_responses
        if isinstance(state, UnsetType):
            return Journal.read(None, responses)
        try:
            page = self._sealer.open(state, _bound(exchange), time.time())
        except SealBroken:
            raise InvalidParams(
                "requestState was not issued for this request, or is too old; send the request without it"
            ) from None
        return Journal.read(page, responses)

    async def run(
        self,
        context: Context,
        exchange: Exchange,
        admitted: Admitted,
        run: Callable[[], Awaitable[R | InputRequired]],
    ) -> R | InputRequiredResult:
        """Run a handler, or the middleware around it, until it has a result for this request."""
        place = context.journal.place()
        for _ in range(MAX_ROUNDS):
            context.journal.rewind(place)
            try:
                result = await run()
            except Suspend as suspend:
                return self._required(context, exchange, suspend.requests)
            except BaseExceptionGroup as group:
                return self._required(context, exchange, _asked_in(group))
            if not isinstance(result, InputRequired):
                return result
            requests = {key: context.check_question(question) for key, question in result.requests.items()}
            context.journal.page.note = result.state
            context.journal.note_asked(requests)
            if admitted.facts.request_meta:
                return self._required(context, exchange, requests)
            for key, question in result.requests.items():
                context.journal.answer(key, await context.ask_by_hand(question))
        raise LocalProtocolError(f"the handler asked {MAX_ROUNDS} times and still has no result")

    def _required(self, context: Context, exchange: Exchange, requests: dict[str, InputRequest]) -> InputRequiredResult:
        journal = context.journal
        journal.keep_asked()
        state = self._sealer.seal(journal.write(), _bound(exchange), time.time())
        return InputRequiredResult(input_requests=requests, request_state=state)


def _asked_in(group: BaseExceptionGroup[BaseException]) -> dict[str, InputRequest]:
    """Find the questions that several tasks of one handler asked at once. Raises what else went wrong, alone."""
    requests: dict[str, InputRequest] = {}
    for error in leaves(group):
        if not isinstance(error, Suspend):
            raise culprit(group) from group
        requests.update(error.requests)
    return requests


def _bound(exchange: Exchange) -> bytes:
    """Tell what a state is bound to: who asked, and for what, leaving out what differs from round to round."""
    request = exchange.request
    params: dict[str, Any] = msgspec.json.decode(request.params)
    said = {key: value for key, value in params.items() if key not in _PER_ROUND}
    content = msgspec.json.encode([exchange.sender.principal, request.method, said], order="sorted")
    return hashlib.blake2b(content, digest_size=16).digest()
