"""One question to the client, with the type of its answer: a form, a link, a request for a model or for the roots.

`Context.ask` takes as many as there are, and asks them together. The short forms of `Context` ask one of these.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, cast, overload

from msgspec import Raw, Struct

from splice.errors import InvalidParams, RemoteProtocolError, ToolError
from splice.protocol import methods, questions, wire
from splice.protocol.content import TextContent
from splice.protocol.tools import Tool
from splice.schema.forms import form_schema, read_form

log = logging.getLogger("splice.server")

T = TypeVar("T")
A = TypeVar("A", bound=Struct)
F = TypeVar("F")

Messages: TypeAlias = str | Sequence[questions.SamplingMessage]
"""A string is what the user says."""


class Elicited(Struct, Generic[T], frozen=True):
    """The user's answer to a form or a link."""

    action: Literal["accept", "decline", "cancel"]
    content: T | None = None
    """`data`, or None where the user did not accept."""

    @property
    def accepted(self) -> bool:
        """The user said yes."""
        return self.action == "accept"

    @property
    def data(self) -> T:
        """The form's content, typed as the model that was asked with.

        Raises `ToolError` where the user did not accept, so that the model hears of it from a tool that does not ask.
        """
        if not self.accepted:
            raise ToolError(f"The user was asked and did not answer: {self.action}")
        return cast("T", self.content)


class SampleOptions(TypedDict, total=False):
    """The fields of `CreateMessageParams` that may be left out."""

    system_prompt: str
    model_preferences: questions.ModelPreferences | str | Sequence[str]
    """Names, or parts of names, stand for hints: the first one that the client knows counts."""
    include_context: Literal["none", "thisServer", "allServers"]
    temperature: float
    stop_sequences: list[str]
    metadata: dict[str, Any]
    tools: list[Tool]
    tool_choice: questions.ToolChoice


class Ask(Struct, Generic[T], frozen=True):
    """A question. `key` names it; by default its place in the order of the handler's questions does.

    Its functions make one: `await ctx.ask(Ask.form("Who?", Person), Ask.roots())`.
    """

    row: methods.Method[Any, Any]
    """The method that asks."""
    params: Struct
    read: Callable[[Any], T]
    """Makes the answer of the method's result. Raises `InvalidParams`."""
    key: str | None = None

    @overload
    @staticmethod
    def form(message: str, schema: None = None, *, key: str | None = None) -> "Ask[Elicited[None]]": ...
    @overload
    @staticmethod
    def form(message: str, schema: type[F], *, key: str | None = None) -> "Ask[Elicited[F]]": ...
    @overload
    @staticmethod
    def form(message: str, schema: dict[str, Any], *, key: str | None = None) -> "Ask[Elicited[dict[str, Any]]]": ...
    @overload
    @staticmethod
    def form(message: str, schema: object, *, key: str | None = None) -> "Ask[Elicited[Any]]": ...
    @staticmethod
    def form(message: str, schema: Any = None, *, key: str | None = None) -> "Ask[Elicited[Any]]":
        """Let the user fill in a form: a flat dataclass, Struct, TypedDict or pydantic model, or a JSON Schema.

        `str`, `int`, `float`, `bool`, an Enum, `Literal[...]` and `list[Literal[...]]` ask for one value; nothing asks
        for a yes. Raises `TypeError` and `ValueError` for what is not a form.
        """
        form: dict[str, Any] = {"type": "object", "properties": {}} if schema is None else form_schema(schema)
        params = questions.ElicitParams(mode="form", message=message, requested_schema=form)
        return Ask(questions.ELICIT, params, partial(_elicited, schema), key)

    @staticmethod
    def link(message: str, url: str, *, id: str | None = None, key: str | None = None) -> "Ask[Elicited[None]]":
        """Send the user to `url`: for sign-ins and secrets, which must never pass through the client.

        `id` names it for `elicitation_complete`: text that nobody can guess, another one for each link.
        """
        params = questions.ElicitParams(mode="url", message=message, url=url, elicitation_id=id)
        return Ask(questions.ELICIT, params, partial(_elicited, None), key)

    @staticmethod
    def sample(
        messages: Messages, *, max_tokens: int = 1000, key: str | None = None, **options: Unpack[SampleOptions]
    ) -> "Ask[questions.CreateMessageResult]":
        """Let the client's model answer. Raises `TypeError` for an unknown option."""
        return Ask.method(questions.CREATE_MESSAGE, sample_params(messages, max_tokens, options), key=key)

    @staticmethod
    def roots(*, key: str | None = None) -> "Ask[list[questions.Root]]":
        """List the directories that the client lets the server work in."""
        return Ask(questions.ROOTS_LIST, wire.NoParams(), lambda result: result.roots, key)

    @staticmethod
    def method(row: methods.Method[Any, A], params: Struct, *, key: str | None = None) -> "Ask[A]":
        """Ask by any method, such as one of an extension; the answer is its result."""
        return Ask(row, params, lambda result: result, key)

    def answer(self, result: Raw) -> T:
        """Read the answer. Raises `InvalidParams` for one that does not fit."""
        try:
            return self.read(self.row.read_result(result, log.debug))
        except RemoteProtocolError as error:
            raise InvalidParams(f"The client's answer is not a result of {self.row.name}: {error.__cause__}") from None


def sample_params(messages: Messages, max_tokens: int, options: SampleOptions) -> questions.CreateMessageParams:
    """Write the params of a request for a model. Raises `TypeError` for an unknown option."""
    if isinstance(messages, str):
        messages = [questions.SamplingMessage(role="user", content=TextContent(text=messages))]
    fields: dict[str, Any] = {**options}
    preferred = options.get("model_preferences")
    if preferred is not None and not isinstance(preferred, questions.ModelPreferences):
        names = [preferred] if isinstance(preferred, str) else preferred
        hints = [questions.ModelHint(name=name) for name in names]
        fields["model_preferences"] = questions.ModelPreferences(hints=hints)
    return questions.CreateMessageParams(messages=list(messages), max_tokens=max_tokens, **fields)


def _elicited(schema: Any, result: questions.ElicitResult) -> Elicited[Any]:
    if result.action != "accept" or schema is None:
        return Elicited(result.action)
    try:
        return Elicited(result.action, read_form(schema, result.content or {}))
    except ValueError as error:
        raise InvalidParams(f"The answer does not fit the form: {error}") from None
