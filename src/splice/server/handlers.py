"""A user's function: what its signature and the options beside it say, and how it is called.

Both together are its definition, checked when it is added: what is listed is what clients can read.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-names
https://modelcontextprotocol.io/specification/2026-07-28/basic#meta
"""

import asyncio
import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import Any, TypeAlias, TypedDict, TypeVar, get_args, get_origin

import msgspec

from splice.errors import InternalError, ToolError
from splice.protocol import tools, uri, wire
from splice.rules.principal import Principal
from splice.schema import annotations, functions, schemas
from splice.server.call import Call, InputRequired
from splice.server.context import Context
from splice.server.results import OPAQUE, names_files, text_of

_OURS = ("blocking", "scope", "scopes", "timeout", "ttl", "validate", "visible")
"""Options that are not fields of a definition."""

D = TypeVar("D", bound=wire.Named)
R = TypeVar("R")

Read: TypeAlias = Callable[[Call], dict[str, Any]]
"""Reads the arguments of the function from a call."""


class FeatureOptions(TypedDict, total=False):
    """Options that tools, resources and prompts have in common; they win over what the function says."""

    name: str
    """Its name for clients. The function's name by default."""
    title: str
    """For people."""
    description: str
    """The function's docstring by default."""
    icons: list[wire.Icon]
    meta: dict[str, Any]
    """`_meta` of the listed entry."""
    blocking: bool
    """False runs a quick `def` on the event loop instead of a thread. No meaning for `async def`."""
    scopes: Sequence[str]
    """Who lacks one of these does not find it in lists, and is told what to ask for. Over HTTP, which needs `auth`."""
    visible: Callable[[Principal], bool]
    """Returns False for whom it does not exist, likewise."""


class Handler:
    """A function whose signature was read."""

    def __init__(self, fn: Callable[..., Any], options: FeatureOptions, known: type[FeatureOptions]) -> None:
        """Read a function's signature.

        Raises `TypeError` for one that cannot be called by name, and for options that are not among those of `known`.
        """
        there = known.__annotations__
        for option in options.keys() - there.keys():
            known_ones = ", ".join(there) + schemas.meant(option, there)
            raise TypeError(f"there is no option {option!r}; there are {known_ones}")
        self._fn, self.options = fn, options
        self.name: str = getattr(fn, "__name__", type(fn).__name__)
        """The function's name, or its class's."""
        self.signature = functions.Signature(fn, skip=_is_context, opaque=(*OPAQUE, InputRequired))
        self.context_name = next(iter(self.signature.injected), None)
        """The parameter that takes the context."""
        self.seconds: float | None = None
        """How long it may take."""
        self.returns_files = True
        """What it returns may name files, which are then read on a thread."""

    def define(self, kind: type[D], **said: Any) -> D:
        """Make a definition of what the signature says, and the options, which win: as its clients will read it.

        Raises `ValueError` for settings that they could not take.
        """
        description = self.signature.description or None
        fields: dict[str, Any] = {"name": self.name, "description": description, **said, **self.options}
        definition = kind(**{name: value for name, value in fields.items() if name not in _OURS})
        what, text = f"{kind.__name__.lower()} {definition.name!r}", msgspec.json.encode(definition)
        try:
            read = msgspec.json.decode(text, type=kind)
        except msgspec.ValidationError as error:
            raise ValueError(f"{what}: {error}") from None
        given, known = msgspec.json.decode(text), msgspec.json.decode(msgspec.json.encode(read))
        lost = [name for name in given if given[name] != known.get(name)]
        problems = [*(f"{name} has members that no client knows" for name in lost), *problems_of(read)]
        if problems:
            raise ValueError(f"{what}: {'; '.join(problems)}")
        return read

    @property
    def choices(self) -> dict[str, list[str]]:
        """The values of each argument, as the texts that it is read from: none where its type does not list them."""
        schema = self.signature.input_schema
        found = {name: schemas.choices(each, schema.get("$defs", {})) for name, each in schema["properties"].items()}
        return {name: [text_of(each) for each in values] for name, values in found.items()}

    async def run(self, call: Call, read: Read, make: Callable[[Any], R]) -> R | InputRequired:
        """Call the function with the arguments that are read from a call, and make a result of what it returns.

        Raises `InvalidParams` for a state that cannot be trusted, and what the function raises.
        """
        context = None if self.context_name is None else Context(call)  # first, as it refuses a state that is not ours
        arguments = read(call)
        if self.context_name is not None:
            arguments[self.context_name] = context
        work = self._fn(**arguments) if self.signature.is_async else self._called(call, arguments, context)
        value = await (work if self.seconds is None else self._limited(work, call))
        if isinstance(value, InputRequired):
            if context is None:
                raise InternalError(f"{self.name} returns InputRequired but takes no Context for the answers")
            return value
        return await call.home.threads.run(make, value) if self.returns_files and names_files(value) else make(value)

    async def _called(self, call: Call, arguments: dict[str, Any], context: Context | None) -> Any:
        """Call a `def`, on one of the threads or at once. It may return something to be awaited."""
        blocks = self.options.get("blocking", True)
        try:
            value = await call.home.threads.run(self._fn, **arguments) if blocks else self._fn(**arguments)
        except asyncio.CancelledError:
            if context is not None:
                context.bridge.close()
            raise
        return await value if hasattr(value, "__await__") else value

    async def _limited(self, work: Awaitable[Any], call: Call) -> Any:
        """Wait for so long, and then cancel it. Raises `ToolError` for the model."""
        limit = asyncio.timeout(self.seconds)
        try:
            async with limit:
                return await work
        except TimeoutError:
            if not limit.expired():
                raise
            raise ToolError(f"The tool {call.params.name} took longer than {self.seconds:g} s") from None


