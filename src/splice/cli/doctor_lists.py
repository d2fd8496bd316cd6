"""What a server offers, looked at one list at a time, and whether clients and hosts can use what stands there."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from time import perf_counter
from typing import Any, NamedTuple

from splice import Client
from splice.cli.doctor_rungs import Broken, Ladder, Rung, Status, counted
from splice.cli.doctor_watch import Watch
from splice.errors import METHOD_NOT_FOUND
from splice.protocol.uri import UriTemplate, is_uri
from splice.schema.validate import BadSchema, OverBudget, validator
from splice.types import Prompt, Resource, ResourceTemplate, Tool

HOSTS_TAKE = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""The names of tools that all hosts take; the specification allows more."""

_SHOWN_NAME = 80
_LOG = "the server's log should say why; `splice list` asks the same again"


class _List(NamedTuple):
    """A list that a server may have."""

    name: str
    noun: str
    capability: str
    method: str
    ask: Callable[[Client], Awaitable[list[Any]]]
    key: str
    """What no two of its items share."""


_LISTS = (
    _List("tools", "tool", "tools", "tools/list", Client.list_tools, "name"),
    _List("resources", "resource", "resources", "resources/list", Client.list_resources, "uri"),
    _List(
        "templates",
        "resource template",
        "resources",
        "resources/templates/list",
        Client.list_resource_templates,
        "uri_template",
    ),
    _List("prompts", "prompt", "prompts", "prompts/list", Client.list_prompts, "name"),
)


async def climb(client: Client, watch: Watch, ladder: Ladder, seconds: float) -> None:
    """Look at each list that the server declares, and at what stands in it. A list that breaks stops no other."""
    for each in _LISTS:
        if getattr(client.capabilities, each.capability) is None:
            continue
        with suppress(Broken):
            with ladder.rung(each.name, _LOG) as rung:
                items = await each.ask(client)
                _weigh(each, items, watch, rung)
            if each.name == "tools":
                with ladder.rung("schemas") as rung:
                    _check_tools(items, rung, perf_counter() + seconds)


def _weigh(kind: _List, items: list[Any], watch: Watch, rung: Rung) -> None:
    """Say how many there are, and what is wrong with single ones."""
    if watch.refused(kind.method) == METHOD_NOT_FOUND:
        if kind.name != "templates":
            why = f"the server declares {kind.capability}, but answers that there is no method {kind.method}"
            raise Broken(why, "serve the list, or do not declare it; clients show nothing of it now")
        rung.text = f"none: the server has no {kind.method}, and need not"
        return
    rung.text = f"{counted(len(items), kind.noun)} on {counted(len(watch.of(kind.method)), 'page')}"
    seen: set[str] = set()
    for item in items:
        key = str(getattr(item, kind.key))
        if key in seen:
            rung.warn(f"{_named(key)} is listed twice: only one of them can be reached")
        seen.add(key)
        rung.warn(*_oddities(item))


def _oddities(item: Tool | Resource | ResourceTemplate | Prompt) -> Iterator[str]:
    if isinstance(item, Resource) and not is_uri(item.uri):
        yield f"{_named(item.uri)} is no absolute URI: some clients refuse it"
    if isinstance(item, ResourceTemplate):
        try:
            UriTemplate(item.uri_template)
        except ValueError as error:
            yield f"{_named(item.uri_template)} cannot be used: {error}"


def _check_tools(tools: Iterable[Tool], rung: Rung, until: float) -> None:
    """Check the names and the schemas of tools, as far as time allows. Raises `Broken`."""
    found: dict[Status, list[str]] = {"broken": [], "warning": []}
    count = unusable = 0
    for count, tool in enumerate(tools, 1):
        if perf_counter() > until:
            found["warning"].append(f"only the first {count} were checked: the time is up")
            break
        problems = list(_problems(tool))
        unusable += any(status == "broken" for status, _ in problems)
        for status, text in problems:
            found[status].append(f"{_named(tool.name)}: {text}")
    rung.warn(*found["warning"])
    if unusable:
        why = "\n".join([f"{unusable} of {counted(count, 'tool')} cannot be used", *found["broken"]])
        raise Broken(why, "correct them: many hosts drop the whole list because of one bad schema")
    rung.text = f"{counted(count, 'tool')} checked" + ("" if found["warning"] else ", all can be used")


def _problems(tool: Tool) -> Iterator[tuple[Status, str]]:
    if not HOSTS_TAKE.fullmatch(tool.name):
        yield "warning", "some hosts refuse this name: they take 1 to 64 letters, digits, _ and -"
    if tool.input_schema.get("type") != "object":
        yield "broken", 'its input schema must say "type": "object"'
    for which, schema in (("input", tool.input_schema), ("output", tool.output_schema)):
        try:
            if schema is not None:
                validator(schema)
        except OverBudget as error:
            yield "warning", f"its {which} schema is not held against values: {error}"
        except BadSchema as error:
            yield "broken", f"its {which} schema: {error}"


def _named(name: str) -> str:
    return name if len(name) <= _SHOWN_NAME else f"{name[:_SHOWN_NAME]}..."
