"""Tools: functions of the user's, called by the model.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import msgspec
from msgspec.structs import replace

from splice.errors import InvalidParams, MissingClientCapability, ToolError
from splice.protocol import capabilities, content, jsonrpc, tools, versions
from splice.rules.extensions import Served
from splice.rules.http.headers import check_param_headers, header_parameters
from splice.rules.options import Option, checked
from splice.schema import functions, repairs, schemas
from splice.server import failures, handlers, results, sources
from splice.server.call import Call, InputRequired, Publish, log

NO_ARGUMENTS = msgspec.Raw(b"{}")

REPAIRED = "splice/repaired"
"""The key in a result's `_meta` that lists what was repaired in the arguments."""


_LIMIT = {"timeout": Option((int, float), "a number of seconds above 0", lambda seconds: seconds > 0)}


class ToolOptions(handlers.FeatureOptions, total=False):
    """Options of a tool."""

    annotations: tools.ToolAnnotations
    """Hints for the client: read-only, destructive, ..."""
    input_schema: dict[str, Any]
    """JSON Schema of the arguments, instead of the signature's; the function then takes them as one checked dict."""
    output_schema: dict[str, Any] | None
    """JSON Schema of the structured result, instead of the return annotation's; None for no structured result."""
    validate: bool
    """Whether results are held against the output schema. By default those are that Python's types say nothing of."""
    timeout: float
    """After how many seconds the model is told that it takes too long. A thread goes on: nothing can stop it."""


class ToolEntry:
    """One tool: its definition and the function behind it."""

    def __init__(self, fn: Callable[..., Any], options: ToolOptions) -> None:
        """Read a tool off a function.

        Raises `TypeError` for one that cannot be called by name, `ValueError` for options that do not fit.
        """
        handler = handlers.Handler(fn, options, ToolOptions)
        said = handler.signature
        self.definition = handler.define(tools.Tool, input_schema=said.input_schema, output_schema=said.output_schema)
        self.mirrored = mirrored_arguments(self.definition)
        """The arguments that HTTP headers must repeat."""
        self.handler = handler
        self._arguments = _reader(handler, self.definition) if "input_schema" in options else said.arguments
        self.run = partial(handler.run, read=self._read, make=self._result)
        """Calls the function. Raises what it raises, and `BadArguments`."""
        limit = {"timeout": options.get("timeout")}
        handler.seconds = checked(f"tool {self.definition.name!r}", limit, _LIMIT).get("timeout")
        self._structured = self.definition.output_schema is not None
        handler.returns_files = not self._structured
        self._structures_dicts = "output_schema" not in options
        """A dict is structured without an output schema too."""
        self._is_held = self._structured and options.get("validate", True)
        """Results are held against the output schema, where the return annotation says nothing of them."""
        self._check = cache(partial(_check_by, self.definition))
        """Gives the check by one of the schemas, which is compiled when it is needed first."""
        self._dump: Callable[[Any], Any] = functions.dump
        if self._structured and options.keys() & {"output_schema", "validate"}:
            self._check("output_schema")  # what is wrong with it is told at once
            if self._is_held:
                self._dump = self._held

    def _read(self, call: Call) -> dict[str, Any]:
        """Read the arguments; once more, as they were meant, where they do not fit. Raises `BadArguments`."""
        given = call.params.arguments or NO_ARGUMENTS
        try:
            return self._arguments(given)
        except schemas.BadArguments:
            json, done = (given, None) if call.home.strict else repairs.repaired(self.definition.input_schema, given)
            if not done:
                raise
        arguments = self._arguments(json)
        log.info("repaired arguments of %s: %s", self.definition.name, ", ".join(each["path"] for each in done))
        call.repairs = done
        return arguments

    def _result(self, value: Any) -> tools.CallToolResult:
        """Make a result of what the function returned. Raises `Mismatch` and `TypeError` for what was not promised."""
        if isinstance(value, tools.CallToolResult):
            return self._made_by_hand(value)
        if not self._structured:
            if isinstance(value, str):
                return tools.CallToolResult(content=[content.TextContent(text=value)])
            items = () if value is None else results.items_of(value)
            if value is None or any(isinstance(each, results.CONTENT) for each in items):
                return tools.CallToolResult(content=[results.block_of(each) for each in items])
        json = self._dump(value)
        text = value if isinstance(value, str) else msgspec.json.encode(json).decode()
        result = tools.CallToolResult(content=[content.TextContent(text=text)])
        if self._structured or (self._structures_dicts and isinstance(json, dict)):
            result.structured_content = jsonrpc.NULL if json is None else json
        return result

    def _made_by_hand(self, result: tools.CallToolResult) -> tools.CallToolResult:
        """Hold a result that the function built against the output schema."""
        if not all(isinstance(each, results.CONTENT) for each in result.content):
            raise TypeError("the content of a CallToolResult is a list of blocks such as TextContent")
        json: Any = result.structured_content
        is_held = self._is_held and not result.is_error
        if json is not None:
            json = self._held(json) if is_held else functions.dump(json)
            json = jsonrpc.NULL if json is None else json
        elif is_held:
            raise TypeError(f"{self.definition.name} has an output schema, but returned no structured content")
        return replace(result, content=[*map(results.block_of, result.content)], structured_content=json)

    def _held(self, value: Any) -> Any:
        """Turn a result into JSON values that fit the output schema. Raises `Mismatch`."""
        from splice.schema.validate import Mismatch, OverBudget  # noqa: PLC0415 - it is not small

        json, name = functions.dump(value), self.definition.name
        try:
            self._check("output_schema")(json)
        except OverBudget as error:
            log.warning("a result of %s was not held against its output schema: %s", name, error)
        except Mismatch as error:
            raise Mismatch(f"{name} returned what breaks its own output schema: {error}") from None
        return json


