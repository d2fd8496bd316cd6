"""Resources and resource templates: data of the user's, read by URI.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any, Generic, TypeAlias, TypedDict, TypeVar, cast, get_args

from msgspec import Struct

from splice.errors import LocalProtocolError, ResourceNotFound
from splice.protocol import capabilities, content, resources, wire
from splice.protocol.uri import UriTemplate
from splice.rules.extensions import Served
from splice.rules.options import Option, checked, option_table
from splice.schema.schemas import BadArguments
from splice.server import handlers, results, sources
from splice.server.call import Call, InputRequired, Publish

MAX_SECONDS = 10.0**9
"""More than thirty years: the milliseconds stay a whole number for everybody."""

R = TypeVar("R", bound=resources.Resource | resources.ResourceTemplate)


Read: TypeAlias = resources.ReadResourceResult | InputRequired


class Caching(TypedDict, total=False):
    """Options that say for how long clients may keep something, and for whom."""

    ttl: Annotated[float, Option((int, float), "a number of seconds, at least 0", lambda ttl: 0 <= ttl <= MAX_SECONDS)]
    """For how many seconds. 0 by default."""
    scope: Annotated[wire.CacheScope, Option(str, "'public' or 'private'", get_args(wire.CacheScope).__contains__)]
    """Who may be served what was kept: "private", the default, the same caller only; "public" anybody."""


class ResourceOptions(handlers.FeatureOptions, Caching, total=False):
    """Options of a resource or resource template."""

    mime_type: str
    annotations: content.Annotations
    size: int
    """In bytes; of a resource only."""


CACHING = option_table(Caching)


def hints(of: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Make the fields of a result that say how long it may be kept, and by whom; none where nothing was said.

    Raises `TypeError` and `ValueError` for what cannot be meant.
    """
    said = checked(of, {name: given[name] for name in CACHING.keys() & given.keys()}, CACHING)
    return {"ttl_ms": int(said.get("ttl", 0) * 1000), "cache_scope": said.get("scope")} if said else {}


class ResourceEntry(Struct, Generic[R], frozen=True, eq=False):
    """One resource with a URI of its own, or a template: a family of resources."""

    definition: R
    handler: handlers.Handler
    template: UriTemplate
    hints: Mapping[str, Any]
    """How long what is read may be kept, and by whom, as fields of the result."""
    choices: Mapping[str, Sequence[str]] = {}
    """By variable: the values that complete it, if there are any."""

    def run(self, call: Call, uri: str, variables: Mapping[str, str] | None = None) -> Awaitable[Read]:
        """Read the resource. Raises `ResourceNotFound` for values that the function does not take."""

        def read(_: Call) -> dict[str, Any]:
            try:
                return self.handler.signature.arguments_from_text(variables or {})
            except BadArguments as error:
                raise ResourceNotFound(f"Resource not found: {uri:.200} ({error})", {"uri": uri}) from None

        kept, params = self.hints, call.params
        if isinstance(params, wire.RetryParams) and (params.input_responses or params.request_state):
            kept = {}  # what was made of answers is for nobody else
        return self.handler.run(call, read, partial(results.resource_result, uri, self.definition.mime_type, kept))


class LocalTemplates(sources.Local[resources.ResourceTemplate]):
    """The templates that were added one by one: the first one that matches a URI serves it."""

    async def find(self, key: str) -> sources.Entry[resources.ResourceTemplate] | None:
        """Find the first template that matches a URI."""
        for entry in await self.entries():
            if isinstance(entry, ResourceEntry) and (variables := entry.template.match(key)) is not None:
                return sources.Described(entry.definition, partial(entry.run, variables=variables), {}, entry.handler)
        return None


class Resources(sources.Features):
    """The chapter of `resources/list`, `resources/templates/list` and `resources/read`."""

    def __init__(self, publish: Publish) -> None:
        self.listing = sources.Listing(resources.RESOURCES_LIST, sources.Local[resources.Resource]("resource"))
        self.templates = sources.Listing(resources.RESOURCES_TEMPLATES_LIST, LocalTemplates("resource template"))
        capability = capabilities.ResourcesCapability(subscribe=True, list_changed=True)
        use = Served(resources.RESOURCES_READ, self.read)
        super().__init__("resources", capability, use, publish, resources=self.listing, templates=self.templates)

    def add(self, fn: Callable[..., Any], uri: str, options: ResourceOptions) -> None:
        """Offer what a function returns as a resource, or as a template where `uri` has variables.

        Raises `TypeError` when the function's parameters are not the template's variables, `ValueError` for a template
        that is malformed or cannot be matched, for a URI that is not one or is taken, and for options that do not fit.
        """
        handler, template = handlers.Handler(fn, options, ResourceOptions), UriTemplate(uri)
        kept = hints(uri, {**options})
        schema, variables = handler.signature.input_schema, set(template.variables)
        if missing := ", ".join(sorted(set(schema.get("required", ())) - variables)):
            what = f"parameter {missing} is not a variable of {uri!r}; add it there, or give it a default"
            raise TypeError(f"{handler.name}: {what}")
        if unknown := ", ".join(sorted(variables - set(schema["properties"]))):
            raise TypeError(f"{handler.name}: {uri!r} has the variable {unknown}, but no parameter takes it")
        if variables:
            family = handler.define(resources.ResourceTemplate, uri_template=uri)
            choices = {name: values for name, values in handler.choices.items() if name in variables}
            self.templates.local.add(ResourceEntry(family, handler, template, kept, choices))
        else:
            self.listing.local.add(ResourceEntry(handler.define(resources.Resource, uri=uri), handler, template, kept))

    def remove(self, uri: str) -> None:
        """Offer a resource, or a template, no more. Raises `KeyError`."""
        local: sources.Local[Any] = self.listing.local
        (self.templates.local if local.get(uri) is None else local).remove(uri)

    async def read(self, call: Call, uri: str | None = None) -> Read:
        """Answer `resources/read`. For the handler of another request, `uri` says what to read."""
        wanted: str = call.params.uri if uri is None else uri
        entry = await self.find(wanted)
        if entry is None:
            raise ResourceNotFound(f"Resource not found: {wanted:.200}", {"uri": wanted})
        return cast("Read", await entry.run(call, wanted))

    async def read_within(self, uri: str, call: Call) -> resources.ReadResourceResult:
        """Read a resource for the handler of another request.

        Raises `ResourceNotFound`, and `LocalProtocolError` for one that wants to ask the client by hand.
        """
        result = await self.read(call, uri)
        if isinstance(result, InputRequired):
            raise LocalProtocolError(f"{uri} returned InputRequired, which only a request of its own can answer")
        return result

    async def find(self, uri: str) -> sources.Entry[Any] | None:
        """Find what serves a URI: a resource listed under it, else the first template that matches."""
        return await self.listing.find(uri) or await self.templates.find(uri)
