"""Names that somebody may have meant."""

from splice.schema.near import meant


def test_near_names_are_told_and_others_are_not() -> None:
    assert meant("sttats", ["stats", "echo"]) == ". Did you mean 'stats'?"
    assert meant("stat1", ["stat2", "stat3", "stat4", "stat5"]).count("or") == 2
    assert meant("zzz", ["stats", "echo"]) == ""
    assert meant("a", []) == ""
    assert meant("stats" * 1_000_000, ["stats"]) == ""
