"""No test judges how long something took: machines may be slow. Clocks only bound a wait, or measure for a person.

What must be quick gets an input so large that anything slower takes longer than any test may; what must not wait for
something is shown where that never comes.
"""

import ast
import re
from pathlib import Path

import pytest

from guards.source import ROOT
from support.tables import rows

CLOCKS = {"time", "monotonic", "perf_counter", "process_time"}
CLOCKS |= {f"{name}_ns" for name in CLOCKS}
ROUND = {"abs", "max", "min", "round", "sum"}
"""Of spans they make spans."""
PAGE_CLOCK = "performance.now"
READ = re.compile(rf"\b(?:{'|'.join(CLOCKS)})\(\)|{re.escape(PAGE_CLOCK)}")
MEASURING = ("bench", "fuzz", "soak")
TESTS = ROOT / "tests"


def judged(source: str) -> set[int]:
    """Find the assertions that compare a span of time, and the scripts that read the clock of a page."""
    if READ.search(source) is None:
        return set()
    tree = ast.parse(source)
    found = {
        node.lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and PAGE_CLOCK in node.value
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found |= Spans(node).asserted()
    return found


class Spans:
    """The names of a function that hold times read from a clock, and those that hold differences of them."""

    def __init__(self, function: ast.AST) -> None:
        self._function = function
        self._times, self._spans = set[str](), set[str]()
        known = -1
        while known != (known := len(self._times) + len(self._spans)):
            for node in ast.walk(function):
                self._learn(node)

    def asserted(self) -> set[int]:
        return {
            node.lineno
            for node in ast.walk(self._function)
            if isinstance(node, ast.Assert)
            for each in ast.walk(node.test)
            if isinstance(each, ast.Compare) and any(map(self._is_span, (each.left, *each.comparators)))
        }

    def _learn(self, node: ast.AST) -> None:
        targets: list[ast.expr]
        match node:
            case ast.Assign(targets=targets, value=value):
                pass
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                targets = [target]
            case ast.Call(func=ast.Attribute(value=target, attr="append"), args=[value]):
                targets = [target]
            case _:
                return
        for each in targets:
            if isinstance(each, ast.Tuple) and isinstance(value, ast.Tuple) and len(each.elts) == len(value.elts):
                for one, its in zip(each.elts, value.elts, strict=True):
                    self._keep(one, its)
            else:
                self._keep(each, value)

    def _keep(self, target: ast.expr, value: ast.expr) -> None:
        names = {each.id for each in ast.walk(target) if isinstance(each, ast.Name)}
        if self._is_span(value):
            self._spans |= names
        elif self._is_time(value):
            self._times |= names

    def _is_time(self, node: ast.expr) -> bool:
        match node:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name), args=[]):
                return name in CLOCKS
            case ast.Name(id=name):
                return name in self._times
            case ast.Subscript(value=inner):
                return self._is_time(inner)
            case _:
                return False

    def _is_span(self, node: ast.expr) -> bool:
        match node:
            case ast.BinOp(left=left, op=ast.Sub(), right=right) if self._is_time(left) or self._is_time(right):
                return True
            case ast.BinOp(left=left, right=right):
                return self._is_span(left) or self._is_span(right)
            case ast.Call(func=ast.Name(id=name), args=args):
                return name in ROUND and any(map(self._is_span, args))
            case ast.Name(id=name):
                return name in self._spans
            case _:
                return False


def test_no_assertion_is_over_measured_time() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in sorted(TESTS.rglob("*.py"))
        if path.relative_to(TESTS).parts[0] not in MEASURING and path != Path(__file__)
        for line in sorted(judged(path.read_text(encoding="utf-8")))
    ]
    assert found == [], "say it by order, by counting, or by an input that only the right way takes in time"


@rows(
    "code",
    [
        "b = time.monotonic()\n x()\n assert time.monotonic() - b < 1",
        "b = perf_counter()\n took = perf_counter() - b\n assert took < 0.5, 'slow'",
        "a, b = 1, time.process_time()\n assert 0 < round(time.process_time() - b, 2) <= 1",
        "t = []\n t.append(loop.time())\n x, y = t\n assert y - x > 0.2",
        "s = 0.0\n b = clock.time()\n s = max(s, clock.time() - b)\n assert s * 1000 < 1",
        "assert abs(item.at - time.time()) < 60",
        "took = page.evaluate('() => performance.now()')",
    ],
)
def test_the_guard_sees_each_way_to_judge_time(code: str) -> None:
    assert judged(f"def test():\n {code}\n")


@pytest.mark.parametrize(
    "code",
    [
        "end = time.monotonic() + 5\n while time.monotonic() < end:\n  x()",
        "end = time.monotonic() + 5\n assert time.monotonic() < end, 'nothing came'",
        "assert token(exp=time.time() - 1) == 'expired'",
        "b = time.time()\n waits.append(time.time() - b)\n assert len(waits) == 3",
    ],
)
def test_the_guard_leaves_bounds_of_waits_alone(code: str) -> None:
    assert not judged(f"def test():\n {code}\n")
