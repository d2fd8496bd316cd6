"""What a server may ask of a client: a model's answer, the user's answer, the roots.

Legacy servers send these as requests of their own. Since 2026-07-28 they stand in an `InputRequiredResult`,
and the client repeats its request with the answers. So these params and results have no `_meta` there.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

from typing import Annotated, Any, ClassVar, Literal, TypeAlias

from msgspec import UNSET, Raw, Struct, UnsetType, field

from splice.protocol.content import Role, SamplingBlock, TextContent
from splice.protocol.lifecycle import Params, RequestMeta, Span
from splice.protocol.tasks import TaskMetadata
from splice.protocol.tools import Tool
from splice.protocol.versions import V2025_06_18, V2025_11_25, V2026_07_28, Since, Until

ElicitValue: TypeAlias = str | int | float | bool | list[str] | None
"""What a field of a form may hold."""

SamplingContent: TypeAlias = SamplingBlock | Annotated[list[SamplingBlock], Since(V2025_11_25)]
"""One block, or several."""


def _blocks(content: SamplingContent) -> list[SamplingBlock]:
    return content if isinstance(content, list) else [content]


class ModelHint(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A wish for a model."""

    name: str | UnsetType = UNSET
    """Part of a model's name, or of a family's."""


class ModelPreferences(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What matters in the choice of a model. The client decides."""

    hints: list[ModelHint] | UnsetType = UNSET
    """The first that fits counts."""

    cost_priority: float | UnsetType = UNSET
    """How much a low price matters, from 0 to 1."""

    speed_priority: float | UnsetType = UNSET
    """How much a quick answer matters, from 0 to 1."""

    intelligence_priority: float | UnsetType = UNSET
    """How much ability matters, from 0 to 1."""


class ToolChoice(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Whether the model uses tools."""

    span: ClassVar[Span] = (Since(V2025_11_25),)

    mode: Literal["auto", "required", "none"] | UnsetType = UNSET
    """As it likes, at least once, or not at all. As it likes when absent."""


class SamplingMessage(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """One message to or from a model."""

    role: Role
    """Who says it."""

    content: SamplingContent
    """What is said."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_11_25)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""

    @property
    def blocks(self) -> list[SamplingBlock]:
        """The content as a list, however it was written."""
        return _blocks(self.content)


class CreateMessageParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `sampling/createMessage`: the server wants a model's answer."""

    messages: list[SamplingMessage]
    """The conversation so far."""

    max_tokens: int
    """The longest answer wanted."""

    system_prompt: str | UnsetType = UNSET
    """The client may change it or leave it out."""

    model_preferences: ModelPreferences | UnsetType = UNSET
    """What matters in the choice of a model."""

    include_context: Literal["none", "thisServer", "allServers"] | UnsetType = UNSET
    """What else to tell the model. Other than ``none`` needs the capability `sampling.context`."""

    temperature: float | UnsetType = UNSET
    """How freely to choose words."""

    stop_sequences: list[str] | UnsetType = UNSET
    """Where to stop."""

    metadata: dict[str, Any] | UnsetType = UNSET
    """For the provider of the model, in its own form."""

    tools: Annotated[list[Tool] | UnsetType, Since(V2025_11_25)] = UNSET
    """What the model may call. Needs the capability `sampling.tools`."""

    tool_choice: Annotated[ToolChoice | UnsetType, Since(V2025_11_25)] = UNSET
    """Whether it does. Needs the same capability."""

    task: Annotated[TaskMetadata | UnsetType, Since(V2025_11_25), Until(V2025_11_25)] = UNSET
    """Run it as a task."""

    meta: Annotated[RequestMeta | UnsetType, Until(V2025_11_25)] = field(default=UNSET, name="_meta")
    """What is said about the request rather than in it."""


class CreateMessageResult(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `sampling/createMessage`: what the model said."""

    role: Role
    """Who says it: the assistant."""

    content: SamplingContent
    """What is said."""

    model: str
    """Which model it was."""

    stop_reason: str | UnsetType = UNSET
    """Why it stopped: ``endTurn``, ``stopSequence``, ``maxTokens``, ``toolUse`` or anything else."""

    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")
    """What is said about the result rather than in it."""

    @property
    def blocks(self) -> list[SamplingBlock]:
        """The content as a list, however it was written."""
        return _blocks(self.content)

    @property
    def text(self) -> str:
        """All that was said in words."""
        return "\n".join(block.text for block in self.blocks if isinstance(block, TextContent))


class ElicitParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `elicitation/create`: the server asks the user, by a form or by sending them to a URL."""

    span: ClassVar[Span] = (Since(V2025_06_18),)

    mode: Annotated[Literal["form", "url"] | UnsetType, Since(V2025_11_25)] = UNSET
    """Which of the two. A form when absent."""

    message: str
    """What is asked, and why."""

    requested_schema: dict[str, Any] | UnsetType = UNSET
    """The form: JSON Schema of a flat object. Forms must have it."""

    url: Annotated[str | UnsetType, Since(V2025_11_25)] = UNSET
    """Where to send the user. URL mode must have it."""

    elicitation_id: Annotated[str | UnsetType, Since(V2025_11_25), Until(V2025_11_25)] = UNSET
    """`notifications/elicitation/complete` will repeat it. URL mode must have it."""

    task: Annotated[TaskMetadata | UnsetType, Since(V2025_11_25), Until(V2025_11_25)] = UNSET
    """Run it as a task."""

    meta: Annotated[RequestMeta | UnsetType, Until(V2025_11_25)] = field(default=UNSET, name="_meta")
    """What is said about the request rather than in it."""

    def __post_init__(self) -> None:
        """Refuse a form without a schema and URL mode without a URL."""
        if self.mode == "url":
            if self.url is UNSET:
                raise ValueError("Elicitation by URL needs `url`")
        elif self.requested_schema is UNSET:
            raise ValueError("Elicitation by form needs `requestedSchema`")


class ElicitResult(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `elicitation/create`: what the user did."""

    span: ClassVar[Span] = (Since(V2025_06_18),)

    action: Literal["accept", "decline", "cancel"]
    """Answered, refused, or went away without a choice."""

    content: dict[str, ElicitValue] | UnsetType = UNSET
    """The filled form, when it was accepted."""

    meta: Annotated[dict[str, Any] | UnsetType, Until(V2025_11_25)] = field(default=UNSET, name="_meta")
    """What is said about the result rather than in it."""


class Root(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """A place the server may work in."""

    uri: str
    """Begins with ``file://``."""

    name: str | UnsetType = UNSET
    """A name for people."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


class ListRootsResult(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `roots/list`."""

    roots: list[Root]
    """All of them."""

    meta: Annotated[dict[str, Any] | UnsetType, Until(V2025_11_25)] = field(default=UNSET, name="_meta")
    """What is said about the result rather than in it."""


class InputRequest(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """One thing a server asks for inside a result: a request without an id."""

    span: ClassVar[Span] = (Since(V2026_07_28),)

    method: str
    """One of the server's methods."""

    params: Raw | UnsetType = UNSET
    """The params of that method, not yet read or already written."""


class InputRequiredResult(
    Struct, tag_field="resultType", tag="input_required", rename="camel", omit_defaults=True, kw_only=True
):
    """A result that says: answer these first, then send the request again."""

    span: ClassVar[Span] = (Since(V2026_07_28),)
    result_type: ClassVar[Literal["input_required"]] = "input_required"

    input_requests: dict[str, InputRequest] | UnsetType = UNSET
    """What to answer, by keys the answers repeat."""

    request_state: str | UnsetType = UNSET
    """What to send back, byte for byte. It means nothing to the client."""

    meta: dict[str, Any] | UnsetType = field(default=UNSET, name="_meta")
    """What is said about the result rather than in it."""

    def __post_init__(self) -> None:
        """Refuse a result that gives the client nothing to come back with."""
        if self.input_requests is UNSET and self.request_state is UNSET:
            raise ValueError("An input_required result needs `inputRequests` or `requestState`")
