"""Answering what a server asks: at the terminal, field by field; without one, by declining.

Who asks is named by what the user called the server; the name that the server gives itself stands beside it.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
"""

import asyncio
import os
import sys
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, cast, overload

from splice.cli.arguments import MALFORMED, choices_of, kinds_of, read, titles_of
from splice.cli.showing import spoken_text
from splice.host.addresses import host_of, warnings_about
from splice.host.text import as_json, one_line, safe
from splice.schema.validate import BadSchema, validator
from splice.types import (
    CreateMessageParams,
    CreateMessageResult,
    ElicitParams,
    ElicitResult,
    ElicitValue,
    TextContent,
)

Action: TypeAlias = Literal["accept", "decline", "cancel"]

LINE_BYTES = 4096
"""What a terminal hands over at a time: one line, in its usual mode."""

MODEL = "a person at a terminal"
"""What stands in a sampling result for the model."""

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_YES, _NO = ("y", "yes", "true"), ("n", "no", "false")
_SAID: dict[str, Action] = {
    **dict.fromkeys(_YES, "accept"),
    **dict.fromkeys(_NO, "decline"),
    **dict.fromkeys(("c", "cancel"), "cancel"),
}


_LEAVING: dict[str, Action] = {"no": "decline", "cancel": "cancel"}
"""What ends a form in the midst of it, where it is no value of the field."""


class Left(Exception):  # a choice, not a failure
    """The user ended the input (Ctrl-D), or declined, instead of answering."""

    def __init__(self, action: Action = "cancel") -> None:
        super().__init__(action)
        self.action: Action = action


class Terminal:
    """Puts the questions of one server to the user, one at a time. `target` is what the user calls the server."""

    def __init__(self, target: str) -> None:
        self.server = ""
        """What it calls itself, once that is known."""
        self._target = target
        self._lock = asyncio.Lock()

    @property
    def who(self) -> str:
        """Name who asks."""
        name = one_line(self.server)
        return f"{name} ({self._target})" if name and name != self._target else self._target

    async def elicit(self, params: ElicitParams) -> ElicitResult:
        """Ask the user what the server wants to know."""
        async with self._lock:
            tell(f"\n{self.who} asks: {safe(params.message)}")
            if not has_terminal():
                tell("Declined, as this is not a terminal.")
                return ElicitResult(action="decline")
            try:
                return await (_visit(str(params.url)) if params.mode == "url" else _fill_in(params))
            except Left as left:
                tell("Cancelled." if left.action == "cancel" else "Declined.")
                return ElicitResult(action=left.action)
            except MALFORMED:
                tell("Declined, as the form is malformed.")
                return ElicitResult(action="decline")

    def visited(self, params: ElicitParams) -> None:
        """Tell the user that the server has what it sent them to a URL for."""
        tell(f"{self.who} says that this is done: {one_line(params.message)}")

    async def sample(self, params: CreateMessageParams) -> CreateMessageResult | None:
        """Let the user write what the server wants a language model to write. None: the user does not want to."""
        async with self._lock:
            tell(f"\n{self.who} wants a language model to go on with this (at most {params.max_tokens} tokens):")
            if params.system_prompt:
                tell(f"  system: {safe(params.system_prompt)}")
            for message in params.messages:
                for block in message.blocks:
                    tell(f"  {message.role}: {spoken_text(block)}")
            try:
                text = await _written() if await _decided("Write its answer?", default="accept") == "accept" else ""
            except Left:
                text = ""
            if not text:
                tell("Declined.")
                return None
            content = TextContent(text=text)
            return CreateMessageResult(role="assistant", content=content, model=MODEL, stop_reason="endTurn")


def has_terminal() -> bool:
    """Tell whether there is somebody to ask."""
    return sys.stdin.isatty() and sys.stderr.isatty()


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
    tell(f"It wants you to visit this address:\n  {one_line(url)}")
    host = safe(host_of(url))
    tell(f"  which is on {_BOLD}{host}{_PLAIN}" if sys.stderr.isatty() else f"  which is on {host}")
    for warning in warnings_about(url):
        tell(f"  WARNING: {safe(warning)}")
    return ElicitResult(action=await _decided("Do you agree, and did you open it?", default="decline"))


