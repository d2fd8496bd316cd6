"""Answers of a model recorded to a cassette, and played again: for tests and pictures without a network.

A cassette is a file with one JSON object per line: the hash of a request, and the events of its answer. Neither the
request nor anything of the connection is in it. The hash is of what a model reads and what bounds its answer; `_meta`
and preferences for the choice of a model do not count.
"""

import hashlib
import os
import re
from collections.abc import AsyncIterator
from pathlib import Path
from stat import S_ISREG
from typing import Any

import msgspec
from msgspec import Struct

from splice.host.models.base import FailureKind, Model, ModelEvent, ModelFailed, closing
from splice.host.text import one_line
from splice.types import CreateMessageParams

MAX_CASSETTE_BYTES = 100_000_000

_MARKS = re.compile(rb"between the marks ([0-9a-f]{8})\. ")
"""How `splice.host.tools.results.fenced` names the marks."""


class _Failed(Struct, frozen=True):
    kind: FailureKind
    message: str
    retry_after: float | None = None


class _Recorded(Struct, frozen=True):
    """A line of a cassette."""

    request: str
    events: list[ModelEvent]
    failed: _Failed | None = None


def request_hash(params: CreateMessageParams) -> str:
    """Hash a request: the same words and tools give the same hash, in any order of keys."""
    asked: dict[str, Any] = {
        "messages": [[message.role, [_words(block) for block in message.blocks]] for message in params.messages],
        "system": params.system_prompt or "",
        "tools": [[tool.name, tool.description, tool.input_schema] for tool in params.tools or ()],
        "choice": (params.tool_choice and params.tool_choice.mode) or "auto",
        "bounds": [params.max_tokens, params.temperature, params.stop_sequences or []],
    }
    written = msgspec.json.encode(asked, order="deterministic")
    for word in set(_MARKS.findall(written)):  # the marks around data of servers are new each time
        written = written.replace(word, b"")
    return hashlib.sha256(written).hexdigest()


class RecordingModel:
    """Passes a model's answers on, and appends each that came to its end, or failed, to a cassette (mode 0600)."""

    def __init__(self, model: Model, cassette: str | Path) -> None:
        self.model = model
        self.cassette = Path(cassette)
        self.id = model.id
        self.label = model.label
        self.provider = model.provider
        self.is_ai = model.is_ai
        self.where = model.where
        self.window = model.window

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        """Ask the model, yield what it says, and record it. Raises `ModelFailed`, and as `cassette` does."""
        events: list[ModelEvent] = []
        request = request_hash(params)
        try:
            async with closing(self.model.stream(params)) as stream:
                async for event in stream:
                    events.append(event)
                    yield event
        except ModelFailed as error:
            self._append(_Recorded(request, events, _Failed(error.kind, error.message, error.retry_after)))
            raise
        self._append(_Recorded(request, events))

    def _append(self, recorded: _Recorded) -> None:
        """Append a line by one write, so that two processes may record to the same cassette."""
        file = _opened(self.cassette)
        try:
            os.write(file, msgspec.json.encode(recorded) + b"\n")
        finally:
            os.close(file)


def cassette(path: str | Path) -> Path:
    """Get a cassette ready to be recorded to. Raises `OSError` and `ValueError` if it cannot be written."""
    os.close(_opened(Path(path)))
    return Path(path).absolute()


def _opened(path: Path) -> int:
    """Open a cassette to append to it; from then on only the user may read it. Raises `OSError` and `ValueError`."""
    other = ValueError(f"{path} is a link, a folder or a device; name a file, or one that is not there yet")
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise other
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    file = os.open(path, flags, 0o600)
    try:
        if not S_ISREG(os.fstat(file).st_mode):  # it took the place of the file meanwhile
            raise other
        os.fchmod(file, 0o600)
    except (OSError, ValueError):
        os.close(file)
        raise
    return file


class ReplayModel:
    """Answers from a cassette. The same request asked again gets the next recording of it; the last one repeats.

    Raises `ValueError` for a cassette that cannot be read, and `OSError` if there is none.
    """

    provider = "replay"
    is_ai = False
    where = "on this computer"
    window = 128_000

    def __init__(self, cassette: str | Path, *, id: str = "replay") -> None:
        self.id = id
        self.label = "Recorded answers"
        self.cassette = Path(cassette)
        self._recorded: dict[str, list[_Recorded]] = {}
        if self.cassette.stat().st_size > MAX_CASSETTE_BYTES:
            raise ValueError(f"{self.cassette} is too large for a cassette")
        for number, line in enumerate(self.cassette.read_bytes().splitlines(), 1):
            try:
                each = msgspec.json.decode(line, type=_Recorded)
            except (ValueError, RecursionError) as error:
                raise ValueError(f"{self.cassette}: line {number} is not a recorded answer") from error
            self._recorded.setdefault(each.request, []).append(each)

    async def stream(self, params: CreateMessageParams) -> AsyncIterator[ModelEvent]:
        """Play the answer to a request. Raises `ModelFailed` for one that was not recorded."""
        request = request_hash(params)
        known = self._recorded.get(request, [])
        if not known:
            told = f"{one_line(self.cassette.name)} has no answer to this request ({request[:12]}). Record it again."
            raise ModelFailed("wrong request", told)
        recorded = known.pop(0) if len(known) > 1 else known[0]
        for event in recorded.events:
            yield event
        if recorded.failed is not None:
            raise ModelFailed(recorded.failed.kind, recorded.failed.message, recorded.failed.retry_after)


def _words(block: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(block)
    return {word: value for word, value in plain.items() if word not in ("_meta", "annotations")}
