"""Pictures for everything a server has, itself included: the port of an example of `mcp`.

splice list examples/ports/icons.py --json
"""

import base64

from splice import Server
from splice.types import Icon

DOT = base64.b64encode(b'<svg xmlns="http://www.w3.org/2000/svg"><circle r="9"/></svg>').decode()
INLINE = Icon(src=f"data:image/svg+xml;base64,{DOT}", mime_type="image/svg+xml", sizes=["any"])
DARK = Icon(src="https://example.com/dark.png", mime_type="image/png", sizes=["48x48", "96x96"], theme="dark")

server = Server("pictures", website_url="https://example.com/", icons=[INLINE, DARK])


@server.tool(icons=[INLINE])
def draw() -> str:
    """Draw a dot."""
    return "."


@server.resource("pictures://dot", icons=[DARK])
def dot() -> str:
    """Tell about the dot."""
    return "It is round."


@server.prompt(icons=[INLINE, DARK])
def describe(what: str) -> str:
    """Ask for a description."""
    return f"Describe {what}."


if __name__ == "__main__":
    server.run()
