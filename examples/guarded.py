"""A server that people log in to, with an authorization server of its own beside it, in one program.

python examples/guarded.py [--port 8000] [--approve]
splice login http://127.0.0.1:8000/mcp

The user is anna, her password is "correct horse". With --approve nobody is asked: for tests.
"""

import argparse

import uvicorn

from splice import Context, Server
from splice.auth import Auth, LocalAuthorizationServer


def build(url: str, approves: str | None = None) -> tuple[Server, LocalAuthorizationServer]:
    """Make a server for `url`/mcp, and the authorization server at `url`, where the user `approves` is not asked."""
    issuer = LocalAuthorizationServer(
        url,
        users={"anna": "correct horse"},
        scopes=["notes", "notes:write"],
        resources=[f"{url}/mcp"],
        auto_approve=approves,
    )
    server = Server("guarded", auth=Auth(issuer.verifier(f"{url}/mcp"), scopes=["notes"]))

    @server.tool
    def whoami(ctx: Context) -> str:
        """Tell who calls."""
        return "" if ctx.principal is None else ctx.principal.subject

    @server.tool(scopes=["notes:write"])
    def write(text: str) -> str:
        """Write a note; that takes a scope of its own."""
        return f"written: {text}"

    return server, issuer


def main() -> None:
    """Serve both on one port."""
    parser = argparse.ArgumentParser(description="A server that people log in to.")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--approve", action="store_true", help="let the user allow everything without a page")
    given = parser.parse_args()
    url = f"http://127.0.0.1:{given.port}"
    server, issuer = build(url, "anna" if given.approve else None)
    print(f"Serving at {url}/mcp until Ctrl+C. Log in: splice login {url}/mcp (as anna, 'correct horse')", flush=True)
    uvicorn.run(issuer.app(beside=server.http_app(path="/mcp")), port=given.port, log_level="warning")


if __name__ == "__main__":
    main()
