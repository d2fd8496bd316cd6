"""The HTTP status of an error response."""

import pytest

from splice.errors import HeaderMismatch
from splice.rules.http.status import Refusal, status_of


@pytest.mark.parametrize(
    ("code", "status"),
    [
        *((code, 400) for code in (-32700, -32600, -32602, -32020, -32021, -32022)),
        (-32601, 404),
        *((code, 200) for code in (-32603, -32002, -1, 7)),
    ],
)
def test_the_status_follows_the_error(code: int, status: int) -> None:
    assert status_of(code) == status


def test_a_refusal_carries_the_answer() -> None:
    refusal = Refusal(400, HeaderMismatch("no"), [(b"allow", b"POST")])
    assert (refusal.status, refusal.error.code, list(refusal.headers)) == (400, -32020, [(b"allow", b"POST")])
    assert str(refusal) == "no"
