"""Tools: functions of the user's, called by the model.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from splice.errors import InternalError, InvalidParams, MCPError, RPCError
from splice.protocol.capabilities import ToolsCapability
from splice.protocol.tools import TOOLS_CALL, TOOLS_LIST, CallToolParams, CallToolResult, Tool, ToolAnnotations
from splice.protocol.versions import Facts
from splice.rules.extensions import Served
from splice.rules.http.headers import check_param_headers, header_parameters
from splice.schema.functions import BadArguments
from splice.server.call import Call, InputRequired, Publish
from splice.server.context import Context, reader_of
from splice.server.failures import culprit, questions_in, report
from splice.server.handlers import FeatureOptions, Handler, error_result, tool_result
from splice.server.sources import Entry, Features, Listing, Local

NO_ARGUMENTS = Raw(b"{}")


class ToolOptions(FeatureOptions, total=False):
    """Options of a tool."""

    annotations: ToolAnnotations
    """Hints for the client: read-only, destructive, ..."""
    input_schema: dict[str, Any]
    """JSON Schema of the arguments, instead of the signature's; the function then takes them as one checked dict."""
    output_schema: dict[str, Any]
    """JSON Schema of the structured result, instead of the return annotation's."""


class ToolEntry:
    """One tool: its definition and the function behind it."""

    __slots__ = ("_arguments", "_context_name", "_dump", "_invoke", "_structured", "_wraps", "definition", "mirrored")

    def __init__(self, fn: Callable[..., Any], options: ToolOptions) -> None:
        """Read a tool off a function. Raises `TypeError` for one that cannot be called by name."""
        handler = Handler.of(fn, options)
        said, given = handler.signature, options.get("input_schema")
        fields = handler.described(options, input_schema=said.input_schema, output_schema=said.output_schema)
        self.definition = Tool(**fields)
        self.mirrored = mirrored_arguments(self.definition)
        """The arguments that HTTP headers must repeat."""
        self._arguments: Callable[[Raw], dict[str, Any]] = said.arguments if given is None else _checked(handler, given)
        self._context_name = handler.context_name
        self._invoke = handler.invoke
        self._dump = said.dump
        self._structured = self.definition.output_schema is not None
        self._wraps = is_wrapped(self.definition)

    async def run(self, call: Call) -> CallToolResult | InputRequired:
        """Call the function. Raises what it raises, and `BadArguments`."""
        given = call.params.arguments
        context = self._context_name and Context(call)  # first of all, as it refuses a state that is not ours
        arguments = self._arguments(NO_ARGUMENTS if given is None else given)
        if self._context_name is not None:
            arguments[self._context_name] = context
        value = await self._invoke(**arguments)
        if isinstance(value, InputRequired):
            if context is None:
                name = self.definition.name
                raise InternalError(f"{name} returns InputRequired but takes no Context to find the answers in")
            return value
        wrap = self._wraps and not call.declared.facts.any_structured_content
        return tool_result(value, self._dump, structured=self._structured, wrap=wrap)


def _checked(handler: Handler, schema: dict[str, Any]) -> Callable[[Raw], dict[str, Any]]:
    """Tell how to read arguments whose schema the author wrote: as one dict that is checked against it."""
    names: list[str] = list(handler.signature.input_schema["properties"])
    if len(names) != 1:
        raise TypeError(
            f"{handler.name}: with an input_schema the function takes all arguments as one dict, in one parameter"
        )
    fitting = reader_of(schema)

    def read(arguments: Raw) -> dict[str, Any]:
        try:
            given = fitting(msgspec.json.decode(arguments))
        except ValueError as error:  # `Mismatch`, and numbers beyond all bounds
            raise BadArguments(str(error)) from None
        return {names[0]: given}

    return read


class Tools(Features):
    """The chapter of `tools/list` and `tools/call`."""

    def __init__(self, publish: Publish) -> None:
        self.listing = Listing(TOOLS_LIST, "tools", Local[Tool]("tool"), defined_for)
        use = Served(TOOLS_CALL, self.call)
        super().__init__("tools", ToolsCapability(list_changed=True), {"tools": self.listing}, (use,), publish)

    async def call(self, call: Call) -> CallToolResult | InputRequired:
        """Answer `tools/call`. What goes wrong in a tool becomes a result the model can read."""
        params: CallToolParams = call.params
        tool = self.listing.local.get(params.name) or await self.listing.named(params.name)
        facts = call.declared.facts
        if facts.mirrored_headers and call.sender.kind == "http":
            _check_headers(tool, params.arguments, call.sender.headers)
        try:
            result = await tool.run(call)
        except (Exception, BaseExceptionGroup) as error:  # noqa: BLE001 - the policy decides what of it leaves
            return _failed(call, error)
        return result if type(tool) is ToolEntry else _fitted(result, tool.definition, facts)


def _failed(call: Call, error: BaseException) -> CallToolResult:
    """Tell the model what went wrong. Raises what is for the client: a JSON-RPC error, or questions only."""
    name, cause = call.params.name, culprit(error)
    if isinstance(cause, BadArguments):
        text = f"Invalid arguments for {name}: {cause}"
        if not call.facts.bad_arguments_are_results:
            raise InvalidParams(text) from None
        return error_result(text)
    if isinstance(cause, RPCError) or questions_in(cause) is not None:
        raise cause
    return error_result(
        str(cause) if isinstance(cause, MCPError) else report(f"The tool {name}", cause, call.home.errors)
    )


def is_wrapped(definition: Tool) -> bool:
    """Tell whether versions that allow only objects as structured content want results of this tool wrapped in one."""
    return definition.output_schema is not None and definition.output_schema.get("type") != "object"


def defined_for(definition: Tool, facts: Facts) -> Tool:
    """Describe a tool to a client of some version: where only objects may be results, others are wrapped."""
    schema = definition.output_schema
    if schema is None or facts.any_structured_content or not is_wrapped(definition):
        return definition
    inner = {key: value for key, value in schema.items() if key != "$defs"}
    wrapped: dict[str, Any] = {"type": "object", "properties": {"result": inner}, "required": ["result"]}
    if "$defs" in schema:
        wrapped["$defs"] = schema["$defs"]
    return replace(definition, output_schema=wrapped)


def mirrored_arguments(definition: Tool) -> Mapping[tuple[str, ...], str]:
    """Find the arguments that HTTP headers must repeat. Raises `ValueError` for marks that break the rules."""
    schema = definition.input_schema
    return header_parameters(schema) if "x-mcp-header" in str(schema) else {}


def _check_headers(tool: Entry[Tool], arguments: Raw | None, headers: Mapping[str, str]) -> None:
    """Compare the headers that repeat arguments with the arguments. Raises `HeaderMismatch`."""
    mirrored = tool.mirrored if isinstance(tool, ToolEntry) else mirrored_arguments(tool.definition)
    if mirrored:
        try:
            given = msgspec.json.decode(arguments or NO_ARGUMENTS)
        except ValueError:  # numbers beyond all bounds: the check of the arguments says so
            return
        check_param_headers(mirrored, given, headers)


def _fitted(result: CallToolResult | InputRequired, definition: Tool, facts: Facts) -> CallToolResult | InputRequired:
    """Wrap the structured content of a source's result where its version wants that."""
    wants = is_wrapped(definition) and not facts.any_structured_content
    if not wants or not isinstance(result, CallToolResult) or result.structured_content is None:
        return result
    return replace(result, structured_content={"result": result.structured_content})
