"""No name outside `rules/` speaks of an era: code asks a fact of the version, or a verb of the era.

Only identifiers count, not prose: names, attributes, arguments, definitions and imports.
"""

import ast
import re
from collections.abc import Iterable, Iterator

import pytest

from guards.source import sources
from support.tables import rows

ERA = re.compile("modern|legacy|request_meta|MODERN|LEGACY|HANDSHAKE_VERSIONS|MODERN_VERSIONS")
HOMES = ("rules/", "protocol/versions.py")

TREE = [source for source in sources() if not source.name.startswith(HOMES)]


def identifiers(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    """Find every name that a module defines or uses."""
    for node in nodes:
        line = getattr(node, "lineno", 0)
        for name in names_of(node):
            yield line, name


def names_of(node: ast.AST) -> list[str]:
    match node:
        case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
            found = [name]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            found = [name]
        case ast.alias(name=name, asname=other):
            found = [name, other or ""]
        case ast.keyword(arg=name) | ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            found = [name or ""]
        case ast.ImportFrom(module=module):
            found = [module or ""]
        case ast.Global(names=names) | ast.Nonlocal(names=names):
            found = names
        case _:
            found = []
    return found


def test_no_name_speaks_of_an_era() -> None:
    found = [
        f"{source.name}:{line} {name}"
        for source in TREE
        for line, name in identifiers(source.nodes)
        if ERA.search(name)
    ]
    assert found == [], "ask a fact (`facts.mirrored_headers`) or a verb, or name it by what it does"


@rows(
    "code",
    [
        *("is_modern = 1", "a.legacy", "def f(modern): ...", "class Legacy1: legacy = 2", "f(request_meta=1)"),
        *(
            "from a import MODERN",
            "import x.legacy",
            "from b import c as MODERN_VERSIONS",
            "async def ask_legacy(): ...",
        ),
        *("from splice.modern import a", "def f():\n global legacy", "lambda modern: 1", "match x:\n case modern: ..."),
    ],
)
def test_the_guard_sees_names_of_every_kind(code: str) -> None:
    assert [name for _, name in identifiers(ast.walk(ast.parse(code))) if ERA.search(name)]


@pytest.mark.parametrize(
    "code", ['"modern"', "# legacy", 'def f():\n "The legacy era."', "Modern", "facts.mirrored_headers"]
)
def test_the_guard_leaves_prose_alone(code: str) -> None:
    assert not [name for _, name in identifiers(ast.walk(ast.parse(code))) if ERA.search(name)]
