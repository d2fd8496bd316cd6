"""The journal of a modern request: what was asked, what was answered, and what was done once.

A modern server cannot ask in the middle of a call. The call ends with what it wants to know (`Suspend`), the client
sends the same request again with the answers, and the handler runs again from its start. The journal is what makes
the second run continue where the first one ended: it finds the answers by key, knows which question each of them
answers, and repeats the results of side effects. Between the runs it travels, sealed, as `requestState`.

https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
"""

import hashlib
from typing import Any, TypeAlias

import msgspec
from msgspec import UNSET, Raw, Struct, UnsetType

from splice.errors import InvalidParams, LocalProtocolError
from splice.protocol.input import InputRequest
from splice.protocol.jsonrpc import raw


class Suspend(BaseException):
    """Ends the run of a handler that waits for the client's answers."""

    def __init__(self, requests: dict[str, InputRequest]) -> None:
        super().__init__(", ".join(requests))
        self.requests = requests


class Page(Struct, rename={"asked": "q", "answers": "a", "done": "d", "note": "n"}, omit_defaults=True):
    """The journal as it travels."""

    asked: dict[str, str] = {}
    """Key of each question so far -> digest of what was asked."""
    answers: dict[str, Raw] = {}
    """Key -> the client's answer, as it came."""
    done: dict[str, Raw] = {}
    """Key of each side effect -> its result."""
    note: str = ""
    """What a handler that returns `InputRequired` by hand wants to find again."""


Place: TypeAlias = tuple[int, dict[str, str]]
"""How many keys were named so far, and which questions were asked under which."""

_page_decoder = msgspec.json.Decoder(Page)


class Journal:
    """The questions, answers and side effects of one request, over all its runs."""

    def __init__(self, page: Page | None = None, responses: dict[str, Raw] | None = None) -> None:
        self.page = page or Page()
        self.fresh = responses or {}
        """The answers that came with this very request."""
        self.dropped: list[tuple[str, str]] = []
        """What was recorded under a key and no longer fits: (key, why). For the log."""
        self._order = 0
        self._run: dict[str, str] = {}

    @classmethod
    def read(cls, state: bytes | None, responses: dict[str, Raw] | UnsetType) -> "Journal":
        """Open the journal of a request from its unsealed state and the answers beside it.

        Raises `InvalidParams` for a state that is not ours.
        """
        try:
            page = Page() if state is None else _page_decoder.decode(state)
        except msgspec.DecodeError:
            raise InvalidParams("requestState is not one this server issued") from None
        return cls(page, {} if isinstance(responses, UnsetType) else dict(responses))

    def write(self) -> bytes:
        """Write the journal down, to be sealed."""
        return msgspec.json.encode(self.page)

    def place(self) -> Place:
        """Tell where a run of a handler begins."""
        return self._order, dict(self._run)

    def rewind(self, place: Place) -> None:
        """Begin the run again, which names its questions as the one before did."""
        self._order, self._run = place[0], dict(place[1])

    def key(self, given: str | None) -> str:
        """Name the next question or side effect: as given, or by its place in the order of the handler's run."""
        if given is not None:
            return given
        self._order += 1
        return f"q{self._order}"

    def ask(self, key: str, method: str, params: Any) -> Raw:
        """Find the answer to a question.

        Raises `Suspend` when there is none yet, and what `find` does.
        """
        answer = self.find(key, method, params)
        if answer is None:
            raise Suspend({key: InputRequest(method=method, params=raw(params))})
        return answer

    def find(self, key: str, method: str, params: Any) -> Raw | None:
        """Find the answer to a question; None: it has to be asked.

        An answer to another question under the same key does not count, and whatever was answered after it is
        forgotten. Raises `LocalProtocolError` when one run of the handler asks two questions under one key.
        """
        digest = _digest(method, raw(params))
        if self._run.setdefault(key, digest) != digest:
            raise LocalProtocolError(f"two questions have the key {key!r}: give each one of its own")
        recorded = self.page.asked.get(key)
        if recorded is not None and recorded != digest:
            self._forget_from(key)
        elif key in self.fresh:
            self._record(key, digest, self.fresh.pop(key))
        self.page.asked[key] = digest
        return self.page.answers.get(key)

    def answer(self, key: str, answer: Raw) -> None:
        """Keep the answer to a question that was asked in the middle of a run."""
        self.page.answers[key] = answer

    def note_asked(self, requests: dict[str, InputRequest]) -> None:
        """Record questions that a handler asks by hand."""
        for key, request in requests.items():
            self.page.asked[key] = _digest(
                request.method, b"" if isinstance(request.params, UnsetType) else request.params
            )

    def keep_asked(self) -> None:
        """Keep, of the answers that came with this request, those to questions that were asked."""
        self.page.answers.update({key: answer for key, answer in self.fresh.items() if key in self.page.asked})

    def recall(self, key: str) -> Raw | UnsetType:
        """Find the result of a side effect of an earlier run."""
        return self.page.done.get(key, UNSET)

    def record(self, key: str, result: Any) -> Raw:
        """Keep the result of a side effect for later runs."""
        self.page.done[key] = kept = raw(result)
        return kept

    def _record(self, key: str, digest: str, answer: Raw) -> None:
        self.page.asked[key] = digest
        self.page.answers[key] = answer

    def _forget_from(self, key: str) -> None:
        keys = list(self.page.asked)
        for later in keys[keys.index(key) :]:
            why = "another question is asked under this key now" if later == key else f"it came after {key!r}"
            self.dropped.append((later, why))
            del self.page.asked[later]
            self.page.answers.pop(later, None)
            self.fresh.pop(later, None)


def _digest(method: str, params: bytes | Raw) -> str:
    return hashlib.blake2b(method.encode() + b"\0" + bytes(params), digest_size=12).hexdigest()
