"""Size budgets. A breach is a design question, not a number to raise."""

import ast

import pytest

from guards.source import Source, sources

FILE_LINES = 400
FUNCTION_LINES = 40
COMPLEXITY = 10
CONSTRUCTOR_PARAMETERS = 6
CORE_CODE_LINES = 9_500
"""Without blank lines, comments and documentation."""
CORE = {"errors", "protocol", "rules", "schema", "transports", "server", "client"}

TREE = sources()

Function = ast.FunctionDef | ast.AsyncFunctionDef
FORKS = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
    ast.FunctionDef,
    ast.AsyncFunctionDef,
)


def lines(function: Function) -> int:
    """Lines from `def` to the last one, without the docstring."""
    assert function.end_lineno is not None
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    docstring = (first.end_lineno or 0) - first.lineno + 1 if is_docstring else 0
    return function.end_lineno - function.lineno + 1 - docstring


def complexity(function: Function) -> int:
    """McCabe's number: one, and one more for every place where the way forks."""
    forks = 1
    for node in ast.walk(function):
        forks += isinstance(node, FORKS) and node is not function
    return forks


@pytest.mark.parametrize("source", TREE, ids=lambda source: source.name)
def test_a_file_stays_readable(source: Source) -> None:
    assert len(source.text.splitlines()) <= FILE_LINES


@pytest.mark.parametrize("source", TREE, ids=lambda source: source.name)
def test_functions_stay_short_and_simple(source: Source) -> None:
    for function in source.functions():
        where = f"{source.name}:{function.lineno} {function.name}"
        assert lines(function) <= FUNCTION_LINES, f"{where} has {lines(function)} lines"
        assert complexity(function) <= COMPLEXITY, f"{where} has complexity {complexity(function)}"


@pytest.mark.parametrize("source", TREE, ids=lambda source: source.name)
def test_constructors_ask_for_little(source: Source) -> None:
    for function in source.functions():
        if function.name == "__init__":
            found = len(function.args.posonlyargs + function.args.args + function.args.kwonlyargs) - 1
            assert found <= CONSTRUCTOR_PARAMETERS, f"{source.name}:{function.lineno} takes {found}"


def test_the_core_stays_small() -> None:
    assert sum(source.code_lines for source in TREE if source.layer in CORE) < CORE_CODE_LINES
