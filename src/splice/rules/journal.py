"""The journal of a modern request: what was asked, what was answered, and what was done once.

A modern server cannot ask in the middle of a call. The call ends with what it wants to know (`Suspend`, in `eras`), the
client sends the same request again with the answers, and the handler runs again from its start. The journal is what
makes the second run continue where the first one ended: it finds the answers by key, knows which question each of them
answers, and repeats the results of side effects. Between the runs it travels, sealed, as `requestState`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

import hashlib
import logging
from collections.abc import Iterable
from copy import copy
from math import inf
from typing import Any

import msgspec
from msgspec import Raw, Struct

from splice.errors import InvalidParams, LocalProtocolError
from splice.protocol import jsonrpc, questions

log = logging.getLogger("splice.server")


class Page(Struct, rename={"asked": "q", "answers": "a", "done": "d", "note": "n", "told": "p"}, omit_defaults=True):
    """The journal as it travels."""

    asked: dict[str, str] = {}
    """Key of each question so far -> digest of what was asked."""
    answers: dict[str, Raw] = {}
    """Key -> the client's answer, as it came."""
    done: dict[str, Raw] = {}
    """Key of each side effect -> its result."""
    note: str = ""
    """`InputRequired.state`; the next run reads it as `Context.state`."""
    told: float = -inf
    """The highest progress that was told: only more is told, also by the next run. JSON has it once it is finite."""


class Journal:
    """The questions, answers and side effects of one request, over all its runs.

    It is made of the request's unsealed state and the answers beside it, of which those count that were asked for, the
    first one of each. Without a state, those count that will be. Raises `InvalidParams` for a state that is not ours.
    """

    def __init__(self, state: bytes | None = None, responses: dict[str, Raw] | None = None) -> None:
        try:
            self.page = Page() if state is None else msgspec.json.decode(state, type=Page)
        except jsonrpc.UNREADABLE:
            raise InvalidParams("requestState is not one this server issued") from None
        fresh = {key: answer for key, answer in (responses or {}).items() if state is None or key in self.page.asked}
        self.page.answers = fresh | self.page.answers
        self._prefix = ""
        self.rewind()

    def write(self) -> bytes:
        """Write the journal down, to be sealed, without answers that nobody asked for."""
        self.page.answers = {key: answer for key, answer in self.page.answers.items() if key in self.page.asked}
        return msgspec.json.encode(self.page)

    def rewind(self) -> None:
        """Reset the question counter, so that a re-run of the handler generates the same keys."""
        self._order, self._run = 0, dict[str, str]()

    def key(self, given: str | None) -> str:
        """Name the next question or side effect, as `name` does, so that no other part of the run has the same key."""
        return self._prefix + self.name(given)

    def name(self, given: str | None) -> str:
        """Name the next question or side effect: as given, or by its place in the order of this part of the run."""
        if given is None:
            self._order += 1
            given = f"q{self._order}"
        return given

    def within(self, name: str) -> "Journal":
        """Give the same journal to a part of the run: the keys in it begin with `name`."""
        part = copy(self)
        part.__dict__ |= {"_order": 0, "_prefix": f"{self._prefix}{name}/"}
        return part

    def find(self, key: str, question: questions.InputRequest) -> Raw | None:
        """Find the answer to a question; None: it has to be asked.

        Only what was asked before can be answered, and the first answer counts. An answer to another question under
        the same key does not count, and whatever was answered after it is forgotten. Raises `LocalProtocolError` when
        one run of the handler asks two questions under one key.
        """
        digest = _digest(question)
        if self._run.setdefault(key, digest) != digest:
            raise LocalProtocolError(f"two questions have the key {key!r}: give each one of its own")
        if self.page.asked.get(key, digest) != digest:
            asked = list(self.page.asked)
            later = asked[asked.index(key) :]
            log.warning("another question is asked under the key %r: dropped the answers to %s", key, later)
            self._forget(later)
        self.page.asked[key] = digest
        return self.page.answers.get(key)

    def leave(self, requests: dict[str, questions.InputRequest], note: str) -> None:
        """Record the questions and the state that a handler returned as `InputRequired`."""
        self.page.note = note
        self._forget(requests)
        self.page.asked |= {key: _digest(request) for key, request in requests.items()}

    def record(self, key: str, result: Any) -> Raw:
        """Keep the result of a side effect for later runs."""
        self.page.done[key] = kept = jsonrpc.raw(result)
        return kept

    def _forget(self, keys: Iterable[str]) -> None:
        for key in keys:
            self.page.asked.pop(key, None)
            self.page.answers.pop(key, None)


def _digest(question: questions.InputRequest) -> str:
    said = b"" if question.params is None else bytes(question.params)
    return hashlib.blake2b(question.method.encode() + b"\0" + said, digest_size=12).hexdigest()