def _check_by(tool: tools.Tool, field: str) -> Callable[[Any], None]:
    """Tell how to check by a schema of a tool. Raises `ValueError` for one that is not valid, or too costly."""
    from splice.schema.validate import BadSchema, validator  # noqa: PLC0415 - most tools write none

    try:
        return validator(getattr(tool, field)).check
    except BadSchema as error:
        raise type(error)(f"tool {tool.name!r}: {field}: {error}") from None


def _reader(handler: handlers.Handler, tool: tools.Tool) -> Callable[[msgspec.Raw | bytes], dict[str, Any]]:
    """Tell how to read arguments whose schema the author wrote: as one dict that is checked against it."""
    if tool.input_schema.get("type") != "object":
        raise ValueError(f'tool {tool.name!r}: input_schema: arguments are an object; give it "type": "object"')
    names: list[str] = list(handler.signature.input_schema["properties"])
    if len(names) != 1:
        raise TypeError(f"{handler.name}: with an input_schema a function has one parameter: all arguments as one dict")
    check = _check_by(tool, "input_schema")

    def read(arguments: msgspec.Raw | bytes) -> dict[str, Any]:
        try:
            given = msgspec.json.decode(arguments)
            check(given)
        except ValueError as error:  # `Mismatch`, and numbers beyond all bounds
            raise schemas.BadArguments(str(error)) from None
        return {names[0]: given}

    return read


