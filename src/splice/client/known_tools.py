"""What the client remembers of the tools a server has listed: how to check a result, and what to say in headers.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
"""

import logging
from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct, UnsetType

from splice.errors import LocalProtocolError, RemoteProtocolError
from splice.protocol.tools import CallToolResult, Tool
from splice.rules.http import header_parameters, param_headers

log = logging.getLogger("splice.client")


class _Known(Struct, frozen=True):
    output_schema: dict[str, Any] | None
    mirrored: Mapping[tuple[str, ...], str]


class KnownTools:
    """The tools seen last."""

    def __init__(self) -> None:
        self.complete = False
        """The whole list has been seen, and not changed since."""
        self.edition = 0
        """How often the list has changed."""
        self._tools: dict[str, _Known] = {}

    def learn(self, tools: Iterable[Tool], *, mirrors: bool) -> list[Tool]:
        """Remember tools. With `mirrors`, those whose header marks break the rules are left out, as they must be."""
        good: list[Tool] = []
        for tool in tools:
            mirrored: Mapping[tuple[str, ...], str] = {}
            if mirrors:
                try:
                    mirrored = header_parameters(tool.input_schema)
                except ValueError as error:
                    log.warning("left out tool %r: %s", tool.name, error)
                    continue
            schema = None if isinstance(tool.output_schema, UnsetType) else tool.output_schema
            self._tools[tool.name] = _Known(schema, mirrored)
            good.append(tool)
        return good

    def forget(self) -> None:
        """Take note that the list has changed."""
        self.complete = False
        self.edition += 1
        self._tools.clear()

    def headers(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, str]:
        """Write the headers that mirror arguments of a tool. Raises `LocalProtocolError`."""
        known = self._tools.get(name)
        if known is None or not known.mirrored:
            return {}
        try:
            return param_headers(known.mirrored, arguments)
        except ValueError as error:
            raise LocalProtocolError(f"Cannot call {name}: {error}") from None

    def check(self, name: str, result: CallToolResult) -> None:
        """Check structured content against the schema the tool promised. Raises `RemoteProtocolError`."""
        known = self._tools.get(name)
        if known is None or known.output_schema is None or result.is_error is True:
            return
        if isinstance(result.structured_content, UnsetType):
            raise RemoteProtocolError(f"{name} has an output schema, but returned no structured content")
        from splice.schema.validate import BadSchema, Mismatch, validator  # noqa: PLC0415 - most tools promise nothing

        try:
            validator(known.output_schema).check(result.structured_content)
        except Mismatch as error:
            raise RemoteProtocolError(f"{name} returned what does not fit its output schema: {error}") from error
        except BadSchema as error:
            raise RemoteProtocolError(f"{name} has an output schema that cannot be used: {error}") from error
