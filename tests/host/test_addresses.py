"""What may deceive about a URL is said before anybody visits it."""

import pytest

from splice.host.addresses import host_of, loudest, marked, may_open, warnings_about
from support.tables import rows

KNOWN = ["paypal.com", "accounts.google.com", "mail.example"]


@rows(
    ("url", "said"),
    [
        ("https://mail.example/oauth/start?x=1", []),
        ("https://login.mail.example/", []),
        ("http://localhost:8080/cb", []),
        ("http://[::1]:80/", []),
        ("https://\u4f8b\u3048\u30c6\u30b9\u30c8a.example/", ["letters that may look like others", "foreign letters"]),
        ("http://mail.example/", ["not https (http)"]),
        ("ftp://mail.example/", ["not https (ftp)"]),
        ("nonsense", ["no host"]),
        ("https://[bad/", ["no host"]),
        ("https:///path", ["no host"]),
        ("https://mail.example@evil.example/", ["before the @ is not the host; this address leads to evil.example"]),
        ("https://user:pw@mail.example/", ["before the @"]),
        ("https://192.0.2.7/", ["a number and not a name"]),
        ("https://[2001:db8::1]/", ["a number and not a name"]),
        ("https://2130706433/", ["a number and not a name"]),
        ("https://0x7f.1/", ["a number and not a name"]),
        ("https://evil.example\\@mail.example/", ["before the @", "in different ways"]),
        ("https://ev\til.example/", ["in different ways"]),
        ("https://%65vil.example/", ["in different ways"]),
        ("https://paypa1.com/", ["imitates paypal.com"]),
        ("https://paypaI.com/", ["imitates paypal.com"]),
        ("https://pay-pal.com/", ["imitates paypal.com"]),
        ("https://paypal.com.evil.example/", ["names paypal.com, but leads to paypal.com.evil.example"]),
        ("https://paypal-com-login.example/", ["names paypal.com"]),
        (
            "https://p\u0430ypal.com/",
            ["really xn--pypal-4ve.com", "CYRILLIC SMALL LETTER A (U+0430)", "mixes letters of Cyrillic and Latin",
             "imitates paypal.com"],
        ),
        (
            "https://xn--pypal-4ve.com/",
            ["Punycode, and would be shown as p\u0430ypal.com", "U+0430", "mixes letters", "imitates paypal.com"],
        ),
        ("https://xn--a.example/", ["Punycode"]),
        ("https://" + "\u0430\u0431\u0432\u0433\u0434\u0435\u0436.example/", ["may look like", "and more"]),
    ],
)  # fmt: skip
def test_what_may_deceive_is_said(url: str, said: list[str]) -> None:
    warnings = list(warnings_about(url, KNOWN))
    assert len(warnings) == len(said)
    for warning, part in zip(warnings, said, strict=True):
        assert part in warning


def test_foreign_letters_are_shown_with_their_code_point() -> None:
    assert marked("gm\u0430il.example") == [("gm", ""), ("\u0430", "U+0430"), ("il.example", "")]
    assert marked("a\x1b") == [("a", ""), ("\x1b", "U+001B")]


@pytest.mark.parametrize(
    ("url", "may"),
    [
        ("https://a.example/", True), ("http://localhost:1/", True), ("file:///etc/passwd", False),
        ("javascript:alert(1)", False), ("https://", False), ("-version", False), ("https://a.example/ --x", False),
        ("https://[x", False),
    ],
)  # fmt: skip
def test_only_web_pages_are_opened(url: str, may: bool) -> None:
    assert may_open(url) is may


def test_no_host_can_be_read_out_of_nonsense() -> None:
    assert host_of("https://[") == ""


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("https://mail.example/", ""),
        ("http://mail.example/", "This page is not encrypted."),
        ("http://192.0.2.7/", "This host has no name."),
        ("https://p\u0430ypal.com/", "This host imitates another one."),
        ("https://\u0430bc.example/", "This host may not be what it looks like."),
        ("http://mail.example@192.0.2.7/", "This address hides where it leads."),
        ("nonsense", "It is not certain where this address leads."),
    ],
)
def test_the_worst_is_said_first(url: str, said: str) -> None:
    assert loudest(url, KNOWN) == said
