"""Requirement numbers in tests are in the table; what is ours in the table is shown by a test or has a reason."""

import pytest

from guards.requirements import PAGE, TABLE, named, page

FIELDS = {"in", "must", "who", "says", "page"}
STRENGTHS = {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT"}


def shown() -> set[str]:
    return {each.number for each in named()}


def test_tests_name_requirements() -> None:
    assert len(shown()) > 100


def test_every_number_in_a_test_is_in_the_table() -> None:
    assert not [f"{each.path}:{each.line}: {each.number}" for each in named() if each.number not in TABLE]


def test_every_number_in_a_test_is_ours() -> None:
    assert not sorted(number for number in shown() if not TABLE[number].get("ours"))


def test_what_is_ours_is_shown_by_a_test_or_has_a_reason() -> None:
    tested, ours = shown(), {number: row for number, row in TABLE.items() if row.get("ours")}
    assert not [
        f"{number}: {row['says']}" for number, row in ours.items() if number not in tested and not row.get("left")
    ]


@pytest.mark.parametrize("field", sorted(FIELDS))
def test_rows_are_whole(field: str) -> None:
    assert not [number for number, row in TABLE.items() if not row.get(field)]


def test_rows_have_nothing_else() -> None:
    assert not [number for number, row in TABLE.items() if row.keys() - FIELDS - {"ours", "left"}]
    assert {row["must"] for row in TABLE.values()} == STRENGTHS
    assert not [number for number, row in TABLE.items() if row.get("left") and not row.get("ours")]


def test_numbers_go_up_without_a_gap() -> None:
    assert list(TABLE) == [str(number) for number in range(1, len(TABLE) + 1)]


def test_the_page_is_up_to_date() -> None:
    assert PAGE.read_text() == page(), "docs/requirements.md is out of date: run `make requirements`"


def test_every_mark_stands_at_a_test() -> None:
    """What stands elsewhere would be told by its file only."""
    assert not [f"{each.path}:{each.line}" for each in named() if each.test is None]
