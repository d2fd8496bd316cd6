"""Prompts: messages a server has ready for the user to pick.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
"""

from typing import Annotated

from splice.protocol.content import ContentBlock, Role
from splice.protocol.methods import Method
from splice.protocol.versions import V2025_06_18, Since
from splice.protocol.wire import Named, PageParams, PageResult, Result, RetryParams, Wire


class PromptArgument(Wire, kw_only=True):
    """One argument of a prompt. Its value is text."""

    name: str
    """Its name for programs."""

    title: Annotated[str | None, Since(V2025_06_18)] = None
    """Its name for people. `name` is shown when it is absent."""

    description: str | None = None
    """Its meaning, for people."""

    required: bool | None = None
    """The prompt cannot do without. False when absent."""


class Prompt(Named, kw_only=True):
    """One entry of `prompts/list`."""

    arguments: list[PromptArgument] | None = None
    """The arguments that it takes."""


class PromptMessage(Wire, kw_only=True):
    """One message of a prompt."""

    role: Role
    """The speaker."""

    content: ContentBlock
    """The text or other content."""


class ListPromptsResult(PageResult, kw_only=True):
    """The result of `prompts/list`."""

    prompts: list[Prompt]
    """This page of them."""


class GetPromptParams(RetryParams, kw_only=True):
    """Params of `prompts/get`."""

    name: str
    """Which prompt."""

    arguments: dict[str, str] | None = None
    """Its arguments."""


class GetPromptResult(Result, kw_only=True):
    """The result of `prompts/get`."""

    description: str | None = None
    """The purpose of the prompt."""

    messages: list[PromptMessage]
    """The prompt with its arguments filled in."""


PROMPTS_LIST = Method(name="prompts/list", params=PageParams, result=ListPromptsResult)
PROMPTS_GET = Method(name="prompts/get", params=GetPromptParams, result=GetPromptResult, may_ask=True, named_by="name")
