"""The context of one running request: how a handler reaches the client that sent it.

A handler gets one by annotating a parameter with `Context`. Everything here behaves the same in both eras. Where a
modern client has to be asked something, the handler's run ends and a later run finds the answer, so a handler asks
first and acts after, and puts what must not happen twice into `once`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

import inspect
import logging
import os
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar, cast, overload

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType
from msgspec.structs import replace

from splice.errors import InvalidParams, LocalProtocolError, RPCError
from splice.protocol.content import ResourceContents, TextContent
from splice.protocol.input import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    InputRequest,
    Root,
    SamplingMessage,
)
from splice.protocol.jsonrpc import Failure, Notification, Request, RequestId, raw
from splice.protocol.lifecycle import LOGGING_LEVELS, ClientCapabilities, Implementation, LoggingLevel, Params
from splice.protocol.methods import (
    CREATE_MESSAGE,
    ELICIT,
    LOG_MESSAGE,
    PROGRESS,
    PROMPTS_CHANGED,
    RESOURCE_UPDATED,
    RESOURCES_CHANGED,
    ROOTS_LIST,
    TOOLS_CHANGED,
    Method,
)
from splice.protocol.narrow import narrow
from splice.protocol.notifications import LogParams, ProgressParams
from splice.rules.eras import Admitted, require
from splice.rules.journal import Journal
from splice.schema.forms import form_schema, read_form
from splice.server.bridge import Bridge
from splice.transports.base import Exchange

if TYPE_CHECKING:
    from splice.server.server import Server

log = logging.getLogger("splice.server")

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[!-~]+")

T = TypeVar("T")
R = TypeVar("R")
A = TypeVar("A", bound=Struct)
DEFAULT_LEVEL: LoggingLevel = "info"
"""What a legacy client hears that never called `logging/setLevel`."""


class Elicited(Struct, Generic[T], frozen=True):
    """The user's answer to a form or a link."""

    action: Literal["accept", "decline", "cancel"]
    data: T | None = None
    """The form's content, typed as the model that was asked with; None unless accepted."""

    @property
    def accepted(self) -> bool:
        """The user said yes."""
        return self.action == "accept"


class InputRequired(Struct, frozen=True):
    """What a handler may return instead of a result: questions to the client, after which it runs again.

    The next run finds the answers in `Context.answers` and `state` in `Context.state`. Needed only when several
    questions shall be asked at once; otherwise the methods of `Context` are simpler.
    """

    requests: Mapping[str, ElicitParams | CreateMessageParams | None] = {}
    """Key -> question: a form or link, a sampling request, or None for the client's roots."""
    state: str = ""


class ClientView(Struct, frozen=True):
    """What a client said about itself. Not verified: never base a decision of security on it."""

    info: Implementation | None
    capabilities: ClientCapabilities


