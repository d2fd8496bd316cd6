"""Keys that the user changed: `keys.toml` beside the settings, read when the app starts.

    [app]
    palette = "ctrl+k"
    [servers]
    restart = "t"

A line that does not fit is said, and the key stays what it was.
"""

import re
import tomllib
from pathlib import Path
from typing import Any, NamedTuple, cast

from splice.host.terminal.keys import DECIDES, NEVER, PLACES, all_keys, name
from splice.host.text import one_line

MAX_BYTES = 64 * 1024

_KEY = re.compile(r"(?:ctrl\+[a-z]|f\d{1,2}|[A-Za-z]|[a-z_]{2,24})")
_REFLEXES = {"enter", "space", "escape", "tab"}
"""Keys that decide nothing."""


class Read(NamedTuple):
    """What stands in the file."""

    keys: dict[str, str]
    """By the names of the keys."""
    problems: list[str]


def read(path: Path) -> Read:
    """Read the file; without one nothing is changed."""
    if path.exists() and not path.is_file():
        return Read({}, [f"{path.name} is no file"])
    try:
        with path.open("rb") as file:
            text = file.read(MAX_BYTES + 1)
        found = tomllib.loads(text.decode()) if len(text) <= MAX_BYTES else None
    except FileNotFoundError:
        return Read({}, [])
    except (OSError, ValueError, RecursionError) as error:
        return Read({}, [f"{path.name} cannot be read: {one_line(str(error))[:200]}"])
    if found is None:
        return Read({}, [f"{path.name} is too long"])
    wanted = {f"{place}.{action}": key for place, keys in found.items() for action, key in _items(keys)}
    strays = [place for place, keys in found.items() if not isinstance(keys, dict)]
    problems = [f"{path.name}: {one_line(place)[:80]} is no table of keys" for place in strays]
    changed: dict[str, str] = {}
    for named, key in wanted.items():
        if problem := _problem(named, key, changed):
            problems.append(f"{path.name}: {one_line(named)[:80]}: {problem}")
        else:
            changed[named] = str(key)
    return Read(changed, problems)


def _items(keys: Any) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", keys).items()) if isinstance(keys, dict) else []


def _problem(named: str, key: Any, changed: dict[str, str]) -> str:
    """Say why a key cannot be another one; empty: it can."""
    place = {each: place for each, place, _ in all_keys()}.get(named, "")
    if not place or not isinstance(key, str) or not _KEY.fullmatch(key):
        return "write one key: x, X, ctrl+x, f5, slash" if place else "there is no key of this name"
    if key in NEVER:
        return f"{key} is left to the terminal and to editing"
    if place in DECIDES and key in _REFLEXES:
        return f"{key} decides nothing, so that nothing is decided by reflex"
    if place == "app" and not re.fullmatch(r"ctrl\+.|f\d+", key):
        return "in the app only ctrl+LETTER and F keys leave text to be typed"
    others = {name(place, each): each.keys for each in PLACES[place]}
    taken = [each for each in others if each != named and key in changed.get(each, others[each]).split(",")]
    return f"{key} is {taken[0]} already" if taken else ""
