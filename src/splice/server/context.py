"""The context of one running request: how a handler reaches the client that sent it.

A handler gets one by annotating a parameter with `Context`. Everything here behaves the same in both eras. Where a
modern client has to be asked something, the handler's run ends and a later run finds the answer, so a handler asks
first and acts after, and puts what must not happen twice into `once`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

import inspect
from collections.abc import Callable, Coroutine, Mapping
from math import inf, isfinite
from typing import TYPE_CHECKING, Any, Generic, TypeAlias, TypeVar, TypeVarTuple, Unpack, cast, overload

import msgspec

from splice.protocol import content, jsonrpc, methods, notifications, questions, wire
from splice.protocol.capabilities import ClientCapabilities
from splice.rules.principal import Principal
from splice.server.asking import Ask, Elicited, Messages
from splice.server.call import Call
from splice.server.threads import Bridge

if TYPE_CHECKING:
    import typing_extensions

    from splice.server.sampling import SampleOptions

    State = typing_extensions.TypeVar("State", default=Any)
else:
    State = TypeVar("State")

T = TypeVar("T")
U = TypeVar("U")
V = TypeVar("V")
W = TypeVar("W")
Ts = TypeVarTuple("Ts")
_Any: TypeAlias = Ask[Any]


class ClientView(msgspec.Struct, frozen=True):
    """A client's word about itself. Not verified: never base a decision of security on it."""

    info: wire.Implementation | None
    capabilities: ClientCapabilities


