"""A server wants a model to go on with messages: the user sees what goes to the model, and what goes back.

    bounds > rules > model chosen > prompt reviewed > model asked > completion reviewed > sent

The user may edit both, have it made again, or deny. A denial is for this request only: the next one asks anew. With a
permission for the chat, or for always, it runs unseen, as long as it stays under the user's cap. A server gets nothing
of the chat, whatever it asks to be included, unless the user says so in the answer.

https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
"""

import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, Protocol

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from splice import InvalidParams, RPCError
from splice.host.asked import Completion, Json, Reviewed, Sampling
from splice.host.asking.choosing import Choice, choose
from splice.host.asking.during import call_of, chat_of, running
from splice.host.asking.permissions import sampling_of
from splice.host.asking.policy import Policy
from splice.host.asking.questions import Questions
from splice.host.board import Board
from splice.host.items import Call, Notice
from splice.host.models.base import Model, ModelEvent, ModelFailed, Usage, closing, collect
from splice.host.text import one_line
from splice.protocol.questions import check_sampling_messages
from splice.schema.schemas import cut
from splice.types import (
    CreateMessageParams,
    CreateMessageResult,
    SamplingMessage,
    TextContent,
    ToolUseContent,
)

MINUTE = 60.0

MAX_MESSAGES = 1_000
"""How many messages a server may send at once."""

MAX_AGAIN = 20
"""How often the user has one completion made again."""

USER_REJECTED = -1
"""The code of the specification for a sampling that the user does not want."""


class Limits(Struct, frozen=True):
    """What the user grants a server's sampling."""

    cap: int = 4_000
    """Tokens of one answer."""
    rate: int = 10
    """Requests in a minute."""
    models: Sequence[str] = ()
    """Ids of the models that it may use; empty: all."""


class Around(Protocol):
    """What sampling needs to know of the host."""

    def models(self) -> Sequence[Model]:
        """List the models that are set up."""
        ...

    def own_model(self) -> str:
        """Tell the id of the model of the user's own turns."""
        ...

    def limits(self, server: str) -> Limits:
        """Tell what the user grants a server."""
        ...

    def said_in(self, chat: str) -> str:
        """Write out a chat, for a server that the user shares it with."""
        ...

    def record(self, kind: str, server: str, **facts: Any) -> None:
        """Write into the activity log."""


