"""What a server may ask of us, answered by the functions the user gave: elicitation, sampling, roots.

The same functions serve both eras, and what they can do is what we declare. A legacy server sends requests
(`answer`); a modern one puts the same questions into a result (`result_for`).

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NoReturn, TypeAlias, cast

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from splice.client.callbacks import call
from splice.errors import USER_REJECTED, InternalError, InvalidParams, MethodNotFound, RPCError
from splice.protocol.content import TextContent
from splice.protocol.input import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ElicitResult,
    ListRootsResult,
    Root,
)
from splice.protocol.jsonrpc import Request, Response, Success, failure
from splice.protocol.lifecycle import (
    ClientCapabilities,
    ElicitationCapability,
    EmptyResult,
    Params,
    RootsCapability,
    SamplingCapability,
)
from splice.protocol.methods import CREATE_MESSAGE, ELICIT, PING, ROOTS_LIST, SERVER_METHODS
from splice.protocol.versions import Facts
from splice.schema.forms import apply_defaults

ElicitAnswer: TypeAlias = ElicitResult | Mapping[str, Any] | Literal["accept", "decline", "cancel"] | None
"""A mapping is the filled form; None declines."""

OnElicit: TypeAlias = Callable[[ElicitParams], ElicitAnswer | Awaitable[ElicitAnswer]]

SampleAnswer: TypeAlias = CreateMessageResult | str | None
"""A string is what the model said; None: the user does not want it."""

OnSample: TypeAlias = Callable[[CreateMessageParams], SampleAnswer | Awaitable[SampleAnswer]]

AnyRoot: TypeAlias = Root | Path | str
"""A string is a URI if it looks like one, else a path."""

Roots: TypeAlias = Sequence[AnyRoot] | Callable[[], Sequence[AnyRoot] | Awaitable[Sequence[AnyRoot]]]

NO_MODEL = "unknown"

OPTION_FOR = {ELICIT.name: "on_elicit", CREATE_MESSAGE.name: "on_sample", ROOTS_LIST.name: "roots"}
"""Which option of `Client` makes a question answerable."""

log = logging.getLogger("splice.client")


class Handlers:
    """The user's side of a conversation."""

    def __init__(self, on_elicit: OnElicit | None, on_sample: OnSample | None, roots: Roots | None) -> None:
        self._on_elicit: OnElicit = on_elicit or _unanswerable
        self._on_sample: OnSample = on_sample or _unanswerable
        self._roots: Roots = () if roots is None else roots
        given = {ELICIT.name: on_elicit, CREATE_MESSAGE.name: on_sample, ROOTS_LIST.name: roots}
        self.methods = frozenset(name for name, handler in given.items() if handler is not None)
        """What can be answered."""

    def capabilities(self) -> ClientCapabilities:
        """Declare what there are handlers for. What a version lacks is still to be left out."""
        return ClientCapabilities(
            elicitation=ElicitationCapability(form={}, url={}) if ELICIT.name in self.methods else UNSET,
            sampling=SamplingCapability() if CREATE_MESSAGE.name in self.methods else UNSET,
            roots=RootsCapability(list_changed=True) if ROOTS_LIST.name in self.methods else UNSET,
        )

    async def answer(self, request: Request, facts: Facts) -> Response:
        """Answer a request of a legacy server."""
        try:
            if request.method == PING.name:
                return Success(request.id, EmptyResult())
            row = SERVER_METHODS.get(request.method)
            if row is None or not row.exists(facts.version) or request.method not in self.methods:
                raise MethodNotFound(f"Method not found: {request.method}")  # noqa: TRY301 - one way out for all refusals
            return Success(request.id, await self.result_for(request.method, request.params, facts))
        except RPCError as error:
            return failure(request.id, error)
        except Exception as error:
            log.exception("the handler of %s failed", request.method)
            return failure(request.id, InternalError(f"The client's handler failed: {type(error).__name__}"))

    async def result_for(self, method: str, raw: Raw | UnsetType, facts: Facts) -> Struct:
        """Answer one question. Raises `InvalidParams`, what the handler raises, and `RPCError` if the user refuses."""
        try:
            params = SERVER_METHODS[method].params_decoder.decode(b"{}" if isinstance(raw, UnsetType) else raw)
        except (msgspec.DecodeError, RecursionError) as error:
            raise InvalidParams(f"Invalid params: {error}") from None
        if method == ELICIT.name:
            return await self._elicit(cast("ElicitParams", params), facts)
        if method == CREATE_MESSAGE.name:
            return await self._sample(cast("CreateMessageParams", params))
        return await self._list_roots()

    async def _elicit(self, params: ElicitParams, facts: Facts) -> ElicitResult:
        if params.mode == "url" and not facts.url_elicitation:
            raise InvalidParams("Invalid params: elicitation by URL was not declared")
        result = _as_elicit_result(await call(self._on_elicit, params))
        if result.action != "accept" or params.mode == "url":
            return ElicitResult(action=result.action, meta=result.meta)
        content = {} if isinstance(result.content, UnsetType) else result.content
        schema = {} if isinstance(params.requested_schema, UnsetType) else params.requested_schema
        return ElicitResult(action="accept", content=apply_defaults(schema, content), meta=result.meta)

    async def _sample(self, params: CreateMessageParams) -> CreateMessageResult:
        if not isinstance(params.tools, UnsetType) or not isinstance(params.tool_choice, UnsetType):
            raise InvalidParams("Invalid params: sampling with tools was not declared")
        answer = await call(self._on_sample, params)
        if answer is None:
            raise RPCError("The user rejected the sampling request", code=USER_REJECTED)
        if isinstance(answer, str):
            content = TextContent(text=answer)
            return CreateMessageResult(role="assistant", content=content, model=NO_MODEL, stop_reason="endTurn")
        return answer

    async def _list_roots(self) -> ListRootsResult:
        listed = await call(self._roots) if callable(self._roots) else self._roots
        return ListRootsResult(roots=[_as_root(root) for root in listed])


def _unanswerable(_: Params) -> NoReturn:
    raise MethodNotFound("Method not found: there is no handler")


def _as_elicit_result(answer: ElicitAnswer) -> ElicitResult:
    if isinstance(answer, ElicitResult):
        return answer
    if answer is None:
        return ElicitResult(action="decline")
    if isinstance(answer, Mapping):
        return ElicitResult(action="accept", content=dict(answer))
    if answer in ("accept", "decline", "cancel"):
        return ElicitResult(action=answer)
    raise TypeError(f"on_elicit returned {answer!r}; wanted are a mapping, an ElicitResult, an action or None")


def _as_root(root: AnyRoot) -> Root:
    if isinstance(root, Root):
        return root
    if isinstance(root, str) and "://" in root:
        return Root(uri=root)
    return Root(uri=Path(root).absolute().as_uri())
