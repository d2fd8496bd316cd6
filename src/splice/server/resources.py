"""Resources and resource templates: data of the user's, read by URI.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, Generic, TypeAlias, TypeVar, cast

from msgspec import Struct

from splice.errors import LocalProtocolError, ResourceNotFound
from splice.protocol import capabilities, content, resources
from splice.protocol.uri import UriTemplate
from splice.rules.extensions import Served
from splice.schema.functions import BadArguments
from splice.server import handlers, results, sources
from splice.server.call import Call, InputRequired, Publish

R = TypeVar("R", bound=resources.Resource | resources.ResourceTemplate)


Read: TypeAlias = resources.ReadResourceResult | InputRequired


class ResourceOptions(handlers.FeatureOptions, total=False):
    """Options of a resource or resource template."""

    mime_type: str
    annotations: content.Annotations
    size: int
    """In bytes; of a resource only."""


class ResourceEntry(Struct, Generic[R], frozen=True, eq=False):
    """One resource with a URI of its own, or a template: a family of resources."""

    definition: R
    handler: handlers.Handler
    template: UriTemplate

    def run(self, call: Call, uri: str, variables: Mapping[str, str] | None = None) -> Awaitable[Read]:
        """Read the resource. Raises `ResourceNotFound` for values that the function does not take."""

        def read(_: Call) -> dict[str, Any]:
            try:
                return self.handler.signature.arguments_from_text(variables or {})
            except BadArguments as error:
                raise ResourceNotFound(f"Resource not found: {uri:.200} ({error})", {"uri": uri}) from None

        return self.handler.run(call, read, partial(results.resource_result, uri, self.definition.mime_type))


class LocalTemplates(sources.Local[resources.ResourceTemplate]):
    """The templates that were added one by one: the first one that matches a URI serves it."""

    async def find(self, key: str) -> sources.Entry[resources.ResourceTemplate] | None:
        """Find the first template that matches a URI."""
        for entry in await self.entries():
            if isinstance(entry, ResourceEntry) and (variables := entry.template.match(key)) is not None:
                return sources.Described(entry.definition, partial(entry.run, variables=variables))
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
        schema, variables = handler.signature.input_schema, set(template.variables)
        if missing := ", ".join(sorted(set(schema.get("required", ())) - variables)):
            what = f"parameter {missing} is not a variable of {uri!r}; add it there, or give it a default"
            raise TypeError(f"{handler.name}: {what}")
        if unknown := ", ".join(sorted(variables - set(schema["properties"]))):
            raise TypeError(f"{handler.name}: {uri!r} has the variable {unknown}, but no parameter takes it")
        if variables:
            family = handler.define(resources.ResourceTemplate, uri_template=uri)
            self.templates.local.add(ResourceEntry(family, handler, template))
        else:
            self.listing.local.add(ResourceEntry(handler.define(resources.Resource, uri=uri), handler, template))

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
