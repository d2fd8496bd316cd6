"""Names of secrets: one table for forms, for the log, and for what is configured."""

import pytest

from splice.host.secrecy import is_secret, is_secret_name, is_secret_setting

NAMES: list[tuple[str, bool, bool]] = [
    # name, a field or a member of it is secret, a setting of it is
    ("password", True, True),
    ("dbPassword", True, True),
    ("dbpassword", True, True),
    ("PASSWD", True, True),
    ("p4ssw0rd", False, False),
    ("passw0rd", True, True),
    ("p\u0430ssword", True, True),  # with a Cyrillic letter
    ("api_key", True, True),
    ("apiKey", True, True),
    ("APIKey", True, True),
    ("X-Api-Key", True, True),
    ("accesskey", True, True),
    ("token", True, True),
    ("authtoken", True, True),
    ("refresh_token", True, True),
    ("session id", True, True),
    ("Authorization", True, True),
    ("Set-Cookie", True, True),
    ("card_number", True, True),
    ("pin", True, True),
    ("cvv", True, True),
    ("X-Amz-Signature", True, True),
    ("sig", True, True),
    ("tokens", True, True),
    ("max_tokens", False, True),
    ("tokenizer", False, True),
    ("author", False, True),
    ("key", False, True),
    ("KEYWORDS", False, True),
    ("SENTRY_DSN", False, True),
    ("input:db", False, True),
    ("GITHUB_PAT", False, True),
    ("PATH", False, False),
    ("path", False, False),
    ("passenger", False, True),
    ("spinner", False, False),
    ("destination", False, False),
    ("discard", False, False),
    ("", False, False),
]


@pytest.mark.parametrize(("name", "is_named", "is_set"), NAMES)
def test_the_name_of_a_secret(name: str, is_named: bool, is_set: bool) -> None:
    assert (is_secret_name(name), is_secret_setting(name)) == (is_named, is_set)
    assert is_secret(name) is is_secret("x", name) is is_named


def test_a_description_has_to_say_it() -> None:
    assert is_secret("code", description="The one-time code from your phone")
    assert is_secret("x", description="Your credit card")
    assert not is_secret("place", description="Where you pin the card of the author")
    assert not is_secret_name("x" * 10_000_000)
