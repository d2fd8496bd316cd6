"""One running request: what an answer, an extension and middleware are given.

A modern run that lacks an answer of the client's ends with an `input_required` result, whose sealed `requestState`
carries the journal of what was asked and answered to the next run of the same request.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

import asyncio
import hashlib
import logging
import os
import sys
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeAlias, TypeGuard, TypeVar, cast

import msgspec
from msgspec.structs import replace

from splice.errors import InvalidParams, InvalidRequest, LocalProtocolError, RequestTimeout
from splice.protocol import jsonrpc, methods, notifications, questions, resources, tools, uri, versions, wire
from splice.protocol.capabilities import ServerCapabilities
from splice.protocol.narrow import narrow
from splice.rules import eras, extensions, sessions
from splice.rules.journal import Journal
from splice.rules.seal import SealBroken, Sealer
from splice.schema.repairs import Repairs
from splice.server import failures, lifespan
from splice.server.asking import Ask
from splice.server.threads import Threads
from splice.transports.base import Exchange, Sender

log = logging.getLogger("splice.server")
deprecated = logging.getLogger("splice.deprecated")

A = TypeVar("A", bound=msgspec.Struct)
T = TypeVar("T")

Answer: TypeAlias = Callable[["Call"], Awaitable[Any]]
"""Answers a request: with a result, `Raw` that is written already, or `InputRequired`."""

Middleware: TypeAlias = Callable[["Call", Answer], Awaitable[Any]]
"""Stands around the answer to every request: `await proceed(call)` gives the result, a list as its Struct too.

A question to the client may end a run in modern versions: it passes as an exception that is not an `Exception`, and
the next run comes through the middleware again. `Context(call)` is what a handler would have.
"""

Change: TypeAlias = tuple[str, str | None]
"""A change of what the server offers: the method of its notification, and the URI for a resource."""

END: Change = ("", None)
"""The last change: streams end."""

Publish: TypeAlias = Callable[[Change], None]
"""Tells every client that wants to know of a change. May be called on any thread."""

Asked: TypeAlias = questions.ElicitParams | questions.CreateMessageParams | None
"""A form or link, a sampling request, or None for the client's roots."""

_ASKING: Any = questions.ELICIT, questions.CREATE_MESSAGE, questions.ROOTS_LIST
_ASKED_BY: dict[type[msgspec.Struct], methods.Method[Any, Any]] = {row.params: row for row in _ASKING}

ASK_SECONDS = 600.0
"""How long a client may take to answer a request of ours: its user, or its model, has to think."""

ALONE = (
    "%s seals what clients bring back (requestState, cursors) with a key of this process alone, and other processes "
    "refuse what it sealed, as it refuses theirs: set the environment variable SPLICE_SECRET, or "
    "Server(state_keys=...), to the same for all of them"
)

_DEPRECATED: dict[str, str] = {
    questions.CREATE_MESSAGE.name: "Sampling is deprecated in %s: call a model's provider yourself",
    questions.ROOTS_LIST.name: "Roots are deprecated in %s: take paths as arguments, URIs of resources or settings",
    notifications.LOG_MESSAGE.name: "Log messages to clients are deprecated in %s: use logging, or OpenTelemetry",
}
"""By method: the message about it."""

_told: set[str] = set()
"""The messages that this process told."""


class InputRequired(msgspec.Struct, frozen=True):
    """Questions to the client, returned by a handler instead of a result. After the answers it runs again.

    The next run finds the answers in `Context.answers` and `state` in `Context.state`. `Context.ask` is simpler, where
    no state has to be carried along.
    """

    requests: Mapping[str, Asked] = {}
    """Key -> question."""
    state: str = ""


