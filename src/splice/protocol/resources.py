"""Resources: data a server offers, by URI.

https://modelcontextprotocol.io/specification/2026-07-28/server/resources
"""

from typing import Annotated, Any, ClassVar

from msgspec import UNSET, Raw, Struct, UnsetType, field

from splice.protocol.content import Annotations, ResourceContents
from splice.protocol.lifecycle import CacheableResult, Icon, PageResult, Params, Span
from splice.protocol.versions import V2025_06_18, V2025_11_25, V2026_07_28, Since, Until


class Resource(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """One entry of `resources/list`."""

    uri: str
    """Where to read it."""

    name: str
    """Its name for programs."""

    title: Annotated[str | UnsetType, Since(V2025_06_18)] = UNSET
    """Its name for people. `name` is shown when it is absent."""

    description: str | UnsetType = UNSET
    """What it is, for the model."""

    mime_type: str | UnsetType = UNSET
    """Its format."""

    size: int | UnsetType = UNSET
    """Its size in bytes, before base64."""

    annotations: Annotations | UnsetType = UNSET
    """Whom it is for."""

    icons: Annotated[list[Icon] | UnsetType, Since(V2025_11_25)] = UNSET
    """The same picture in several sizes and themes."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about it rather than in it."""


class ResourceTemplate(Struct, rename="camel", omit_defaults=True, kw_only=True):
    """One entry of `resources/templates/list`: a family of resources."""

    uri_template: str
    """Their URIs, as an RFC 6570 template."""

    name: str
    """Their name for programs."""

    title: Annotated[str | UnsetType, Since(V2025_06_18)] = UNSET
    """Their name for people. `name` is shown when it is absent."""

    description: str | UnsetType = UNSET
    """What they are, for the model."""

    mime_type: str | UnsetType = UNSET
    """Their format, when they all share it."""

    annotations: Annotations | UnsetType = UNSET
    """Whom they are for."""

    icons: Annotated[list[Icon] | UnsetType, Since(V2025_11_25)] = UNSET
    """The same picture in several sizes and themes."""

    meta: Annotated[dict[str, Any] | UnsetType, Since(V2025_06_18)] = field(default=UNSET, name="_meta")
    """What is said about them rather than in them."""


class ListResourcesResult(PageResult, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `resources/list`."""

    resources: list[Resource]
    """This page of them."""


class ListResourceTemplatesResult(PageResult, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `resources/templates/list`."""

    resource_templates: list[ResourceTemplate]
    """This page of them."""


class ReadResourceParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `resources/read`."""

    uri: str
    """Which resource."""

    input_responses: Annotated[dict[str, Raw] | UnsetType, Since(V2026_07_28)] = UNSET
    """What the server asked for last time, by the same keys."""

    request_state: Annotated[str | UnsetType, Since(V2026_07_28)] = UNSET
    """What the server gave last time, byte for byte."""


class ReadResourceResult(CacheableResult, rename="camel", omit_defaults=True, kw_only=True):
    """The result of `resources/read`."""

    contents: list[ResourceContents]
    """What is in it. A directory may have several."""


class SubscribeParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `resources/subscribe`."""

    span: ClassVar[Span] = (Until(V2025_11_25),)

    uri: str
    """Which resource."""


class UnsubscribeParams(Params, rename="camel", omit_defaults=True, kw_only=True):
    """Params of `resources/unsubscribe`."""

    span: ClassVar[Span] = (Until(V2025_11_25),)

    uri: str
    """Which resource."""
