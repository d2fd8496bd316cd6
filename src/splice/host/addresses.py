"""What a person should know of a URL before visiting it: where it leads, and what about it may deceive.

https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#safe-url-handling
"""

import ipaddress
import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from urllib.parse import SplitResult, urlsplit

from splice.host.lookalikes import seeming

MAX_LETTERS = 5
"""How many foreign letters of a host are named in a sentence."""

_LOCAL = ("localhost", "127.0.0.1", "::1")

_ODD = re.compile(r"[\\\x00-\x20\x7f]")
"""Characters that programs read in different ways, so that the host is not the same for all of them."""

_NUMERIC = re.compile(r"(0x[0-9a-f]*|\d+)(\.(0x[0-9a-f]*|\d+)){0,3}", re.IGNORECASE)
"""Numbers that a browser takes for an IP address, such as `2130706433` and `0x7f.1`."""

_TOGETHER = (
    {"LATIN", "CJK", "HIRAGANA", "KATAKANA"},
    {"LATIN", "CJK", "BOPOMOFO"},
    {"LATIN", "CJK", "HANGUL"},
)
"""Scripts that one word may well have together."""

_IMITATES = "This host imitates another one."
_HIDDEN = "This address hides where it leads."
_LETTERS = "This host may not be what it looks like."
_UNREAD = "It is not certain where this address leads."
_NUMBER = "This host has no name."
_OPEN = "This page is not encrypted."
_HEADLINES = (_IMITATES, _HIDDEN, _LETTERS, _UNREAD, _NUMBER, _OPEN)
"""What may be wrong with an address, the worst first."""

_ALIKE = str.maketrans({"0": "o", "1": "l", "i": "l", "|": "l", "5": "s", "-": None, "_": None})


def host_of(url: str) -> str:
    """Tell which host a URL leads to; empty if it cannot be read."""
    parts = _parts(url)
    return (parts.hostname or "") if parts is not None else ""


def warnings_about(url: str, known: Iterable[str] = ()) -> Iterator[str]:
    """Say what may deceive about a URL; `known` are hosts that the user knows, and others may imitate."""
    for _, proof in _findings(url, known):
        yield proof


def loudest(url: str, known: Iterable[str] = ()) -> str:
    """Say the worst of what may deceive about a URL, as one short sentence; empty: nothing does."""
    found = {headline for headline, _ in _findings(url, known)}
    return next((each for each in _HEADLINES if each in found), "")


def _findings(url: str, known: Iterable[str]) -> Iterator[tuple[str, str]]:
    """List what may deceive about a URL: each as a headline, and what proves it."""
    host, parts = host_of(url), _parts(url)
    if not host or parts is None:
        yield _UNREAD, "no host can be read out of this address"
        return
    shown = _shown(host) if _is_punycode(host) else host
    if not host.isascii():
        yield _LETTERS, f"the host has letters that may look like others; it is really {_ascii(host)}"
    if _is_punycode(host):
        told = f"the host is written in Punycode, and would be shown as {shown}; its letters may look like others"
        yield _LETTERS, told
    for told in _about_letters(shown):
        yield _LETTERS, told
    if "@" in parts.netloc:
        yield _HIDDEN, f"what stands before the @ is not the host; this address leads to {host}"
    if parts.scheme != "https" and host not in _LOCAL:
        yield _OPEN, f"it is not https ({parts.scheme}), so others may read what you enter there"
    if host not in _LOCAL and _is_number(host):
        yield _NUMBER, "the host is a number and not a name, so nobody can tell whose it is"
    if _ODD.search(url) or "%" in parts.netloc:
        yield _UNREAD, "it has characters that browsers read in different ways, so it may lead elsewhere"
    for told in _about_known(shown, known):
        yield _IMITATES, told


def marked(text: str) -> list[tuple[str, str]]:
    """Split a text into runs of ASCII, and single letters of other kinds, each with its code point: `U+0430`."""
    runs = re.findall(r"[\x20-\x7e]+|[^\x20-\x7e]", text)
    return [(run, "" if run.isascii() and run.isprintable() else f"U+{ord(run):04X}") for run in runs]


def may_open(url: str) -> bool:
    """Tell whether a browser may be sent to a URL: it starts programs for some schemes, and shows files for others."""
    parts = _parts(url)
    return parts is not None and parts.scheme in ("http", "https") and bool(parts.hostname) and not _ODD.search(url)


def _parts(url: str) -> SplitResult | None:
    try:
        return urlsplit(url)
    except ValueError:
        return None


def _about_letters(host: str) -> Iterator[str]:
    """Name the foreign letters, and the words that mix scripts."""
    foreign = list(dict.fromkeys(each for each in host if not each.isascii()))
    if foreign:
        named = [f"{_name(each)} (U+{ord(each):04X})" for each in foreign[:MAX_LETTERS]]
        yield f"its foreign letters are {', '.join(named)}{' and more' if len(foreign) > MAX_LETTERS else ''}"
    for label in host.split("."):
        scripts = {_name(each).split(" ")[0].split("-")[0] for each in label if each.isalpha()}
        if len(scripts) > 1 and not any(scripts <= allowed for allowed in _TOGETHER):
            yield f"the word {label} mixes letters of {' and '.join(sorted(each.capitalize() for each in scripts))}"


def _about_known(host: str, known: Iterable[str]) -> Iterator[str]:
    for other in dict.fromkeys(known):
        if not other or other == host or host.endswith(f".{other}") or other.endswith(f".{host}"):
            continue
        if _skeleton(other) == _skeleton(host):
            yield f"it imitates {other}, and is another host"
        elif f".{other}." in f".{host}." or host.startswith(f"{other.replace('.', '-')}-"):
            yield f"it names {other}, but leads to {host}"


def _skeleton(host: str) -> str:
    """Write a host as a hasty reader sees it."""
    return seeming(host).replace("rn", "m").replace("vv", "w").replace("cl", "d").translate(_ALIKE)


def _is_number(host: str) -> bool:
    with suppress(ValueError):
        ipaddress.ip_address(host.partition("%")[0])
        return True
    return _NUMERIC.fullmatch(host.rstrip(".")) is not None


def _is_punycode(host: str) -> bool:
    return any(label.startswith("xn--") for label in host.split("."))


def _name(letter: str) -> str:
    return unicodedata.name(letter, "A LETTER WITHOUT A NAME")


def _ascii(host: str) -> str:
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        return "not a name that exists"


def _shown(host: str) -> str:
    try:
        return host.encode().decode("idna")
    except UnicodeError:
        return "nothing readable"
