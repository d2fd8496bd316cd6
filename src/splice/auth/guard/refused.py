"""Why tokens are refused. The caller is not told, the log of the server is: some of each reason, however many come."""

import logging
from time import monotonic

from splice.auth.signed import Refused

TOLD = 3
"""How many tokens that are refused for one reason are told as warnings within a minute; the others are INFO."""

SECONDS = 60.0

log = logging.getLogger("splice.auth")


class Refusals:
    """Tells the log."""

    def __init__(self) -> None:
        self._told: dict[str, tuple[float, int]] = {}
        """By reason: when the minute began, and how many there were in it."""

    def tell(self, refused: Refused) -> None:
        """Log why a token was refused. Of the token itself nothing is shown."""
        now = monotonic()
        began, count = self._told.get(refused.reason, (now, 0))
        if now - began >= SECONDS:
            began, count = now, 0
        self._told[refused.reason] = began, count + 1
        more = "; more of these within a minute are logged as INFO" if count == TOLD - 1 else ""
        log.log(logging.WARNING if count < TOLD else logging.INFO, "refused a token: %s%s", refused, more)