class Tools(sources.Features):
    """The chapter of `tools/list` and `tools/call`."""

    def __init__(self, publish: Publish) -> None:
        self.listing = sources.Listing(tools.TOOLS_LIST, sources.Local[tools.Tool]("tool"), defined_for)
        capability, use = capabilities.ToolsCapability(list_changed=True), Served(tools.TOOLS_CALL, self.call)
        super().__init__("tools", capability, use, publish, tools=self.listing)

    async def call(self, call: Call, lent: Any = None) -> tools.CallToolResult | InputRequired:
        """Answer `tools/call`, or call a tool that is `lent`. What goes wrong becomes a result the model can read."""
        params: tools.CallToolParams = call.params
        tool = lent or self.listing.local.get(params.name) or await self.listing.named(params.name)
        facts = call.declared.facts
        if facts.mirrored_headers and lent is None and call.exchange.sender.kind == "http":
            _check_headers(tool, params.arguments, call.sender.headers)
        try:
            result = await tool.run(call)
        except BaseException as error:
            if failures.ends_the_task(error):
                raise
            result = _failed(call, error)
        if call.repairs and isinstance(result, tools.CallToolResult):
            result.meta = (result.meta or {}) | {REPAIRED: call.repairs}
        return result if facts.any_structured_content else _wrapped(result, tool.definition)

    async def lend(self, what: str | Callable[..., Any]) -> sources.Described[tools.Tool]:
        """Give a tool by its name, or one made of a function, to a running handler. Raises `ValueError`."""
        entry = await self.listing.find(what) if isinstance(what, str) else ToolEntry(what, {})
        if entry is None:
            raise ValueError(f"this server has no tool {what!r}")
        return sources.Described(entry.definition, partial(self.call, lent=entry))


def _failed(call: Call, error: BaseException) -> tools.CallToolResult:
    """Tell the model what went wrong. Raises what is for the client: a JSON-RPC error, or questions only."""
    name, cause = call.params.name, failures.culprit(error)
    lacks = isinstance(cause, MissingClientCapability) and cause.code in call.facts.codes
    if isinstance(cause, schemas.BadArguments):
        text = f"Invalid arguments for {name}: {cause}"
        if not call.facts.bad_arguments_are_results:
            raise InvalidParams(text) from None
    elif isinstance(cause, ToolError) or lacks:
        text = str(cause)  # where the error has no code of its own, agents would not show it to the model
    elif failures.is_meant(cause) or failures.questions_in(cause) is not None:
        raise cause
    else:
        text = failures.report(f"The tool {name}", cause, call.home.errors)
    return tools.CallToolResult(content=[content.TextContent(text=text)], is_error=True)


def is_wrapped(tool: tools.Tool) -> bool:
    """Tell whether versions that allow only objects as structured content want results of this tool wrapped in one."""
    return tool.output_schema is not None and tool.output_schema.get("type") != "object"


def defined_for(tool: tools.Tool, facts: versions.Facts) -> tools.Tool:
    """Describe a tool to a client of some version: where only objects may be results, others are wrapped."""
    if facts.any_structured_content or tool.output_schema is None or not is_wrapped(tool):
        return tool
    inner = dict(tool.output_schema)
    shared = {"$defs": inner.pop("$defs")} if "$defs" in inner else {}
    wrapped = {"type": "object", "properties": {"result": inner}, "required": ["result"], **shared}
    return replace(tool, output_schema=wrapped)


def mirrored_arguments(tool: tools.Tool) -> Mapping[tuple[str, ...], str]:
    """Find the arguments that HTTP headers must repeat. Raises `ValueError` for marks that break the rules."""
    return header_parameters(tool.input_schema) if "x-mcp-header" in str(tool.input_schema) else {}


def _check_headers(tool: sources.Entry[tools.Tool], arguments: msgspec.Raw | None, headers: Mapping[str, str]) -> None:
    """Compare the headers that repeat arguments with the arguments. Raises `HeaderMismatch`."""
    mirrored = tool.mirrored if isinstance(tool, ToolEntry) else mirrored_arguments(tool.definition)
    if mirrored:
        try:
            given = msgspec.json.decode(arguments or NO_ARGUMENTS)
        except ValueError:  # numbers beyond all bounds: the check of the arguments says so
            return
        check_param_headers(mirrored, given, headers)


def _wrapped(result: tools.CallToolResult | InputRequired, tool: tools.Tool) -> tools.CallToolResult | InputRequired:
    """Wrap structured content that is not an object, or is to be wrapped all the same."""
    structured = result.structured_content if isinstance(result, tools.CallToolResult) else None
    if structured is None or (isinstance(structured, dict) and not is_wrapped(tool)):
        return result
    return replace(result, structured_content={"result": structured})
