"""Prompts: messages a server has ready for the user to pick, and the completion of their arguments.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

from typing import Annotated, Any, ClassVar, Literal

from msgspec import UNSET, Raw, Struct, UnsetType, field

from splice.protocol.content import ContentBlock, Role
from splice.protocol.lifecycle import Icon, PageResult, Params, Result, Span
from splice.protocol.versions import V2025_06_18, V2025_11_25, V2026_07_28, Since


class PromptArgument(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """One argument of a prompt. Its value is text."""

    name: str
    """Its name for programs."""

    title: Annotated[str | UnsetType, Since(V2025_06_18)] = UNSET
    """Its name for people. `name` is shown when it is absent."""

    description: str | UnsetType = UNSET
    """What it is, for people."""

    required: bool | UnsetType = UNSET
    """The prompt cannot do without. False when absent."""


class Prompt(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """One entry of `prompts/list`."""

    name: str
    """Its name for programs."""

    title: Annotated[str | UnsetType, Since(V2025_06_18)] = UNSET
    """Its name for people. `name` is shown when it is absent."""

    description: str | UnsetType = UNSET
    """What it is for."""

    arguments: list[PromptArgument] | UnsetType = UNSET
    """What it takes."""

    icons: Annotated[list[Icon] | UnsetType, Since(V2025_11_25)] = UNSET
    """The same picture in several sizes and themes."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


class PromptMessage(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """One message of a prompt."""

    role: Role
    """Who says it."""

    content: ContentBlock
    """What is said."""


class ListPromptsResult(PageResult, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `prompts/list`."""

    prompts: list[Prompt]
    """This page of them."""


class GetPromptParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `prompts/get`."""

    name: str
    """Which prompt."""

    arguments: dict[str, str] | UnsetType = UNSET
    """Its arguments."""

    input_responses: Annotated[dict[str, Raw] | UnsetType, Since(V2026_07_28)] = UNSET
    """What the server asked for last time, by the same keys."""

    request_state: Annotated[str | UnsetType, Since(V2026_07_28)] = UNSET
    """What the server gave last time, byte for byte."""


class GetPromptResult(Result, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `prompts/get`."""

    description: str | UnsetType = UNSET
    """What the prompt is for."""

    messages: list[PromptMessage]
    """The prompt with its arguments filled in."""


class PromptReference(Struct, tag_field="type", tag="ref/prompt", rename="camel", omit_defaults=True, kw_only=True):
    """Names a prompt whose argument is to be completed."""

    type: ClassVar[Literal["ref/prompt"]] = "ref/prompt"

    name: str
    """Which prompt."""

    title: Annotated[str | UnsetType, Since(V2025_06_18)] = UNSET
    """Its name for people."""


class ResourceTemplateReference(
    Struct, tag_field="type", tag="ref/resource", rename="camel", omit_defaults=True, kw_only=True
):
    """Names a resource template whose variable is to be completed."""

    type: ClassVar[Literal["ref/resource"]] = "ref/resource"

    uri: str
    """The URI template, or a URI."""


class CompletionArgument(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What is to be completed."""

    name: str
    """Which argument."""

    value: str
    """What has been typed so far."""


class CompletionContext(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """What is known already."""

    span: ClassVar[Span] = (Since(V2025_06_18),)

    arguments: dict[str, str] | UnsetType = UNSET
    """The other arguments."""


class CompleteParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `completion/complete`."""

    ref: PromptReference | ResourceTemplateReference
    """Whose argument."""

    argument: CompletionArgument
    """Which argument, and what has been typed."""

    context: Annotated[CompletionContext | UnsetType, Since(V2025_06_18)] = UNSET
    """What is known already."""


class Completion(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """Proposals, the best first."""

    values: list[str]
    """At most 100."""

    total: int | UnsetType = UNSET
    """How many there are in all."""

    has_more: bool | UnsetType = UNSET
    """There are more, known or not how many."""


class CompleteResult(Result, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `completion/complete`."""

    completion: Completion
    """The proposals."""
