"""What goes wrong when a client is to be authorized."""

from splice.errors import HTTPRefused


class AuthorizationFailed(HTTPRefused):
    """A client got no token, or the server would not take it. The message says why, and what to do, without secrets."""

    may_have_run = False

    def __init__(self, message: str, *, code: str | None = None, status: int = 401) -> None:
        super().__init__(message, status)
        self.code = code
        """The `error` that an authorization server named, such as ``invalid_grant``."""
