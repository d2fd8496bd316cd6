"""A call on the board: its state, its progress, its result; and its end in the activity log."""

import asyncio
import time
from typing import Any

from msgspec.structs import replace

from splice.host.items import Call, CallState, Progress
from splice.host.parts import Parts
from splice.host.text import one_line
from splice.host.tools.results import Given
from splice.host.turns.conversation import Conversation
from splice.host.turns.undone import NotDone

SHOW_SECONDS = 0.05
"""How often the progress of a call changes on the board at most."""

MAX_PROGRESS = 200
"""How many characters of a server's word about progress are shown."""


class Shown:
    """One call, as faces see it. Others may change it on the board meanwhile: approvals do."""

    def __init__(self, call: Call, parts: Parts, conversation: Conversation) -> None:
        self.id = call.id
        self._call, self._parts, self._conversation = call, parts, conversation
        self._progress: Progress | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._began = time.monotonic()
        self._seconds: float | None = None
        self.rule = ""
        """The id of the rule that allowed or denied it."""

    @property
    def item(self) -> Call:
        """The call as it is on the board."""
        return self._parts.board.get(self.id, Call) or self._call

    def put(self, **fields: Any) -> None:
        """Change it."""
        self._call = replace(self.item, **fields)
        self._conversation.put(self._call)

    def run(self) -> None:
        """Show that it is carried out now; the time that the user took does not count."""
        self._began = time.monotonic()
        self.put(state="running", word="", began=time.time())

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Show how far it is; seldom, however often the server says so."""
        self._progress = Progress(done, total, one_line(message or "")[:MAX_PROGRESS])
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SHOW_SECONDS, self._show_progress)

    def result(self, given: Given, *, is_untrusted: bool) -> None:
        """Show its result. It has not ended yet: the user may want to look at it."""
        self._seconds = time.monotonic() - self._began
        self.put(
            word="the tool says that it failed" if given.is_error else given.note,
            result=given.blocks,
            structured=given.structured,
            bytes=given.bytes,
            tokens=given.tokens,
            given_tokens=given.given_tokens,
            mismatch=given.mismatch,
            is_untrusted=is_untrusted,
        )

    def fail(self, error: NotDone) -> None:
        """Show that it did not happen, or failed."""
        self.end(error.state, word=error.word)

    def end(self, state: CallState, **fields: Any) -> None:
        """Show its end, and write it into the log."""
        if self._timer is not None:
            self._timer.cancel()
        seconds = round(time.monotonic() - self._began if self._seconds is None else self._seconds, 3)
        self.put(state=state, seconds=seconds, progress=None, **fields)
        item = self.item
        self._parts.activity.record(
            "call",
            server=item.server,
            chat=item.chat,
            turn=item.turn,
            call=item.id,
            tool=item.tool,
            state=state,
            why=item.word,
            rule=self.rule,
            allowed=[f"{step.who}: {step.what}" for step in item.trail],
            seconds=seconds,
            bytes=item.bytes,
            arguments=item.arguments,
            asked_arguments=item.asked_arguments,
            result=[block.text or block.type for block in item.result],
        )

    def _show_progress(self) -> None:
        self._timer = None
        self.put(progress=self._progress)
