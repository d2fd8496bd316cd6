"""The bench server on Splice."""

import sys
import time

from splice import Context, Server

server = Server("bench")


@server.tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
async def add_async(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.tool
async def touch(ctx: Context) -> str:
    """Tell everybody who listens that the tools changed."""
    await ctx.notify_tools_changed()
    return "done"


def add_many(count: int) -> None:
    """Register `count` more tools and say how long that took."""
    began = time.process_time()
    for number in range(count):

        async def tool(a: int, b: int) -> int:
            return a + b

        server.add_tool(tool, name=f"tool_{number}", description="Add two numbers.")
    print("registered", time.process_time() - began, file=sys.stderr, flush=True)


if __name__ == "__main__":
    options = dict(option.removeprefix("--").split("=") for option in sys.argv[1:])
    add_many(int(options.get("tools", 0)))
    if options.get("transport") != "http":
        server.run()
    elif "guarded" not in options:
        server.run("http", host="127.0.0.1", port=int(options["port"]), json_response="json" in options)
    else:
        from bench.tokens import AUDIENCE, ISSUER, PUBLIC
        from splice.auth import Auth, JWTVerifier

        auth = Auth(JWTVerifier(issuer=ISSUER, audience=AUDIENCE, keys=PUBLIC))
        server.run("http", host="127.0.0.1", port=int(options["port"]), auth=auth)
