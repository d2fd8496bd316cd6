"""Letters that look like Latin ones: what a text seems to say to a reader.

https://www.unicode.org/reports/tr39/
"""

import unicodedata

_LATIN = {
    0x0131: "i", 0x0261: "g", 0x03B1: "a", 0x03B9: "i", 0x03BA: "k", 0x03BD: "v", 0x03BF: "o", 0x03C1: "p",
    0x03C4: "t", 0x03C5: "u", 0x0430: "a", 0x0435: "e", 0x043A: "k", 0x043E: "o", 0x0440: "p", 0x0441: "c",
    0x0443: "y", 0x0445: "x", 0x0455: "s", 0x0456: "i", 0x0458: "j", 0x04BB: "h", 0x04CF: "l", 0x0501: "d",
    0x051B: "q", 0x051D: "w",
}  # fmt: skip
"""The letters of other scripts that a reader takes for Latin ones; not all there are."""


def seeming(text: str) -> str:
    """Write a text in the small Latin letters that it seems to have, without marks and what cannot be seen."""
    apart = unicodedata.normalize("NFKD", text).casefold().translate(_LATIN)
    return "".join(each for each in apart if unicodedata.category(each) not in ("Mn", "Cf"))
