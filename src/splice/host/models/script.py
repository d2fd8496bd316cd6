"""A model that says what a script tells it, for tests, pictures and demonstrations. It is no AI.

A script is a list of turns, in a TOML or JSON file under ``turn``, or from a program. Each request gets the next one:

    [[turn]]
    say = "I look at the weather."
    call = [{name = "travel_checkWeather", arguments = {city = "Oslo"}}]

    [[turn]]
    after = "rain"
    say = "Take an umbrella."

A turn with `after` waits for a word: if the last message of the conversation does not have it, the script fails.
"""

import asyncio
import itertools
import re
import tomllib
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from splice.host.models.base import FailureKind, ModelEvent, ModelFailed, Stop, StopReason, Text, Usage, Use
from splice.host.text import one_line
from splice.schema.schemas import cut
from splice.types import CreateMessageParams, TextContent, ToolResultContent

MAX_FILE_BYTES = 5_000_000


class ScriptedCall(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A call of a tool; arguments that are text are malformed ones."""

    name: str
    arguments: dict[str, Any] | str = field(default_factory=dict)


class ScriptedFailure(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A failure, as `ModelFailed` has it."""

    kind: FailureKind
    message: str = "The script says so."
    retry_after: float | None = None


class ScriptedTurn(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One answer: text, then calls, then the stop; or a failure after the text."""

    say: str = ""
    call: list[ScriptedCall] = []
    after: str = ""
    """A word that the last message must have, in a result or as text."""
    stop: StopReason | None = None
    """``toolUse`` if it calls and ``endTurn`` if not, unless this is said."""
    fail: ScriptedFailure | None = None


class _Script(Struct, forbid_unknown_fields=True):
    turn: list[ScriptedTurn]


class ScriptModel:
    """Plays turns, each once. `pace` is how many seconds to wait between the words.

    Raises `ValueError` for turns that cannot be read.
    """

    provider = "script"
    is_ai = False
    where = "on this computer"
    window = 128_000

    def __init__(self, turns: Sequence[ScriptedTurn | dict[str, Any]], *, pace: float = 0, id: str = "script") -> None:
        self.id = id
        self.label = "A script"
        self.pace = pace
        self.turns = msgspec.convert([msgspec.to_builtins(turn) for turn in turns], list[ScriptedTurn])
        self._numbers = itertools.count(1)
        self._calls = itertools.count(1)

    @classmethod
    def from_file(cls, path: str | Path, *, pace: float = 0) -> "ScriptModel":
        """Read a script from a file that ends with ``.toml`` or ``.json``. Raises `ValueError`, `OSError`."""
        path = Path(path)
        if path.stat().st_size > MAX_FILE_BYTES:
            raise ValueError(f"{path} is too large for a script")
        text = path.read_text(encoding="utf-8")
        try:
            if path.suffix == ".toml":
                return cls(msgspec.convert(tomllib.loads(text), _Script).turn, pace=pace)
            return cls(msgspec.json.decode(text, type=_Script).turn, pace=pace)
        except ValueError as error:
            raise ValueError(f"{path} is not a script: {error}") from error

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        """Play the next turn. Raises `ModelFailed` when there is none, or its word did not come."""
        number = next(self._numbers)
        if number > len(self.turns):
            raise ModelFailed("wrong request", f"The script is over: it has {len(self.turns)} turns.")
        turn, heard = self.turns[number - 1], "\n".join(_last_words(params))
        if turn.after not in heard:
            told = cut(one_line(heard), 200)
            raise ModelFailed("wrong request", f"Turn {number} of the script waits for {turn.after!r}, but got: {told}")
        for word in re.findall(r"\s*\S+\s*$|\s*\S+", turn.say):
            yield Text(word)
            await asyncio.sleep(self.pace)
        if turn.fail is not None:
            raise ModelFailed(turn.fail.kind, turn.fail.message, turn.fail.retry_after)
        for call in turn.call:
            yield self._use(call)
        yield Usage(len(heard) // 4, len(turn.say) // 4)
        yield Stop(turn.stop or ("toolUse" if turn.call else "endTurn"))

    def _use(self, call: ScriptedCall) -> Use:
        id = f"script_{next(self._calls)}"
        if isinstance(call.arguments, str):
            return Use(id, call.name, {}, malformed=call.arguments)
        return Use(id, call.name, call.arguments)


def _last_words(params: CreateMessageParams) -> Iterator[str]:
    for block in params.messages[-1].blocks if params.messages else ():
        if isinstance(block, TextContent):
            yield block.text
        elif isinstance(block, ToolResultContent):
            yield from (inner.text for inner in block.content if isinstance(inner, TextContent))
