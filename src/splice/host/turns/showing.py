"""A call on the board: its state, its progress, its result; and its end in the activity log."""

import asyncio
import time
from typing import Any

from msgspec.structs import replace

from splice.host.asking.stopwatches import Stopwatch
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
        self._stopwatch = Stopwatch(call.id, lambda: self.item.server, self._show_time)
        parts.questions.stopwatches.add(self._stopwatch)
        self.decision = ""
        """``allowed`` or ``denied``, once that is decided."""
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
        self._stopwatch.run()
        self.put(state="running", word="", began=time.time())

    def progress(self, done: float, total: float | None, message: str | None) -> None:
        """Show how far it is; seldom, however often the server says so."""
        self._progress = Progress(done, total, one_line(message or "")[:MAX_PROGRESS])
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SHOW_SECONDS, self._show_progress)

    def result(self, given: Given, *, is_untrusted: bool) -> None:
        """Show its result. It has not ended yet: the user may want to look at it."""
        self._stopwatch.end()
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
        stopwatch = self._stopwatch
        stopwatch.end()
        self._parts.questions.stopwatches.remove(stopwatch)
        seconds = None if stopwatch.seconds is None else round(stopwatch.seconds, 3)
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
            decision=self.decision,
            rule=self.rule,
            trail=[f"{step.who}: {step.what}" for step in item.trail] or None,
            seconds=seconds,
            whole=round(stopwatch.whole, 3),
            waited=round(stopwatch.waited, 3) or None,
            bytes=item.bytes,
            arguments=item.arguments,
            asked_arguments=item.asked_arguments,
            result=[block.text or block.type for block in item.result],
        )

    def _show_time(self) -> None:
        """Show since when it runs, without what the user took; nothing while they are asked."""
        seconds = self._stopwatch.seconds
        if self.item.state == "running" and seconds is not None:
            self.put(began=0.0 if self._stopwatch.is_stopped else time.time() - seconds)

    def _show_progress(self) -> None:
        self._timer = None
        self.put(progress=self._progress)
