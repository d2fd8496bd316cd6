"""The dialog of each kind of question."""

from typing import Any

from splice.host.asked import (
    Approval,
    Completion,
    Form,
    Goon,
    ResultReview,
    RootsAsked,
    Sampling,
    Trust,
    Visit,
)
from splice.host.items import Question
from splice.host.terminal.approval import ApprovalDialog
from splice.host.terminal.asking import Asking
from splice.host.terminal.form import FormDialog
from splice.host.terminal.keeping import Kept
from splice.host.terminal.sampling import CompletionDialog, SamplingDialog
from splice.host.terminal.trust import RootsDialog, TrustDialog, YesNoDialog
from splice.host.terminal.visit import VisitDialog

_DIALOGS: dict[type, type[Asking[Any]]] = {
    Approval: ApprovalDialog,
    Form: FormDialog,
    Visit: VisitDialog,
    Sampling: SamplingDialog,
    Completion: CompletionDialog,
    Trust: TrustDialog,
    RootsAsked: RootsDialog,
    Goon: YesNoDialog,
    ResultReview: YesNoDialog,
}


def dialog_for(question: Question, kept: Kept) -> Asking[Any]:
    """Make the dialog of a question."""
    return _DIALOGS[type(question.asked)](question, kept)
