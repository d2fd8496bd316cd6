"""What the user asks a server for: the contents of a resource, a prompt with its arguments."""

from collections.abc import Mapping

from splice import MCPError
from splice.host.connecting.connections import Connections
from splice.host.failing import HostError
from splice.host.text import one_line
from splice.types import GetPromptResult, ReadResourceResult


async def resource(connections: Connections, server: str, uri: str) -> ReadResourceResult:
    """Read a resource. Raises `HostError`."""
    try:
        async with connections.use(server) as client:
            return await client.read_resource(uri)
    except MCPError as error:
        raise HostError(f"{server} could not read {one_line(uri)}: {one_line(str(error))}") from error


async def prompt(connections: Connections, server: str, name: str, arguments: Mapping[str, str]) -> GetPromptResult:
    """Get a prompt with its arguments. Raises `HostError`."""
    try:
        async with connections.use(server) as client:
            found = await client.get_prompt(name, arguments)
    except MCPError as error:
        raise HostError(f"{server} did not give its prompt {one_line(name)}: {one_line(str(error))}") from error
    if not found.messages:
        raise HostError(f"The prompt {one_line(name)} of {server} is empty")
    return found