class Context:
    """One running request."""

    def __init__(self, server: "Server", exchange: Exchange, admitted: Admitted, journal: Journal) -> None:
        self._server = server
        self._exchange = exchange
        self._admitted = admitted
        self._progress = -inf
        self.bridge = Bridge()
        self.journal = journal

    # Who is asking.

    @property
    def client(self) -> ClientView:
        """What the client said about itself."""
        return ClientView(self._admitted.client_info, self._admitted.capabilities)

    @property
    def version(self) -> str:
        """The protocol version of this request."""
        return self._admitted.facts.version

    @property
    def method(self) -> str:
        """The method of this request."""
        return self._admitted.method.name

    @property
    def params(self) -> Params:
        """The params of this request."""
        params: Params = self._admitted.params
        return params

    @property
    def request_id(self) -> RequestId:
        """The JSON-RPC id of this request."""
        return self._exchange.request.id

    @property
    def principal(self) -> str | None:
        """Whom the transport authenticated; None for nobody."""
        return self._exchange.sender.principal

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP request's headers, names in lower case; empty on other transports."""
        return self._exchange.sender.headers

    @property
    def lifespan(self) -> Any:
        """What the server's lifespan yielded."""
        return self._server.lifespan_state

    # Telling.

    async def progress(self, value: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress to a client that asked for it. A value that does not grow, or is no number, is not sent."""
        token = self._admitted.progress_token
        if token is None or not self._progress < value < inf:
            return
        self._progress = value
        params = ProgressParams(
            progress_token=token,
            progress=value,
            total=UNSET if total is None or not isfinite(total) else total,
            message=UNSET if message is None else message,
        )
        await self._notify(PROGRESS.name, params)

    async def log(self, level: LoggingLevel, data: Any, logger: str | None = None) -> None:
        """Send a log message, if the client wants to hear of this level."""
        admitted = self._admitted
        wanted = admitted.log_level or (DEFAULT_LEVEL if admitted.session is not None else None)
        if wanted is None or LOGGING_LEVELS.index(level) < LOGGING_LEVELS.index(wanted):
            return
        await self._notify(LOG_MESSAGE.name, LogParams(level=level, data=data, logger=logger or self._server.name))

    async def debug(self, data: Any, logger: str | None = None) -> None:
        """Log at level debug."""
        await self.log("debug", data, logger)

    async def info(self, data: Any, logger: str | None = None) -> None:
        """Log at level info."""
        await self.log("info", data, logger)

    async def warning(self, data: Any, logger: str | None = None) -> None:
        """Log at level warning."""
        await self.log("warning", data, logger)

    async def error(self, data: Any, logger: str | None = None) -> None:
        """Log at level error."""
        await self.log("error", data, logger)

    async def notify_tools_changed(self) -> None:
        """Tell every interested client that the list of tools changed."""
        self._server.publish((TOOLS_CHANGED.name, None))

    async def notify_prompts_changed(self) -> None:
        """Tell every interested client that the list of prompts changed."""
        self._server.publish((PROMPTS_CHANGED.name, None))

    async def notify_resources_changed(self) -> None:
        """Tell every interested client that the list of resources changed."""
        self._server.publish((RESOURCES_CHANGED.name, None))

    async def notify_resource_updated(self, uri: str) -> None:
        """Tell every client that subscribed to `uri` that its contents changed."""
        self._server.publish((RESOURCE_UPDATED.name, uri))

    # Asking.

    @overload
    async def elicit(self, message: str, form: type[T], *, key: str | None = None) -> Elicited[T]: ...
    @overload
    async def elicit(
        self, message: str, form: dict[str, Any], *, key: str | None = None
    ) -> Elicited[dict[str, Any]]: ...
    async def elicit(self, message: str, form: Any, *, key: str | None = None) -> Elicited[Any]:
        """Ask the user to fill in a form: a flat dataclass, Struct, TypedDict or pydantic model, or a JSON Schema.

        Raises `MissingClientCapability`, and `InvalidParams` for an answer that does not fit the model.
        """
        params = ElicitParams(mode="form", message=message, requested_schema=form_schema(form))
        read = reader_of(form)
        answer = await self._ask(ELICIT, params, key)
        if answer.action != "accept":
            return Elicited(answer.action)
        content: dict[str, Any] = {} if isinstance(answer.content, UnsetType) else answer.content
        try:
            return Elicited(answer.action, read(content))
        except ValueError as error:
            raise InvalidParams(f"The answer does not fit the form: {error}") from None

    async def elicit_url(self, message: str, url: str, *, key: str | None = None) -> Elicited[None]:
        """Ask the user to visit `url`: for sign-ins and secrets, which must never pass through the client.

        Raises `MissingClientCapability`, and `ValueError` for what is no URL.
        """
        if not _URL.fullmatch(url):
            raise ValueError(f"{url!r} is no URL")
        params = ElicitParams(mode="url", message=message, url=url)
        return Elicited((await self._ask(ELICIT, params, key)).action)

    async def sample(
        self,
        messages: str | Sequence[SamplingMessage],
        *,
        max_tokens: int = 1000,
        key: str | None = None,
        **options: Any,
    ) -> CreateMessageResult:
        """Let the client's model answer. `options` are the other fields of `CreateMessageParams`."""
        if isinstance(messages, str):
            messages = [SamplingMessage(role="user", content=TextContent(text=messages))]
        params = CreateMessageParams(messages=list(messages), max_tokens=max_tokens, **options)
        return await self._ask(CREATE_MESSAGE, params, key)

    async def roots(self, *, key: str | None = None) -> list[Root]:
        """List the directories that the client lets the server work in."""
        return (await self._ask(ROOTS_LIST, Params(), key)).roots

    async def once(self, fn: Callable[..., Any], *args: Any, key: str | None = None) -> Any:
        """Call `fn(*args)` in the first run of this handler only; later runs get the same result.

        `fn` may be async. Its result must be a JSON value, and comes back as one.
        """
        key = self.journal.key(key)
        recorded = self.journal.recall(key)
        if isinstance(recorded, UnsetType):
            value = fn(*args)
            recorded = self.journal.record(key, await value if inspect.isawaitable(value) else value)
        return msgspec.json.decode(recorded)

    @property
    def answers(self) -> dict[str, Any]:
        """The client's answers, by key, for handlers that return `InputRequired` themselves."""
        return {
            key: msgspec.json.decode(value) for key, value in (self.journal.page.answers | self.journal.fresh).items()
        }

    @property
    def state(self) -> str:
        """What the last `InputRequired` of this handler carried as its state."""
        return self.journal.page.note

    # Working.

    async def read_resource(self, uri: str) -> list[ResourceContents]:
        """Read one of this server's own resources. Raises `ResourceNotFound`."""
        return (await self._server.read(uri, self)).contents

    def wait(self, work: Coroutine[Any, Any, R]) -> R:
        """Run one of the async methods of this object from a `def` handler: `ctx.wait(ctx.info("..."))`.

        Raises `RuntimeError` on the event loop, where it would wait for itself, and `asyncio.CancelledError` once the
        request is cancelled.
        """
        return self.bridge.wait(work)

    async def ask_by_hand(self, question: ElicitParams | CreateMessageParams | None) -> Raw:
        """Ask one question of an `InputRequired` on the legacy back channel."""
        method, params = question_of(question)
        return await self._send(method, narrow(params, self.version))

    def check_question(self, question: ElicitParams | CreateMessageParams | None) -> InputRequest:
        """Turn a question of an `InputRequired` into its wire form. Raises `MissingClientCapability`."""
        method, params = question_of(question)
        require(self._admitted, method.name, params)
        return InputRequest(method=method.name, params=raw(narrow(params, self.version)))

    async def _ask(self, method: Method[Any, A], params: Params, key: str | None) -> A:
        require(self._admitted, method.name, params)
        if self._admitted.facts.request_meta and not self._admitted.method.may_ask:
            raise LocalProtocolError(f"In version {self.version} nothing can be asked during {self.method}")
        params = narrow(params, self.version)
        key = self.journal.key(key)
        try:
            answer = self._admitted.era.ask(self.journal, key, method.name, params)
        finally:
            for dropped, why in self.journal.dropped:
                log.warning("%s: dropped the answer recorded under %r: %s", self.method, dropped, why)
            self.journal.dropped.clear()
        if answer is None:
            answer = await self._send(method, params)
            self.journal.answer(key, answer)
        try:
            return method.result_decoder.decode(answer)
        except msgspec.DecodeError as error:
            raise InvalidParams(f"The client's answer is no result of {method.name}: {error}") from None

    async def _send(self, method: Method[Any, Any], params: Params) -> Raw:
        if isinstance(params, ElicitParams) and params.mode == "url":
            params = replace(params, elicitation_id=os.urandom(16).hex())
        response = await self._exchange.ask(Request(0, method.name, params))
        if isinstance(response, Failure):
            error = response.error
            raise RPCError.received(error.code, error.message, None if error.data is UNSET else error.data)
        result: Raw = response.result
        return result

    async def _notify(self, method: str, params: Any) -> None:
        await self._exchange.notify(Notification(method, narrow(params, self.version)))


def question_of(question: ElicitParams | CreateMessageParams | None) -> tuple[Method[Any, Any], Params]:
    """Tell which method asks a question."""
    if question is None:
        return ROOTS_LIST, Params()
    return (ELICIT if isinstance(question, ElicitParams) else CREATE_MESSAGE), question


def reader_of(form: Any) -> Callable[[dict[str, Any]], Any]:
    """Tell how to read the content of a form, which raises `ValueError` when it does not fit.

    Raises `ValueError` itself for a form whose JSON Schema is none.
    """
    if not isinstance(form, dict):
        return partial(read_form, form)
    from splice.schema.validate import validator  # noqa: PLC0415 - most forms are classes

    check = validator(cast("dict[str, Any]", form)).check

    def read(content: dict[str, Any]) -> dict[str, Any]:
        check(content)
        return content

    return read
