"""Prompts and completions: messages of the user's, ready to be picked, and help with filling in their arguments.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

import inspect
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from msgspec import UNSET, UnsetType

from splice.errors import InvalidParams
from splice.protocol.prompts import (
    CompleteParams,
    Completion,
    GetPromptResult,
    Prompt,
    PromptArgument,
    PromptReference,
)
from splice.schema.functions import BadArguments, Signature
from splice.server.context import Context, InputRequired
from splice.server.features import THREADS, Handler
from splice.server.options import FeatureOptions, fields
from splice.server.results import prompt_result

MAX_COMPLETIONS = 100


class PromptEntry:
    """One prompt: its definition and the function behind it."""

    def __init__(self, definition: Prompt, handler: Handler) -> None:
        self.definition = definition
        self.handler = handler
        self.key = definition.name

    @classmethod
    def of(cls, fn: Callable[..., Any], options: FeatureOptions) -> "PromptEntry":
        """Read a prompt off a function. Raises `TypeError` for one that cannot be called by name."""
        handler = Handler.of(fn, blocking=options.get("blocking", True))
        said = handler.signature
        description, arguments = said.description or UNSET, _arguments(said) or UNSET
        return cls(Prompt(**fields(options, name=handler.name, description=description, arguments=arguments)), handler)

    async def run(self, texts: Mapping[str, str], context: Context | None) -> GetPromptResult | InputRequired:
        """Fill in the prompt. Raises `InvalidParams` for arguments that are missing or do not fit."""
        try:
            arguments = self.handler.signature.arguments_from_text(texts)
        except BadArguments as error:
            raise InvalidParams(f"Invalid arguments for prompt {self.key}: {error}") from None
        value = await self.handler.call(arguments, context)
        if isinstance(value, InputRequired):
            return value
        description = self.definition.description
        return prompt_result(value, None if isinstance(description, UnsetType) else description)


def _arguments(signature: Signature) -> list[PromptArgument]:
    required = set(signature.input_schema.get("required", ()))
    return [
        PromptArgument(name=name, description=schema.get("description", UNSET), required=name in required)
        for name, schema in signature.input_schema.get("properties", {}).items()
    ]


class Completions:
    """The functions that complete an argument, by the prompt or template it belongs to."""

    def __init__(self) -> None:
        self._functions: dict[tuple[str, str], Callable[[str, Mapping[str, str]], Any]] = {}
        self._async: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._functions)

    def add(self, target: str, argument: str, fn: Callable[..., Any]) -> None:
        """Complete `argument` of the prompt or URI template `target` by `fn(value)` or `fn(value, others)`."""
        takes_others = len(inspect.signature(fn).parameters) > 1
        self._functions[target, argument] = fn if takes_others else lambda value, _: fn(value)
        if inspect.iscoroutinefunction(fn) or inspect.iscoroutinefunction(getattr(fn, "__call__", None)):  # noqa: B004
            self._async.add((target, argument))

    def completes(self, target: str) -> bool:
        """Tell whether anything of this prompt or template is completed."""
        return any(name == target for name, _ in self._functions)

    async def complete(self, params: CompleteParams) -> Completion:
        """Complete one argument; nothing to offer is no error."""
        ref = params.ref
        target = ref.name if isinstance(ref, PromptReference) else ref.uri
        fn = self._functions.get((target, params.argument.name))
        if fn is None:
            return Completion(values=[])
        known: dict[str, str] = {}
        if not isinstance(params.context, UnsetType) and not isinstance(params.context.arguments, UnsetType):
            known = params.context.arguments
        call = partial(fn, params.argument.value, known)
        value = call() if (target, params.argument.name) in self._async else await THREADS.run(call, {})
        return completion_of(await value if inspect.isawaitable(value) else value)


def completion_of(value: Any) -> Completion:
    """Make a completion of what a function returned: one, or any number of values of which the first 100 count."""
    if isinstance(value, Completion):
        return value
    values = [value] if isinstance(value, str) else [str(item) for item in value or ()]
    if len(values) <= MAX_COMPLETIONS:
        return Completion(values=values)
    return Completion(values=values[:MAX_COMPLETIONS], total=len(values), has_more=True)
