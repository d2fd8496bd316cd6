"""The table of faults that others had: every test it names exists, and no row is left out."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "design" / "security.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`([\w/]+\.py)::(test_\w+)`")


def rows(title: str) -> list[str]:
    section = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    return [line for line in section.splitlines() if re.match(r"\| ([ACES]-)?\d", line)]


def test_every_test_in_the_table_exists() -> None:
    missing = [
        f"{path}::{name}"
        for path, name in NAMED.findall(PAGE)
        if not re.search(rf"^(async )?def {name}\(", _text(path), re.MULTILINE)
    ]
    assert not missing


def test_every_row_names_a_test_or_says_when() -> None:
    for row in rows("Advisories") + rows("Reliability"):
        assert NAMED.search(row) or "| later" in row, row
    for row in rows("Authorization"):
        assert NAMED.search(row), row
    told = [re.findall(r"\w-\d", row)[0] for row in rows("Authorization")]
    assert told == [*(f"A-{n}" for n in range(1, 8)), *(f"C-{n}" for n in range(1, 9)), "S-1", "S-2", "S-3", "E-1"]
    assert [int(re.findall(r"\d+", row)[0]) for row in rows("Reliability")] == list(range(1, 41))


def _text(path: str) -> str:
    file = ROOT / "tests" / path
    return file.read_text(encoding="utf-8") if file.exists() else ""