class Home(msgspec.Struct, frozen=True, eq=False, kw_only=True, dict=True):
    """The server, as far as all its requests share it."""

    info: wire.Implementation
    """Which program this is."""
    chapters: "Sequence[extensions.Extension[Call]]"
    """Answer its methods."""
    life: lifespan.Life | None
    """The lifespan, if there is one."""
    sealer: Sealer
    """Seals and opens journals."""
    threads: Threads
    """Run its `def` handlers, and read files."""
    publish: Publish
    expect: Callable[[sessions.Session, str], None]
    """Lets one session hear when an elicitation is complete. Raises `ValueError` for the id of another's."""
    read: "Callable[[str, Call], Awaitable[resources.ReadResourceResult]]"
    """Reads one of the server's own resources for a running handler. Raises `ResourceNotFound`."""
    lend: Callable[[str | Callable[..., Any]], Awaitable[Any]]
    """Gives one of its tools by name, or one made of a function, to a running handler. Raises `ValueError`."""
    instructions: str | None = None
    """How to use the server, for the model."""
    middleware: Sequence[Middleware] = ()
    """Where there is any, it is to see results as types, so that finished JSON is not enough."""
    errors: failures.ErrorPolicy = "type"
    """How much others read of an unexpected exception."""
    page_size: int = sys.maxsize
    """How many entries a page of a list has at the most."""
    protocols: eras.Protocols = eras.EVERY_PROTOCOL
    """The versions it speaks."""
    hints: Mapping[str, Any] = {}
    """How long lists may be kept, and by whom, as fields of their results."""
    strict: bool = False
    """Arguments are taken at their word: nothing is repaired."""
    warned: set[str] = set()
    """The warnings about this server that were logged."""

    def warn_once(self, what: str) -> None:
        """Log what is wrong with this server, once. `what` has a place for its name."""
        if what not in self.warned:
            self.warned.add(what)
            log.warning(what, self.info.name)

    def sealing(self) -> Sealer:
        """Give what seals, once it was logged that other processes could not open it."""
        if not self.sealer.is_shared and is_worker():
            self.warn_once(ALONE)
        return self.sealer

    @cached_property
    def info_json(self) -> msgspec.Raw:
        """Which program this is, as JSON."""
        return jsonrpc.raw(self.info)

    def capabilities(self) -> ServerCapabilities:
        """Tell what the server can do, as far as features were added."""
        capabilities = ServerCapabilities()
        for chapter in self.chapters:
            chapter.declare(capabilities)
        return capabilities


