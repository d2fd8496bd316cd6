"""Protocol versions are data: named and compared in `protocol/versions.py` only."""

import ast
import re
from collections.abc import Iterator

from guards.source import Source, sources
from splice.protocol.versions import VERSIONS

VERSION = re.compile("|".join(VERSIONS))
VERSION_NAME = re.compile(r"V20\d\d_\d\d_\d\d")
HOME = "protocol/versions.py"

TREE = [source for source in sources() if source.name != HOME]


def literals(source: Source) -> Iterator[tuple[int, str]]:
    prose = {found.constant for found in source.documentation()}
    for node in source.nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.lineno, node.value


def compared(source: Source) -> Iterator[tuple[int, str]]:
    for node in source.nodes:
        if isinstance(node, ast.Compare):
            yield from ((node.lineno, each.id) for each in ast.walk(node) if isinstance(each, ast.Name))


def test_no_version_is_written_out() -> None:
    found = [
        f"{source.name}:{line} {text!r}" for source in TREE for line, text in literals(source) if VERSION.search(text)
    ]
    assert found == []


def test_no_version_is_compared() -> None:
    found = [
        f"{source.name}:{line} {name}"
        for source in TREE
        for line, name in compared(source)
        if VERSION_NAME.fullmatch(name)
    ]
    assert found == [], "ask the facts table instead"
