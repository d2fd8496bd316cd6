"""What `splice login` kept, used by the host and by each command that connects to a URL. None of them asks the user."""

import shlex
from collections.abc import Callable
from typing import ClassVar

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.code import MAX_SCOPE_CHARACTERS, OAuth
from splice.auth.login.discovery import Needed
from splice.auth.login.keeping import FileTokens
from splice.auth.login.kept import Grant, Kept
from splice.auth.login.steps import Flow


class KeptLogin:
    """Authorizes by what is kept, and refreshes that; says what to do when that is not enough.

    `command` is what the user may type to log in; `on_needed` is called whenever that has to be done.
    """

    interactive: ClassVar[bool] = False

    def __init__(self, command: str, on_needed: Callable[[], None] | None = None) -> None:
        self.tokens = FileTokens()
        self._on_needed = on_needed
        self._command = command

    def obtain(self, request: Needed, kept: Kept) -> Flow[Kept]:
        """Refresh a login. Raises `AuthorizationFailed` when there is none, and when the user has to be asked."""
        try:
            return (yield from self._obtain(request, kept))
        except AuthorizationFailed:
            if self._on_needed is not None:
                self._on_needed()
            raise

    def _obtain(self, request: Needed, kept: Kept) -> Flow[Kept]:
        if kept.grant is None:
            how = f"`{self._command}` does that, or give a token as --header 'Authorization: Bearer ...'"
            raise AuthorizationFailed(f"it wants a login: {how}", status=request.status)
        if request.status == 403:
            self._check_scopes(request, kept.grant, kept.asked)
        try:
            return (yield from OAuth().obtain(request, kept))
        except AuthorizationFailed as error:
            if request.status == 403:  # no login mends that
                raise
            again = f"{error}. Log in again: `{self._command}`"
            raise AuthorizationFailed(again, code=error.code, status=request.status) from error

    def _check_scopes(self, request: Needed, grant: Grant, asked: tuple[str, ...]) -> None:
        """Raise `AuthorizationFailed` if the login lacks scopes. The server named them, and a shell may read them."""
        named = () if request.challenge is None else request.challenge.scopes
        lacking = [shlex.quote(each) for each in named if each not in grant.scopes]
        if not lacking:
            return
        told = f"needs the scope{'s' if len(lacking) > 1 else ''} {' '.join(lacking)}"
        if sum(map(len, lacking)) > MAX_SCOPE_CHARACTERS:
            told = f"it wants more scopes than fit into a URL: {len(lacking)} that the login has not"
        elif set(named) <= {*grant.scopes, *asked}:
            told += ", which the login asked for and did not get: this user may not do that"
        else:
            told += f": {self._command}{''.join(f' --scope {each}' for each in lacking)}"
        raise AuthorizationFailed(told, code="insufficient_scope", status=request.status)
