"""The answer to each question when nobody answers: no."""

from splice.host.asked import Answer, Asked, Completion, Decision, Filled, Form, Reviewed, RootsAsked, Sampling, Visit


def refusal(asked: Asked, reason: str = "") -> Answer:
    """Answer a question with no. A form is declined; the reason is for the model, where it hears one."""
    if isinstance(asked, Form | Visit | RootsAsked):
        return Filled("decline")
    if isinstance(asked, Sampling | Completion):
        return Reviewed("deny")
    return Decision("deny", reason)
