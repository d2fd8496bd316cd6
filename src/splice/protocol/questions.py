"""Questions of a server to a client: a model's answer, the user's answer, the roots.

Legacy servers send these as requests of their own. Since 2026-07-28 they stand in an `InputRequiredResult`,
and the client repeats its request with the answers. So these params and results have no `_meta` there.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import field

from splice.protocol import jsonrpc, methods, wire
from splice.protocol.content import Role, SamplingBlock, TextContent, ToolResultContent, ToolUseContent
from splice.protocol.tools import TaskMetadata, Tool
from splice.protocol.versions import V2025_06_18, V2025_11_25, V2026_07_28, Since, Until

ElicitValue: TypeAlias = str | int | float | bool | list[str] | None
"""A value that a field of a form may hold."""


class ModelHint(wire.Wire, kw_only=True):
    """A wish for a model."""

    name: str | None = None
    """Part of a model's name, or of a family's."""


class ModelPreferences(wire.Wire, kw_only=True):
    """Wishes for the choice of a model. The client decides."""

    hints: list[ModelHint] | None = None
    """The first that fits counts."""

    cost_priority: float | None = None
    """How much a low price matters, from 0 to 1."""

    speed_priority: float | None = None
    """How much a quick answer matters, from 0 to 1."""

    intelligence_priority: float | None = None
    """How much ability matters, from 0 to 1."""


class ToolChoice(wire.Wire, kw_only=True):
    """Whether the model uses tools."""

    span: ClassVar[wire.Span] = (Since(V2025_11_25),)

    mode: Literal["auto", "required", "none"] | None = None
    """As it likes, at least once, or not at all. As it likes when absent."""


class Spoken(wire.Wire, kw_only=True):
    """Something that is said, by a model or to it."""

    role: Role
    """The speaker."""

    content: SamplingBlock | Annotated[list[SamplingBlock], Since(V2025_11_25)]
    """The text or other content."""

    @property
    def blocks(self) -> list[SamplingBlock]:
        """The content as a list, however it was written."""
        return self.content if isinstance(self.content, list) else [self.content]


class SamplingMessage(Spoken, kw_only=True):
    """One message to or from a model."""

    meta: Annotated[dict[str, Any] | None, Since(V2025_11_25)] = field(default=None, name="_meta")
    """Metadata. Keys with a reserved prefix belong to the specification."""


class QuestionParams(wire.Params, kw_only=True):
    """Params of a question, which is a request of its own up to 2025-11-25."""

    task: Annotated[TaskMetadata | None, Since(V2025_11_25), Until(V2025_11_25)] = None
    """Run it as a task."""

    meta: Annotated[jsonrpc.MaybeRaw, Until(V2025_11_25)] = field(default=None, name="_meta")
    """Metadata. Keys with a reserved prefix belong to the specification."""


class CreateMessageParams(QuestionParams, kw_only=True):
    """Params of `sampling/createMessage`: the server wants a model's answer."""

    messages: list[SamplingMessage]
    """The conversation so far."""

    max_tokens: int
    """The longest answer wanted."""

    system_prompt: str | None = None
    """The client may change it or leave it out."""

    model_preferences: ModelPreferences | None = None
    """Wishes for the choice of a model."""

    include_context: Literal["none", "thisServer", "allServers"] | None = None
    """Other context to tell the model. Other than ``none`` needs the capability `sampling.context`."""

    temperature: float | None = None
    """How freely to choose words."""

    stop_sequences: list[str] | None = None
    """Where to stop."""

    metadata: dict[str, Any] | None = None
    """For the provider of the model, in its own form."""

    tools: Annotated[list[Tool] | None, Since(V2025_11_25)] = None
    """Tools that the model may call. Needs the capability `sampling.tools`."""

    tool_choice: Annotated[ToolChoice | None, Since(V2025_11_25)] = None
    """Whether it does. Needs the same capability."""


def check_sampling_messages(messages: Sequence[Spoken]) -> None:
    """Check that each use of a tool has its result in the very next message, which holds nothing else.

    Raises `ValueError`.
    """
    uses: list[str] = []
    for index, message in enumerate((*messages, None)):
        blocks = [] if message is None else message.blocks
        where = "at the end" if message is None else f"in messages[{index}]"
        results = [block.tool_use_id for block in blocks if isinstance(block, ToolResultContent)]
        if results and len(results) < len(blocks):
            raise ValueError(f"tool results are mixed with other content {where}")
        if sorted(results) != sorted(uses):
            raise ValueError(f"results of the tool uses {uses} are due {where}, not of {results}")
        uses = [block.id for block in blocks if isinstance(block, ToolUseContent)]


