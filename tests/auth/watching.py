"""Notes each secret that passes between programs, and all that is told to people; then neither holds the other.

A secret is whatever travels in a field of a secret's name, whoever made it: nothing has to be planted for it.
"""

import contextlib
import logging
import traceback
from typing import Any
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import msgspec
import pytest

SECRETS = {
    *("access_token", "refresh_token", "id_token", "token", "subject_token", "assertion", "client_assertion"),
    *("code", "code_verifier", "device_code", "client_secret", "password", "state", "nonce"),
}
IN_URLS = {"state", "nonce", "code"}
"""What OAuth has in the URLs of pages: `code` on the way back from there only."""


class Watch:
    """What passed, and what was told."""

    def __init__(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        for name, logger in logging.root.manager.loggerDict.items():
            if isinstance(logger, logging.Logger):
                caplog.set_level(logging.DEBUG, name)
        self._caplog = caplog
        self.secrets: dict[str, set[str]] = {}
        self.urls: list[str] = []
        self.told: list[str] = []

    def plant(self, **secrets: str) -> None:
        """Note secrets by their kind."""
        for name, value in secrets.items():
            self.secrets.setdefault(name, set()).add(value)

    def show(self, *objects: Any) -> None:
        """Tell what a person sees of objects."""
        self.told += [text for each in objects for text in (repr(each), str(each), f"{each}")]

    def fail(self, error: BaseException) -> None:
        """Tell an error, as a program does that ends with it."""
        each: BaseException | None = error
        while each is not None:
            self.show(each, *each.args, getattr(each, "data", None))
            self.told += traceback.format_exception(each)
            each = each.__cause__ or each.__context__

    def passed(self, url: str, headers: dict[str, str], body: bytes) -> None:
        """Note the secrets of a request or of its answer."""
        for text in (url, headers.get("location", "")):
            self.urls += [text] if text else []
            self._fields(dict(parse_qsl(urlsplit(text).query)))
        for name in ("authorization", "x-api-key", "cookie", "set-cookie", "dpop"):
            for value in headers.get(name, "").split(";")[:1]:
                self._secret(name, value.strip().rpartition("=" if "cookie" in name else " ")[2])
        if headers.get("content-type", "").startswith("application/x-www-form-urlencoded"):
            self._fields(dict(parse_qsl(body.decode())))
        elif headers.get("content-type", "").startswith("application/json"):
            with contextlib.suppress(msgspec.MsgspecError):  # a body that nobody read, or a list
                self._fields(msgspec.json.decode(body, type=dict[str, Any]))

    def _fields(self, fields: dict[str, Any]) -> None:
        for name in SECRETS & fields.keys():
            self._secret(name, fields[name])

    def _secret(self, name: str, value: Any) -> None:
        if isinstance(value, str) and value:
            assert len(value) >= 8, f"{name} is too short to be looked for: {value}"
            self.plant(**{name: value})

    def tap(self, app: Any) -> Any:
        """Wrap an ASGI application: requests and answers are noted on their way."""

        async def tapped(scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] != "http":
                await app(scope, receive, send)
                return
            query, asked, answered = scope["query_string"].decode(), list[bytes](), list[bytes]()
            started: dict[str, Any] = {}

            async def listen() -> Any:
                event = await receive()
                asked.append(event.get("body", b""))
                return event

            async def answer(event: Any) -> None:
                if event["type"] == "http.response.start":
                    started.update(event)
                answered.append(event.get("body", b""))
                await send(event)

            await app(scope, listen, answer)
            self.passed(f"{scope['path']}?{query}", _named(scope["headers"]), b"".join(asked))
            self.passed("", _named(started.get("headers", ())), b"".join(answered))

        return tapped

    def check(self, *kinds: str) -> None:
        """Fail if a secret was told, or one of `kinds` was not there at all."""
        assert set(kinds) <= self.secrets.keys(), f"never seen: {set(kinds) - self.secrets.keys()}"
        every = {(name, value) for name, values in self.secrets.items() for value in values}
        told = [unquote_plus(text) for text in (*self.told, *map(_everything, self._caplog.records))]
        assert not [(name, text[:500]) for name, value in every for text in told if value in text]
        for url in self.urls:
            for name, given in parse_qsl(urlsplit(url).query):
                assert name in IN_URLS or not [each for each, value in every if value in given], url
            assert not [name for name, value in every if value in unquote_plus(urlsplit(url).path)], url


def _named(fields: Any) -> dict[str, str]:
    return {name.decode().lower(): value.decode("latin-1") for name, value in fields}


def _everything(record: logging.LogRecord) -> str:
    """Give what any formatter could write of a record."""
    return logging.Formatter("%(message)s").format(record) + repr(vars(record))
