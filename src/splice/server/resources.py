"""Resources and resource templates: data of the user's, read by URI.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, UnsetType

from splice.errors import ResourceNotFound
from splice.protocol.resources import ReadResourceResult, Resource, ResourceTemplate
from splice.protocol.uri_template import UriTemplate
from splice.schema.functions import BadArguments
from splice.server.context import Context, InputRequired
from splice.server.features import Handler
from splice.server.options import ResourceOptions, fields
from splice.server.results import resource_result


class ResourceEntry:
    """One resource with a URI of its own."""

    def __init__(self, definition: Resource, handler: Handler) -> None:
        self.definition = definition
        self.handler = handler
        self.key = definition.uri

    async def run(
        self, uri: str, arguments: dict[str, str], context: Context | None
    ) -> ReadResourceResult | InputRequired:
        """Read the resource."""
        return await _read(self.handler, uri, arguments, context, _known(self.definition.mime_type))


class TemplateEntry:
    """A family of resources, addressed by a URI template."""

    def __init__(self, definition: ResourceTemplate, handler: Handler) -> None:
        self.definition = definition
        self.handler = handler
        self.key = definition.uri_template
        self.template = UriTemplate(definition.uri_template)

    async def run(
        self, uri: str, arguments: dict[str, str], context: Context | None
    ) -> ReadResourceResult | InputRequired:
        """Read one resource of the family."""
        return await _read(self.handler, uri, arguments, context, _known(self.definition.mime_type))


async def _read(
    handler: Handler, uri: str, texts: dict[str, str], context: Context | None, mime_type: str | None
) -> ReadResourceResult | InputRequired:
    try:
        arguments = handler.signature.arguments_from_text(texts)
    except BadArguments as error:
        raise ResourceNotFound(f"Resource not found: {uri} ({error})", {"uri": uri}) from None
    value = await handler.call(arguments, context)
    return value if isinstance(value, InputRequired) else resource_result(uri, value, mime_type)


def resource_entry(fn: Callable[..., Any], uri: str, options: ResourceOptions) -> ResourceEntry | TemplateEntry:
    """Read a resource, or a template where `uri` has variables, off a function.

    Raises `TypeError` when the function's parameters are not the template's variables, `ValueError` for a template
    that is malformed or can only be expanded.
    """
    handler = Handler.of(fn, blocking=options.get("blocking", True))
    template = UriTemplate(uri)
    if template.unmatchable:
        raise ValueError(f"{handler.name}: no URI can be matched to {uri!r}: {template.unmatchable}")
    variables = template.variables
    _check_parameters(handler, uri, variables)
    definition = fields(options, name=handler.name, description=handler.signature.description or UNSET)
    if variables:
        return TemplateEntry(ResourceTemplate(uri_template=uri, **definition), handler)
    return ResourceEntry(Resource(uri=uri, **definition), handler)


def _check_parameters(handler: Handler, uri: str, variables: Any) -> None:
    schema = handler.signature.input_schema
    accepted, needed = set(schema.get("properties", ())), set(schema.get("required", ()))
    name = handler.name
    if missing := needed - set(variables):
        names = ", ".join(sorted(missing))
        raise TypeError(f"{name}: parameter {names} is no variable of {uri!r}; add it there, or give it a default")
    if unknown := set(variables) - accepted:
        raise TypeError(f"{name}: {uri!r} has the variable {', '.join(sorted(unknown))}, but no parameter takes it")


def _known(text: str | UnsetType) -> str | None:
    return None if isinstance(text, UnsetType) else text
