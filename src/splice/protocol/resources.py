"""Resources: data a server offers, by URI.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from typing import ClassVar

from splice.protocol.content import Annotations, ResourceContents, ResourceDescription
from splice.protocol.methods import Method
from splice.protocol.versions import V2025_11_25, Until
from splice.protocol.wire import CacheableResult, EmptyResult, Named, PageParams, PageResult, Params, RetryParams, Span


class Resource(ResourceDescription, kw_only=True):
    """One entry of `resources/list`."""


class ResourceTemplate(Named, kw_only=True):
    """One entry of `resources/templates/list`: a family of resources."""

    uri_template: str
    """Their URIs, as an RFC 6570 template."""

    mime_type: str | None = None
    """Their format, when they all share it."""

    annotations: Annotations | None = None
    """Whom they are for."""


class ListResourcesResult(PageResult, kw_only=True):
    """The result of `resources/list`."""

    resources: list[Resource]
    """This page of them."""


class ListResourceTemplatesResult(PageResult, kw_only=True):
    """The result of `resources/templates/list`."""

    resource_templates: list[ResourceTemplate]
    """This page of them."""


class ReadResourceParams(RetryParams, kw_only=True):
    """Params of `resources/read`."""

    uri: str
    """Which resource."""


class ReadResourceResult(CacheableResult, kw_only=True):
    """The result of `resources/read`."""

    contents: list[ResourceContents]
    """The contents. A directory may have several."""


class SubscribeParams(Params, kw_only=True):
    """Params of `resources/subscribe`."""

    span: ClassVar[Span] = (Until(V2025_11_25),)

    uri: str
    """Which resource."""


class UnsubscribeParams(SubscribeParams, kw_only=True):
    """Params of `resources/unsubscribe`."""


RESOURCES_LIST = Method(name="resources/list", params=PageParams, result=ListResourcesResult)
RESOURCES_TEMPLATES_LIST = Method(
    name="resources/templates/list", params=PageParams, result=ListResourceTemplatesResult
)
RESOURCES_READ = Method(
    name="resources/read", params=ReadResourceParams, result=ReadResourceResult, may_ask=True, named_by="uri"
)
RESOURCES_SUBSCRIBE = Method(name="resources/subscribe", params=SubscribeParams, result=EmptyResult, until=V2025_11_25)
RESOURCES_UNSUBSCRIBE = Method(
    name="resources/unsubscribe", params=UnsubscribeParams, result=EmptyResult, until=V2025_11_25
)
