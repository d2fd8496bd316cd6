"""What cannot be seen, or would steer the terminal, drawn as a mark that names it: `<U+202E>`."""

from splice.host.text import parted

_NAMES = {"\x1b": "ESC", "\x00": "NUL", "\x07": "BEL", "\r": "CR", "\x7f": "DEL"}


def mark(character: str, *, ascii: bool = False) -> str:
    """Draw one character that cannot be seen."""
    name = _NAMES.get(character) or f"U+{ord(character):04X}"
    return f"<{name}>" if ascii else f"\u2039{name}\u203a"


def parts(text: str, *, ascii: bool = False) -> list[tuple[str, bool]]:
    """Part a text into what is shown as it is, and marks."""
    found: list[tuple[str, bool]] = []
    for part, is_hidden in parted(text):
        shown = "".join(mark(each, ascii=ascii) for each in part) if is_hidden else part.replace("\t", "    ")
        found.append((shown, is_hidden))
    return found


def plain(text: str) -> str:
    """Write a text with marks, in ASCII marks, its line ends kept."""
    return "".join(part for part, _ in parts(text, ascii=True))


def line(text: str) -> str:
    """Write a text with marks on one line."""
    return " ".join(plain(text).split())
