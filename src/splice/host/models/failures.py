"""A provider's refusal as a `ModelFailed`: what happened, where, and what to do, without keys.

Providers differ in what they write, so the status decides, then the code, and words only tell what is too long.
"""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from splice.host.addresses import host_of
from splice.host.models.base import FailureKind, ModelFailed
from splice.host.text import one_line
from splice.schema.schemas import cut, is_object

MAX_WORDS = 300
"""How much of a provider's own words is shown."""

MAX_WAIT_SECONDS = 86_400.0

_LOCAL = ("localhost", "127.0.0.1", "::1")

_TOO_LONG = re.compile(
    r"context[ _]length|context[ _]window|context[ _]size|maximum context|prompt is too long|too many tokens"
    r"|too many input tokens|string_above_max_length",
    re.IGNORECASE,
)
_KEYS = re.compile(r"\b(sk|pk|key|gsk|xai|api)[-_][\w*.-]{6,}|\bBearer\s+\S+", re.IGNORECASE)

_BY_STATUS: dict[int, FailureKind] = {
    401: "login", 402: "limit", 403: "refused", 404: "wrong request", 408: "connection", 409: "overloaded",
    413: "too long", 429: "limit", 504: "overloaded",
}  # fmt: skip

_BY_CODE: dict[str, FailureKind] = {
    "insufficient_quota": "limit", "rate_limit_exceeded": "limit", "rate_limit_error": "limit",
    "billing_error": "limit", "overloaded_error": "overloaded", "api_error": "overloaded",
    "server_error": "overloaded", "timeout_error": "overloaded", "authentication_error": "login",
    "invalid_api_key": "login", "permission_error": "refused", "request_too_large": "too long",
    "context_length_exceeded": "too long", "content_policy_violation": "refused", "content_filter": "refused",
}  # fmt: skip

_SENTENCES: dict[FailureKind, str] = {
    "login": "{where} does not accept the key. Check the key of this model.",
    "limit": "{where} refuses more requests for now. Wait, or choose another model.",
    "overloaded": "{where} cannot answer now. Try again later.",
    "connection": "The connection to {where} failed. Check the address and the network.",
    "refused": "{where} does not allow this request.",
    "too long": "The conversation is too long for this model. Begin a new one, or choose a model with a larger window.",
    "wrong request": "{where} does not accept the request.",
    "wrong answer": "{where} answered with what this program does not understand.",
}


class Server:
    """Who is asked: the address, and the key that no message may have in it."""

    def __init__(self, base_url: str, key: str) -> None:
        self.where = where_of(base_url)
        self._key = key
        if not (key.isascii() and key.isprintable()) or " " in key:
            raise ModelFailed("login", f"The key for {self.where} has characters that no key has. Copy it again.")
        if key and self.where != ON_THIS_COMPUTER and urlsplit(base_url).scheme != "https":
            raise ModelFailed("wrong request", f"{self.where} is not reached by https, so no key is sent to it.")

    def failed(self, kind: FailureKind, words: str = "", wait: float | None = None) -> ModelFailed:
        """Make the failure of a kind, with the provider's own words, if it said any."""
        name = self.where if self.where != ON_THIS_COMPUTER else "the program on this computer"
        if self._key:
            words = words.replace(self._key, "[key]")
        shown = cut(one_line(_KEYS.sub("[key]", words[: 4 * MAX_WORDS])), MAX_WORDS)
        said = f" It says: {shown}" if shown else ""
        told = _SENTENCES[kind].format(where=name)
        told = told[0].upper() + told[1:] if name != self.where else told  # a host's name stays as it is
        return ModelFailed(kind, told + said, wait)

    def refused(self, status: int | None, body: object, headers: Mapping[str, str]) -> ModelFailed:
        """Make a failure of a response, or of an error in mid-stream, which has no status."""
        code, words = _told(body)
        kind = _kind(status, code, words)
        if status is not None and 300 <= status < 400:
            words = f"the address leads elsewhere (status {status}); set its base_url"
        return self.failed(kind, words, retry_after(headers) if kind in ("limit", "overloaded") else None)


ON_THIS_COMPUTER = "on this computer"


def where_of(base_url: str) -> str:
    """Say where a URL leads, for people. Raises `ModelFailed` for one that is not an HTTP URL."""
    host = host_of(base_url)
    if not host or urlsplit(base_url).scheme not in ("http", "https"):
        raise ModelFailed("wrong request", "base_url is not an HTTP URL; it must begin with http:// or https://.")
    return ON_THIS_COMPUTER if host in _LOCAL else one_line(host)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Read for how many seconds to wait; None if it is not said, or makes no sense."""
    text = headers.get("retry-after", "").strip()
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except ValueError:
            return None
    return None if math.isnan(seconds) else min(max(seconds, 0.0), MAX_WAIT_SECONDS)


def _told(body: Any) -> tuple[str, str]:
    """Find the code and the words in the body of an error; programs nest them differently."""
    inner: Any = body.get("error", body) if is_object(body) else body
    if not is_object(inner):
        return "", inner if isinstance(inner, str) else ""
    words = inner.get("message") or inner.get("detail") or ""
    code = inner.get("code") if isinstance(inner.get("code"), str) else inner.get("type")
    return str(code or ""), str(words)


def _kind(status: int | None, code: str, words: str) -> FailureKind:
    is_vague = status is None or status in (400, 413, 422, 500)
    if is_vague and (code == "context_length_exceeded" or _TOO_LONG.search(words[:2000])):
        return "too long"
    if status is None or (status == 400 and code in _BY_CODE):
        return _BY_CODE.get(code, "overloaded" if status is None else "wrong request")
    return _BY_STATUS.get(status, "overloaded" if status >= 500 else "wrong request")
