"""What the user set: a file of JSON, ``settings.json``, which any editor may change too.

A value that does not fit is said and its default holds. A key that the host does not know is kept: another version may.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, cast

import msgspec

from splice.host.asked import Json
from splice.schema.schemas import is_array

MAX_LISTED = 200
"""How long a list among the settings may be."""


class Setting(NamedTuple):
    """One thing that can be set."""

    default: Json
    fits: Callable[[Any], bool]
    must: str
    """What it must be, for the sentence that says that it is not."""


class SettingWrong(ValueError):
    """A setting is unknown, or its value does not fit. The message is for the user."""


def _whole(least: int, most: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool)


def _is_list_of(kind: type) -> Callable[[Any], bool]:
    def fits(value: Any) -> bool:
        return is_array(value) and len(value) <= MAX_LISTED and all(isinstance(each, kind) for each in value)

    return fits


def _is_theme(value: Any) -> bool:
    return value in ("auto", "light", "dark")


def _is_glyphs(value: Any) -> bool:
    return value in ("auto", "ascii")


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 20_000


SETTINGS: dict[str, Setting] = {
    "model": Setting("", _is_text, "the id of a model"),
    "models": Setting([], _is_list_of(dict), "a list of objects: models that you set up, see the page on models"),
    "roots": Setting([], _is_list_of(str), "a list of folders that servers are told of"),
    "instructions": Setting("", _is_text, "text: what every model is told first"),
    "welcomed": Setting(False, _is_flag, "true or false: the page has shown its first steps"),
    "theme": Setting("auto", _is_theme, "auto, light or dark"),
    "glyphs": Setting("auto", _is_glyphs, "auto or ascii: the signs of the terminal app"),
    "reduced_motion": Setting(False, _is_flag, "true or false: nothing moves in the terminal app"),
    "max_calls": Setting(25, _whole(1, 1_000), "a number from 1 to 1000: calls in a turn before you are asked"),
    "max_repeats": Setting(3, _whole(1, 100), "a number from 1 to 100: identical calls in a turn before you are asked"),
    "max_turn_tokens": Setting(
        1_000_000,
        _whole(1_000, 1_000_000_000),
        "a number from 1000 to 1000000000: tokens in a turn, read and written, before you are asked",
    ),
    "max_tokens": Setting(
        4_096, _whole(16, 200_000), "a number from 16 to 200000: the longest answer of a model, in tokens"
    ),
    "call_seconds": Setting(
        120,
        _whole(1, 86_400),
        "a number from 1 to 86400: seconds that a call may run, without your time",
    ),
    "result_tokens": Setting(25_000, _whole(1_000, 200_000), "a number from 1000 to 200000: longer results are paged"),
    "holds_new_tools": Setting(False, _is_flag, "true or false: new tools of known servers wait until you accept"),
    "asks_after_outside": Setting(True, _is_flag, "true or false: ask again once text from outside came into a turn"),
    "reviews_results": Setting(False, _is_flag, "true or false: look at results of tools that go outside first"),
    "keeps_bodies": Setting(False, _is_flag, "true or false: the activity log keeps long texts whole"),
}


class Settings:
    """The settings in their file. They are read once; `set` writes them."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.problems: list[str] = []
        """What was wrong with the file, for the user."""
        self._kept: dict[str, Json] = self._read()

    def __getitem__(self, name: str) -> Any:
        return self.values()[name]

    def values(self) -> dict[str, Json]:
        """Tell all settings, with the defaults of those that are not set."""
        return {name: self._kept.get(name, setting.default) for name, setting in SETTINGS.items()} | {
            name: value for name, value in self._kept.items() if name not in SETTINGS
        }

    def set(self, name: str, value: Json, write: Callable[[Path, bytes], None]) -> None:
        """Set one, and write the file. None takes it back to its default. Raises `SettingWrong` and `OSError`."""
        if name not in SETTINGS:
            raise SettingWrong(f"There is no setting {name}; there are {', '.join(SETTINGS)}")
        if value is not None and not SETTINGS[name].fits(value):
            raise SettingWrong(f"{name} must be {SETTINGS[name].must}")
        try:
            msgspec.json.encode(value)
        except (TypeError, ValueError) as error:  # half a character, from a program
            raise SettingWrong(f"{name} holds what cannot be written: {error}") from error
        kept = {key: each for key, each in self._read().items() if key != name}  # an editor may have changed it
        if value is not None:
            kept[name] = value
        write(self._path, msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n")
        self._kept = kept

    def hold(self, name: str, value: Json) -> None:
        """Set one for as long as this host is open, without writing it. Raises `SettingWrong`."""
        if name not in SETTINGS or not SETTINGS[name].fits(value):
            raise SettingWrong(f"{name} must be {SETTINGS[name].must}" if name in SETTINGS else f"no setting {name}")
        self._kept = {**self._kept, name: value}

    def _read(self) -> dict[str, Json]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            self.problems.append(f"{self._path} cannot be read, so the defaults hold: {error}")
            return {}
        if not isinstance(found, dict):
            self.problems.append(f"{self._path} must hold a JSON object, so the defaults hold")
            return {}
        return self._checked(cast("dict[str, Json]", found))

    def _checked(self, found: Mapping[str, Json]) -> dict[str, Json]:
        kept = dict(found)
        for name, setting in SETTINGS.items():
            if name in kept and not setting.fits(kept[name]):
                self.problems.append(
                    f"{self._path}: {name} must be {setting.must}; its default {setting.default!r} holds"
                )
                del kept[name]
        return kept
