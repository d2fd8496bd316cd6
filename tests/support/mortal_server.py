"""A server that tests kill: over stdio, or over HTTP at a port that is named."""

import os
import sys

from splice import Context, Server

server = Server("mortal")


@server.tool
def who() -> int:
    """Tell the process id."""
    return os.getpid()


@server.tool
def die() -> str:
    """End at once."""
    sys.stderr.write("last words\n")
    sys.stderr.flush()
    os._exit(7)


@server.resource("x://{name}")
def thing(name: str) -> str:
    """Return some text."""
    return f"{name} in {os.getpid()}"


@server.tool
async def touch(ctx: Context) -> str:
    """Change a resource."""
    await ctx.notify_resource_updated("x://a")
    return "touched"


if __name__ == "__main__":
    if len(sys.argv) > 1:
        server.run("http", port=int(sys.argv[1]))
    else:
        server.run()
