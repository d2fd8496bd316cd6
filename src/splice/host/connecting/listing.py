"""Asking a server for its lists, and only for those that it advertises. A list that fails hides no other.

https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
"""

from collections.abc import AsyncIterator, Callable, Collection
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from splice import Client, ConnectionClosed, HTTPRefused, MCPError, RPCError
from splice.host.connecting.manifest import Manifest
from splice.host.text import one_line
from splice.types import LoggingLevel, ServerCapabilities

T = TypeVar("T")

MAX_ITEMS = 5_000
"""How many of a kind are taken; a server could go on for ever."""

MAX_BYTES = 4 * 2**20
"""How much of a kind is taken. All of it is hashed, searched and compared while nothing else runs."""

KINDS = ("tools", "prompts", "resources")
"""The lists that a server can say have changed. Templates change with resources."""

MAX_TITLE = 200
MAX_INSTRUCTIONS = 64 * 1024
"""How much of the instructions stands on the board; the model is told less."""

Note = Callable[[str], None]


async def listed(client: Client, before: Manifest, kinds: Collection[str], note: Note) -> Manifest:
    """Ask for the lists of these kinds; what else there is stays as it was before. Trouble goes to `note`.

    Raises `ConnectionClosed` when the server is gone, and `HTTPRefused`.
    """
    can = client.capabilities
    found = replace(
        before,
        instructions=client.instructions or "",
        protocol=client.protocol_version,
        server=client.server_info,
        capabilities=can,
    )
    if "tools" in kinds:
        found = replace(found, tools=[] if can.tools is None else await _all("tools", client.tools(), note))
    if "prompts" in kinds:
        found = replace(found, prompts=[] if can.prompts is None else await _all("prompts", client.prompts(), note))
    if "resources" in kinds and can.resources is None:
        return replace(found, resources=[], templates=[])
    if "resources" in kinds:
        resources = await _all("resources", client.resources(), note)
        templates = await _all("resource templates", client.resource_templates(), note)
        found = replace(found, resources=resources, templates=templates)
    return found


async def _all(what: str, items: AsyncIterator[T], note: Note) -> list[T]:
    found: list[T] = []
    left = MAX_BYTES
    try:
        async for item in items:
            left -= len(msgspec.json.encode(item))
            if len(found) == MAX_ITEMS or left < 0:
                note(
                    f"It has more than {MAX_ITEMS} {what}, or {MAX_BYTES // 2**20} MiB of them: the others are left out"
                )
                break
            found.append(item)
    except (ConnectionClosed, HTTPRefused):
        raise
    except MCPError as error:
        note(f"Its list of {what} failed: {error}")
    return found


async def set_level(client: Client, level: LoggingLevel, note: Note) -> None:
    """Say which log messages are wanted, unless the server sends none, or a client asks for these anyway."""
    if level != "info" and client.capabilities.logging is not None:
        try:
            await client.set_log_level(level)
        except RPCError as error:
            note(f"It did not take the log level {level}: {error}")


def capabilities_of(capabilities: ServerCapabilities) -> list[str]:
    """Name what a server offers: ``tools``, ``tools.listChanged``."""
    told: dict[str, dict[str, object] | None] = msgspec.to_builtins(capabilities)
    names: list[str] = []
    for name, inside in told.items():
        if inside is not None:
            names.append(name)
            names += [f"{name}.{each}" for each, value in inside.items() if value not in (None, False)]
    return [name[:100] for name in names[:100]]


def numbers_of(manifest: Manifest) -> dict[str, Any]:
    """Make the fields of a server on the board that come from what it offers."""
    server = manifest.server
    title = "" if server is None else one_line(f"{(server.title or server.name)[:MAX_TITLE]} {server.version[:50]}")
    return {
        "title": title,
        "protocol": manifest.protocol,
        "tools": len(manifest.tools),
        "resources": len(manifest.resources),
        "templates": len(manifest.templates),
        "prompts": len(manifest.prompts),
        "capabilities": capabilities_of(manifest.capabilities),
        "instructions": manifest.instructions[:MAX_INSTRUCTIONS],
    }
