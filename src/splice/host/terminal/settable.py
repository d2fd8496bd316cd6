"""The settings that a person changes by a line of text, with what each does; and what a line says as a value."""

from splice.host.asked import Json
from splice.host.board import Board
from splice.host.items import Settings
from splice.host.settings import SETTINGS
from splice.host.terminal import words

TITLES = {
    "max_calls": "Calls in a turn",
    "max_repeats": "Equal calls in a turn",
    "max_turn_tokens": "Tokens in a turn",
    "max_tokens": "Tokens of an answer",
    "call_seconds": "Seconds for a call",
    "result_tokens": "Tokens of a result",
    "asks_after_outside": "Ask after outside text",
    "holds_new_tools": "Hold new tools back",
    "reviews_results": "Review outside results",
    "keeps_bodies": "Log keeps long texts",
    "instructions": "Told to every model",
    "theme": "Theme",
    "glyphs": "Signs",
    "reduced_motion": "Nothing moves",
}
"""Models and folders have commands of their own."""

_FLAGS = {"true": True, "yes": True, "on": True, "false": False, "no": False, "off": False}


def now(board: Board, name: str) -> Json:
    """Tell what a setting is."""
    known = board.get("settings:now", Settings)
    values = known.values if known is not None else {}
    return values.get(name, SETTINGS[name].default)


def shown(board: Board, name: str) -> str:
    """Tell what a setting is, for people."""
    value = now(board, name)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else words.short(value)


def must(name: str) -> str:
    """Tell what a setting must be."""
    return SETTINGS[name].must


def value_of(name: str, text: str) -> Json:
    """Read a line as the value of a setting; empty: its default. What does not fit, the host refuses."""
    text = text.strip()
    default = SETTINGS[name].default
    if not text:
        return None
    if isinstance(default, bool):
        return _FLAGS.get(text.casefold(), text)
    if isinstance(default, int):
        digits = text.replace(",", "").replace("_", "")
        return int(digits) if digits.isdecimal() and len(digits) < 16 else text
    return text
