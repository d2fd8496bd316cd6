"""Tools that the host itself offers to the model: ask the user, read a resource, page through a long result.

They need no permission: they show the user what they do, or give the model what it may have anyway. A resource is
read if its server lists it, or named it in this chat: an address that the model makes up could carry data away.
"""

from collections.abc import Awaitable, Callable
from typing import NamedTuple

import msgspec

from splice.host.asked import Filled, Form, Json
from splice.host.asking.forms import BadForm, fields
from splice.host.items import Block, Call, Message
from splice.host.parts import Parts
from splice.host.secrecy import is_secret
from splice.host.tools.discovery import DESCRIBE, SEARCH, BadUse
from splice.host.tools.results import READ_MORE, Given
from splice.host.turns.conversation import Conversation
from splice.host.turns.undone import NotDone
from splice.types import CallToolResult, ContentBlock, EmbeddedResource, TextContent, Tool

MAX_MESSAGE = 4_000


class _Own(NamedTuple):
    """A tool of the host."""

    tool: Tool
    carry_out: Callable[[dict[str, Json], str], Awaitable[Given]]


def _tool(name: str, description: str, required: str, **properties: Json) -> Tool:
    schema = {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}
    return Tool(name=name, description=description, input_schema=schema)


_TEXT = {"type": "string"}

ASK_USER = _tool(
    "ask_user",
    "Ask the user something that you need to know to go on. They fill in a form. Never ask for a secret.",
    "message schema",
    message={"type": "string", "description": "The question, and why you need to know"},
    schema={"type": "object", "description": "JSON Schema of a flat object: what the user is to fill in"},
)
READ_RESOURCE = _tool(
    "read_resource",
    "Read a resource that a server lists, or that a result named.",
    "server uri",
    server={"type": "string", "description": "The name of the server"},
    uri=_TEXT,
)


class OwnTools:
    """The host's own tools, for one chat."""

    def __init__(self, parts: Parts, conversation: Conversation) -> None:
        self._parts, self._conversation = parts, conversation
        self._all = {
            "ask_user": _Own(ASK_USER, self._ask_user),
            "read_resource": _Own(READ_RESOURCE, self._read_resource),
            "read_more": _Own(READ_MORE, self._read_more),
        }
        self._finders = {SEARCH: self._search, DESCRIBE: self._describe}

    def tools(self) -> list[Tool]:
        """List those that are of use now."""
        has_resources = any(each.manifest is not None and each.manifest.resources for each in self._parts.connections)
        return [own.tool for name, own in self._all.items() if has_resources or name != "read_resource"]

    def has(self, name: str) -> bool:
        """Tell whether a tool is one of them."""
        return name in self._all or name in self._finders

    async def call(self, name: str, arguments: dict[str, Json], call: str) -> Given:
        """Carry one out. Raises `NotDone`, `MCPError` and `Unavailable`."""
        work = self._all[name].carry_out if name in self._all else self._finders[name]
        try:
            return await work(arguments, call)
        except BadUse as error:
            raise _wrong(str(error)) from error

    async def _ask_user(self, arguments: dict[str, Json], call: str) -> Given:
        message, schema = arguments.get("message"), arguments.get("schema")
        if not isinstance(message, str) or not message.strip():
            raise _wrong("`message` must be text")
        try:
            asked = fields(schema)
        except BadForm as error:
            raise _wrong(str(error)) from error
        secret = [each.name for each in asked if is_secret(each.name, each.title, each.description)]
        if secret:
            raise NotDone("denied", "it asked for a secret", f"Do not ask the user for {', '.join(secret)}.")
        form = Form(message=message[:MAX_MESSAGE], schema=schema, call=call)
        answer, _ = await self._parts.questions.ask("", form, chat=self._conversation.id)
        if not isinstance(answer, Filled) or answer.action != "accept":
            return told("The user does not want to answer this. Go on without it.")
        return told(f"The user answered: {msgspec.json.encode(answer.content or {}).decode()}")

    async def _read_resource(self, arguments: dict[str, Json], _call: str) -> Given:
        server, uri = arguments.get("server"), str(arguments.get("uri"))
        if not isinstance(server, str) or server not in self._parts.connections:
            known = ", ".join(each.entry.name for each in self._parts.connections)
            raise _wrong(f"there is no such server; there are {known}")
        server = self._owner(server, uri)
        async with self._parts.connections.use(server) as client:
            found = await client.read_resource(uri, timeout=self._parts.settings["call_seconds"])
        content: list[ContentBlock] = [EmbeddedResource(resource=each) for each in found.contents]
        return self._parts.results.give(server, CallToolResult(content=content))

    async def _read_more(self, arguments: dict[str, Json], _call: str) -> Given:
        return self._parts.results.read_more(arguments)

    async def _search(self, arguments: dict[str, Json], _call: str) -> Given:
        return told(self._parts.discovery.answer(SEARCH, arguments))

    async def _describe(self, arguments: dict[str, Json], _call: str) -> Given:
        return told(self._parts.discovery.answer(DESCRIBE, arguments))

    def _owner(self, server: str, uri: str) -> str:
        """Tell which server has a resource: the one that is named, or the only one that has. Raises `NotDone`."""
        owners = [each.entry.name for each in self._parts.connections if self._is_known(each.entry.name, uri)]
        if server in owners or len(owners) == 1:
            return server if server in owners else owners[0]
        hint = f"These do: {', '.join(owners)}." if owners else "Ask the user to attach it, if you need it."
        told = f"{server} does not list this resource. {hint}"
        raise NotDone("denied", "the server does not list this resource", told)

    def _is_known(self, server: str, uri: str) -> bool:
        """Tell whether a server lists a resource or named it in a result of this chat, or the user attached it."""
        manifest = self._parts.connections[server].manifest
        if manifest is not None and any(each.uri == uri for each in manifest.resources):
            return True
        attached = (each for message in self._parts.board.all(Message) for each in message.attached)
        if any((each.server, each.uri) == (server, uri) for each in attached):
            return True
        calls = (each for each in self._parts.board.all(Call) if each.server == server)
        return any(block.type == "link" and block.text == uri for call in calls for block in call.result)


def told(text: str) -> Given:
    """Make a result of what the host itself says."""
    size = len(text.encode(errors="replace"))
    return Given([TextContent(text=text)], is_error=False, server="", blocks=[Block("text", text)], bytes=size)


def _wrong(what: str) -> NotDone:
    return NotDone("failed", "the model's arguments are wrong", f"These arguments are wrong: {what}")
