"""The official Python client logs in to a guarded server; prints one JSON line.

python python_login.py URL
"""

import asyncio
import json
import sys
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientMetadata
from pydantic import AnyUrl

CALLBACK = "http://127.0.0.1:3030/callback"


class Kept:
    """Keeps tokens in memory."""

    def __init__(self) -> None:
        self.tokens: Any = None
        self.client: Any = None

    async def get_tokens(self) -> Any:
        return self.tokens

    async def set_tokens(self, tokens: Any) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> Any:
        return self.client

    async def set_client_info(self, client_info: Any) -> None:
        self.client = client_info


class Browser:
    """Follows redirects until one comes back to us."""

    def __init__(self) -> None:
        self.came_back: dict[str, list[str]] = {}

    async def open(self, url: str) -> None:
        async with httpx2.AsyncClient() as client:
            for _ in range(10):
                url = str((await client.get(url)).headers["location"])
                if url.startswith(CALLBACK):
                    self.came_back = parse_qs(urlsplit(url).query)
                    return

    async def result(self) -> AuthorizationCodeResult:
        found = {name: values[0] for name, values in self.came_back.items()}
        return AuthorizationCodeResult(code=found["code"], state=found.get("state"), iss=found.get("iss"))


async def main() -> None:
    url, kept, browser = sys.argv[1], Kept(), Browser()
    metadata = OAuthClientMetadata(client_name="official client", redirect_uris=[AnyUrl(CALLBACK)])
    auth = OAuthClientProvider(url, metadata, kept, browser.open, browser.result)
    async with (
        asyncio.timeout(30),
        httpx2.AsyncClient(auth=auth) as http,
        Client(streamable_http_client(url, http_client=http)) as client,
    ):
        tools = [tool.name for tool in (await client.list_tools()).tools]
        who = (await client.call_tool("whoami", {})).content[0].text
    sys.stdout.write(json.dumps({"tools": tools, "who": who, "refresh": bool(kept.tokens.refresh_token)}))


asyncio.run(main())
