"""Prompts: messages of the user's, ready to be picked. Completion: functions that help with filling in arguments.

https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
"""

from collections.abc import Callable, Mapping
from enum import Enum
from functools import partial
from itertools import islice
from typing import Any, cast

from msgspec.structs import replace

from splice.errors import InvalidParams, MethodNotFound
from splice.protocol import completion
from splice.protocol.capabilities import PromptsCapability, ServerCapabilities
from splice.protocol.prompts import PROMPTS_GET, PROMPTS_LIST, GetPromptResult, Prompt, PromptArgument
from splice.rules.extensions import AnyCapabilities, Extension, Served
from splice.schema.schemas import BadArguments, meant
from splice.server import handlers, resources, results, sources
from splice.server.call import Call, InputRequired, Publish

MAX_COMPLETIONS = 100
"""The most values that a completion tells: the specification allows no more."""


def prompt_entry(fn: Callable[..., Any], options: handlers.FeatureOptions) -> sources.Entry[Prompt]:
    """Read a prompt off a function. Raises `TypeError` for one that cannot be called by name."""
    handler = handlers.Handler(fn, options, handlers.FeatureOptions)
    schema = handler.signature.input_schema
    arguments = [
        PromptArgument(name=name, description=each.get("description"), required=name in schema.get("required", ()))
        for name, each in schema["properties"].items()
    ]
    definition = handler.define(Prompt, arguments=arguments or None)

    def read(call: Call) -> dict[str, Any]:
        """Read the arguments. Raises `InvalidParams` for those that are missing or do not fit."""
        try:
            return handler.signature.arguments_from_text(call.params.arguments or {})
        except BadArguments as error:
            raise InvalidParams(f"Invalid arguments for prompt {call.params.name}: {error}") from None

    make = partial(results.prompt_result, definition.description)
    return sources.Described(definition, partial(handler.run, read=read, make=make), handler.choices, handler)


class Prompts(sources.Features):
    """The chapter of `prompts/list` and `prompts/get`."""

    def __init__(self, publish: Publish) -> None:
        self.listing = sources.Listing(PROMPTS_LIST, sources.Local[Prompt]("prompt"))
        use = Served(PROMPTS_GET, self.get)
        super().__init__("prompts", PromptsCapability(list_changed=True), use, publish, prompts=self.listing)

    async def get(self, call: Call) -> GetPromptResult | InputRequired:
        """Answer `prompts/get`."""
        prompt = await self.listing.named(call.params.name)
        return cast("GetPromptResult | InputRequired", await prompt.run(call))


class Completions(Extension[Call]):
    """The chapter of `completion/complete`."""

    def __init__(self, prompts: Prompts, resources: resources.Resources) -> None:
        super().__init__("completions", methods=(Served(completion.COMPLETE, self.complete),))
        self._prompts, self._resources = prompts, resources
        self._handlers: dict[tuple[str, str], handlers.Handler] = {}
        """By what is completed: the name of a prompt or a URI template, and that of an argument."""

    def declare(self, capabilities: AnyCapabilities) -> None:
        """Declare completions, if there are any."""
        if isinstance(capabilities, ServerCapabilities) and self._offered():
            capabilities.completions = {}

    def add(self, target: str, argument: str, fn: Callable[..., Any]) -> None:
        """Complete `argument` of the prompt or URI template `target` by `fn(value)` or `fn(value, others)`.

        Raises `ValueError` for a target or argument that is not there, unless a source may have it, and `TypeError` for
        a function that cannot be called so.
        """
        handler = handlers.Handler(fn, {}, handlers.FeatureOptions)
        if len(handler.signature.input_schema.get("required", ())) > 2:
            raise TypeError(f"{handler.name}: a completion takes what was typed, and the arguments that are known")
        prompts, templates = self._prompts.listing, self._resources.templates
        entries = (templates.local.by_key | prompts.local.by_key).items()
        known: dict[str, Mapping[str, Any]] = {name: getattr(entry, "choices", {}) for name, entry in entries}
        if target not in known:
            if len(prompts.sources) + len(templates.sources) == 2:
                what = f"there is no prompt or resource template {target!r} to complete"
                raise ValueError(f"{what}; add it first{meant(target, known)}")
        elif argument not in known[target]:
            raise ValueError(f"{target!r} has no argument {argument!r} to complete{meant(argument, known[target])}")
        self._handlers[target, argument] = handler

    async def complete(self, call: Call) -> completion.CompleteResult | InputRequired:
        """Answer `completion/complete`. Where there is nothing to propose, that is not an error."""
        if not self._offered():
            raise MethodNotFound("This server completes nothing")
        params: completion.CompleteParams = call.params
        target = params.ref.name if isinstance(params.ref, completion.PromptReference) else params.ref.uri
        handler, typed = self._handlers.get((target, params.argument.name)), params.argument.value
        if handler is not None:
            known = (params.context.arguments if params.context else None) or {}
            values = zip(handler.signature.input_schema["properties"], (typed, known), strict=False)
            return await handler.run(call, lambda _: dict(values), completion_result)
        entry = await self._find(params)
        if entry is None:
            raise InvalidParams(f"There is no prompt or resource template {target!r:.200} here")
        choices: list[str] = getattr(entry, "choices", {}).get(params.argument.name, [])
        return completion_result([each for each in choices if each.casefold().startswith(typed.casefold())])

    def _offered(self) -> bool:
        local = self._prompts.listing.local, self._resources.templates.local
        return bool(self._handlers) or any(each.completes for each in local)

    async def _find(self, params: completion.CompleteParams) -> sources.Entry[Any] | None:
        if isinstance(ref := params.ref, completion.PromptReference):
            return await self._prompts.listing.find(ref.name)
        return self._resources.templates.local.get(ref.uri) or await self._resources.find(ref.uri)


def completion_result(value: Any) -> completion.CompleteResult:
    """Make a result of what a function returned: one, or any number of values of which the first 100 count."""
    known = value if isinstance(value, completion.Completion) else completion.Completion(values=[])
    given: Any = known.values if known is value else [value] if isinstance(value, str) else value or ()
    told: list[Any] = list(islice(given, MAX_COMPLETIONS + 1))
    if len(told) > MAX_COMPLETIONS:
        total = known.total or (len(given) if hasattr(given, "__len__") else None)
        known = replace(known, total=total, has_more=True)
    values = [str(each.value if isinstance(each, Enum) else each) for each in told[:MAX_COMPLETIONS]]
    return completion.CompleteResult(completion=replace(known, values=values))
