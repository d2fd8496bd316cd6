"""A FastMCP server that takes the tokens of somebody else's authorization server.

python fastmcp_guarded.py PORT ISSUER
"""

import sys

from fastmcp import FastMCP
from fastmcp.server.auth import RemoteAuthProvider
from fastmcp.server.auth.providers.jwt import JWTVerifier
from fastmcp.server.dependencies import get_access_token

port, issuer = int(sys.argv[1]), sys.argv[2]
base = f"http://127.0.0.1:{port}"
verifier = JWTVerifier(jwks_uri=f"{issuer}/jwks.json", issuer=issuer, audience=f"{base}/mcp", algorithm="ES256")
server = FastMCP("guarded", auth=RemoteAuthProvider(verifier, [issuer], base_url=base))


@server.tool
def whoami() -> str:
    """Tell whose token came."""
    token = get_access_token()
    return "" if token is None else str(token.claims.get("sub"))


server.run("http", host="127.0.0.1", port=port, show_banner=False)