class Context(Generic[State]):
    """One running request, as its handler sees it. All contexts of one `Call` are the same.

    `Context[Database]` says which type `lifespan` has.
    """

    __slots__ = ("_call", "bridge")

    def __init__(self, call: Call) -> None:
        self._call = call
        self.bridge = Bridge()
        """The way back from a handler's thread; `wait` uses it."""
        if getattr(call.params, "request_state", None) is not None:
            _ = call.journal  # a state that cannot be trusted is refused before the handler does anything

    # Who is asking.

    @property
    def client(self) -> ClientView:
        """The client's word about itself."""
        return ClientView(self._call.declared.client_info, self._call.declared.capabilities)

    @property
    def version(self) -> str:
        """The protocol version of this request."""
        return self._call.facts.version

    @property
    def method(self) -> str:
        """The method of this request."""
        return self._call.row.name

    @property
    def params(self) -> wire.Params:
        """The params of this request."""
        return cast("wire.Params", self._call.params)

    @property
    def meta(self) -> dict[str, Any]:
        """The whole `_meta` of this request: what the specification names, and every key of others."""
        meta = self.params.meta
        return {} if meta is None else msgspec.json.decode(meta, type=dict[str, Any])

    @property
    def request_id(self) -> jsonrpc.RequestId:
        """The JSON-RPC id of this request."""
        return self._call.exchange.request.id

    @property
    def principal(self) -> Principal | None:
        """Whom the transport authenticated; None for nobody."""
        return self._call.sender.principal

    @property
    def headers(self) -> Mapping[str, str]:
        """The HTTP request's headers, names in lower case; empty on other transports."""
        return self._call.sender.headers

    @property
    def lifespan(self) -> State:
        """The value that the server's lifespan yielded."""
        life = self._call.home.life
        return cast("State", None if life is None else life.state)

    # Telling.

    async def notify(self, note: methods.Note[Any], params: msgspec.Struct | None = None) -> None:
        """Send a notification of an extension on the stream of this request."""
        await self._call.notify(note, params)

    async def close_stream(self) -> None:
        """Let a client that waits over HTTP hang up and poll for the result, which spares a connection in a long call.

        Does nothing where the client might not come back: other transports, other versions.
        """
        await self._call.exchange.close_stream()

    async def progress(self, value: float, total: float | None = None, message: str | None = None) -> None:
        """Report progress to a client that asked for it. A value that does not grow, or is not finite, is not sent."""
        token, page = self._call.meta.progress_token, self._call.journal.page
        if token is None or not page.told < value < inf:
            return
        page.told = value
        total = total if total is not None and isfinite(total) else None
        params = notifications.ProgressParams(progress_token=token, progress=value, total=total, message=message)
        await self._call.notify(notifications.PROGRESS, params)

    report_progress = progress

    async def log(self, level: notifications.LoggingLevel, data: Any, logger: str | None = None) -> None:
        """Send a log message, if the client wants to hear of this level."""
        wanted, severity = self._call.declared.log_level, notifications.LOGGING_LEVELS.index
        if wanted is not None and severity(level) >= severity(wanted):
            params = notifications.LogParams(level=level, data=data, logger=logger or self._call.home.info.name)
            await self._call.notify(notifications.LOG_MESSAGE, params)

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
        self._call.home.publish((notifications.TOOLS_CHANGED.name, None))

    async def notify_prompts_changed(self) -> None:
        """Tell every interested client that the list of prompts changed."""
        self._call.home.publish((notifications.PROMPTS_CHANGED.name, None))

    async def notify_resources_changed(self) -> None:
        """Tell every interested client that the list of resources changed."""
        self._call.home.publish((notifications.RESOURCES_CHANGED.name, None))

    async def notify_resource_updated(self, uri: str) -> None:
        """Tell every client that subscribed to `uri` that its contents changed."""
        self._call.home.publish((notifications.RESOURCE_UPDATED.name, uri))

    async def elicitation_complete(self, id: str) -> None:
        """Tell the client that was sent to a link with this `id`, and no other, that the user is done there.

        Nothing is sent where its version has no such notification; a modern client's next run finds out by itself.
        """
        if self._call.session is not None and id in self._call.session.elicitations:
            await self.notify(questions.ELICITATION_COMPLETE, questions.ElicitationCompleteParams(elicitation_id=id))
        else:
            self._call.home.publish((questions.ELICITATION_COMPLETE.name, id))

    # Asking.

    @overload
    async def ask(self, question: Ask[T], /) -> T: ...
    @overload
    async def ask(self, first: Ask[T], second: Ask[U], /) -> tuple[T, U]: ...
    @overload
    async def ask(self, first: Ask[T], second: Ask[U], third: Ask[V], /) -> tuple[T, U, V]: ...
    @overload
    async def ask(self, first: Ask[T], second: Ask[U], third: Ask[V], fourth: Ask[W], /) -> tuple[T, U, V, W]: ...
    @overload
    async def ask(self, _1: _Any, _2: _Any, _3: _Any, _4: _Any, _5: _Any, /, *more: _Any) -> tuple[Any, ...]: ...
    async def ask(self, *questions: Ask[Any]) -> Any:
        """Ask the client several things together; the answers come in the same order, that of one question alone.

        Raises `MissingClientCapability` before anything is asked, `InvalidParams` for an answer that does not fit, and
        the error that the client sent in the place of an answer.
        """
        answers = await self._call.ask_together(questions)
        return answers[0] if len(answers) == 1 else tuple(answers)

    @overload
    async def elicit(self, message: str, schema: None = None, *, key: str | None = None) -> Elicited[None]: ...
    @overload
    async def elicit(self, message: str, schema: type[T], *, key: str | None = None) -> Elicited[T]: ...
    @overload
    async def elicit(
        self, message: str, schema: dict[str, Any], *, key: str | None = None
    ) -> Elicited[dict[str, Any]]: ...
    @overload
    async def elicit(self, message: str, schema: object, *, key: str | None = None) -> Elicited[Any]: ...
    async def elicit(self, message: str, schema: object = None, *, key: str | None = None) -> Elicited[Any]:
        """Ask the user to fill in a form, as `Ask.form` describes it."""
        answer: Elicited[Any] = await self.ask(Ask.form(message, schema, key=key))
        return answer

    async def elicit_url(
        self, message: str, url: str, *, id: str | None = None, key: str | None = None
    ) -> Elicited[None]:
        """Ask the user to visit `url`, as `Ask.link` describes it.

        Raises `MissingClientCapability`, and `ValueError` for what is not an absolute URL of http or https.
        """
        return await self.ask(Ask.link(message, url, id=id, key=key))

    @overload
    async def sample(
        self, messages: Messages, result_type: None = None, **options: "Unpack[SampleOptions]"
    ) -> questions.CreateMessageResult: ...
    @overload
    async def sample(self, messages: Messages, result_type: type[T], **options: "Unpack[SampleOptions]") -> T: ...
    @overload
    async def sample(self, messages: Messages, result_type: object, **options: "Unpack[SampleOptions]") -> Any: ...
    async def sample(self, messages: Messages, result_type: Any = None, **options: "Unpack[SampleOptions]") -> Any:
        """Let the client's model answer: in its own words, or with a value of `result_type`.

        `tools` are functions, and names of tools of this server, that the model may use; they are called, and the
        model is told their results, until it has an answer. Instead, they may all be a `Tool`, and then an answer that
        uses some is returned. Raises `MissingClientCapability`, `InvalidParams` for an answer that may not be,
        `ToolError` where none was of the type, `TypeError` and `ValueError` for options that make no sense.
        """
        from splice.server import sampling  # noqa: PLC0415 - few handlers ask a model

        return await sampling.sample(self._call, messages, result_type, options)

    async def roots(self, *, key: str | None = None) -> list[questions.Root]:
        """List the directories that the client lets the server work in."""
        return await self.ask(Ask.roots(key=key))

    @overload
    async def once(self, fn: Callable[[*Ts], Coroutine[Any, Any, T]], *args: *Ts, key: str | None = None) -> T: ...
    @overload
    async def once(self, fn: Callable[[*Ts], T], *args: *Ts, key: str | None = None) -> T: ...
    async def once(self, fn: Callable[[*Ts], Any], *args: *Ts, key: str | None = None) -> Any:
        """Call `fn(*args)` in the first run of this handler only; later runs get the same result.

        `fn` may be async. Its result must be a JSON value, and comes back as one.
        """
        journal = self._call.journal
        key = journal.key(key)
        recorded = journal.page.done.get(key)
        if recorded is None:
            value = fn(*args)
            recorded = journal.record(key, await value if inspect.isawaitable(value) else value)
        return msgspec.json.decode(recorded)

    @property
    def answers(self) -> dict[str, Any]:
        """The client's answers, by key, for handlers that return `InputRequired` themselves."""
        return {key: msgspec.json.decode(value) for key, value in self._call.journal.page.answers.items()}

    @property
    def state(self) -> str:
        """The state of the last `InputRequired` of this handler."""
        return self._call.journal.page.note

    # Working.

    async def read_resource(self, uri: str) -> list[content.ResourceContents]:
        """Read one of this server's own resources. Raises `ResourceNotFound`."""
        return (await self._call.home.read(uri, self._call)).contents

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run one of the async methods of this object from a `def` handler: `ctx.wait(ctx.info("..."))`.

        Raises `RuntimeError` on the event loop, where it would wait for itself, and `asyncio.CancelledError` once the
        request is cancelled.
        """
        return self.bridge.wait(work)
