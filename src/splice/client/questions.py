"""Questions of a server: elicitation, sampling, roots and ping, and the methods of the user's extensions.

The same functions answer both forms of a question: a request that the server sends within a session (`answer`), and
one that stands in an `InputRequiredResult` (`answer_all`). The client declares what there are functions for, and
what these can do beyond the ordinary: `CAN`. What comes is checked before a function sees it, and what the function
returns before it is sent.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

import logging
import os
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, TypedDict, cast, get_args
from urllib.parse import unquote

import msgspec
from msgspec import Raw, Struct
from msgspec.structs import replace

from splice import errors
from splice.client.notices import FUNCTION, call
from splice.protocol import jsonrpc, lifecycle, methods, questions, uri, versions, wire
from splice.protocol.capabilities import ElicitationCapability, RootsCapability, SamplingCapability
from splice.protocol.content import SamplingBlock, TextContent, ToolUseContent
from splice.protocol.narrow import narrow
from splice.rules.extensions import AnyCapabilities, Extension, Heard, Served, served
from splice.rules.options import Option

ElicitAnswer: TypeAlias = questions.ElicitResult | Mapping[str, Any] | Literal["accept", "decline", "cancel"] | object
"""A mapping is the filled form, and so is a dataclass, a Struct or a pydantic model. None declines."""

OnElicit: TypeAlias = Callable[[questions.ElicitParams], ElicitAnswer | Awaitable[ElicitAnswer]]

SampleAnswer: TypeAlias = questions.CreateMessageResult | SamplingBlock | list[SamplingBlock] | str | None
"""A string, or blocks, are what the model said; None: the user does not want it."""

OnSample: TypeAlias = Callable[[questions.CreateMessageParams], SampleAnswer | Awaitable[SampleAnswer]]

OnElicitComplete: TypeAlias = Callable[[questions.ElicitParams], Awaitable[None] | None]
"""Is told that the server calls finished what a user was sent to a URL for, with the question that did so."""

AnyRoot: TypeAlias = questions.Root | Path | str
"""A string is a URI if it looks like one, else a path."""

Roots: TypeAlias = Sequence[AnyRoot] | Callable[[], Sequence[AnyRoot] | Awaitable[Sequence[AnyRoot]]]

Can: TypeAlias = Literal["elicitation.url", "sampling.tools", "sampling.context"]
CAN: tuple[Can, ...] = get_args(Can)
"""Parts of capabilities that are declared only if the user says so, since a function may not have been written for
them: one that fills in forms would agree to a URL that nobody saw."""

MAX_QUESTIONS = 100
"""How many questions a result may hold."""

MAX_VISITS = 1_000
"""How many URLs that users were sent to are remembered; the oldest go first. A server need not tell of the end."""

USER_REJECTED = -1
"""The error code that the specification shows for a user who wants no model to be asked."""

log = logging.getLogger("splice.client")


class Question:
    """One thing a server asks."""

    def __init__(self, row: methods.Method[Any, Any], params: Raw | None, facts: versions.Facts) -> None:
        self.row = row
        self.raw = params
        """The params as they came; None when there are none."""
        self.params = row.read_params(params)
        """The params, read as `row.params`."""
        self.facts = facts
        """The facts of the protocol version spoken."""


_CAN = Option((list, tuple, set), f"a list of {', '.join(CAN)}", lambda can: {*can} <= {*CAN}, str)


class AnswerOptions(TypedDict, total=False):
    """The options of a `Client` that answer questions."""

    on_elicit: Annotated[OnElicit | None, FUNCTION]
    on_sample: Annotated[OnSample | None, FUNCTION]
    roots: Annotated[Roots | None, Option((Sequence, Callable), "a list of places, or a function")]
    can: Annotated[Collection[Can] | None, _CAN]
    on_elicit_complete: Annotated[OnElicitComplete | None, FUNCTION]
    extensions: Annotated[Sequence[Extension[Question]], Option(Sequence, "a list of `Extension`", item=Extension)]


class Questions(Extension[Question]):
    """Everything that is answered here.

    It is the chapter of the specification's own questions, which the functions given to `Client` answer, and knows the
    others, those of extensions.
    """

    def __init__(self, options: AnswerOptions) -> None:
        roots = options.get("roots")
        if roots is not None and not callable(roots):
            _as_roots(roots)
        self._kinds = [kind for kind in _KINDS if options.get(kind.option) is not None]
        self.can = options.get("can") or ()
        self.shows = options.get("on_elicit") if "elicitation.url" in self.can else None
        self._visits: dict[str, questions.ElicitParams] = {}
        self._on_elicit_complete = options.get("on_elicit_complete")
        ours = [Served(kind.row, partial(kind.answer, self, options.get(kind.option))) for kind in self._kinds]
        notes = [Heard(questions.ELICITATION_COMPLETE, self._complete)]
        super().__init__("", methods=[Served(lifecycle.PING, _pong), *ours], notes=notes)
        self.chapters: tuple[Extension[Question], ...] = (self, *(options.get("extensions") or ()))
        self._served = served(self.chapters)

    def declare(self, capabilities: AnyCapabilities) -> None:
        """Declare what there are functions for. What a version lacks is still to be left out."""
        for kind in self._kinds:
            more: dict[str, Any] = {can.partition(".")[2]: {} for can in self.can if can.startswith(kind.capability)}
            setattr(capabilities, kind.capability, replace(kind.declared, **more))

    async def answer(self, request: jsonrpc.Request, facts: versions.Facts) -> jsonrpc.Response:
        """Answer a request that the server sent. Never raises, but for being cancelled."""
        try:
            each = self._served.get(request.method)
            if each is None or not each.row.exists(facts.version):
                raise errors.MethodNotFound(f"Method not found: {request.method}")  # noqa: TRY301 - one way out for all refusals
            result = await each.answer(Question(each.row, request.params, facts))
            return jsonrpc.Success(request.id, narrow(result, facts.version))
        except errors.RPCError as error:
            return jsonrpc.failure(request.id, error)
        except Exception as error:
            log.exception("the handler of %s failed", request.method)
            told = errors.InternalError(f"The client's handler failed: {type(error).__name__}")
            response = jsonrpc.failure(request.id, told)
            response.cause = error
            return response

    async def answer_all(self, asked: Mapping[str, questions.InputRequest], facts: versions.Facts) -> dict[str, Raw]:
        """Answer the questions of a result, one after the other, as a person would.

        Raises `Unanswered` for a question that nothing answers, or that is refused, and what a handler raises: then
        the rest is not asked.
        """
        if (count := len(asked)) > MAX_QUESTIONS:
            raise errors.RemoteProtocolError(f"The server asks {count} questions at once, more than {MAX_QUESTIONS}")
        answers: dict[str, Raw] = {}
        for key, request in asked.items():
            each = self._served.get(request.method)
            if each is None or each.row is lifecycle.PING:
                options = [kind.option for kind in _KINDS if kind.row.name == request.method]
                advice = f"; pass {options[0]}= to Client" if options else ""
                raise errors.Unanswered(f"The server asks for {request.method}, which nothing here answers{advice}")
            try:
                result = await each.answer(Question(each.row, request.params, facts))
                answers[key] = jsonrpc.raw(narrow(result, facts.version))
            except errors.RPCError as error:
                raise errors.Unanswered(f"{request.method} was not answered: {error}") from error
        return answers

    def expect(self, visit: questions.ElicitParams) -> None:
        """Remember that a user is sent to a URL. Raises `InvalidParams` for one where nobody should be sent."""
        if not uri.is_web(visit.url or ""):
            raise errors.InvalidParams("Invalid params: `url` must be an absolute http or https URL without a user")
        if visit.elicitation_id is not None:
            self._visits[visit.elicitation_id] = visit
        if len(self._visits) > MAX_VISITS:
            del self._visits[next(iter(self._visits))]

    def explained(self, error: errors.RPCError) -> errors.RPCError:
        """Say how to get on after an error of the server's: which URLs to visit, or which option it misses.

        `message` stays what the server said.
        """
        try:
            data = msgspec.convert(error.data, _Data)
            for visit in data.elicitations:
                self.expect(visit)
        except (msgspec.ValidationError, errors.InvalidParams):
            return error  # as it came: nothing in it can be used
        if isinstance(error, errors.URLElicitationRequired):
            error.elicitations = tuple(data.elicitations)
        misses = {f"{name}{inner}" for name, inside in data.required.items() for inner in ("", *inside)}
        options = [f"{kind.option}=" for kind in _KINDS if kind.capability in misses and kind not in self._kinds]
        options += [f"can={[part]}" for part in CAN if part.replace(".", "") in misses and part not in self.can]
        if options:
            error.args = (f"{error.message}; pass {options[0]} to Client",)
        return error

    async def _complete(self, params: questions.ElicitationCompleteParams) -> None:
        visit = self._visits.pop(params.elicitation_id, None)
        if visit is not None and self._on_elicit_complete is not None:
            await call(self._on_elicit_complete, visit)


class _Data(Struct, rename={"required": "requiredCapabilities"}):
    elicitations: list[questions.ElicitParams] = []
    required: dict[str, dict[str, Any]] = {}


async def _elicit(ours: Questions, on_elicit: OnElicit, question: Question) -> questions.ElicitResult:
    from splice.schema import forms  # noqa: PLC0415 - few servers ask

    params: questions.ElicitParams = question.params
    form = params.requested_schema or {}
    if params.mode != "url":
        try:
            forms.check_form(form, lists=question.facts.rich_forms)
        except ValueError as error:
            raise errors.InvalidParams(f"Invalid params: the form cannot be used: {error}") from error
    elif "elicitation.url" not in ours.can or not question.facts.url_elicitation:
        raise errors.InvalidParams("Invalid params: elicitation by URL was not declared")
    else:
        ours.expect(params)
    result = _as_elicit_result(await call(on_elicit, params))
    if result.action != "accept" or params.mode == "url":
        return questions.ElicitResult(action=result.action, meta=result.meta)
    try:
        return replace(result, content=forms.filled(form, result.content or {}))
    except ValueError as error:
        raise errors.LocalProtocolError(f"on_elicit filled in what the form does not take: {error}") from error


async def _sample(ours: Questions, on_sample: OnSample, question: Question) -> questions.CreateMessageResult:
    params: questions.CreateMessageParams = question.params
    asks_tools = params.tools is not None or params.tool_choice is not None
    if asks_tools and not ("sampling.tools" in ours.can and question.facts.sampling_tools):
        raise errors.InvalidParams("Invalid params: sampling with tools was not declared")
    try:
        questions.check_sampling_messages(params.messages)
    except ValueError as error:
        raise errors.InvalidParams(f"Invalid params: {error}") from None
    result = _as_sample(await call(on_sample, params))
    try:
        if question.facts.sampling_tools:  # else uses of tools leave as text
            questions.check_sampled(params, result)
    except ValueError as error:
        raise errors.LocalProtocolError(f"on_sample answered what the request does not allow: {error}") from error
    return result


async def _list_roots(_: Questions, roots: Roots, __: Question) -> questions.ListRootsResult:
    return questions.ListRootsResult(roots=_as_roots(await call(roots) if callable(roots) else roots))


async def _pong(_: Question) -> wire.EmptyResult:
    return wire.EmptyResult()


class _Kind(Struct, frozen=True):
    """A kind of question."""

    row: methods.Method[Any, Any]
    option: str
    """The option of `Client` that makes it answerable."""
    answer: Callable[[Questions, Any, Question], Awaitable[Any]]
    """Answers it with what was given as that option."""
    capability: str
    declared: Any
    """What that capability is declared as."""


_KINDS = (
    _Kind(questions.ELICIT, "on_elicit", _elicit, "elicitation", ElicitationCapability(form={})),
    _Kind(questions.CREATE_MESSAGE, "on_sample", _sample, "sampling", SamplingCapability()),
    _Kind(questions.ROOTS_LIST, "roots", _list_roots, "roots", RootsCapability(list_changed=True)),
)


def _as_elicit_result(answer: Any) -> questions.ElicitResult:
    if isinstance(answer, questions.ElicitResult):
        return answer
    if answer in ("accept", "decline", "cancel", None):
        return questions.ElicitResult(action=answer or "decline")
    content: Any = msgspec.to_builtins(answer, str_keys=True, enc_hook=plain)
    if not isinstance(content, dict):
        what = "return a filled form (a dict, or an object with fields), 'accept', 'decline' or 'cancel'"
        raise TypeError(f"on_elicit returned {answer!r}; {what}")
    return questions.ElicitResult(action="accept", content=cast("dict[str, Any]", content))


def plain(value: Any) -> Any:
    """Encode what msgspec does not: pydantic models. Raises `TypeError`."""
    if not hasattr(value, "model_dump"):
        raise TypeError(f"{type(value).__name__} has no JSON form")
    return value.model_dump(mode="json", by_alias=True)


def _as_sample(answer: Any) -> questions.CreateMessageResult:
    if answer is None:
        raise errors.RPCError("The user rejected the sampling request", code=USER_REJECTED)
    if isinstance(answer, questions.CreateMessageResult):
        return answer
    said: Any = TextContent(text=answer) if isinstance(answer, str) else answer
    result = questions.CreateMessageResult(role="assistant", content=said, model="unknown")
    blocks: list[Any] = result.blocks
    if not blocks or not all(isinstance(each, SamplingBlock) for each in blocks):
        what = "return text, content blocks, a CreateMessageResult, or None to refuse"
        raise TypeError(f"on_sample returned {answer!r}; {what}")
    uses = any(isinstance(each, ToolUseContent) for each in result.blocks)
    return replace(result, stop_reason="toolUse" if uses else "endTurn")


def _as_roots(roots: Sequence[AnyRoot]) -> list[questions.Root]:
    """Read places. Raises `TypeError` and `ValueError`."""
    if isinstance(roots, str):
        raise TypeError(f"roots are a list of places, not the text {roots!r}")
    return [_as_root(root) for root in roots]


def _as_root(root: AnyRoot) -> questions.Root:
    if isinstance(root, Path) or (isinstance(root, str) and "://" not in root):
        # Without `..`, as servers compare paths to it; symbolic links are the user's, and stay.
        return questions.Root(uri=Path(os.path.normpath(Path(root).absolute())).as_uri())
    given = questions.Root(uri=root) if isinstance(root, str) else root
    place: Any = getattr(given, "uri", given)
    if not str(place).startswith("file://") or not uri.is_uri(place) or ".." in unquote(place).split("/"):
        raise ValueError(f"a root is a path or a file:// URI, such as Path.as_uri() writes, not {place!r}")
    return given
