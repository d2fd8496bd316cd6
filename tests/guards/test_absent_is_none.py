"""An absent field is None: msgspec's second word for it occurs nowhere."""

from guards.source import sources

NOT_USED = {"UNSET", "UnsetType"}


def test_nothing_is_unset() -> None:
    found = [
        f"{source.name}:{token.start[0]}"
        for source in sources()
        if any(name in source.text for name in NOT_USED)
        for token in source.tokens
        if token.string in NOT_USED
    ]
    assert found == [], "a field that may be absent is `... | None = None`"
