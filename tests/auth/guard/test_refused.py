"""Tests of `splice.auth.guard.refused`: what the log of a server says of tokens that are refused."""

import logging

import pytest

from splice.auth.guard import refused
from splice.auth.guard.refused import TOLD, Refusals
from splice.auth.signed import Refused


def test_a_reason_shows_what_a_token_says_escaped_and_cut() -> None:
    assert str(Refused("it is for %.10a, not for %s", "\x1b[2J" * 50, "us")) == "it is for '\\x1b[2J\\x, not for us"
    assert str(Refused("it is of %.9a", {"a": 1})) == "it is of {'a': 1}"


def test_each_reason_is_told_some_times_a_minute(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    now, refusals = [1000.0], Refusals()
    monkeypatch.setattr(refused, "monotonic", lambda: now[0])
    for number in range(1000):
        refusals.tell(Refused("it is for %a", number))
    assert [record.getMessage() for record in caplog.records] == [
        "refused a token: it is for 0",
        "refused a token: it is for 1",
        "refused a token: it is for 2; more of these within a minute are logged as INFO",
    ]
    assert len(refusals._told) == 1
    refusals.tell(Refused("it has expired"))
    assert len(caplog.records) == TOLD + 1
    now[0] += 60
    refusals.tell(Refused("it is for %a", 5))
    assert len(caplog.records) == TOLD + 2
    caplog.set_level("INFO", "splice.auth")
    for _ in range(TOLD):
        refusals.tell(Refused("it is for %a", 6))
    assert caplog.records[-1].levelno == logging.INFO
