"""The redirect that ends a login: check that it answers our question, and take the code out of it.

Until that is certain nothing of it is used or shown. The order matters: `state`, then `iss`, then an error or the code.

https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization#authorization-response-validation
https://www.rfc-editor.org/rfc/rfc9207#section-2.4
"""

import hmac

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.discovery import Found
from splice.auth.login.steps import Redirect
from splice.auth.login.urls import error_code, shown

MAX_CODE = 8192
"""Characters of a code."""


def code_of(redirect: Redirect, state: str, found: Found) -> str:
    """Return the authorization code that a redirect brings. Raises `AuthorizationFailed`."""
    _check_state(redirect, state)
    _check_issuer(redirect, found)
    where = shown(found.issuer)
    errors = _values(redirect, "error")
    if errors:
        told = ", ".join(shown(each) for each in (errors[0], *_values(redirect, "error_description")[:1]) if each)
        declined = ": the user, or the server, declined" if errors[0] == "access_denied" else ""
        raise AuthorizationFailed(f"{where} granted nothing{declined} ({told})", code=error_code(errors[0]))
    codes = _values(redirect, "code")
    if len(codes) != 1 or not 0 < len(codes[0]) <= MAX_CODE:
        raise AuthorizationFailed(f"{where} sent the browser back without a code, or with several: log in again")
    return codes[0]


def _check_state(redirect: Redirect, state: str) -> None:
    given = _values(redirect, "state")
    if len(given) != 1 or not hmac.compare_digest(given[0].encode("utf-8", "replace"), state.encode()):
        raise AuthorizationFailed(
            "The browser came back with another login than the one that was begun (state does not match). Log in"
            " again, and only in the window that opens"
        )


def _check_issuer(redirect: Redirect, found: Found) -> None:
    """Compare `iss` by its characters: a slash more, and it is another server."""
    given = _values(redirect, "iss")
    where = shown(found.issuer)
    if not given:
        if found.metadata.authorization_response_iss_parameter_supported:
            raise AuthorizationFailed(
                f"The browser did not come back from {where}, which promises to name itself then (iss)"
            )
    elif given != [found.metadata.issuer]:
        raise AuthorizationFailed(
            f"The browser did not come back from {where}, but from {', '.join(map(shown, given[:2]))} (iss). The answer"
            " of another server is not used"
        )


def _values(redirect: Redirect, name: str) -> list[str]:
    return [value for key, value in redirect if key == name]
