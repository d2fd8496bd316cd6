"""Values that a configuration file leaves to the user: asked for once, and kept outside of the configuration.

https://code.visualstudio.com/docs/copilot/reference/mcp-configuration#_input-variables-for-sensitive-data
"""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from splice.host.config.entries import Entry
from splice.host.config.jsonc import BadConfiguration
from splice.host.places import keep, locked, private, set_aside
from splice.host.text import one_line


class Input(Struct, frozen=True):
    """An element of `inputs`."""

    id: str
    type: Literal["promptString", "pickString"] = "promptString"
    description: str = ""
    default: str | None = None
    password: bool = False
    options: tuple[str, ...] = ()
    """Of a `pickString`: what may be chosen."""
    source: Path | None = None


AskInput = Callable[[Input], Awaitable[str | None]]
"""Lets the user type a value; None: nobody did."""


class Inputs:
    """The inputs of all files, and the values that they were given."""

    def __init__(self, path: Path, defined: Iterable[Input], ask: AskInput | None = None) -> None:
        self._path, self._ask = path, ask
        self.define(defined)

    def define(self, defined: Iterable[Input]) -> None:
        """Say which inputs there are, instead of those before."""
        self._defined: dict[tuple[str, str], Input] = {}
        self.add(defined)

    async def value(self, entry: Entry, id: str) -> str:
        """Return the value that an input of the entry's file has; asks for it the first time.

        Raises `BadConfiguration` when there is none.
        """
        key = str(entry.source), id
        defined = self._defined.get(key)
        if defined is None:
            raise BadConfiguration(f"it takes the input {one_line(id)!r}, which its file does not define")
        kept = self._load()
        known = kept.get(_written(key))
        if known is not None and (not defined.options or known in defined.options):
            return known
        given = None if self._ask is None else await self._ask(defined)
        if given is None:
            if defined.default is None:
                todo = f"`splice host mcp test {one_line(entry.name)}` asks for it at a terminal"
                raise BadConfiguration(f"it needs a value for the input {one_line(id)!r}, and nobody gave one: {todo}")
            return defined.default
        if defined.options and given not in defined.options:
            raise BadConfiguration(f"the input {one_line(id)!r} is one of {', '.join(map(one_line, defined.options))}")
        self._save(_written(key), given)
        return given

    def add(self, inputs: Iterable[Input]) -> None:
        """Take in what one more file, or a file that has changed, leaves to the user."""
        self._defined |= {(str(each.source), each.id): each for each in inputs}

    def forget(self, source: Path, id: str) -> None:
        """Forget a value, so that it is asked for again."""
        self._save(_written((str(source), id)), None)

    def _load(self) -> dict[str, str]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=dict[str, str])
        except FileNotFoundError:
            return {}
        except (ValueError, RecursionError):
            set_aside(self._path)
            return {}
        except OSError as error:
            raise BadConfiguration(f"cannot read {self._path}: {error.strerror}") from error

    def _save(self, key: str, value: str | None) -> None:
        try:
            private(self._path.parent)
            with locked(self._path):
                values = {**self._load(), key: value}
                keep(self._path, msgspec.json.encode({key: each for key, each in values.items() if each is not None}))
        except OSError as error:
            raise BadConfiguration(f"cannot write {self._path}: {error.strerror}") from error


def _written(key: tuple[str, str]) -> str:
    return f"{key[0]}#{key[1]}"
