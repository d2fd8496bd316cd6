"""The source tree, parsed once, for the guards."""

import ast
import io
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src"
PACKAGE = SRC / "splice"


@dataclass(frozen=True)
class Import:
    """One import statement's target inside a module."""

    module: str
    line: int
    typing_only: bool
    local: bool
    """Inside a function."""


class Prose(NamedTuple):
    """A string that only people read."""

    constant: ast.Constant
    lineno: int
    last: int


@dataclass(frozen=True)
class Source:
    """One Python file of the package."""

    path: Path

    @property
    def name(self) -> str:
        """The path below `src/splice`, as the guards print it."""
        return self.path.relative_to(PACKAGE).as_posix()

    @property
    def module(self) -> str:
        parts = self.path.relative_to(SRC).with_suffix("").parts
        return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)

    @property
    def layer(self) -> str:
        """The first name below `splice`: a package, a module such as `errors`, or nothing for the top itself."""
        parts = self.module.split(".")
        return parts[1] if len(parts) > 1 else ""

    @cached_property
    def text(self) -> str:
        return self.path.read_text()

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.text, filename=str(self.path))

    @cached_property
    def tokens(self) -> list[tokenize.TokenInfo]:
        return list(tokenize.generate_tokens(io.StringIO(self.text).readline))

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree: walking it anew for each guard takes longer than the guards."""
        return list(ast.walk(self.tree))

    @cached_property
    def code_lines(self) -> int:
        """How many lines hold code: not blank, not comment, not documentation."""
        silent = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
        code = {
            line
            for token in self.tokens
            if token.type not in silent
            for line in range(token.start[0], token.end[0] + 1)
        }
        return len(code - {line for node in self.documentation() for line in range(node.lineno, node.last + 1)})

    def documentation(self) -> Iterator[Prose]:
        """Find the strings that are statements of their own: docstrings, and the ones below attributes."""
        for node in self.nodes:
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
                yield Prose(node.value, node.lineno, node.end_lineno or node.lineno)

    @cached_property
    def _found(self) -> list[Import]:
        return list(_imports(self.tree.body, typing_only=False, local=False))

    def imports(self) -> list[Import]:
        """Find all imports, wherever they stand."""
        return self._found

    def functions(self) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node


@cache
def sources() -> list[Source]:
    """Every Python file of the package: the same objects for all guards, as reading them takes a second."""
    return [Source(path) for path in sorted(PACKAGE.rglob("*.py"))]


def _lines_of(spans: list[tuple[int, int]]) -> set[int]:
    return {line for first, last in spans for line in range(first, last + 1)}


def _imports(nodes: list[ast.stmt], *, typing_only: bool, local: bool) -> Iterator[Import]:
    for node in nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield Import(alias.name, node.lineno, typing_only, local)
        elif isinstance(node, ast.ImportFrom):
            yield from _imports_from(node, typing_only=typing_only, local=local)
        else:
            guarded = typing_only or (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test))
            inside = local or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            for block in _blocks(node):
                yield from _imports(block, typing_only=guarded, local=inside)


def _imports_from(node: ast.ImportFrom, *, typing_only: bool, local: bool) -> Iterator[Import]:
    assert node.level == 0, f"line {node.lineno}: imports are absolute here"
    assert node.module is not None
    parent = SRC.joinpath(*node.module.split("."))
    for alias in node.names:
        is_module = (parent / f"{alias.name}.py").exists() or (parent / alias.name / "__init__.py").exists()
        module = f"{node.module}.{alias.name}" if is_module else node.module
        yield Import(module, node.lineno, typing_only, local)


def _blocks(node: ast.AST) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        block = getattr(node, field, None)
        if isinstance(block, list):
            yield block
    for field in ("handlers", "cases"):
        for child in getattr(node, field, ()):
            yield child.body
