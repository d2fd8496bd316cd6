"""One question to the client, with the type of its answer: a form, a link, a request for a model or for the roots.

`Context.ask` takes as many as there are, and asks them together. The short forms of `Context` ask one of these.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
https://modelcontextprotocol.io/specification/2026-07-28/client/roots
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import inf
from typing import Annotated, Any, Generic, Literal, TypeAlias, TypedDict, TypeVar, Unpack, cast, get_args, overload

from msgspec import Raw, Struct
from msgspec.structs import astuple

from splice.errors import InvalidParams, RemoteProtocolError, ToolError
from splice.protocol import content, methods, questions, tools, wire
from splice.rules.options import Option, checked, option_table
from splice.schema.forms import form_schema, read_form
from splice.server import failures, results

T = TypeVar("T")
A = TypeVar("A", bound=Struct)
F = TypeVar("F")

Said: TypeAlias = str | questions.SamplingMessage | content.SamplingBlock | results.Image | results.Audio
"""A message. What is not a `SamplingMessage` is the user's."""

Messages: TypeAlias = Said | Sequence[Said]

COUNT = Option(int, "a number, at least 1", lambda count: count > 0)
_TEXT, _BLOCKS = Option(str, "text"), get_args(content.SamplingBlock)
_TOOLS = Option((list, tuple), "a list of `Tool`; those that are to be called are for ctx.sample", item=tools.Tool)
_CONTEXT = Option(str, "'none', 'thisServer' or 'allServers'", ("none", "thisServer", "allServers").__contains__)


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


def _are_priorities(preferences: questions.ModelPreferences) -> bool:
    return all(isinstance(each or 0, (int, float)) and 0 <= (each or 0) <= 1 for each in astuple(preferences)[1:])


_PREFERENCES = Option(questions.ModelPreferences, "names of models, or priorities from 0 to 1", _are_priorities)


class ModelOptions(TypedDict, total=False):
    """The fields of `CreateMessageParams` that may be left out, but for the tools."""

    max_tokens: Annotated[int, COUNT]
    """The longest answer wanted. 1000 by default."""
    key: Annotated[str | None, _TEXT]
    """Names the question, where its place in the order of the handler's questions does not."""
    system_prompt: Annotated[str, _TEXT]
    model_preferences: Annotated[questions.ModelPreferences | str | Sequence[str], _PREFERENCES]
    """Names, or parts of names, stand for hints: the first one that the client knows counts."""
    include_context: Annotated[Literal["none", "thisServer", "allServers"], _CONTEXT]
    temperature: Annotated[float, Option((int, float), "a number, at least 0", lambda given: 0 <= given < inf)]
    stop_sequences: Annotated[list[str], Option((list, tuple), "a list of texts that are not empty", all, str)]
    metadata: Annotated[dict[str, Any], Option(dict, "an object of JSON")]
    tool_choice: Annotated[questions.ToolChoice, Option(questions.ToolChoice, "a `ToolChoice`")]
    """For the first answer."""


class AskOptions(ModelOptions, total=False):
    """The options of one request for a model."""

    tools: Annotated[list[tools.Tool], _TOOLS]
    """An answer that uses some is returned."""


_OPTIONS = option_table(AskOptions)


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
    def sample(messages: Messages, **options: Unpack[AskOptions]) -> "Ask[questions.CreateMessageResult]":
        """Let the client's model answer once, in its own words. A file that is named is read at once.

        Raises `TypeError` and `ValueError` for options that make no sense.
        """
        fields = sample_fields(options, _OPTIONS)
        key = fields.pop("key", None)
        params = questions.CreateMessageParams(messages=messages_of(messages), **fields)
        return Ask.method(questions.CREATE_MESSAGE, params, key=key)

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
            return self.read(self.row.read_result(result, failures.log.debug))
        except RemoteProtocolError as error:
            raise InvalidParams(f"The client's answer is not a result of {self.row.name}: {error.__cause__}") from None


def sample_fields(options: Mapping[str, Any], known: Mapping[str, Option]) -> dict[str, Any]:
    """Check the options of a request for a model. Raises `TypeError` and `ValueError` for those that make no sense."""
    if isinstance(names := options.get("model_preferences"), (str, list, tuple)):
        hints = [questions.ModelHint(name=name) for name in results.items_of(names)]
        options = {**options, "model_preferences": questions.ModelPreferences(hints=hints)}
    return {"max_tokens": 1000, **checked("sample", options, known)}


def messages_of(said: Messages) -> list[questions.SamplingMessage]:
    """Make messages, reading the files they name. Raises `TypeError` for what is none."""
    kind, messages = questions.SamplingMessage, list[questions.SamplingMessage]()
    for each in results.items_of(said):
        block: Any = results.block_of(each) if isinstance(each, (str, results.Media)) else each
        messages.append(block if isinstance(block, kind) else kind(role="user", content=block))
    for each in messages or [kind(role="user", content=[])]:
        fits = each.blocks and all(isinstance(part, _BLOCKS) for part in each.blocks)
        if not fits or each.role not in get_args(content.Role):
            raise TypeError(f"sample takes text, Image, Audio, messages of user or assistant, or a list, not {said!r}")
    return messages


def _elicited(schema: Any, result: questions.ElicitResult) -> Elicited[Any]:
    if result.action != "accept" or schema is None:
        return Elicited(result.action)
    try:
        return Elicited(result.action, read_form(schema, result.content or {}))
    except ValueError as error:
        raise InvalidParams(f"The answer does not fit the form: {error}") from None
