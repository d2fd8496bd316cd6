"""A browser, and a program, in front of an ASGI application: no network, and cookies as browsers keep them."""

import re
from collections.abc import Mapping
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec


class Reply:
    """What came back."""

    def __init__(self, status: int, headers: list[tuple[str, str]], body: bytes) -> None:
        self.status = status
        self.fields = headers
        self.headers = dict(headers)
        self.body = body

    @property
    def text(self) -> str:
        return self.body.decode()

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)

    @property
    def location(self) -> str:
        return self.headers["location"]

    @property
    def brought(self) -> dict[str, str]:
        """The parameters of where it leads."""
        return dict(parse_qsl(urlsplit(self.location).query))


async def request(
    app: Any, method: str, url: str, body: bytes = b"", headers: Mapping[str, str] | None = None
) -> Reply:
    """Send a request to an application that is its own host."""
    parts = urlsplit(url)
    fields = {"host": parts.netloc, **(headers or {})}
    scope = {
        "type": "http",
        "method": method,
        "scheme": parts.scheme,
        "path": parts.path,
        "raw_path": parts.path.encode(),
        "root_path": "",
        "query_string": parts.query.encode(),
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in fields.items()],
    }
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    found = [(name.decode(), value.decode("latin-1")) for name, value in sent[0]["headers"]]
    return Reply(sent[0]["status"], found, b"".join(each.get("body", b"") for each in sent[1:]))


async def post_form(app: Any, url: str, form: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Reply:
    """Send a form, as a program does."""
    kind = {"content-type": "application/x-www-form-urlencoded"}
    return await request(app, "POST", url, urlencode(form).encode(), {**kind, **(headers or {})})


class Browser:
    """Keeps cookies, and fills in forms. Redirects are followed by hand."""

    def __init__(self, app: Any) -> None:
        self.app = app
        self.cookies: dict[str, str] = {}

    async def get(self, url: str) -> Reply:
        return self._kept(await request(self.app, "GET", url, headers=self._headers()))

    async def post(self, url: str, form: Mapping[str, str]) -> Reply:
        return self._kept(await post_form(self.app, url, form, self._headers()))

    async def answer(self, url: str, page: Reply, answer: str) -> Reply:
        """Press a button of a page that was loaded from `url`."""
        token = re.search('name="token" value="([^"]*)"', page.text)
        assert token is not None, page.text
        return await self.post(url, {"token": unescape(token[1]), "answer": answer})

    def _headers(self) -> dict[str, str]:
        return {"cookie": "; ".join(f"{name}={value}" for name, value in self.cookies.items())} if self.cookies else {}

    def _kept(self, reply: Reply) -> Reply:
        for name, value in reply.fields:
            if name == "set-cookie":
                pair, *flags = value.split("; ")
                key, _, content = pair.partition("=")
                if "Max-Age=0" in flags:
                    self.cookies.pop(key, None)
                else:
                    self.cookies[key] = content
        return reply
