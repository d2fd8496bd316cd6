"""Resources and resource templates: data of the user's, read by URI.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from collections.abc import Callable
from typing import Any

from msgspec import UNSET, UnsetType

from splice.protocol.resources import ReadResourceResult, Resource, ResourceTemplate
from splice.protocol.uri_template import UriTemplate
from splice.server.context import Context, InputRequired
from splice.server.features import Handler
from splice.server.results import OPAQUE, resource_result


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
    arguments = handler.signature.arguments_from_text(texts)
    value = await handler.call(arguments, context)
    return value if isinstance(value, InputRequired) else resource_result(uri, value, mime_type)


def resource_entry(
    fn: Callable[..., Any], uri: str, *, blocking: bool, **display: Any
) -> ResourceEntry | TemplateEntry:
    """Read a resource, or a template where `uri` has variables, off a function.

    Raises `TypeError` when the function's parameters are not the template's variables.
    """
    handler = Handler.of(fn, blocking=blocking, opaque=(*OPAQUE, InputRequired))
    template = UriTemplate(uri)
    _check_parameters(fn, handler, uri, template.variables)
    fields: dict[str, Any] = {
        "name": getattr(fn, "__name__", type(fn).__name__),
        "description": handler.signature.description or UNSET,
    }
    fields.update({key: value for key, value in display.items() if value is not None})
    if template.variables:
        fields.pop("size", None)
        return TemplateEntry(ResourceTemplate(uri_template=uri, **fields), handler)
    return ResourceEntry(Resource(uri=uri, **fields), handler)


def _check_parameters(fn: Callable[..., Any], handler: Handler, uri: str, variables: Any) -> None:
    schema = handler.signature.input_schema
    accepted, needed = set(schema.get("properties", ())), set(schema.get("required", ()))
    name = getattr(fn, "__name__", repr(fn))
    if missing := needed - set(variables):
        raise TypeError(
            f"{name}: parameter {', '.join(sorted(missing))} is no variable of {uri!r}; add it there, or give it a default"
        )
    if unknown := set(variables) - accepted:
        raise TypeError(f"{name}: {uri!r} has the variable {', '.join(sorted(unknown))}, but no parameter takes it")


def _known(text: str | UnsetType) -> str | None:
    return None if isinstance(text, UnsetType) else text