def _is_context(annotation: Any) -> bool:
    if annotations.is_annotated(annotation) or get_origin(annotation) in annotations.UNIONS:
        return any(map(_is_context, get_args(annotation)))
    kind = get_origin(annotation) or annotation
    return inspect.isclass(kind) and issubclass(kind, Context)


_TOOL_NAME = re.compile(r"[A-Za-z0-9_./-]{1,128}")
_MIME_TYPE = re.compile(r"[\w.+-]+/[\w.+*-]+\s*(?:;.*)?", re.ASCII)
_SIZE = re.compile(r"[1-9][0-9]*x[1-9][0-9]*|any")
_NOT_LITERAL = re.compile(r"\{[^}]*\}|[^\x00-\x7f]")
_RULES: dict[str, tuple[Callable[[Any], object], str]] = {
    "name": (len, "a name"),
    "meta": (wire.is_meta, wire.META_RULE),
    "uri": (uri.is_uri, "a URI; write one such as notes://today, and other characters as %20"),
    "uri_template": (
        lambda text: text.startswith("{") or uri.is_uri(_NOT_LITERAL.sub("x", text)),
        "a template of URIs; write one such as notes://{day}",
    ),
    "mime_type": (_MIME_TYPE.fullmatch, "a MIME type; write one such as text/plain"),
    "website_url": (lambda url: uri.is_uri(url) and url.startswith(("https:", "http:")), "a URL of https or http"),
    "sizes": (lambda sizes: all(map(_SIZE.fullmatch, sizes)), 'a list of sizes; write "48x48", or "any"'),
    "src": (lambda src: uri.is_uri(src) and src.startswith(("https:", "http:", "data:")), "an https: or data: URI"),
    "priority": (lambda priority: 0 <= priority <= 1, "a priority: it is between 0 and 1"),
}
"""What the fields of a definition, its annotations and its icons must be."""


def problems_of(definition: Any) -> Iterator[str]:
    """Say which fields are not what they must be."""
    if isinstance(definition, tools.Tool) and not _TOOL_NAME.fullmatch(definition.name):
        yield f"its name= has 1 to 128 characters of A-Z a-z 0-9 _ - . /, not {definition.name[:200]!r}"
    for part in (definition, getattr(definition, "annotations", None), *(definition.icons or ())):
        for name, (fits, wanted) in _RULES.items():
            value = getattr(part, name, None)
            if value is not None and not fits(value):
                yield f"{value!r} is not {wanted}"
