"""Tools: a function of the user's, called by the model.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import msgspec
from msgspec import UNSET, Raw, UnsetType
from msgspec.structs import replace

from splice.errors import InvalidParams, MCPError, RPCError
from splice.protocol.tools import CallToolResult, Tool
from splice.protocol.versions import Facts
from splice.rules.http import header_parameters
from splice.rules.journal import Suspend
from splice.schema.functions import BadArguments
from splice.server.context import Context, InputRequired
from splice.server.failures import ErrorPolicy, culprit, leaves, report
from splice.server.features import Handler
from splice.server.options import ToolOptions, fields
from splice.server.results import error_result, tool_result


class ToolEntry:
    """One tool: its definition and the function behind it."""

    def __init__(self, definition: Tool, handler: Handler, policy: ErrorPolicy) -> None:
        self.definition = definition
        self.handler = handler
        self.key = definition.name
        self._policy: ErrorPolicy = policy
        schema = definition.output_schema
        self._structured = not isinstance(schema, UnsetType)
        self._wraps = not isinstance(schema, UnsetType) and schema.get("type") != "object"

    @classmethod
    def of(cls, fn: Callable[..., Any], policy: ErrorPolicy, options: ToolOptions) -> "ToolEntry":
        """Read a tool off a function. Raises `TypeError` for one that cannot be called by name."""
        handler = Handler.of(fn, blocking=options.get("blocking", True))
        if "input_schema" in options:
            handler.arguments = GivenSchema(handler, options["input_schema"]).arguments
        said = handler.signature
        definition = fields(
            options,
            name=handler.name,
            input_schema=said.input_schema,
            output_schema=UNSET if said.output_schema is None else said.output_schema,
            description=said.description or UNSET,
        )
        entry = cls(Tool(**definition), handler, policy)
        _ = entry.header_parameters  # a mark that breaks the rules shall fail here, not in a call
        return entry

    @cached_property
    def header_parameters(self) -> Mapping[tuple[str, ...], str] | None:
        """Which arguments HTTP headers must mirror. Raises `ValueError` for marks that break the rules."""
        schema = self.definition.input_schema
        return header_parameters(schema) or None if "x-mcp-header" in str(schema) else None

    def defined_for(self, facts: Facts) -> Tool:
        """Describe the tool to a client of some version: where only objects may be results, others are wrapped."""
        schema = self.definition.output_schema
        if not self._wraps or facts.any_structured_content or isinstance(schema, UnsetType):
            return self.definition
        inner = {key: value for key, value in schema.items() if key != "$defs"}
        wrapped: dict[str, Any] = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
        if "$defs" in schema:
            wrapped["$defs"] = schema["$defs"]
        return replace(self.definition, output_schema=wrapped)

    async def run(self, raw: Raw | UnsetType, facts: Facts, context: Context | None) -> CallToolResult | InputRequired:
        """Call the function; what goes wrong in it becomes a result the model can read.

        Raises `RPCError` where the handler did, and `InvalidParams` for bad arguments in versions that want that.
        """
        handler = self.handler
        try:
            value = await handler.call(handler.arguments(raw), context)
            if isinstance(value, InputRequired):
                return value
            wrap = self._wraps and not facts.any_structured_content
            return tool_result(value, handler.signature.dump, structured=self._structured, wrap=wrap)
        except RPCError:
            raise
        except BadArguments as error:
            if not facts.bad_arguments_are_results:
                raise InvalidParams(f"Invalid arguments for {self.key}: {error}") from None
            return error_result(f"Invalid arguments for {self.key}: {error}")
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - the policy decides what of it leaves
            return self._failed(error)

    def _failed(self, error: BaseException) -> CallToolResult:
        """Tell the model what went wrong. Raises what is for the client: a JSON-RPC error, or questions only."""
        cause = culprit(error)
        if isinstance(cause, RPCError) or all(isinstance(leaf, Suspend) for leaf in leaves(cause)):
            raise cause
        return error_result(
            str(cause) if isinstance(cause, MCPError) else report(f"The tool {self.key}", cause, self._policy)
        )


class GivenSchema:
    """The arguments of a tool whose author wrote the input schema: one dict, checked against it."""

    def __init__(self, handler: Handler, schema: dict[str, Any]) -> None:
        names = list(handler.signature.input_schema.get("properties", ()))
        if len(names) != 1:
            raise TypeError(
                f"{handler.name}: with an input_schema the function takes all arguments as one dict, in one parameter"
            )
        self._name: str = names[0]
        from splice.schema.validate import validator  # noqa: PLC0415 - most servers write no schema

        self._check = validator(schema).check

    def arguments(self, raw: Raw | UnsetType) -> dict[str, Any]:
        """Decode and check the arguments. Raises `BadArguments`."""
        try:
            given: Any = {} if isinstance(raw, UnsetType) else msgspec.json.decode(raw)
            self._check(given)
        except ValueError as error:  # `Mismatch`, and numbers beyond all bounds
            raise BadArguments(str(error)) from None
        return {self._name: given}
