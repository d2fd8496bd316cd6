"""The documentation tells the truth: each snippet runs, each public name is explained.

What the runner does with a page is written down in CONTRIBUTING.md, and done in `guards/snippets.py`.
"""

import re
from pathlib import Path

import pytest

import splice
from guards.snippets import play
from guards.source import ROOT
from support.tables import rows

DOCS = sorted((ROOT / "docs").rglob("*.md"))
PAGES = [ROOT / "README.md", *DOCS]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
@pytest.mark.timeout(180)
def test_the_snippets_of_a_page_run(page: Path, tmp_path: Path) -> None:
    play(page, tmp_path)


@rows("name", splice.__all__)
def test_a_public_name_is_documented(name: str) -> None:
    assert any(re.search(rf"\b{name}\b", page.read_text()) for page in DOCS)