class CreateMessageResult(Spoken, kw_only=True):
    """The result of `sampling/createMessage`: what the model said."""

    meta: dict[str, Any] | None = field(default=None, name="_meta")
    """Metadata. Keys with a reserved prefix belong to the specification."""

    model: str
    """The model that answered."""

    stop_reason: str | None = None
    """Why it stopped: ``endTurn``, ``stopSequence``, ``maxTokens``, ``toolUse`` or anything else."""

    @property
    def text(self) -> str:
        """All that was said in words."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextContent))


def check_sampled(params: CreateMessageParams, answer: CreateMessageResult) -> None:
    """Check that a model used only the tools it was offered, and as `tool_choice` says. Raises `ValueError`."""
    offered, uses = [tool.name for tool in params.tools or ()], list[ToolUseContent]()
    for block in answer.blocks:
        if isinstance(block, ToolUseContent) and block.name in offered and block.id not in {use.id for use in uses}:
            uses.append(block)
        elif isinstance(block, ToolUseContent | ToolResultContent):
            raise ValueError(f"tools offered are {', '.join(offered) or 'none'}, each use has its own id: not {block}")
    choice, stop = params.tool_choice and params.tool_choice.mode, answer.stop_reason
    if choice == "none" if uses else choice == "required" or stop == "toolUse":
        raise ValueError(f"{len(uses)} tools are used, but toolChoice is {choice} and stopReason {stop}")


class ElicitParams(QuestionParams, kw_only=True):
    """Params of `elicitation/create`: the server asks the user, by a form or by sending them to a URL."""

    span: ClassVar[wire.Span] = (Since(V2025_06_18),)

    mode: Annotated[Literal["form", "url"] | None, Since(V2025_11_25)] = None
    """Which of the two. A form when absent."""

    message: str
    """The question, and the reason for it."""

    requested_schema: dict[str, Any] | None = None
    """The form: JSON Schema of a flat object. Forms must have it."""

    url: Annotated[str | None, Since(V2025_11_25)] = None
    """Where to send the user. URL mode must have it."""

    elicitation_id: Annotated[str | None, Since(V2025_11_25), Until(V2025_11_25)] = None
    """`notifications/elicitation/complete` will repeat it. URL mode must have it."""

    def __post_init__(self) -> None:
        """Refuse a form without a schema and URL mode without a URL."""
        super().__post_init__()
        if self.mode == "url":
            if self.url is None:
                raise ValueError("Elicitation by URL needs `url`")
        elif self.requested_schema is None:
            raise ValueError("Elicitation by form needs `requestedSchema`")


class ElicitResult(wire.Wire, kw_only=True):
    """The result of `elicitation/create`: what the user did."""

    span: ClassVar[wire.Span] = (Since(V2025_06_18),)

    action: Literal["accept", "decline", "cancel"]
    """Answered, refused, or went away without a choice."""

    content: dict[str, ElicitValue] | None = None
    """The filled form, when it was accepted."""

    meta: Annotated[dict[str, Any] | None, Until(V2025_11_25)] = field(default=None, name="_meta")
    """Metadata. Keys with a reserved prefix belong to the specification."""


class Root(wire.LaterMeta, kw_only=True):
    """A place the server may work in."""

    uri: str
    """Begins with ``file://``."""

    name: str | None = None
    """A name for people."""


class ListRootsResult(wire.Wire, kw_only=True):
    """The result of `roots/list`."""

    roots: list[Root]
    """All of them."""

    meta: Annotated[dict[str, Any] | None, Until(V2025_11_25)] = field(default=None, name="_meta")
    """Metadata. Keys with a reserved prefix belong to the specification."""


class InputRequest(wire.Wire, kw_only=True):
    """One thing a server asks for inside a result: a request without an id."""

    span: ClassVar[wire.Span] = (Since(V2026_07_28),)

    method: str
    """One of the server's methods."""

    params: jsonrpc.MaybeRaw = None
    """The params of that method, not yet read or already written."""

    def __post_init__(self) -> None:
        """Read null as absent."""
        if self.params == jsonrpc.NULL:
            self.params = None


class InputRequiredResult(wire.Meta, tag_field="resultType", tag="input_required", kw_only=True):
    """A result that says: answer these first, then send the request again."""

    span: ClassVar[wire.Span] = (Since(V2026_07_28),)
    result_type: ClassVar[Literal["input_required"]] = "input_required"

    input_requests: dict[str, InputRequest] | None = None
    """The questions to answer, by keys that the answers repeat."""

    request_state: str | None = None
    """To be sent back, byte for byte. It means nothing to the client."""

    def __post_init__(self) -> None:
        """Refuse a result that gives the client nothing to come back with."""
        if self.input_requests is None and self.request_state is None:
            raise ValueError("An input_required result needs `inputRequests` or `requestState`")


class ElicitationCompleteParams(wire.NoteParams, kw_only=True):
    """Params of `notifications/elicitation/complete`: the user did what was to be done at the URL."""

    span: ClassVar[wire.Span] = (Since(V2025_11_25), Until(V2025_11_25))

    elicitation_id: str
    """Which elicitation."""


CREATE_MESSAGE = methods.Method(
    name="sampling/createMessage", params=CreateMessageParams, result=CreateMessageResult, until=V2025_11_25
)
ROOTS_LIST = methods.Method(name="roots/list", params=wire.NoParams, result=ListRootsResult, until=V2025_11_25)
ROOTS_CHANGED = methods.Note(name="notifications/roots/list_changed", params=wire.NoteParams, until=V2025_11_25)
ELICIT = methods.Method(name="elicitation/create", params=ElicitParams, result=ElicitResult, until=V2025_11_25)
ELICITATION_COMPLETE = methods.Note(name="notifications/elicitation/complete", params=ElicitationCompleteParams)
