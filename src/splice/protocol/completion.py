"""Completion: help with filling in the argument of a prompt or the variable of a resource template.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

from typing import Annotated, ClassVar, Literal

from splice.protocol import methods, wire
from splice.protocol.versions import V2025_06_18, Since


class PromptReference(wire.Wire, tag_field="type", tag="ref/prompt", kw_only=True):
    """Names a prompt whose argument is to be completed."""

    type: ClassVar[Literal["ref/prompt"]] = "ref/prompt"

    name: str
    """Which prompt."""

    title: Annotated[str | None, Since(V2025_06_18)] = None
    """Its name for people."""


class ResourceTemplateReference(wire.Wire, tag_field="type", tag="ref/resource", kw_only=True):
    """Names a resource template whose variable is to be completed."""

    type: ClassVar[Literal["ref/resource"]] = "ref/resource"

    uri: str
    """The URI template, or a URI."""


class CompletionArgument(wire.Wire, kw_only=True):
    """The argument to be completed."""

    name: str
    """Which argument."""

    value: str
    """The text typed so far."""


class CompletionContext(wire.Wire, kw_only=True):
    """The arguments known already."""

    span: ClassVar[wire.Span] = (Since(V2025_06_18),)

    arguments: dict[str, str] | None = None
    """The other arguments."""


class CompleteParams(wire.Params, kw_only=True):
    """Params of `completion/complete`."""

    ref: PromptReference | ResourceTemplateReference
    """Whose argument."""

    argument: CompletionArgument
    """The argument, and the text typed so far."""

    context: Annotated[CompletionContext | None, Since(V2025_06_18)] = None
    """The arguments known already."""


class Completion(wire.Wire, kw_only=True):
    """Proposals, the best first."""

    values: list[str]
    """At most 100."""

    total: int | None = None
    """How many there are in all."""

    has_more: bool | None = None
    """There are more, known or not how many."""


class CompleteResult(wire.Result, kw_only=True):
    """The result of `completion/complete`."""

    completion: Completion
    """The proposals."""


COMPLETE = methods.Method(name="completion/complete", params=CompleteParams, result=CompleteResult)
