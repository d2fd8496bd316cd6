"""What the explicit commands do: calls with the arguments as they are written, one after the other."""

from difflib import get_close_matches
from typing import Any

from splice.host.models.demo import answers, grammar
from splice.host.models.demo.actions import ASK_USER, READ_RESOURCE, Action, Actions
from splice.host.models.demo.fields import fields_of
from splice.host.models.demo.grammar import Command
from splice.host.models.demo.retrieval import Shelf
from splice.host.models.demo.talk import Done, Talk

Made = tuple[str, list[tuple[str, str, dict[str, Any]]]]
"""What is said, and calls: key, name and arguments of each."""


def next_reply(talk: Talk, shelf: Shelf, actions: Actions) -> Made | None:
    """Go on with a task that is written in commands; None for any other task."""
    commands = grammar.parse(talk.task)
    if not commands:
        return None
    told: list[str] = []
    for place, command in enumerate(commands, 1):
        key = f"command-{place}"
        done = next((each for each in talk.done if each.key == key), None)
        if done is None:
            made = _begin(command, key, (talk, shelf, actions), is_chain=place > 1)
            return "\n\n".join(filter(None, [*told[-1:], made[0]])), made[1]
        told.append(_told(done, is_last=place == len(commands)))
        if not done.is_ok:
            return "\n\n".join(told), []
    return "\n\n".join(told), []


def help_text(shelf: Shelf) -> str:
    """Say what the demo model can do, and with which servers."""
    counts: dict[str, int] = {}
    for name in shelf.tools:
        server = name.rpartition("__")[0]
        counts[server] = counts.get(server, 0) + 1
    servers = ", ".join(f"{name} ({count})" for name, count in counts.items() if name) or "none yet"
    return "\n".join(
        [
            "I am the demo model: no AI, only rules. I match your words with tools, and fill in what you say.",
            "",
            f"Tools by server: {servers}.",
            "",
            "- `call server.tool key=value …` calls a tool, and so does `/tool name {json}`",
            "- `… then …` does one thing after the other",
            "- `read URI` reads a resource",
            "- `ask me …` asks you with a form",
            "- or just say it: “What is the weather in Paris tomorrow?”",
        ]
    )


def _begin(command: Command, key: str, around: tuple[Talk, Shelf, Actions], *, is_chain: bool) -> Made:
    talk, shelf, actions = around
    if command.verb == "help":
        return help_text(shelf), []
    if command.verb == "read":
        return _read(command, key, shelf)
    if command.verb == "ask":
        return _ask(command, key, shelf)
    tool = shelf.called(command.name)
    if tool is None:
        near = get_close_matches(command.name, list(shelf.tools), 3, 0.4)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        return f"There is no tool {answers.cell(command.name)}.{hint}", []
    given = grammar.arguments_of(tool, command.rest)
    ready = actions.ready(Action(key, tool, command.rest, 0, given), is_chain=is_chain)
    wanted = {each.name for each in fields_of(tool) if each.is_required}
    arguments = {name: value for name, value in ready.arguments.items() if name in given or name in wanted}
    missing = [each.name for each in ready.missing]
    asked = any(each.key == f"ask-{key}" for each in talk.done)
    if missing and not asked and ASK_USER in shelf.tools:
        properties = {name: {"type": "string"} for name in missing}
        schema = {"type": "object", "properties": properties, "required": missing}
        message = f"{answers.tool_name(tool.name)} needs {', '.join(missing)}."
        return "", [(f"ask-{key}", ASK_USER, {"message": message, "schema": schema})]
    return "", [(key, tool.name, arguments)]


def _read(command: Command, key: str, shelf: Shelf) -> Made:
    if READ_RESOURCE not in shelf.tools:
        return "I have no way to read resources here.", []
    servers = list(dict.fromkeys(name.rpartition("__")[0] for name in shelf.tools if "__" in name))
    scheme = command.rest.partition(":")[0].casefold()
    about = {
        name.rpartition("__")[0]
        for name, tool in shelf.tools.items()
        if "__" in name and f"{scheme}://" in (tool.description or "").casefold()
    }
    fits = [each for each in servers if each == command.name] or [each for each in servers if each.casefold() == scheme]
    server = command.name or next(iter([*fits, *sorted(about), *servers]), scheme)
    return "", [(key, READ_RESOURCE, {"server": server, "uri": command.rest})]


def _ask(command: Command, key: str, shelf: Shelf) -> Made:
    if ASK_USER not in shelf.tools:
        return f"{command.rest}?".replace("??", "?"), []
    schema = {"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]}
    return "", [(key, ASK_USER, {"message": command.rest, "schema": schema})]


def _told(done: Done, *, is_last: bool) -> str:
    return answers.full(done) if is_last else answers.brief(done)
