"""An absent field is None: msgspec's second word for it occurs nowhere."""

import io
import tokenize

import pytest

from guards.source import Source, sources

NOT_USED = {"UNSET", "UnsetType"}


@pytest.mark.parametrize("source", sources(), ids=lambda source: source.name)
def test_nothing_is_unset(source: Source) -> None:
    tokens = tokenize.generate_tokens(io.StringIO(source.text).readline)
    found = [f"{source.name}:{token.start[0]}" for token in tokens if token.string in NOT_USED]
    assert found == [], "a field that may be absent is `... | None = None`"
