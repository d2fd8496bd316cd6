"""Names that look as if a secret was asked for: forms must not ask for one, and a person is warned of those that do.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#security-considerations
"""

import re

from splice.host.asking.lookalikes import seeming

_ALWAYS = re.compile(
    r"\b(password|passwd|passphrase|passcode|pwd|secrets?|credentials?|cvv|cvc|t?otp|ssn|iban|"
    r"(api|access|private|secret) key|credit card|card number|(security|verification) code|"
    r"(security|account) number|(recovery|seed) phrase|one time)\b"
)
"""Words that give a secret away wherever they stand."""

_IN_NAMES = re.compile(r"\b(tokens?|pin|card|apikey|bearer|mfa|seed|mnemonic)\b")
"""Words that do so in a name or a title; a description may well speak of a card."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

_DIGITS = str.maketrans("013@$", "oieas")
"""Digits and signs that stand for letters in a word that is meant to be read, but not found."""


def is_secret(name: str, title: str = "", description: str = "") -> bool:
    """Tell whether a field seems to ask for a secret."""
    named, told = _words(f"{name} {title}"), _words(description)
    return bool(_ALWAYS.search(named) or _IN_NAMES.search(named) or _ALWAYS.search(told))


def _words(text: str) -> str:
    """Write a text as words in small letters with single spaces between them."""
    seen = "".join(each if each.isupper() else seeming(each) for each in text)
    return " ".join(_WORD.findall(seen.translate(_DIGITS))).lower()
