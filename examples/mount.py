"""A server inside a web application: `uvicorn mount:app` from `examples/`, then http://127.0.0.1:8000/api/mcp.

Nothing has to be wired up for it; FastAPI mounts it in the same way. Pages of the application stay what they were.
"""

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from splice import Server

server = Server("mounted")


@server.tool
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello, {name}!"


async def health(_request: Request) -> PlainTextResponse:
    """Say that the application is well."""
    return PlainTextResponse("well")


app = Starlette(routes=[Route("/health", health), Mount("/api", server.http_app(path="/mcp"))])
