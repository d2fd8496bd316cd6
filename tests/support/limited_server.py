"""A server that speaks some protocol versions only; as a program, those on its command line, over stdio."""

import sys
from collections.abc import Sequence

from splice import Server


def build(protocols: Sequence[str]) -> Server:
    """Make a new server."""
    server = Server("limited", protocols=list(protocols))

    @server.tool
    async def echo(text: str) -> str:
        return text

    return server


if __name__ == "__main__":
    build(sys.argv[1:]).run()
