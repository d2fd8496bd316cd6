"""What providers refuse becomes a sentence, a kind and a time to wait; never a key."""

from email.utils import formatdate
from types import SimpleNamespace
from typing import Any

import pytest

from splice.host.models.base import ModelFailed
from splice.host.models.failures import Server, retry_after
from support.model_server import KEY
from support.tables import rows

SERVER = Server("https://api.example.com/v1", KEY)


def error(code: str = "", message: str = "") -> Any:
    return {"error": {"code": code, "message": message}}


@rows(
    ("status", "body", "kind", "words"),
    [
        (401, error(message=f"no {KEY} or sk-ab***********cd"), "login", "It says: no [key] or [key]"),
        (402, "", "limit", "refuses more requests"),
        (403, None, "refused", "does not allow"),
        (404, error(message="no model x"), "wrong request", "no model x"),
        (408, None, "connection", "failed"),
        (413, None, "too long", "too long"),
        (429, error("insufficient_quota", "no credit"), "limit", "no credit"),
        (500, error(message="prompt is too long"), "too long", "too long"),
        (529, {"type": "error", "error": {"type": "overloaded_error"}}, "overloaded", "Try again later"),
        (400, error("content_policy_violation"), "refused", ""),
        (400, {"error": "exceeds the available context size"}, "too long", ""),
        (400, {"detail": "odd\x1b[2J\n\nbody"}, "wrong request", "It says: odd\\x1b[2J body"),
        (400, {"error": {"message": ["not", "text"], "code": 7}}, "wrong request", "It says: ['not', 'text']"),
        (400, [1, 2], "wrong request", "does not accept the request."),
        (308, None, "wrong request", "set its base_url"),
        (None, error("rate_limit_error"), "limit", ""),
        (None, {"message": "gone"}, "overloaded", "gone"),
        (400, error(message="x" * 9_000), "wrong request", "..."),
    ],
)
def test_a_refusal_is_put_in_words(status: int | None, body: Any, kind: str, words: str) -> None:
    failed = SERVER.refused(status, body, {"retry-after": "5"})
    assert (failed.kind, words in failed.message) == (kind, True), failed.message
    assert failed.retry_after == (5 if kind in ("limit", "overloaded") else None)
    assert len(failed.message) < 500
    assert KEY not in failed.message


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("", None), ("soon", None), ("nan", None), ("-3", 0), ("2.5", 2.5), ("1e99", 86_400), ("inf", 86_400)],
)
def test_how_long_to_wait_is_read(text: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": text}) == seconds


def test_how_long_to_wait_may_be_a_date(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1_800_000_000
    monkeypatch.setattr("splice.host.models.failures.time", SimpleNamespace(time=lambda: now))
    assert retry_after({"retry-after": formatdate(now + 100, usegmt=True)}) == 100


@pytest.mark.parametrize(
    ("url", "key", "words"),
    [
        ("http://api.example.com", KEY, "no key is sent"),
        ("ftp://x", "", "not an HTTP URL"),
        ("http://[x", "", "not an HTTP URL"),
        ("https://api.example.com", "key\nwith more", "characters that no key has"),
        ("https://api.example.com", "k\u00e9y", "characters that no key has"),
    ],
)
def test_addresses_and_keys_are_checked(url: str, key: str, words: str) -> None:
    with pytest.raises(ModelFailed, match=words) as caught:
        Server(url, key)
    assert not key or key not in caught.value.message


def test_a_program_on_this_computer_is_called_so() -> None:
    local = Server("http://127.0.0.1:9/v1", KEY)
    assert local.where == "on this computer"
    assert local.failed("connection").message.startswith("The connection to the program on this computer failed")
