"""Resources: data a server offers, by URI.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from typing import ClassVar

from splice.protocol import content, methods, wire
from splice.protocol.versions import V2025_11_25, Until


class Resource(content.ResourceDescription, kw_only=True):
    """One entry of `resources/list`."""


class ResourceTemplate(content.NamedData, kw_only=True):
    """One entry of `resources/templates/list`: a family of resources."""

    uri_template: str
    """Their URIs, as an RFC 6570 template."""


class ListResourcesResult(wire.PageResult, kw_only=True):
    """The result of `resources/list`."""

    resources: list[Resource]
    """This page of them."""


class ListResourceTemplatesResult(wire.PageResult, kw_only=True):
    """The result of `resources/templates/list`."""

    resource_templates: list[ResourceTemplate]
    """This page of them."""


class ReadResourceParams(wire.RetryParams, kw_only=True):
    """Params of `resources/read`."""

    uri: str
    """Which resource."""


class ReadResourceResult(wire.CacheableResult, kw_only=True):
    """The result of `resources/read`."""

    contents: list[content.ResourceContents]
    """The contents. A directory may have several."""


class SubscribeParams(wire.Params, kw_only=True):
    """Params of `resources/subscribe`."""

    span: ClassVar[wire.Span] = (Until(V2025_11_25),)

    uri: str
    """Which resource."""


class UnsubscribeParams(SubscribeParams, kw_only=True):
    """Params of `resources/unsubscribe`."""


RESOURCES_LIST = methods.Method(name="resources/list", params=wire.PageParams, result=ListResourcesResult)
RESOURCES_TEMPLATES_LIST = methods.Method(
    name="resources/templates/list", params=wire.PageParams, result=ListResourceTemplatesResult
)
RESOURCES_READ = methods.Method(
    name="resources/read", params=ReadResourceParams, result=ReadResourceResult, may_ask=True, named_by="uri"
)
RESOURCES_SUBSCRIBE = methods.Method(name="resources/subscribe", params=SubscribeParams, result=wire.EmptyResult)
RESOURCES_UNSUBSCRIBE = methods.Method(name="resources/unsubscribe", params=UnsubscribeParams, result=wire.EmptyResult)
