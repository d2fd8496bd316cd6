"""Questions of a server: elicitation, sampling, roots and ping, and the methods of the user's extensions.

The same functions answer both forms of a question: a request that the server sends within a session (`answer`), and
one that stands in an `InputRequiredResult` (`answer_all`). The client declares what there are functions for.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, TypeAlias

from msgspec import Raw, Struct

from splice.client.notices import call
from splice.errors import InternalError, InvalidParams, LocalProtocolError, MethodNotFound, RPCError, Unanswered
from splice.protocol import jsonrpc, lifecycle, methods, questions, uri, versions, wire
from splice.protocol.capabilities import ElicitationCapability, RootsCapability, SamplingCapability
from splice.protocol.content import TextContent
from splice.protocol.narrow import narrow
from splice.rules.extensions import AnyCapabilities, Extension, Served, served
from splice.schema.forms import apply_defaults

ElicitAnswer: TypeAlias = questions.ElicitResult | Mapping[str, Any] | Literal["accept", "decline", "cancel"] | None
"""A mapping is the filled form; None declines."""

OnElicit: TypeAlias = Callable[[questions.ElicitParams], ElicitAnswer | Awaitable[ElicitAnswer]]

SampleAnswer: TypeAlias = questions.CreateMessageResult | str | None
"""A string is what the model said; None: the user does not want it."""

OnSample: TypeAlias = Callable[[questions.CreateMessageParams], SampleAnswer | Awaitable[SampleAnswer]]

AnyRoot: TypeAlias = questions.Root | Path | str
"""A string is a URI if it looks like one, else a path."""

Roots: TypeAlias = Sequence[AnyRoot] | Callable[[], Sequence[AnyRoot] | Awaitable[Sequence[AnyRoot]]]

USER_REJECTED = -1
"""The error code that the specification shows for a user who wants no model to be asked."""

log = logging.getLogger("splice.client")


class Question:
    """One thing a server asks."""

    __slots__ = ("facts", "params", "raw", "row")

    def __init__(self, row: methods.Method[Any, Any], params: Raw | None, facts: versions.Facts) -> None:
        self.row = row
        self.raw = params
        """The params as they came; None when there are none."""
        self.params = row.read_params(params)
        """The params, read as `row.params`."""
        self.facts = facts
        """The facts of the protocol version spoken."""


class Answers:
    """Everything that is answered here, put together from chapters and extensions."""

    def __init__(self, extensions: Iterable[Extension[Question]]) -> None:
        self._served = served(extensions)

    async def answer(self, request: jsonrpc.Request, facts: versions.Facts) -> jsonrpc.Response:
        """Answer a request that the server sent. Never raises, but for being cancelled."""
        try:
            each = self._served.get(request.method)
            if each is None or not each.row.exists(facts.version):
                raise MethodNotFound(f"Method not found: {request.method}")  # noqa: TRY301 - one way out for all refusals
            result = await each.answer(Question(each.row, request.params, facts))
            return jsonrpc.Success(request.id, narrow(result, facts.version))
        except RPCError as error:
            return jsonrpc.failure(request.id, error)
        except Exception as error:
            log.exception("the handler of %s failed", request.method)
            told = InternalError(f"The client's handler failed: {type(error).__name__}")
            response = jsonrpc.failure(request.id, told)
            response.cause = error
            return response

    async def answer_all(self, asked: Mapping[str, questions.InputRequest], facts: versions.Facts) -> dict[str, Raw]:
        """Answer the questions of a result, one after the other, as a person would.

        Raises `Unanswered` for a question that nothing answers, or that is refused, and what a handler raises.
        """
        answers: dict[str, Raw] = {}
        for key, request in asked.items():
            each = self._served.get(request.method)
            if each is None or each.row is lifecycle.PING:
                options = [kind.option for kind in _KINDS if kind.row.name == request.method]
                advice = f"; pass {options[0]}= to Client" if options else ""
                raise Unanswered(f"The server asks for {request.method}, which nothing here answers{advice}")
            try:
                result = await each.answer(Question(each.row, request.params, facts))
                answers[key] = jsonrpc.raw(narrow(result, facts.version))
            except RPCError as error:
                raise Unanswered(f"{request.method} was not answered: {error}") from error
        return answers


class Questions(Extension[Question]):
    """The chapter of the specification's own questions, answered by the functions given to `Client`."""

    def __init__(self, on_elicit: OnElicit | None, on_sample: OnSample | None, roots: Roots | None) -> None:
        if roots is not None and not callable(roots):
            _as_roots(roots)
        given = {"on_elicit": on_elicit, "on_sample": on_sample, "roots": roots}
        self._kinds = [kind for kind in _KINDS if given[kind.option] is not None]
        ours = [Served(kind.row, partial(kind.answer, given[kind.option])) for kind in self._kinds]
        super().__init__("", methods=[Served(lifecycle.PING, _pong), *ours])

    def declare(self, capabilities: AnyCapabilities) -> None:
        """Declare what there are functions for. What a version lacks is still to be left out."""
        for kind in self._kinds:
            setattr(capabilities, kind.capability, kind.declared)


