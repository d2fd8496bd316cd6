"""Tools: functions of the user's, called by the model.

https://modelcontextprotocol.io/specification/2026-07-28/server/tools
"""

import asyncio
import logging
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Any

import msgspec
from msgspec import Raw
from msgspec.structs import replace

from splice.errors import InternalError, InvalidParams, MissingClientCapability, RPCError, ToolError
from splice.protocol.capabilities import ToolsCapability
from splice.protocol.tools import TOOLS_CALL, TOOLS_LIST, CallToolParams, CallToolResult, Tool, ToolAnnotations
from splice.protocol.versions import Facts
from splice.rules.extensions import Served
from splice.rules.http.headers import check_param_headers, header_parameters
from splice.schema.functions import BadArguments, dump
from splice.schema.repairs import repaired
from splice.schema.schemas import is_object
from splice.server.call import Call, InputRequired, Publish
from splice.server.context import Context
from splice.server.failures import culprit, ends_the_task, is_meant, questions_in, report
from splice.server.handlers import FeatureOptions, Handler, Invoke, block_of, error_result, loaded, tool_result
from splice.server.sources import Entry, Features, Listing, Local
from splice.server.threads import Threads

log = logging.getLogger("splice.server")

NO_ARGUMENTS, NULL = Raw(b"{}"), Raw(b"null")

REPAIRED = "splice/repaired"
"""The key in a result's `_meta` that lists what was repaired in the arguments."""


class ToolOptions(FeatureOptions, total=False):
    """Options of a tool."""

    annotations: ToolAnnotations
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

    def __init__(self, fn: Callable[..., Any], options: ToolOptions, threads: Threads) -> None:
        """Read a tool off a function.

        Raises `TypeError` for one that cannot be called by name, `ValueError` for options that do not fit.
        """
        handler = Handler.of(fn, options, threads, ToolOptions)
        said, given, promised = handler.signature, options.get("input_schema"), options.get("output_schema")
        schemas = {"input_schema": said.input_schema, "output_schema": said.output_schema}
        self.definition = handler.define(Tool, options, **schemas)
        self.mirrored = mirrored_arguments(self.definition)
        """The arguments that HTTP headers must repeat."""
        self._arguments: Callable[[Raw], dict[str, Any]] = (
            said.arguments if given is None else _checked(handler, self.definition)
        )
        self._context_name = handler.context_name
        self._invoke = _limited(handler.invoke, self.definition.name, options.get("timeout"))
        self._structured = self.definition.output_schema is not None or (None if "output_schema" in options else False)
        keeps = self._structured and options.get("validate", True)
        self._promise = _promise(self.definition) if keeps else None
        """What results are held against that the return annotation says nothing of."""
        self._dump: Callable[[Any], Any] = dump
        if self._promise is not None and (promised is not None or "validate" in options):
            _check_by(self.definition.output_schema or {}, self.definition.name, "output_schema")
            self._dump = self._promise

    async def run(self, call: Call) -> CallToolResult | InputRequired:
        """Call the function. Raises what it raises, and `BadArguments`."""
        given = call.params.arguments
        context = self._context_name and Context(call)  # first of all, as it refuses a state that is not ours
        try:
            arguments = self._arguments(NO_ARGUMENTS if given is None else given)
        except BadArguments as refused:
            arguments = self._repaired(call, refused)
        if self._context_name is not None:
            arguments[self._context_name] = context
        value = await self._invoke(**arguments)
        if isinstance(value, InputRequired):
            if context is None:
                name = self.definition.name
                raise InternalError(f"{name} returns InputRequired but takes no Context to find the answers in")
            return value
        if isinstance(value, CallToolResult):
            return self._made_by_hand(value, call.declared.facts)
        if not (self._structured or isinstance(value, str)):
            value = await loaded(value, call.home.threads)
        return tool_result(value, self._dump, structured=self._structured)

    def _repaired(self, call: Call, refused: BadArguments) -> dict[str, Any]:
        """Read arguments once more, as they were meant.

        Raises `refused` where nothing can be repaired, or is to be, and `BadArguments` for what is left after repairs.
        """
        if call.home.strict or call.params.arguments is None:
            raise refused
        json, repairs = repaired(self.definition.input_schema, call.params.arguments)
        if not repairs:
            raise refused
        arguments = self._arguments(Raw(json))
        log.info("repaired arguments of %s: %s", self.definition.name, ", ".join(each["path"] for each in repairs))
        call.repairs = repairs
        return arguments

    def _made_by_hand(self, result: CallToolResult, facts: Facts) -> CallToolResult:
        """Hold a result that the function built against the output schema. Raises `Mismatch`, `TypeError`."""
        blocks = list(map(block_of, result.content))
        if None in blocks:
            raise TypeError("the content of a CallToolResult is a list of blocks such as TextContent")
        content: Any = result.structured_content
        promise = None if result.is_error else self._promise
        if content is None and promise is not None:
            raise TypeError(f"{self.definition.name} has an output schema, but returned no structured content")
        if content is not None and (promise is not None or not facts.any_structured_content):
            json: Any = dump(content) if promise is None else promise(content)
            content = NULL if json is None else json
        return replace(result, content=blocks, structured_content=content)


