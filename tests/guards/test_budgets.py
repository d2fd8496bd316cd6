"""Size budgets. A breach is a design question, not a number to raise."""

import ast
from functools import cache

from guards.source import sources

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


def parameters(function: Function) -> int:
    return len(function.args.posonlyargs + function.args.args + function.args.kwonlyargs) - 1


@cache
def functions() -> dict[str, Function]:
    """Find all functions, by where they are."""
    return {
        f"{source.name}:{function.lineno} {function.name}": function
        for source in TREE
        for function in source.functions()
    }


def test_a_file_stays_readable() -> None:
    assert {source.name for source in TREE if len(source.text.splitlines()) > FILE_LINES} == set()


def test_functions_stay_short() -> None:
    assert {where for where, function in functions().items() if lines(function) > FUNCTION_LINES} == set()


def test_functions_stay_simple() -> None:
    assert {where for where, function in functions().items() if complexity(function) > COMPLEXITY} == set()


def test_constructors_ask_for_little() -> None:
    constructors = {where: function for where, function in functions().items() if function.name == "__init__"}
    assert {where for where, each in constructors.items() if parameters(each) > CONSTRUCTOR_PARAMETERS} == set()


def test_the_core_stays_small() -> None:
    assert sum(source.code_lines for source in TREE if source.layer in CORE) < CORE_CODE_LINES