async def _elicit(on_elicit: OnElicit, question: Question) -> questions.ElicitResult:
    params: questions.ElicitParams = question.params
    if params.mode == "url" and not question.facts.url_elicitation:
        raise InvalidParams("Invalid params: elicitation by URL was not declared")
    result = _as_elicit_result(await call(on_elicit, params))
    if result.action != "accept" or params.mode == "url":
        return questions.ElicitResult(action=result.action, meta=result.meta)
    schema = params.requested_schema or {}
    filled = {name: value for name, value in (result.content or {}).items() if value is not None}
    content = apply_defaults(schema, filled)
    _check_form(schema, content)
    return questions.ElicitResult(action="accept", content=content, meta=result.meta)


def _check_form(schema: dict[str, Any], content: dict[str, questions.ElicitValue]) -> None:
    """Check a filled form. Raises `LocalProtocolError`, and `InvalidParams` for a form that nobody can fill in."""
    from splice.schema.validate import BadSchema, Mismatch, validator  # noqa: PLC0415 - few servers ask by forms

    try:
        validator(schema).check(content)
    except Mismatch as error:
        raise LocalProtocolError(f"on_elicit filled in what the form does not take: {error}") from error
    except BadSchema as error:
        raise InvalidParams(f"Invalid params: the form cannot be used: {error}") from error


async def _sample(on_sample: OnSample, question: Question) -> questions.CreateMessageResult:
    params: questions.CreateMessageParams = question.params
    if params.tools is not None or params.tool_choice is not None:
        raise InvalidParams("Invalid params: sampling with tools was not declared")
    try:
        questions.check_sampling_messages(params.messages)
    except ValueError as error:
        raise InvalidParams(f"Invalid params: {error}") from None
    answer: Any = await call(on_sample, params)
    if answer is None:
        raise RPCError("The user rejected the sampling request", code=USER_REJECTED)
    if isinstance(answer, str):
        content = TextContent(text=answer)
        return questions.CreateMessageResult(role="assistant", content=content, model="unknown", stop_reason="endTurn")
    if not isinstance(answer, questions.CreateMessageResult):
        raise TypeError(f"on_sample returned {answer!r}; return text, a CreateMessageResult, or None to refuse")
    return answer


async def _list_roots(roots: Roots, _: Question) -> questions.ListRootsResult:
    return questions.ListRootsResult(roots=_as_roots(await call(roots) if callable(roots) else roots))


async def _pong(_: Question) -> wire.EmptyResult:
    return wire.EmptyResult()


class _Kind(Struct, frozen=True):
    """A kind of question."""

    row: methods.Method[Any, Any]
    option: str
    """The option of `Client` that makes it answerable."""
    answer: Callable[[Any, Question], Awaitable[Any]]
    """Answers it with what was given as that option."""
    capability: str
    declared: Any
    """What that capability is declared as."""


_KINDS = (
    _Kind(questions.ELICIT, "on_elicit", _elicit, "elicitation", ElicitationCapability(form={}, url={})),
    _Kind(questions.CREATE_MESSAGE, "on_sample", _sample, "sampling", SamplingCapability()),
    _Kind(questions.ROOTS_LIST, "roots", _list_roots, "roots", RootsCapability(list_changed=True)),
)

OPTION_OF = {kind.capability: kind.option for kind in _KINDS}
"""Which option of `Client` declares a capability."""


def _as_elicit_result(answer: ElicitAnswer) -> questions.ElicitResult:
    if isinstance(answer, questions.ElicitResult):
        return answer
    if isinstance(answer, Mapping):
        return questions.ElicitResult(action="accept", content=dict(answer))
    if answer in ("accept", "decline", "cancel", None):
        return questions.ElicitResult(action=answer or "decline")
    raise TypeError(f"on_elicit returned {answer!r}; return a filled form (a dict), 'accept', 'decline' or 'cancel'")


def _as_roots(roots: Sequence[AnyRoot]) -> list[questions.Root]:
    """Read places. Raises `TypeError` and `ValueError`."""
    if isinstance(roots, str):
        raise TypeError(f"roots are a list of places, not the text {roots!r}")
    return [_as_root(root) for root in roots]


def _as_root(root: AnyRoot) -> questions.Root:
    if isinstance(root, Path) or (isinstance(root, str) and "://" not in root):
        return questions.Root(uri=Path(root).absolute().as_uri())
    given = questions.Root(uri=root) if isinstance(root, str) else root
    if not given.uri.startswith("file://") or not uri.is_uri(given.uri):
        raise ValueError(f"a root is a path or a file:// URI, such as Path.as_uri() writes, not {given.uri!r}")
    return given
