"""What the list of tools teaches: how to check a tool's results, and which of its arguments HTTP headers mirror.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
"""

import logging
from collections.abc import Iterable, Mapping

import msgspec
from msgspec import Raw

from splice.errors import LocalProtocolError, RemoteProtocolError
from splice.protocol.tools import CallToolResult, Tool
from splice.rules.http.headers import Designations, header_parameters, param_headers

log = logging.getLogger("splice.client")


class KnownTools:
    """The tools of a list. When the list changes, another one takes its place."""

    def __init__(self) -> None:
        self.complete = False
        """The whole list has been seen."""
        self._promised: dict[str, Raw | None] = {}
        """Output schemas, written: those of the tools themselves belong to the user."""
        self._mirrored: dict[str, Designations] = {}

    def learn(self, tools: Iterable[Tool], *, mirrors: bool) -> list[Tool]:
        """Remember tools. With `mirrors`, those whose header marks break the rules are left out, as they must be."""
        good: list[Tool] = []
        for tool in tools:
            try:
                self._mirrored[tool.name] = header_parameters(tool.input_schema) if mirrors else {}
                promised = tool.output_schema
                self._promised[tool.name] = None if promised is None else Raw(msgspec.json.encode(promised))
                good.append(tool)
            except Exception as error:  # noqa: BLE001 - whatever one server wrote, the other tools can be used
                why = error if isinstance(error, ValueError) else repr(error)
                log.warning("left out tool %r: %s", tool.name, why)
        return good

    def headers(self, name: str, arguments: Raw | None) -> Mapping[str, str]:
        """Write the headers that mirror arguments of a tool. Raises `LocalProtocolError`."""
        marks = self._mirrored.get(name)
        if not marks or arguments is None:
            return {}
        try:
            return param_headers(marks, msgspec.json.decode(arguments))
        except ValueError as error:
            raise LocalProtocolError(f"Cannot call {name}: {error}") from None

    def check(self, name: str, result: object) -> None:
        """Check structured content against the schema the tool promised. Raises `RemoteProtocolError`.

        A failed result promises nothing, nor does one of an extension's type. What would take too long to check is
        passed on with a warning.
        """
        schema = self._promised.get(name)
        if schema is None or not isinstance(result, CallToolResult) or result.is_error:
            return
        from splice.schema.validate import BadSchema, Mismatch, OverBudget, validator  # noqa: PLC0415 - it is not small

        try:
            validator(schema).check(result.structured_content)
        except Mismatch as error:
            raise RemoteProtocolError(f"{name} returned what does not fit its output schema: {error}") from error
        except OverBudget as error:
            log.warning("the result of %r was not held against its output schema: %s", name, error)
        except BadSchema as error:
            raise RemoteProtocolError(f"{name} has an output schema that cannot be used: {error}") from error
