"""Requirement numbers in tests are in the table; what is ours in the table is shown by a test or has a reason."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from guards.source import ROOT

TESTS = ROOT / "tests"
TABLE = tomllib.loads((TESTS / "requirements.toml").read_text())
FIELDS = {"in", "must", "who", "says", "page"}
STRENGTHS = {"MUST", "MUST NOT", "SHOULD", "SHOULD NOT"}


def marked(path: Path) -> Iterator[tuple[object, str]]:
    """Find the numbers that the tests of a file name, and where."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
            for number in node.args:
                value = number.value if isinstance(number, ast.Constant) else ast.unparse(number)
                yield value, f"{path.relative_to(ROOT)}:{node.lineno}"


NAMED = [each for path in sorted(TESTS.rglob("test_*.py")) for each in marked(path)]
SHOWN = {str(number) for number, _ in NAMED}


def test_tests_name_requirements() -> None:
    assert len(SHOWN) > 100


def test_every_number_in_a_test_is_in_the_table() -> None:
    assert not [f"{where}: {number}" for number, where in NAMED if str(number) not in TABLE]


def test_every_number_in_a_test_is_ours() -> None:
    assert not sorted(number for number in SHOWN if not TABLE[number].get("ours"))


def test_what_is_ours_is_shown_by_a_test_or_has_a_reason() -> None:
    ours = {number: row for number, row in TABLE.items() if row.get("ours")}
    assert not [
        f"{number}: {row['says']}" for number, row in ours.items() if number not in SHOWN and not row.get("left")
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
