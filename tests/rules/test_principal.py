"""Tests of `splice.rules.principal`."""

from msgspec.structs import replace

from splice.rules.principal import Principal


def test_who_somebody_is_does_not_depend_on_the_token() -> None:
    first = Principal(
        subject="ada", issuer="https://as.example", client="shop", scopes=frozenset({"read"}), expires=1.0
    )
    again = Principal(subject="ada", issuer="https://as.example", client="shop")
    assert first == again
    assert not first != again  # noqa: SIM202 - a Struct has an operator of its own for that
    assert hash(first) == hash(again)
    for name in ("subject", "issuer", "client"):
        other = replace(again, **{name: "else"})
        assert other != again
        assert not other == again  # noqa: SIM201 - as above


def test_names_that_run_together_are_not_the_same() -> None:
    assert Principal(subject='a", "b', client="c") != Principal(subject="a", client='b", "c')
    assert Principal(subject="a") != "a"
