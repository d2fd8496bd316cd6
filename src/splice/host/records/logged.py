"""Questions that are written into the activity log: who asked what, who answered, and how."""

from typing import Any

from splice.host.asked import Answer, Approval, Asked, By, Completion, Decision, Form, Reviewed, Visit, call_in
from splice.host.asking.answers import Check
from splice.host.asking.questions import Questions
from splice.host.asking.unattended import Answers
from splice.host.board import Board
from splice.host.records.activity import Activity


class LoggedQuestions(Questions):
    """Questions, each with two records: when it is asked, and when it is answered."""

    def __init__(self, board: Board, activity: Activity, unattended: Answers | None = None) -> None:
        super().__init__(board, unattended)
        self._activity = activity

    async def ask(self, server: str, asked: Asked, *, chat: str = "", check: Check | None = None) -> tuple[Answer, By]:
        """Ask as `Questions` does."""
        call = call_in(asked)
        kind = str(type(asked).__struct_config__.tag)
        about: dict[str, Any] = {"asks": kind}
        if isinstance(asked, Approval):
            about["tool"] = asked.tool.removeprefix(f"tool:{server}/")
        self._activity.record("question", server=server, chat=chat, call=call, says=_said(asked), **about)
        answer, by = await super().ask(server, asked, chat=chat, check=check)
        how = answer.verdict if isinstance(answer, Decision | Reviewed) else answer.action
        self._activity.record("answer", server=server, chat=chat, call=call, answer=how, by=by, **about)
        return answer, by


def _said(asked: Asked) -> str:
    match asked:
        case Approval():
            return asked.why
        case Form() | Visit():
            return asked.message
        case Completion():
            return asked.model
        case _:
            return ""
