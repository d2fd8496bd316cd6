"""Protocol versions are data: named and compared in `protocol/versions.py` only."""

import ast
import re
from collections.abc import Iterator

import pytest

from guards.source import Source, sources
from splice.protocol.versions import VERSIONS

VERSION = re.compile("|".join(VERSIONS))
VERSION_NAME = re.compile(r"V20\d\d_\d\d_\d\d")
HOME = "protocol/versions.py"

TREE = [source for source in sources() if source.name != HOME]


def literals(source: Source) -> Iterator[tuple[int, str]]:
    prose = {found.constant for found in source.documentation()}
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.lineno, node.value


@pytest.mark.parametrize("source", TREE, ids=lambda source: source.name)
def test_no_version_is_written_out(source: Source) -> None:
    found = [f"{source.name}:{line} {text!r}" for line, text in literals(source) if VERSION.search(text)]
    assert found == []


@pytest.mark.parametrize("source", TREE, ids=lambda source: source.name)
def test_no_version_is_compared(source: Source) -> None:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Compare):
            names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
            compared = sorted(name for name in names if VERSION_NAME.fullmatch(name))
            assert compared == [], f"{source.name}:{node.lineno}: ask the facts table instead"