class Samplings:
    """Lets models answer servers."""

    def __init__(
        self,
        board: Board,
        questions: Questions,
        policy: Policy,
        around: Around,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._board = board
        self._questions = questions
        self._policy = policy
        self._around = around
        self._clock = clock
        self._times: dict[str, deque[float]] = {}
        self._writing: dict[str, list[str]] = {}
        """What is said of the models at work, by the call that they work for."""

    async def sample(
        self, server: str, params: CreateMessageParams, *, calls: Sequence[str] = ()
    ) -> CreateMessageResult | None:
        """Let a model answer; None: the user does not want it. `calls` are the ids of the server's calls under way.

        Raises `RPCError` with the reason: too many requests, no model, or a model that gave no answer.
        """
        during = call_of(self._board, server, calls)
        chat, call = chat_of(self._board, during), during.id if during is not None else ""
        limits = self._around.limits(server)
        rate = self._count(server, limits.rate)
        if len(params.messages) > MAX_MESSAGES or params.max_tokens < 1:
            raise InvalidParams(f"Invalid params: more than {MAX_MESSAGES} messages, or less than one token")
        is_outside = not calls and not running(self._board, server)
        rate += ", while no call of it runs" * is_outside
        verdict = self._policy.decide_sampling(server, chat, is_outside=is_outside)
        if verdict.effect == "deny":
            self._record(server, "denied", verdict.rule, params)
            return None
        try:
            models, own = self._around.models(), self._around.own_model()
            choice = choose(server, params.model_preferences, models, allowed=limits.models, own=own)
        except LookupError as error:
            raise RPCError(str(error), code=USER_REJECTED) from None
        is_free = verdict.effect == "allow" and params.max_tokens <= limits.cap
        asked = _question(params, choice, limits, rate, call)
        if is_free:
            self._policy.permissions.used(verdict.rule)
            answer = Reviewed("once")
        else:
            answer = await self._reviewed(server, chat, asked, params)
        if answer.verdict == "deny":
            self._record(server, "denied", "", params)
            return None
        self._keep(sampling_of(server, is_outside=is_outside), server, chat, answer)
        self._record(server, "allowed", verdict.rule if is_free else "", params)
        model = next(each for each in models if each.id == (answer.model or choice.model))
        told = self._told(params, answer, chat)
        return await self._completed(server, chat, model, told, call, is_free=is_free)

    async def _reviewed(self, server: str, chat: str, asked: Sampling, params: CreateMessageParams) -> Reviewed:
        """Let the user look at what goes to the model."""

        def check(given: Reviewed) -> None:
            if given.verdict != "deny" and given.messages is not None:
                _messages(given.messages, params)

        answer, _ = await self._questions.ask(server, asked, chat=chat, check=check)
        return answer if isinstance(answer, Reviewed) else Reviewed("deny")

    async def _completed(
        self, server: str, chat: str, model: Model, told: CreateMessageParams, call: str, *, is_free: bool
    ) -> CreateMessageResult | None:
        """Ask the model, and let the user look at its answer; again as often as they want."""
        for _ in range(MAX_AGAIN):
            with self._under_way(server, model, call):
                result, tokens = await self._generated(server, model, told)
            if is_free:
                return result
            answer, _by = await self._questions.ask(server, _completion(result, model, tokens, call), chat=chat)
            if not isinstance(answer, Reviewed) or answer.verdict == "deny":
                return None
            if answer.verdict != "again":
                is_edited = answer.text is not None and answer.text != result.text
                return replace(result, content=TextContent(text=answer.text or "")) if is_edited else result
        return None

    @contextmanager
    def _under_way(self, server: str, model: Model, call: str) -> Generator[None]:
        """Say on the call which model is at work for it, the last of several: nothing else moves meanwhile."""
        said = f"{one_line(model.label)} writes an answer for {one_line(server)}"
        writing = self._writing.setdefault(call, [])
        self._reword(call, writing, [*writing, said])
        writing.append(said)
        try:
            yield
        finally:
            left = list(writing)
            left.remove(said)
            self._reword(call, writing, left)
            writing[:] = left
            if not left:
                del self._writing[call]

    def _reword(self, call: str, before: list[str], now: list[str]) -> None:
        """Change what is said of those at work, unless the call has come to say something else."""
        item = self._board.get(call, Call)
        if item is not None and item.word == "".join(before[-1:]):
            self._board.change(call, word="".join(now[-1:]))

    async def _generated(self, server: str, model: Model, told: CreateMessageParams) -> tuple[CreateMessageResult, int]:
        used: list[Usage] = []
        name = model.id if model.is_ai else f"{model.label} (a program, no AI)"
        try:
            result = await collect(_counted(model.stream(told), used), name)
        except ModelFailed as error:
            text = f"{one_line(model.label)} gave no answer to {one_line(server)}: {error.message}"
            self._board.put(Notice(id=f"notice:sampling {server}", text=text, level="bad", server=server))
            raise RPCError("The model gave no answer. Try again later.") from None
        return result, used[-1].output if used else 0

    def _told(self, params: CreateMessageParams, answer: Reviewed, chat: str) -> CreateMessageParams:
        """Write what the model gets. Nothing else of what a server sends reaches it."""
        system = params.system_prompt if answer.system is None else answer.system
        if answer.shares_chat and (said := self._around.said_in(chat)):
            system = f"{system or ''}\n\nThe user shares their conversation so far:\n\n{said}".strip()
        return CreateMessageParams(
            messages=params.messages if answer.messages is None else _messages(answer.messages, params),
            max_tokens=answer.max_tokens or params.max_tokens,
            system_prompt=system or None,
            temperature=params.temperature,
            stop_sequences=params.stop_sequences,
            tools=params.tools,
            tool_choice=params.tool_choice,
        )

    def _keep(self, about: str, server: str, chat: str, answer: Reviewed) -> None:
        """Keep a permission that the user gave for longer."""
        if answer.verdict not in ("chat", "always") or (answer.verdict == "chat" and not chat):
            return
        try:
            self._policy.permissions.grant("allow", about, chat=chat if answer.verdict == "chat" else None)
        except (OSError, ValueError) as error:
            text = f"Allowed only this once, as the rule could not be kept: {error}"
            self._board.put(Notice(id=f"notice:sampling {server}", text=text, level="warn", server=server))

    def _count(self, server: str, rate: int) -> str:
        """Count a request of a server's. Raises `RPCError` for one too many in a minute."""
        now = self._clock()
        times = self._times.setdefault(server, deque())
        while times and times[0] <= now - MINUTE:
            times.popleft()
        if len(times) >= rate:
            wait = times[0] + MINUTE - now if times else MINUTE
            told = f"At most {rate} sampling requests in a minute: wait {wait:.0f} s"
            self._around.record("sampling", server, decision="limited", why=told)
            raise RPCError(told, code=USER_REJECTED)
        times.append(now)
        return f"{len(times)} of {rate} in this minute"

    def _record(self, server: str, decision: str, rule: str, params: CreateMessageParams) -> None:
        messages, tools = len(params.messages), len(params.tools or ())
        self._around.record("sampling", server, decision=decision, rule=rule, messages=messages, tools=tools)


def _question(params: CreateMessageParams, choice: Choice, limits: Limits, rate: str, call: str) -> Sampling:
    wanted = params.include_context
    return Sampling(
        system=params.system_prompt or "",
        messages=msgspec.to_builtins(params.messages),
        model=choice.model,
        models=choice.models,
        why=choice.why,
        weights=choice.weights,
        max_tokens=params.max_tokens,
        cap=limits.cap,
        definitions=msgspec.to_builtins(params.tools) if params.tools else None,
        tool_choice=_choice(params),
        stops=params.stop_sequences or [],
        temperature=params.temperature,
        context=wanted if wanted and wanted != "none" else "",
        rate=rate,
        call=call,
    )


def _choice(params: CreateMessageParams) -> str:
    """Say whether the model has to use tools, or must not; empty if it may."""
    mode = params.tool_choice.mode if params.tool_choice else None
    return mode if mode and mode != "auto" else ""


def _completion(result: CreateMessageResult, model: Model, tokens: int, call: str) -> Completion:
    uses = [msgspec.to_builtins(block) for block in result.blocks if isinstance(block, ToolUseContent)]
    return Completion(
        text=result.text,
        model=model.label,
        stop=result.stop_reason or "",
        tokens=tokens,
        uses=uses or None,
        call=call,
    )


def _messages(edited: Json, params: CreateMessageParams) -> list[SamplingMessage]:
    """Read edited messages. Raises `ValueError` with a sentence."""
    try:
        messages = msgspec.convert(edited, list[SamplingMessage])
        check_sampling_messages(messages)
    except ValueError as error:
        raise ValueError(f"The messages cannot be sent so: {cut(str(error), 300)}") from None
    if not messages and params.messages:
        raise ValueError("Leave at least one message, or deny.")
    return messages


async def _counted(stream: AsyncIterator[ModelEvent], used: list[Usage]) -> AsyncIterator[ModelEvent]:
    """Pass on what a model says, and note what it costs."""
    async with closing(stream) as events:
        async for event in events:
            if isinstance(event, Usage):
                used.append(event)
            yield event