def _limited(invoke: Invoke, name: str, seconds: Any) -> Invoke:
    """Call a function for so long, and then cancel it and tell the model. Raises `ValueError` for no time at all."""
    if seconds is None:
        return invoke
    if not isinstance(seconds, (int, float)) or not seconds > 0:
        raise ValueError(f"tool {name!r}: timeout is a number of seconds above 0, not {seconds!r}")

    async def limited(**arguments: Any) -> Any:
        limit = asyncio.timeout(seconds)
        try:
            async with limit:
                return await invoke(**arguments)
        except TimeoutError:
            if not limit.expired():
                raise
            raise ToolError(f"The tool {name} took longer than {seconds:g} s") from None

    return limited


def _promise(definition: Tool) -> Callable[[Any], Any]:
    """Tell how to turn a result into JSON values that fit the output schema, which is compiled for the first one."""
    name, schema = definition.name, definition.output_schema or {}
    check = cache(partial(_check_by, schema, name, "output_schema"))

    def write(value: Any) -> Any:
        from splice.schema.validate import Mismatch, OverBudget  # noqa: PLC0415 - it is not small

        json = dump(value)
        try:
            check()(json)
        except OverBudget as error:
            log.warning("a result of %s was not held against its output schema: %s", name, error)
        except Mismatch as error:
            raise Mismatch(f"{name} returned what breaks its own output schema: {error}") from None
        return json

    return write


def _check_by(schema: dict[str, Any], name: str, option: str) -> Callable[[Any], None]:
    """Tell how to check by a schema. Raises `ValueError` for one that is not valid, or too costly."""
    from splice.schema.validate import BadSchema, validator  # noqa: PLC0415 - most tools write none

    try:
        return validator(schema).check
    except BadSchema as error:
        raise type(error)(f"tool {name!r}: {option}: {error}") from None


def _checked(handler: Handler, definition: Tool) -> Callable[[Raw], dict[str, Any]]:
    """Tell how to read arguments whose schema the author wrote: as one dict that is checked against it."""
    schema, name = definition.input_schema, definition.name
    if schema.get("type") != "object":
        raise ValueError(f'tool {name!r}: input_schema: arguments are an object; give it "type": "object"')
    names: list[str] = list(handler.signature.input_schema["properties"])
    if len(names) != 1:
        raise TypeError(
            f"{handler.name}: with an input_schema the function takes all arguments as one dict, in one parameter"
        )
    check = _check_by(schema, name, "input_schema")

    def read(arguments: Raw) -> dict[str, Any]:
        try:
            given = msgspec.json.decode(arguments)
            check(given)
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
        except BaseException as error:
            if ends_the_task(error):
                raise
            result = _failed(call, error)
        if call.repairs and isinstance(result, CallToolResult):
            result.meta = (result.meta or {}) | {REPAIRED: call.repairs}
        return result if facts.any_structured_content else _wrapped(result, tool.definition)


def _failed(call: Call, error: BaseException) -> CallToolResult:
    """Tell the model what went wrong. Raises what is for the client: a JSON-RPC error, or questions only."""
    name, cause = call.params.name, culprit(error)
    if isinstance(cause, BadArguments):
        text = f"Invalid arguments for {name}: {cause}"
        if not call.facts.bad_arguments_are_results:
            raise InvalidParams(text) from None
        return error_result(text)
    meant = is_meant(cause)
    if isinstance(cause, MissingClientCapability) and cause.code in call.facts.codes:
        return error_result(str(cause))  # where the error has no code of its own, agents would not show it to the model
    if (meant and isinstance(cause, RPCError)) or questions_in(cause) is not None:
        raise cause
    return error_result(str(cause) if meant else report(f"The tool {name}", cause, call.home.errors))


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


def _wrapped(result: CallToolResult | InputRequired, definition: Tool) -> CallToolResult | InputRequired:
    """Wrap structured content that is not an object, or is to be wrapped all the same."""
    content = result.structured_content if isinstance(result, CallToolResult) else None
    if content is None or (is_object(content) and not is_wrapped(definition)):
        return result
    return replace(result, structured_content={"result": content})
