"""The table of requirements, the tests that name them, and the page that shows both: `docs/requirements.md`.

`make requirements` writes the page; `test_requirements.py` says when it is out of date.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from guards.source import ROOT

TESTS = ROOT / "tests"
SOURCE = TESTS / "requirements.toml"
PAGE = ROOT / "docs" / "requirements.md"

TABLE: dict[str, dict[str, Any]] = tomllib.loads(SOURCE.read_text())

_CHAPTER = re.compile(r"# (\d+ .+)")
_ROW = re.compile(r"(\d+) = ")
_CODE = re.compile(r"(`[^`]*`)")

_INTRODUCTION = """\
# Requirements

<!-- Written by `make requirements` from tests/requirements.toml and the marks of the tests. Do not edit. -->

What the specification demands of servers, clients and what lies between, numbered, in our own words, with the tests
that show it to hold (`@pytest.mark.requirement(67)`). Numbers are never used again. Where no test can show it, or
something is missing, the row says so; *open* is what no test names, and nobody has given a reason for.

| level | in all | shown by a test | not tested, with a reason | open |
|---|---|---|---|---|
"""


class Named(NamedTuple):
    """A place where a test names a requirement."""

    number: str
    path: str
    line: int
    test: str | None
    """The function; None for a mark that stands outside of one."""


def named_in(path: Path) -> Iterator[Named]:
    """Find the requirements that the tests of a file name."""
    text = path.read_text()
    if "requirement" not in text:
        return
    nodes, where = list(ast.walk(ast.parse(text))), path.relative_to(TESTS).as_posix()
    inside = {
        id(node): function.name
        for function in nodes
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        for decorator in function.decorator_list
        for node in ast.walk(decorator)
    }
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requirement":
            for argument in node.args:
                number = str(argument.value) if isinstance(argument, ast.Constant) else ast.unparse(argument)
                yield Named(number, where, node.lineno, inside.get(id(node)))


@cache
def named() -> list[Named]:
    """Find all of them. It takes a second."""
    return [each for path in sorted(TESTS.rglob("test_*.py")) for each in named_in(path)]


def page() -> str:
    """Write the page."""
    tests: dict[str, list[str]] = {}
    for each in named():
        name = each.path if each.test is None else f"{each.path}::{each.test}"
        if name not in tests.setdefault(each.number, []):
            tests[each.number].append(name)
    return "\n".join([_INTRODUCTION.rstrip("\n"), *_counts(tests), *_chapters(tests), ""])


def _counts(tests: dict[str, list[str]]) -> Iterator[str]:
    for level in ("MUST", "MUST NOT", "SHOULD", "SHOULD NOT"):
        rows = {number: row for number, row in TABLE.items() if row["must"] == level}
        shown = sum(number in tests for number in rows)
        reasoned = sum(number not in tests and bool(row.get("left")) for number, row in rows.items())
        yield f"| {level} | {len(rows)} | {shown} | {reasoned} | {len(rows) - shown - reasoned} |"


def _chapters(tests: dict[str, list[str]]) -> Iterator[str]:
    for line in SOURCE.read_text().splitlines():
        if chapter := _CHAPTER.fullmatch(line):
            yield f"\n## {chapter[1]}\n\n| | level | who | what | tests |\n|---|---|---|---|---|"
        elif row := _ROW.match(line):
            yield _line(row[1], TABLE[row[1]], tests.get(row[1], []))


def _line(number: str, row: dict[str, Any], tests: list[str]) -> str:
    shown = [f"`{name}`" for name in tests]
    if left := row.get("left"):
        shown.append(f"*{'but' if tests else 'not tested'}:* {_cell(left)}")
    return f"| {number} | {row['must']} | {row['who']} | {_cell(row['says'])} | {'<br>'.join(shown) or '*open*'} |"


def _cell(text: str) -> str:
    """Write text so that Markdown shows it as it is; what stands in backticks is shown so anyway."""
    parts = _CODE.split(text.replace("|", "\\|"))
    return "".join(part if part.startswith("`") else re.sub(r"([<*_\[])", r"\\\1", part) for part in parts)


if __name__ == "__main__":
    PAGE.write_text(page())
