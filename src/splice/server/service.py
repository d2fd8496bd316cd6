"""The one entry for requests: looks the method up, admits the request, and runs its answer until there is a response.

https://modelcontextprotocol.io/specification/2026-07-28/schema
"""

import inspect
import logging
from functools import reduce
from typing import Any

from msgspec import Raw, Struct

from splice.errors import InternalError, LocalProtocolError, MethodNotFound
from splice.protocol import jsonrpc, lifecycle, methods, questions
from splice.rules.eras import admit
from splice.rules.extensions import heard, served
from splice.server import failures, lifespan
from splice.server.call import END, Answer, Call, Home, InputRequired, Middleware
from splice.transports.base import Exchange, Sender, Service

log = logging.getLogger("splice.server")

MAX_ROUNDS = 16
"""How often a handler may return `InputRequired` for one request, where the client is asked in between."""


class ChapterService(Service):
    """Answers the methods of its chapters and extensions. `drain` ends the streams that would run for ever."""

    def __init__(self, home: Home) -> None:
        self.home, self.protocols = home, home.protocols
        self._unstarted: tuple[str, str] | None = None
        """How the lifespan failed last, and what was told of it."""
        self._heard = heard(home.chapters)
        self._served: dict[str, tuple[methods.Method[Any, Any], Answer]] = {
            name: (each.row, reduce(_around, reversed(home.middleware), each.answer))
            for name, each in served(home.chapters).items()
        }

    def surround(self, limited: Middleware) -> None:
        """Let this see all requests first, once: it knows who may use what. Lists come to it as finished JSON too."""
        served, self.limited = {} if self.limited else self._served, True
        self._served |= {name: (row, _around(answer, limited)) for name, (row, answer) in served.items()}

    async def open(self) -> None:
        """Enter the lifespan. Raises `RuntimeError`, with what the user's context manager raised as its cause."""
        if self.home.life is not None:
            try:
                await self.home.life.begin()
            except Exception as error:
                what = f"The lifespan of {self.home.info.name} failed: {type(error).__name__}: {error}"
                raise RuntimeError(what) from error

    async def handle(self, exchange: Exchange) -> jsonrpc.Response:
        """Answer one request, whatever transport it came by. Never raises, but for being cancelled."""
        request = exchange.request
        row, answer = self._served.get(request.method, (None, None))
        call = None
        try:
            admitted = admit(request, exchange.sender.session, row, exchange.confirm, self.protocols)
            if row is None or answer is None:
                raise MethodNotFound("Method not found")  # noqa: TRY301 - for type checkers: `admit` raised it already
            call = Call(admitted.era, admitted.params, admitted.meta, admitted.declared, exchange, row, self.home)
            del admitted  # what a call lets go of while it waits is to be gone
            if self.home.life is not None:
                await self._begin(self.home.life)
            result = await answer(call)
            if isinstance(result, InputRequired):
                result = await _answered(call, answer, result)
            if isinstance(result, Struct):
                result = call.era.finish(result, call.declared.facts, self.home.info_json)
            elif not isinstance(result, Raw):
                told = f"the answer of {row.name}, or middleware around it, returned {result!r}: not a result"
                raise TypeError(told)  # noqa: TRY301
            return jsonrpc.Success(request.id, result)
        except BaseException as error:
            if failures.ends_the_task(error):
                raise
            return self._ended_by(error, exchange, call)

    async def hear(self, note: jsonrpc.Notification, sender: Sender) -> None:
        """Take a notification that belongs to no exchange. What its listener raises is logged."""
        session = sender.session
        if note.method == lifecycle.INITIALIZED.name and session is not None:
            session.ready = True
        if (listening := self._heard.get(note.method)) is None:
            return
        try:
            done = listening.hear(listening.row.read_params(note.params))
            if inspect.isawaitable(done):
                await done
        except (Exception, SystemExit):
            log.exception("the listener for %s failed", note.method)

    async def _begin(self, life: lifespan.Life) -> None:
        """Enter the lifespan, where nobody did before the first request. One that goes on failing is logged once."""
        try:
            await life.begin()
        except Exception as error:
            if self._unstarted is None or self._unstarted[0] != repr(error):
                self._unstarted = repr(error), failures.report("The start of the server", error, self.home.errors)
            raise InternalError(self._unstarted[1]) from error

    async def drain(self) -> None:
        """End the streams that would run for ever."""
        self.home.publish(END)

    async def close(self) -> None:
        """Leave the lifespan. Raises what it raises."""
        if self.home.life is not None:
            await self.home.life.end()

    def _ended_by(self, error: BaseException, exchange: Exchange, call: Call | None) -> jsonrpc.Response:
        """Answer with what ended a run: questions for the client, or an error."""
        request = exchange.request
        if call is not None and (asked := failures.questions_in(error)) is not None:
            try:
                result = questions.InputRequiredResult(input_requests=asked, request_state=call.seal())
                return jsonrpc.Success(request.id, call.era.finish(result, call.facts, self.home.info_json))
            except Exception as failed:  # noqa: BLE001 - the questions cannot be written: that is what ended the run
                error = failed
        facts = None if call is None else call.facts
        return failures.failure_of(request.id, error, facts, request.method, self.home.errors)


async def _answered(call: Call, answer: Answer, result: Any) -> Any:
    """Ask the client by requests of our own, and run the answer again, until it has a result."""
    for _ in range(MAX_ROUNDS):
        await call.ask_all(result)
        result = await answer(call)
        if not isinstance(result, InputRequired):
            return result
    raise LocalProtocolError(f"the handler asked {MAX_ROUNDS} times and still has no result")


def _around(answer: Answer, middleware: Middleware) -> Answer:
    """Put middleware around an answer."""
    return lambda call: middleware(call, answer)
