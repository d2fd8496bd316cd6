"""Finding tools instead of carrying all: three tools of the host that stand for the others when there are too many.

    search_tools(query)             names, with a sentence about each, as JSON
    describe_tool(name)             the whole definition
    call_tool(name, arguments)      the call; rules and approvals look at the tool that is named

What the model gets stays the same within a turn then, so that its provider need not read it anew.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec

from splice.host.tools.offering import tokens
from splice.host.tools.registry import Registry
from splice.host.tools.search import Index
from splice.schema.schemas import is_object
from splice.types import Tool

SHARE = 0.05
"""How much of a model's window definitions may take before it searches."""
LEAST_TOKENS = 1_000
"""So much they may take of any window: the three tools take a third of it themselves."""
MOST_TOOLS = 128
"""How many tools a model gets at once, unless its provider takes fewer."""
MOST_FOUND = 20

SEARCH, DESCRIBE, CALL = "search_tools", "describe_tool", "call_tool"
OWN = (SEARCH, DESCRIBE, CALL)

_NAME_WEIGHT, _TITLE_WEIGHT = 3.0, 2.0
_ABOUT_LENGTH = 200


class BadUse(ValueError):
    """The model used one of the three tools wrongly. The message is for the model."""


class Discovery:
    """What the model gets of the registry, turn by turn."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._indexed: list[Tool] = []
        self._index = Index([])
        self._window, self._most = 0, MOST_TOOLS
        self._wanted: list[str] = []
        self._fixed: list[Tool] | None = None

    @property
    def is_searching(self) -> bool:
        """Tell whether the model searches in this turn; known once `offered` was asked."""
        return self._fixed is not None

    def begin(self, window: int, *, most: int = MOST_TOOLS, wanted: Iterable[str] = ()) -> None:
        """Begin a turn with a model of this window. ``wanted`` are names of tools that it gets in any case."""
        self._window, self._most, self._wanted, self._fixed = window, most, list(wanted), None

    def offered(self) -> list[Tool]:
        """List what the model gets in its next step: all tools, or those that find them."""
        if self._fixed is None:
            tools = self._registry.offered()
            if not self._is_too_much(tools):
                return tools
            by_name = {tool.name: tool for tool in tools}
            given = [by_name[name] for name in dict.fromkeys(self._wanted) if name in by_name]
            self._fixed = [*_finders(tools), *given[: max(self._most - len(OWN), 0)]]
        return self._fixed

    def answer(self, called: str, given: Any) -> str:
        """Answer a use of `search_tools` or `describe_tool`. Raises `BadUse`."""
        if called == SEARCH:
            return self._found(_text(given, "query"))
        name = _text(given, "name")
        for tool in self._registry.offered():
            if tool.name == name:
                return msgspec.json.encode(tool).decode()
        raise BadUse(self._unknown(name))

    def _is_too_much(self, tools: list[Tool]) -> bool:
        if len(tools) > self._most:
            return True
        return self._window > 0 and sum(map(tokens, tools)) > max(self._window * SHARE, LEAST_TOKENS)

    def _found(self, query: str) -> str:
        tools = self._registry.offered()
        if len(tools) != len(self._indexed) or any(a is not b for a, b in zip(tools, self._indexed, strict=True)):
            self._index = Index((tool.name, _fields(tool)) for tool in tools)
            self._indexed = tools
        by_name = {tool.name: tool for tool in tools}
        found = [_entry(by_name[name]) for name, _ in self._index.search(query, MOST_FOUND)]
        if not found:
            return f"No tool fits these words. {_servers(tools)} Try other words."
        return msgspec.json.encode(found).decode()

    def _unknown(self, name: str) -> str:
        near = [found for found, _ in self._index.search(name, 3)]
        hint = f" Did you mean {', '.join(near)}?" if near else f" Find tools with {SEARCH}."
        return self._registry.why_not(name) + hint


def unwrap(called: str, given: Any) -> tuple[str, Any]:
    """Turn a use of `call_tool` into that of the tool that it names; any other stays. Raises `BadUse`."""
    if called != CALL:
        return called, given
    name = _text(given, "name")
    if name in OWN:
        raise BadUse(f"{CALL} cannot call {name}; use {name} itself.")
    arguments = given.get("arguments")
    if isinstance(arguments, str):  # some models write JSON into a string
        try:
            arguments = msgspec.json.decode(arguments)
        except (ValueError, RecursionError) as error:
            raise BadUse(f"{CALL}: arguments is not JSON: {error}") from None
    if arguments is not None and not is_object(arguments):
        raise BadUse(f"{CALL}: arguments must be an object, such as the tool's inputSchema says.")
    return name, arguments or {}


def _text(given: Any, member: str) -> str:
    value = given.get(member) if is_object(given) else None
    if not isinstance(value, str) or not value.strip():
        raise BadUse(f"{member} is missing; it must be text.")
    return value


def _fields(tool: Tool) -> list[tuple[str, float]]:
    properties = tool.input_schema.get("properties")
    names = " ".join(properties) if is_object(properties) else ""
    return [
        (tool.name, _NAME_WEIGHT),
        (tool.title or "", _TITLE_WEIGHT),
        (tool.description or "", 1.0),
        (names, 1.0),
    ]


def _entry(tool: Tool) -> dict[str, str]:
    about = " ".join((tool.description or tool.title or "").split())
    cut = f"{about[:_ABOUT_LENGTH]}..." if len(about) > _ABOUT_LENGTH else about
    return {"name": tool.name, "description": cut}


def _servers(tools: list[Tool]) -> str:
    counts = Counter(tool.name.partition("__")[0] for tool in tools)
    return f"There are tools of {', '.join(f'{server} ({count})' for server, count in counts.items())}."


def _finders(tools: list[Tool]) -> list[Tool]:
    name = {"type": "string", "description": f"The name, as {SEARCH} tells it"}
    about = f"Find tools by words. {_servers(tools)} Search before you say that something cannot be done."
    query = {"type": "string", "description": "Words of what is to be done, such as: send mail"}
    arguments = {"type": "object", "description": "Arguments, as the tool's inputSchema says"}
    return [
        Tool(name=SEARCH, description=about, input_schema=_object({"query": query}, ["query"])),
        Tool(
            name=DESCRIBE,
            description="Get the definition of a tool with the schema of its arguments.",
            input_schema=_object({"name": name}, ["name"]),
        ),
        Tool(
            name=CALL,
            description=f"Call a tool that was found. Look at its arguments with {DESCRIBE} first.",
            input_schema=_object({"name": name, "arguments": arguments}, ["name", "arguments"]),
        ),
    ]


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": required}
