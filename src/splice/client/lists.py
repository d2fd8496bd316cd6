"""The lists of a server, page by page, and what the list of tools teaches.

Of each tool is kept how to check its results, and which of its arguments HTTP headers mirror.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
https://modelcontextprotocol.io/specification/2026-07-28/server/tools#output-schema
https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
"""

import logging
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, TypeVar

from splice.client.calls import NO_OPTIONS, Calls, Options
from splice.errors import LocalProtocolError, RemoteProtocolError, RPCError
from splice.protocol.methods import Method
from splice.protocol.tools import TOOLS_LIST, CallToolResult, Tool
from splice.protocol.wire import PageParams, PageResult
from splice.rules.http.headers import Designations, header_parameters, param_headers

MAX_PAGES = 10_000
"""How many pages a list may have. A server that goes on after that is not counting on being read."""

P = TypeVar("P", bound=PageResult)
T = TypeVar("T")

log = logging.getLogger("splice.client")


class KnownTools:
    """The tools seen last."""

    def __init__(self) -> None:
        self.complete = False
        """The whole list has been seen, and not changed since."""
        self.edition = 0
        """How often the list has changed."""
        self._promised: dict[str, dict[str, Any] | None] = {}
        self._mirrored: dict[str, Designations] = {}

    def learn(self, tools: Iterable[Tool], *, mirrors: bool) -> list[Tool]:
        """Remember tools. With `mirrors`, those whose header marks break the rules are left out, as they must be."""
        good: list[Tool] = []
        for tool in tools:
            try:
                self._mirrored[tool.name] = header_parameters(tool.input_schema) if mirrors else {}
            except Exception as error:  # noqa: BLE001 - whatever one server wrote, the other tools can be used
                why = error if isinstance(error, ValueError) else repr(error)
                log.warning("left out tool %r: %s", tool.name, why)
                continue
            self._promised[tool.name] = tool.output_schema
            good.append(tool)
        return good

    def forget(self) -> None:
        """Take note that the list has changed."""
        self.complete = False
        self.edition += 1
        self._promised.clear()
        self._mirrored.clear()

    def headers(self, name: str, arguments: Mapping[str, Any]) -> Mapping[str, str]:
        """Write the headers that mirror arguments of a tool. Raises `LocalProtocolError`."""
        try:
            return param_headers(self._mirrored.get(name, {}), arguments)
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

        content = result.structured_content
        try:
            validator(schema).check(content)
        except Mismatch as error:
            if content is None:  # null and absent arrive alike; a schema that takes null has been content above
                raise RemoteProtocolError(f"{name} has an output schema, but returned no structured content") from None
            raise RemoteProtocolError(f"{name} returned what does not fit its output schema: {error}") from error
        except OverBudget as error:
            log.warning("the result of %r was not held against its output schema: %s", name, error)
        except BadSchema as error:
            raise RemoteProtocolError(f"{name} has an output schema that cannot be used: {error}") from error


async def items(
    calls: Calls, row: Method[Any, P], of: Callable[[P], list[T]], options: Options = NO_OPTIONS
) -> AsyncIterator[T]:
    """Yield each item of a list; `of` takes them out of a page.

    Raises `RemoteProtocolError` for a list that never ends.
    """
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        page = await calls.request(row, PageParams(cursor=cursor), options)
        for item in of(page):
            yield item
        cursor = page.next_cursor
        if cursor is None or not (cursor or calls.terms.facts.empty_cursor):
            return
        if cursor in seen:
            break
        seen.add(cursor)
    raise RemoteProtocolError(f"The pages of {row.name} never end")


async def tools(calls: Calls, known: KnownTools, options: Options = NO_OPTIONS) -> AsyncIterator[Tool]:
    """Yield all tools, and let `known` learn them."""
    edition, mirrors = known.edition, calls.terms.mirrors
    async for tool in items(calls, TOOLS_LIST, lambda page: known.learn(page.tools, mirrors=mirrors), options):
        yield tool
    known.complete = known.edition == edition


async def mirrored(calls: Calls, known: KnownTools, name: str, arguments: Mapping[str, Any]) -> Mapping[str, str]:
    """Write the headers that mirror arguments of a tool, listing the tools first if need be.

    Raises `LocalProtocolError`, and what listing raises but for an error response.
    """
    if not known.complete:
        try:
            async for _ in tools(calls, known):
                pass
        except RPCError:  # the server lists no tools: there is nothing to know
            known.complete = True
    return known.headers(name, arguments)
