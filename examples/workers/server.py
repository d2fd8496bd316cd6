"""A server in several processes: each request may reach another one, answers to questions included.

export SPLICE_SECRET=$(python -c "import secrets; print(secrets.token_urlsafe(32))")
uvicorn server:app --workers 2

All processes have the key that is made of the secret; without it, each would refuse what another one sealed.
"""

import os

from splice import Context, Server

server = Server("workers")


@server.tool
async def sign(ctx: Context) -> str:
    """Ask the user for a name, wherever the answer may arrive."""
    asked = await ctx.once(os.getpid)
    name = (await ctx.elicit("Who signs?", str)).data
    return f"{name} {asked} {os.getpid()}"


app = server.http_app()
