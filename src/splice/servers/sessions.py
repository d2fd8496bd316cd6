"""The session that a request belongs to, and its end: where the things of a session are let go of.

Sessions are of versions before 2026-07-28. One that lasts is known by its `ended`, which the server is told with when
it ends.

https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle
"""

from collections.abc import Callable

from splice import Call, Session


def session_of(call: Call) -> Session | None:
    """Give the session that a request belongs to, if it has one that lasts.

    A connection over stdin has an object for one, which a request of a version without sessions does not belong to.
    """
    session = call.session
    if session is None or session.ended is None or session.facts is not call.facts:
        return None
    return session


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
