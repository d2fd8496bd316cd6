"""Answers that were prepared, for a host that nobody watches. What has none is refused, and nothing ever waits."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

import msgspec

from splice.host.asked import (
    Answer,
    Asked,
    Completion,
    Decision,
    Filled,
    Form,
    Reviewed,
    RootsAsked,
    Sampling,
    Visit,
)
from splice.host.asking.forms import Field, fields, read
from splice.host.text import one_line
from splice.schema.schemas import is_object

Prepared: TypeAlias = Mapping[str, Any] | Callable[[str, Asked], Answer | Awaitable[Answer | None] | None]
"""A function of the server's name and what it asks; or answers by the kind of question, `KINDS`:

    "form": {"seat": "aisle"}       what forms are filled in with, as far as they have such fields
    "visit": True, "goon": True, "trust": False, "result": True, "approval": "once"
    "sampling": True                lets servers ask a model; or its cap: 500
    "roots": ["file:///home/anna"]

A key such as `"travel form"` is for one server, and counts first.
"""

_LONGEST = 200
"""How many characters of a form's message a refusal has."""

KINDS = ("approval", "form", "visit", "sampling", "trust", "roots", "goon", "result")


class Refusal(NamedTuple):
    """A question that nobody answered."""

    server: str
    """Who asked; empty: the host."""
    kind: str
    why: str

    def __str__(self) -> str:
        return f"{self.server or 'the host'}: {self.why}"


class Answers:
    """Answers by what was prepared. Raises `ValueError` for a mapping with other keys."""

    def __init__(self, prepared: Prepared | None = None) -> None:
        self._call = prepared if callable(prepared) else None
        self._table: Mapping[str, Any] = {} if prepared is None or callable(prepared) else prepared
        self.refusals: list[Refusal] = []
        """What was refused, for the report at the end of a run."""
        for key in self._table:
            if key.rpartition(" ")[2] not in KINDS:
                raise ValueError(f"{key!r} is not a kind of question; there are {', '.join(KINDS)}")

    async def answer(self, server: str, asked: Asked) -> Answer | None:
        """Answer, or refuse by None. What a function of the program's raises is a refusal, and does not end a turn."""
        kind = _kind(asked)
        [answer] = await asyncio.gather(self._given(server, asked, kind), return_exceptions=True)
        if answer is None:
            about = f" ({one_line(asked.message)[:_LONGEST]})" if isinstance(asked, Form) else ""
            self.refuse(server, asked, f"nothing was prepared for its {kind}{about}")
        elif isinstance(answer, Exception):
            self.refuse(server, asked, f"the answer to its {kind} failed: {answer!r}")
            return None
        elif isinstance(answer, BaseException):
            raise answer
        return answer

    def refuse(self, server: str, asked: Asked, why: str) -> None:
        """Note that a question was refused."""
        self.refusals.append(Refusal(server, _kind(asked), why))

    async def _given(self, server: str, asked: Asked, kind: str) -> Answer | None:
        if self._call is not None:
            given = self._call(server, asked)
            return await given if isinstance(given, Awaitable) else given
        value = self._table.get(f"{server} {kind}", self._table.get(kind))
        return None if value is None else _read(asked, value)


def _kind(asked: Asked) -> str:
    return "sampling" if isinstance(asked, Completion) else str(type(asked).__struct_config__.tag)


def _read(asked: Asked, value: Any) -> Answer:
    if isinstance(asked, Form):
        given: dict[str, Any] = value if is_object(value) else {}
        chosen = {each.name: _typed(each, given[each.name]) for each in fields(asked.schema) if each.name in given}
        return Filled("accept", chosen) if value is not False else Filled("decline")
    if isinstance(asked, RootsAsked):
        return Filled("accept", {"uris": [each for each in value if each in asked.known]})
    if isinstance(asked, Visit):
        return Filled("accept" if value else "decline")
    if isinstance(asked, Sampling):
        tokens = min(asked.max_tokens, asked.cap, value if type(value) is int else asked.cap)
        return Reviewed("once" if value else "deny", max_tokens=tokens)
    if isinstance(asked, Completion):
        return Reviewed("once" if value else "deny")
    verdict = value if isinstance(value, str) else "once" if value else "deny"
    return msgspec.convert({"type": "decision", "verdict": verdict}, Decision)


def _typed(field: Field, value: Any) -> Any:
    """Read a value that came as text, as from a command line; what cannot be read is refused with its field."""
    try:
        return read(field, value)
    except ValueError:
        return value
