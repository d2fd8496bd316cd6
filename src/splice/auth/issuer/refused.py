"""An OAuth request that is refused, as its sender is told.

RFC 6749 section 5.2: the JSON object with `error` and `error_description`.
"""

from collections.abc import Sequence


class Refused(Exception):
    """A request is refused. Everything in it is for the sender to see: no secret, nothing of anybody else.

    `code` is the `error` of OAuth, such as ``invalid_grant``; `status` and `headers` are those of the HTTP response.
    """

    def __init__(
        self, code: str, description: str, *, status: int = 400, headers: Sequence[tuple[str, str]] = ()
    ) -> None:
        super().__init__(description)
        self.code = code
        self.description = description
        self.status = status
        self.headers = tuple(headers)
