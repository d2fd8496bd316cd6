"""Sentences about items, for both forms of this face. What comes from others is still as it came: see `marks.py`."""

import shlex
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import cast

import msgspec

from splice.host.asked import Json
from splice.host.items import Call, Chat, Message, Model, Server, Tool
from splice.host.telling import decided
from splice.host.text import parted

STATES = {
    "waiting": "waits for you",
    "queued": "waits",
    "running": "runs",
    "done": "done",
    "failed": "failed",
    "denied": "denied by you",
    "cancelled": "cancelled",
    "crashed": "crashed",
    "timeout": "took too long",
}
"""The state of a call, in a word."""

_LONGEST = 200
"""Characters of a value in one line."""


def took(seconds: float | None) -> str:
    """Write how long something took, short."""
    if seconds is None:
        return ""
    if seconds < 0.1:
        return f"{seconds * 1000:.0f} ms"
    return f"{seconds:.1f} s" if seconds < 60 else f"{seconds // 60:.0f} min {seconds % 60:.0f} s"


def count(number: float) -> str:
    """Write a number of tokens."""
    return (
        f"{number:.0f}" if number < 1_000 else f"{number / 1000:.1f}k" if number < 100_000 else f"{number / 1000:.0f}k"
    )


def counted(number: int, what: str) -> str:
    """Write how many there are of something."""
    return f"{number} {what}{'s' * (number != 1)}"


def clock(at: float) -> str:
    """Write the time of day."""
    return time.strftime("%H:%M:%S", time.localtime(at))


def day(at: float) -> str:
    """Write the day, or the time of today."""
    is_today = time.localtime(at)[:3] == time.localtime()[:3]
    return time.strftime("%H:%M" if is_today else "%d %b", time.localtime(at)).lstrip("0")


def short(value: Json) -> str:
    """Write a JSON value on one line, cut where it is long."""
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    line = " ".join(text[: 2 * _LONGEST].split())
    return line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"


def members(value: Json) -> Mapping[str, Json]:
    """See a JSON value as an object; anything else is one without members."""
    return cast("Mapping[str, Json]", value) if isinstance(value, Mapping) else {}


def elements(value: Json) -> Sequence[Json]:
    """See a JSON value as a list; anything else is an empty one."""
    return cast("Sequence[Json]", value) if isinstance(value, list) else ()


def lines_of(value: Json, indent: str = "") -> list[str]:
    """Write a JSON value for people, line by line: strings as they are, lists and objects indented."""
    if isinstance(value, str):
        return [indent + line for line in value.split("\n")]
    if each_of := elements(value):
        return [line for each in each_of for line in lines_of(each, indent if isinstance(each, str) else indent + "  ")]
    if named := members(value):
        return [line for key, each in named.items() for line in _member(key, each, indent)]
    return [indent + msgspec.json.encode(value).decode()]


def _member(key: str, value: Json, indent: str) -> Iterable[str]:
    lines = lines_of(value, "")
    if len(lines) == 1:
        return [f"{indent}{key}: {lines[0]}"]
    return [f"{indent}{key}:", *(f"{indent}  {line}" for line in lines)]


def hidden(value: Json) -> int:
    """Count the characters of a value that cannot be seen."""
    if isinstance(value, str):
        return sum(len(part) for part, is_hidden in parted(value) if is_hidden)
    named = sum(hidden(key) + hidden(each) for key, each in members(value).items())
    return named + sum(map(hidden, elements(value)))


def about(call: Call) -> str:
    """Say in a line what a call is about: the plain values of its arguments."""
    plain = [each for each in members(call.arguments).values() if isinstance(each, str | int | float)]
    return ", ".join(short(each) for each in plain[:4])


def came(call: Call) -> str:
    """Say in a line what came back from a call."""
    for block in call.result:
        if block.type == "text" and block.text.strip():
            return short(block.text)
    return ", ".join(f"{block.type} {block.mime_type}".strip() for block in call.result[:3])


def allowed(call: Call) -> str:
    """Say why a call was allowed or not: the last step of its trail."""
    return decided(call.trail[-1].what, call.trail[-1].who) if call.trail else ""


def command(server: Server | None, tool: str, arguments: Json) -> str:
    """Write the command that repeats a call, for a shell: the server by the file that names it, else as it runs."""
    target = server.runs if server is not None else ""
    if server is not None and server.source:
        target = f"{Path(server.source).expanduser()}#{server.name}"  # what is quoted, no shell expands
    return shlex.join(["splice", "call", target, tool, msgspec.json.encode(arguments or {}).decode()])


def progress(call: Call) -> str:
    """Say how far a call is."""
    at = call.progress
    if at is None:
        return ""
    of = f"{_number(at.done)} of {_number(at.total)}" if at.total else _number(at.done)
    return f"{of}, {short(at.message)}" if at.message else of


def _number(value: float | None) -> str:
    return f"{value:g}" if value is not None else ""


def claims(tool: Tool | None) -> str:
    """Say what a server says of a tool."""
    if tool is None or not tool.claims:
        return "The server says nothing of it; it may delete and go outside."
    return f"The server says of it: {' · '.join(tool.claims)}"


def speaker(message: Message) -> str:
    """Name who said a message."""
    if message.role == "user":
        return "You"
    return message.model or "Model" if message.role == "model" else "Splice"


def label(model: Model | None) -> str:
    """Name a model; one that is no AI says so."""
    if model is None:
        return "no model"
    return model.label if model.is_ai or says_no_ai(model.label) else f"{model.label} · no AI"


def says_no_ai(name: str) -> bool:
    """Tell whether the name of a model says by itself that it is no AI."""
    return "no ai" in name.casefold()


def key_of(chat: Chat) -> str:
    """Tell how commands name a chat."""
    return chat.id.removeprefix("chat:")


def state(server: Server) -> str:
    """Say the state of a server."""
    return "log in" if server.state == "login" else server.state
