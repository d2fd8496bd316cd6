"""Answering what a server asks the user: at the terminal, field by field; without one, by declining.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any, cast

from splice.cli.arguments import choices_of, kinds_of, read
from splice.cli.text import one_line, safe
from splice.types import ElicitParams, ElicitResult, ElicitValue

LINE_BYTES = 4096
"""What a terminal hands over at a time: one line, in its usual mode."""

_YES, _NO = ("y", "yes", "true"), ("n", "no", "false")


class Left(Exception):  # a choice, not a failure
    """The user ended the input (Ctrl-D) instead of answering."""


def has_terminal() -> bool:
    """Tell whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def answer(params: ElicitParams) -> ElicitResult:
    """Ask the user what the server wants to know."""
    tell(f"\nThe server asks: {safe(params.message)}")
    if not has_terminal():
        tell("Declined, as this is not a terminal.")
        return ElicitResult(action="decline")
    try:
        return await (_visit(str(params.url)) if params.mode == "url" else _fill_in(params))
    except Left:
        tell("Cancelled.")
        return ElicitResult(action="cancel")


def tell(text: str) -> None:
    """Write a line beside the command's result."""
    print(text, file=sys.stderr, flush=True)


async def line(prompt: str) -> str:
    """Read a line from the terminal while the event loop goes on. Raises `Left` at the end of input."""
    print(prompt, end=" ", file=sys.stderr, flush=True)
    loop, descriptor = asyncio.get_running_loop(), sys.stdin.fileno()
    ready = asyncio.Event()
    loop.add_reader(descriptor, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_reader(descriptor)
    typed = os.read(descriptor, LINE_BYTES)
    if not typed:
        raise Left
    return typed.decode(errors="replace").strip()


async def _visit(url: str) -> ElicitResult:
    tell(f"It wants you to visit this address:\n  {safe(url)}")
    return ElicitResult(action="accept" if await _confirmed("Do you agree, and did you open it?") else "decline")


async def _fill_in(params: ElicitParams) -> ElicitResult:
    schema = cast("dict[str, Any]", params.requested_schema)
    if not await _confirmed("Answer?", default=True):
        return ElicitResult(action="decline")
    required = schema.get("required", ())
    content: dict[str, ElicitValue] = {}
    for name, field in schema.get("properties", {}).items():
        value = await _field(name, field, needed=name in required)
        if value is not None:
            content[name] = value
    return ElicitResult(action="accept", content=content)


async def _confirmed(question: str, *, default: bool = False) -> bool:
    text = (await line(f"{question} [{'Y/n' if default else 'y/N'}]")).lower()
    return text in _YES or (default and text == "")


async def _field(name: str, field: Mapping[str, Any], *, needed: bool) -> ElicitValue:
    """Ask for one field until what is typed fits; None: it was left empty."""
    schema = dict(field)
    while True:
        text = await line(_prompt(name, schema, needed=needed))
        if not text:
            if "default" in schema or not needed:
                return cast("ElicitValue", schema.get("default"))
            tell("  This one is needed.")
            continue
        try:
            return _read(text, schema)
        except ValueError as error:
            tell(f"  {safe(str(error))}")


def _read(text: str, schema: dict[str, Any]) -> ElicitValue:
    kinds = kinds_of(schema, schema)
    if kinds == ["array"] and not text.startswith("["):
        return [str(read(each.strip(), schema.get("items", {}), schema)) for each in text.split(",")]
    if kinds == ["boolean"]:
        text = "true" if text.lower() in _YES else "false" if text.lower() in _NO else text
    return cast("ElicitValue", read(text, schema, schema))


def _prompt(name: str, schema: dict[str, Any], *, needed: bool) -> str:
    label = one_line(str(schema.get("title") or name))
    about = one_line(str(schema.get("description", "")))
    kinds = kinds_of(schema, schema)
    choices = choices_of(schema.get("items", {}) if kinds == ["array"] else schema, schema)
    expected = "/".join(one_line(str(each)) for each in choices) or (
        "y/n" if kinds == ["boolean"] else " or ".join(kind for kind in kinds if kind != "string")
    )
    notes = [about, expected, "" if needed else "optional"]
    told = "; ".join(each for each in notes if each)
    default = f" [{one_line(str(schema['default']))}]" if "default" in schema else ""
    return f"  {label}{f' ({told})' if told else ''}{default}:"