class Call(eras.Admitted, eq=False):
    """One running request: it was admitted, so `era`, `params`, `meta` and `declared` are known.

    `params` is the Struct that the row names, `meta` has the keys of its `_meta` that the specification names, `era`
    the rules of its version, `declared` its version and what the client said about itself.
    """

    exchange: Exchange
    """The request as it came, and the way back."""
    row: methods.Method[Any, Any]
    """Its method."""
    home: Home
    """The server."""
    repairs: Repairs | None = None
    """The repairs of a tool's arguments."""
    _journal: Journal | None = None

    @property
    def sender(self) -> Sender:
        """Who sent the request, as the transport knows."""
        return self.exchange.sender

    @property
    def session(self) -> sessions.Session | None:
        """The session that `initialize` opened, where there is one."""
        return self.exchange.sender.session

    @property
    def facts(self) -> versions.Facts:
        """The facts of the request's protocol version."""
        return self.declared.facts

    @property
    def journal(self) -> Journal:
        """The questions, answers and side effects of all runs of this request.

        Raises `InvalidParams` for a `requestState` that is forged, foreign or too old.
        """
        if self._journal is None:
            state: str | None = getattr(self.params, "request_state", None) if self.row.may_ask else None
            self._journal = self._opened(state)
        return self._journal

    async def notify(self, note: methods.Note[Any], params: msgspec.Struct | None = None) -> None:
        """Send a notification on the stream of this request, if its version has that notification."""
        version = self.declared.facts.version
        if note.exists(version):
            self._use(note)
            await self.exchange.notify(jsonrpc.Notification(note.name, narrow(params, version)))

    async def ask(self, row: methods.Method[Any, A], params: msgspec.Struct, key: str | None = None) -> A:
        """Ask the client one thing by any method. As `ask_together` otherwise."""
        return (await self.ask_together([Ask.method(row, params, key=key)]))[0]

    async def ask_together(self, asked: Sequence[Ask[T]]) -> list[T]:
        """Ask the client, and wait for all answers; in modern versions a later run of the handler finds them.

        Raises `MissingClientCapability`, `RPCError` for an error in the place of an answer, the first where there are
        several, `InvalidParams` for an answer that does not fit, and `LocalProtocolError` where nothing may be asked.
        """
        journal, answers, lacking = self.journal, dict[str, T](), dict[str, Ask[T]]()
        requests: dict[str, questions.InputRequest] = {}
        keyed = [(journal.key(each.key), each) for each in asked]
        for key, each in keyed:
            request = self._question(each)
            if (found := journal.find(key, request)) is None:
                lacking[key], requests[key] = each, request
            else:
                answers[key] = each.answer(found)  # one that does not fit is refused before more is asked
        if lacking:
            await self._put(lacking, requests)
        return [answers[key] if key in answers else each.answer(journal.page.answers[key]) for key, each in keyed]

    async def ask_all(self, required: InputRequired) -> None:
        """Ask the questions that a handler returned. After that its next run finds the answers.

        Raises `MissingClientCapability`, and `Suspend` in versions where this run ends with the questions.
        """
        if not self.row.may_ask:
            raise LocalProtocolError(f"Nothing can be asked while {self.row.name} is answered")
        given = {key: params or wire.NoParams() for key, params in required.requests.items()}
        asked = {key: Ask.method(_ASKED_BY[type(params)], params) for key, params in given.items()}
        requests = {key: self._question(each) for key, each in asked.items()}
        self.journal.leave(requests, required.state)
        await self._put(asked, requests)
        self.journal.rewind()

    def part(self, key: str, params: tools.CallToolParams) -> "Call":
        """Make the call of a tool out of the middle of this one. Its progress is not told, as it is only a part."""
        meta, journal = replace(self.meta, progress_token=None), self.journal.within(key)
        return replace(self, row=tools.TOOLS_CALL, params=params, meta=meta, repairs=None, _journal=journal)

    def seal(self) -> str:
        """Write the journal down as the `requestState` of a result."""
        return self.home.sealing().seal(self.journal.write(), self._bound(), time.time())

    def _opened(self, state: str | None) -> Journal:
        try:
            page = None if state is None else self.home.sealer.open(state, self._bound(), time.time())
        except SealBroken:
            if not self.home.sealer.is_shared:
                self.home.warn_once(ALONE)
            what = "requestState was not issued for this request, or is too old; send the request without it"
            raise InvalidParams(what) from None
        return Journal(page, getattr(self.params, "input_responses", None))

    def _bound(self) -> bytes:
        """Tell what a state is bound to: who asked whom for what, leaving out what differs from round to round."""
        request = self.exchange.request
        params: dict[str, Any] = msgspec.json.decode(request.params)
        said = {key: value for key, value in params.items() if key not in ("_meta", "inputResponses", "requestState")}
        whole = [self.home.info.name, str(self.sender.principal), request.method, said]
        return hashlib.blake2b(msgspec.json.encode(whole, order="sorted"), digest_size=16).digest()

    def _question(self, asked: Ask[Any]) -> questions.InputRequest:
        row, params = asked.row, asked.params
        self._use(row)
        sessions.require(self.declared, row.name, params)
        if isinstance(params, questions.CreateMessageParams):
            questions.check_sampling_messages(params.messages)
        elif _is_link(params):
            if not uri.is_web(params.url or ""):
                raise ValueError(f"{params.url!r} is not an absolute URL of http or https, without a user")
            if params.elicitation_id and self.session and questions.ELICITATION_COMPLETE.exists(self.facts.version):
                self.home.expect(self.session, params.elicitation_id)
        return questions.InputRequest(method=row.name, params=jsonrpc.raw(narrow(params, self.facts.version)))

    def _use(self, row: methods.Note[Any]) -> None:
        """Tell whoever runs the server of what its version deprecates, once per process."""
        message = _DEPRECATED.get(row.name) if self.facts.deprecations else None
        if message is not None and message not in _told:
            _told.add(message)
            deprecated.warning(message, self.facts.version)

    async def _put(self, asked: Mapping[str, Ask[Any]], requests: dict[str, questions.InputRequest]) -> None:
        """Ask by requests of our own, side by side, and keep the answers. A failure cancels the others.

        Raises `Suspend` in versions where this run ends with the questions.
        """
        self.era.suspend(self.row, requests)
        try:
            async with asyncio.TaskGroup() as group:
                tasks = {key: group.create_task(self._send(each.row, each.params)) for key, each in asked.items()}
        except ExceptionGroup as failed:
            first = failed.exceptions[0]
            raise first from first.__cause__
        for key, task in tasks.items():
            self.journal.page.answers[key] = task.result()

    async def _send(self, row: methods.Method[Any, Any], params: msgspec.Struct) -> msgspec.Raw:
        if _is_link(params):
            params = replace(params, elicitation_id=params.elicitation_id or os.urandom(16).hex())
        try:
            async with asyncio.timeout(ASK_SECONDS):
                response = await self.exchange.ask(row.name, narrow(params, self.facts.version))
        except TimeoutError as late:
            raise RequestTimeout(f"The client did not answer {row.name} within {ASK_SECONDS:g} s") from late
        if isinstance(response, jsonrpc.Failure):
            error = jsonrpc.error_of(response)
            error.is_foreign = False  # it comes from the very client that would read it
            raise error
        return cast("msgspec.Raw", response.result)


def session_of(call: Call) -> sessions.Session:
    """Give the session of a request. Raises `InvalidRequest` where the transport keeps none."""
    if call.session is None:
        raise InvalidRequest("This transport keeps no sessions")
    return call.session


def _is_link(params: msgspec.Struct) -> TypeGuard[questions.ElicitParams]:
    """Tell whether a question sends the user to a URL."""
    return isinstance(params, questions.ElicitParams) and params.mode == "url"


def is_worker() -> bool:
    """Tell whether this process is one of several that a parent started, such as `uvicorn --workers` does."""
    found = sys.modules.get("multiprocessing.process")
    return found is not None and found.parent_process() is not None