async def _fill_in(params: ElicitParams) -> ElicitResult:
    schema = cast("dict[str, Any]", params.requested_schema)
    fields = schema.get("properties")
    if not fields:
        return ElicitResult(
            action=(action := await _decided("Do you agree?")), content={} if action == "accept" else None
        )
    if len(fields) == 1:  # the question is the message, and what is typed is all that is sent
        return ElicitResult(action="accept", content=await _fields(schema, {}))
    action = await _decided("Fill in the form?", default="accept")
    content: dict[str, ElicitValue] = {}
    while action == "accept":
        content = await _fields(schema, content)
        tell("This would be sent:")
        for name, value in content.items():
            tell(f"  {one_line(name)}: {one_line(value if isinstance(value, str) else as_json(value))}")
        said = await _decided("Send it? `edit` goes through it again.", default="accept", more="edit")
        if said == "accept":
            return ElicitResult(action="accept", content=content)
        action = "accept" if said is None else said
    return ElicitResult(action=action)


async def _fields(schema: dict[str, Any], before: Mapping[str, ElicitValue]) -> dict[str, ElicitValue]:
    """Ask for all fields; those that were filled in before have their value as the default."""
    required = schema.get("required", ())
    content: dict[str, ElicitValue] = {}
    for name, field in schema["properties"].items():
        known = {**field, "default": before[name]} if name in before else {**field}
        alone = {**schema, "properties": {name: field}, "required": ()}
        value = await _field(name, known, alone, needed=name in required)
        if value is not None:
            content[name] = value
    return content


async def _written() -> str:
    """Read lines until an empty one."""
    tell("Write the answer; an empty line ends it.")
    lines: list[str] = []
    while text := await line(">"):
        lines.append(text)
    return "\n".join(lines)


@overload
async def _decided(question: str, *, default: Action | None = None) -> Action: ...
@overload
async def _decided(question: str, *, default: Action | None = None, more: str) -> Action | None: ...
async def _decided(question: str, *, default: Action | None = None, more: str = "") -> Action | None:
    """Ask for yes, no or cancel, until it is one of them, or `more`, which is None."""
    shown = f"{'Y' if default == 'accept' else 'y'}/{'N' if default == 'decline' else 'n'}/cancel"
    words = f"{shown}/{more}" if more else shown
    while True:
        text = (await line(f"{question} [{words}]")).lower()
        if more and text == more:
            return None
        action = _SAID.get(text) if text else default
        if action is not None:
            return action
        tell(f"  Please answer one of {words.lower()}.")


async def _field(name: str, schema: dict[str, Any], form: dict[str, Any], *, needed: bool) -> ElicitValue:
    """Ask for one field until what is typed fits `form`, which has just this one; None: it was left empty.

    Raises `Left` for `no` and `cancel`, unless they fit.
    """
    while True:
        text = await line(_prompt(name, schema, needed=needed))
        if needed and not text and schema.get("default") is None:
            tell("  This one is needed. Ctrl-D cancels.")
            continue
        try:
            value = _read(text, schema) if text else cast("ElicitValue", schema.get("default"))
            if value is not None:
                _check(name, value, form)
        except ValueError as error:
            if text.lower() in _LEAVING:
                raise Left(_LEAVING[text.lower()]) from None
            tell(f"  {safe(str(error))}")
        else:
            return value


def _check(name: str, value: ElicitValue, form: dict[str, Any]) -> None:
    """Check a value as the whole form will be. Raises `ValueError`, and `TypeError` for a form nobody can fill in."""
    try:
        validator(form).check({name: value})
    except BadSchema as error:
        raise TypeError(str(error)) from error
    except ValueError as error:
        raise ValueError(str(error).removeprefix(f"{name}: ")) from error


def _read(text: str, schema: dict[str, Any]) -> ElicitValue:
    kinds = kinds_of(schema, schema)
    if kinds == ["array"] and not text.startswith("["):
        return [str(read(each.strip(), schema.get("items", {}), schema)) for each in text.split(",")]
    if kinds == ["boolean"]:
        text = "true" if text.lower() in _YES else "false" if text.lower() in _NO else text
    return cast("ElicitValue", read(text, schema, schema))


def _prompt(name: str, schema: dict[str, Any], *, needed: bool) -> str:
    label = one_line(str(schema.get("title") or ("your answer" if name == "value" else name)))
    about = one_line(str(schema.get("description", "")))
    kinds = kinds_of(schema, schema)
    choices = choices_of(schema.get("items", {}) if kinds == ["array"] else schema, schema)
    titles = titles_of(schema.get("items", {}) if kinds == ["array"] else schema)
    shown = [f"{each} = {titles[each]}" if titles.get(each, each) != each else str(each) for each in choices]
    expected = "/".join(map(one_line, shown)) or (
        "y/n" if kinds == ["boolean"] else " or ".join(kind for kind in kinds if kind != "string")
    )
    notes = [about, expected, "" if needed else "optional"]
    told = "; ".join(each for each in notes if each)
    default = f" [{one_line(str(schema['default']))}]" if "default" in schema else ""
    return f"  {label}{f' ({told})' if told else ''}{default}:"
