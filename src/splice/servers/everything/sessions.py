"""The running request, for what a `Context` does not tell: its session, and what its version has.

Sessions are of versions before 2026-07-28. One that lasts is known by its `ended`: what the server is told with when it
ends, which is where the things of a session are let go of.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

from splice import Answer, Call, Session

_here: ContextVar[Call] = ContextVar("call")


def session_of(call: Call) -> Session | None:
    """Give the session that a request belongs to, if it has one that lasts.

    A connection over stdin has an object for one, which a request of a version without sessions does not belong to.
    """
    session = call.session
    if session is None or session.ended is None or session.facts is not call.facts:
        return None
    return session


def session_here() -> Session | None:
    """Give the lasting session of the request whose handler is running."""
    return session_of(_here.get())


def has_error(code: int) -> bool:
    """Tell whether the version of the running request has an error of this code."""
    return _here.get().facts.code_of(code) == code


def has_lists_in_forms() -> bool:
    """Tell whether the version of the running request has forms with lists of choices."""
    return _here.get().facts.rich_forms


async def remember_call(call: Call, proceed: Answer) -> Any:
    """Middleware: let handlers find the running request."""
    token = _here.set(call)
    try:
        return await proceed(call)
    finally:
        _here.reset(token)


class _Endings:
    """Stands where the server is told that a session ended, and tells others too."""

    def __init__(self, first: Callable[[Session], None]) -> None:
        self.others: dict[Callable[[Session], None], None] = {}
        self._first = first

    def __call__(self, session: Session) -> None:
        for let_go in (self._first, *self.others):
            let_go(session)


def when_ended(session: Session, let_go: Callable[[Session], None]) -> None:
    """Call `let_go` once the session has ended. To say so again changes nothing."""
    if session.ended is not None and not isinstance(session.ended, _Endings):
        session.ended = _Endings(session.ended)
    if isinstance(session.ended, _Endings):
        session.ended.others[let_go] = None
