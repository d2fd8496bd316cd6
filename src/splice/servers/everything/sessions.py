"""The running request, for what a `Context` does not tell: its session, and what its version has."""

from contextvars import ContextVar
from typing import Any

from splice import Answer, Call, Session
from splice.servers.sessions import session_of

_here: ContextVar[Call] = ContextVar("call")


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
