"""Which answers fit which question, whatever face they come from, and the answer when nobody gives one."""

from collections.abc import Callable
from typing import Any, TypeAlias, cast

import msgspec

from splice.host.asked import (
    Answer,
    Approval,
    Asked,
    Completion,
    Decision,
    Filled,
    Form,
    Goon,
    Json,
    ResultReview,
    Reviewed,
    RootsAsked,
    Sampling,
    Trust,
    Visit,
)
from splice.host.asking.forms import check
from splice.host.text import one_line
from splice.schema.schemas import cut, is_array, is_object

MAX_ANSWER_BYTES = 8_000_000
"""How large an answer may be: an edited completion, or arguments with a file in them."""

Check: TypeAlias = Callable[[Any], None]
"""Looks at an answer of the right type. Raises `ValueError` with a sentence."""


class WrongAnswer(ValueError):
    """An answer does not fit its question, which goes on waiting. The text is a sentence for the user."""


def check_answer(asked: Asked, answer: Answer) -> None:
    """Check that an answer fits. Raises `WrongAnswer`."""
    expected, inner = _FITS[type(asked)]
    if not isinstance(answer, expected):
        raise WrongAnswer(f"This question takes {expected.__name__}, not {type(answer).__name__}.")
    try:
        size = len(msgspec.json.encode(answer))
    except (TypeError, ValueError, RecursionError):
        raise WrongAnswer("The answer holds something that is not JSON.") from None
    if size > MAX_ANSWER_BYTES:
        raise WrongAnswer(f"The answer is too long: at most {MAX_ANSWER_BYTES:,} bytes.")
    inner(cast("Any", asked), cast("Any", answer))


def cancelled(asked: Asked, why: str = "") -> Answer:
    """Give the answer of somebody who went away without a choice."""
    return refused(asked, why, is_cancelled=True)


def refused(asked: Asked, why: str, *, is_cancelled: bool = False) -> Answer:
    """Give the answer of somebody who says no."""
    expected, _ = _FITS[type(asked)]
    if expected is Filled:
        return Filled("cancel" if is_cancelled else "decline")
    if expected is Reviewed:
        return Reviewed("deny")
    return Decision("cancel" if is_cancelled else "deny", reason=why)


def said_of(findings: dict[str, str], name: Callable[[str], str] = one_line) -> str:
    """Write findings about fields as one sentence."""
    return "; ".join(f"{cut(name(field), 100)}: {what}" if field else what for field, what in findings.items())


def _approval(asked: Approval, answer: Decision) -> None:
    if not asked.may_always and answer.verdict in ("chat", "tool", "server"):
        raise WrongAnswer("This call may only be allowed once.")
    if answer.arguments is not None and not is_object(answer.arguments):
        raise WrongAnswer("Arguments are a JSON object.")


def _yes_or_no(_asked: Goon | Trust, answer: Decision) -> None:
    if answer.verdict not in ("once", "deny", "cancel"):
        raise WrongAnswer(f"This question is answered by once or deny, not {answer.verdict}.")
    if answer.arguments is not None:
        raise WrongAnswer("This question takes no arguments.")


def _result(_asked: ResultReview, answer: Decision) -> None:
    if answer.verdict not in ("once", "deny", "cancel"):
        raise WrongAnswer(f"This question is answered by once or deny, not {answer.verdict}.")
    if answer.arguments is not None and not isinstance(answer.arguments, str):
        raise WrongAnswer("A changed result is text.")


def _form(asked: Form, answer: Filled) -> None:
    if answer.action != "accept":
        return
    content: Json = {} if answer.content is None else answer.content
    if not is_object(content):
        raise WrongAnswer("What is filled in is a JSON object.")
    if findings := check(asked.schema, content):
        raise WrongAnswer(said_of(findings))


def _visit(_asked: Visit, answer: Filled) -> None:
    if answer.content is not None:
        raise WrongAnswer("A visit takes no content.")


def _roots(asked: RootsAsked, answer: Filled) -> None:
    content = answer.content
    uris = content.get("uris") if is_object(content) else None
    chosen = is_array(uris) and all(each in asked.known for each in uris)
    if answer.action == "accept" and not chosen:
        raise WrongAnswer("Choose among the folders of the question.")


def _sampling(asked: Sampling, answer: Reviewed) -> None:
    if answer.verdict == "again" or answer.text is not None:
        raise WrongAnswer("There is no answer of a model yet.")
    if answer.verdict == "deny":
        return
    if answer.model and answer.model not in asked.models:
        raise WrongAnswer(f"{cut(one_line(answer.model), 100)} may not be chosen for this server.")
    if not 0 < (answer.max_tokens or asked.max_tokens) <= asked.cap:
        raise WrongAnswer(f"The answer may have at most {asked.cap:,} tokens, which is your cap.")


def _completion(asked: Completion, answer: Reviewed) -> None:
    if answer.verdict in ("chat", "always"):
        raise WrongAnswer("An answer is allowed once, made again, or denied.")
    if answer.text is not None and asked.uses:
        raise WrongAnswer("An answer that uses tools cannot be edited: allow it, make it again, or deny it.")


_FITS: dict[type, tuple[type[Decision | Filled | Reviewed], Callable[[Any, Any], None]]] = {
    Approval: (Decision, _approval),
    Form: (Filled, _form),
    Visit: (Filled, _visit),
    Sampling: (Reviewed, _sampling),
    Completion: (Reviewed, _completion),
    Trust: (Decision, _yes_or_no),
    RootsAsked: (Filled, _roots),
    Goon: (Decision, _yes_or_no),
    ResultReview: (Decision, _result),
}
