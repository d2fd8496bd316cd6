"""Names that tell of secrets: of fields in forms, of members in what is logged, of variables, headers and URLs.

One list for all of them. A form must not ask for a secret, so a person is warned of a field that seems to; the log
keeps none; and what a configuration calls so is shown to nobody. There is more caution for the names of settings: what
is hidden without need is not missed there.
"""

import re
from functools import lru_cache

from splice.host.lookalikes import seeming

_ANYWHERE = re.compile(
    r"\b(password|passwd|passphrase|passcode|pwd|secrets?|credentials?|cvv|cvc|t?otp|ssn|iban|"
    r"(api|access|private|secret) key|credit card|card (number|no)|(security|verification) code|"
    r"(security|account) number|(recovery|seed) phrase|one time|session id|(access|refresh|auth) tokens?)\b"
)
"""Words that give a secret away wherever they stand, in a description too."""

_IN_NAMES = re.compile(
    r"\b(token|pin|card|apikey|bearer|mfa|seed|mnemonic|authorization|auth|cookies?|signature|sig)\b|^tokens$"
)
"""Words that do so in a name or a title; a description may well speak of a card."""

_WITHIN = re.compile(
    r"passw(or)?d|passphrase|passcode|secret|credential|(api|access|private)key|(access|refresh|auth|session)token"
)
"""What does so in a name without spaces, such as `dbpassword`."""

_IN_SETTINGS = re.compile(
    r"key|token|secret|pass|auth|credential|cookie|^input:|dsn|(?<![a-z])pat(?![a-z])", re.IGNORECASE
)
"""What does so anywhere in the name of a variable, a header, or a part of a URL."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_DIGITS = str.maketrans("013@$", "oieas")
"""Digits and signs that stand for letters in a word that is meant to be read, but not found."""

MAX_NAME = 200
"""How much of a name is looked at: what is longer is no name."""


def is_secret(name: str, title: str = "", description: str = "") -> bool:
    """Tell whether a field seems to ask for a secret."""
    return is_secret_name(name) or is_secret_name(title) or bool(_ANYWHERE.search(_words(description)))


def is_secret_name(name: str) -> bool:
    """Tell whether what has this name seems to be a secret."""
    return _is_secret_name(name[:MAX_NAME])


def is_secret_setting(name: str) -> bool:
    """Tell whether a variable, a header or a part of a URL with this name is not for everybody."""
    return _IN_SETTINGS.search(name) is not None or is_secret_name(name)


@lru_cache(maxsize=4_096)  # the log asks for the same few names again and again
def _is_secret_name(name: str) -> bool:
    words = _words(name)
    return any((_ANYWHERE.search(words), _IN_NAMES.search(words), _WITHIN.search(words.replace(" ", ""))))


def _words(text: str) -> str:
    """Write a text as words in small letters with single spaces between them."""
    seen = "".join(each if each.isupper() else seeming(each) for each in text)
    return " ".join(_WORD.findall(seen.translate(_DIGITS))).lower()
