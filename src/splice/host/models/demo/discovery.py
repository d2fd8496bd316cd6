"""Finding tools by the host's three discovery tools, where it offers these in the place of all.

For each clause that no known tool fits: ``search_tools``, then ``describe_tool`` for the best of what was found. What
is described is known from then on, and is called by ``call_tool``.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from splice.host.models.demo.fields import items, mapping
from splice.host.models.demo.slots import Arguments
from splice.host.models.demo.talk import Done, Talk
from splice.types import Tool

SEARCH, DESCRIBE, CALL = "search_tools", "describe_tool", "call_tool"
MAX_DESCRIBED = 3
"""How many of the tools that were found are looked at."""

_LINE = re.compile(r"(?m)^([\w-]+__[\w.-]+):")
"""A tool in the text of a search: its name, and a line about it."""

Wanted = tuple[str, str, Arguments]
"""Key, name and arguments of a call."""


def is_offered(tools: Sequence[Tool]) -> bool:
    """Tell whether the discovery tools stand for all."""
    return {SEARCH, CALL} <= {tool.name for tool in tools}


def known(talk: Talk) -> list[Tool]:
    """List the tools that were described in the conversation, or were found with their schemas."""
    found: dict[str, Tool] = {}
    for done in talk.uses:
        if done.name in {SEARCH, DESCRIBE} and done.result is not None and not done.result.is_error:
            found |= {tool.name: tool for each in _entries(done.value) if (tool := _tool(each))}
    return list(found.values())


def next_calls(talk: Talk, key: str, text: str, tools: Sequence[str]) -> list[Wanted]:
    """Tell what to look for next for a clause; nothing if all was tried."""
    searched = _outcome(talk, f"search-{key}")
    if searched is None:
        return [(f"search-{key}", SEARCH, {"query": text[:400]})]
    names = [name for each in _entries(searched.value) if isinstance(name := each.get("name"), str)]
    names = names or _LINE.findall(searched.text)
    lacking = [each for each in dict.fromkeys(names) if each not in tools][:MAX_DESCRIBED]
    calls = [(f"describe-{key}-{place}", DESCRIBE, {"name": name}) for place, name in enumerate(lacking)]
    return [each for each in calls if _outcome(talk, each[0]) is None]


def through(call: Wanted, offered: Sequence[str]) -> Wanted:
    """Call a tool that is not offered itself by the one that calls any."""
    key, name, arguments = call
    return call if name in offered else (key, CALL, {"name": name, "arguments": arguments})


def _outcome(talk: Talk, key: str) -> Done | None:
    return next((each for each in talk.done if each.key == key), None)


def _entries(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the descriptions of tools in a result: one, a list, or an object that has a list."""
    here = mapping(value)
    if isinstance(here.get("name"), str):
        yield dict(here)
        return
    for each in items(value) or [entry for part in here.values() for entry in items(part)]:
        yield dict(mapping(each))


def _tool(entry: dict[str, Any]) -> Tool | None:
    schema = next((entry[name] for name in ("inputSchema", "input_schema", "schema") if name in entry), None)
    name, about = entry.get("name"), entry.get("description")
    if not isinstance(name, str) or not isinstance(schema, dict):
        return None
    return Tool(name=name, description=about if isinstance(about, str) else "", input_schema=dict(mapping(schema)))
