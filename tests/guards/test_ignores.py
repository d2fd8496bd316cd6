"""Every silenced check names its code, a silenced type checker also a reason, and there are few of them."""

import re
import tokenize

import pytest

from guards.source import Source, sources

SILENCED = re.compile(r"(type:\s*ignore|pyright:\s*ignore|noqa|pragma:\s*no)\b")
REASONED = re.compile(
    r"# noqa: [A-Z]+\d+"
    r"|# (type: ignore\[[a-z-]+(, ?[a-z-]+)*\]|pyright: ignore\[\w+(, ?\w+)*\]|pragma: no (cover|branch))"
    r"\s+(# |- )?\S.{9,}"
)
MOST = {"type": 12, "noqa": 50, "pragma": 10}
"""How many of each kind are bearable."""

TREE = sources()


def silenced(source: Source) -> list[tuple[int, str]]:
    """Line and text of each comment that silences a check."""
    comments = [token for token in source.tokens if token.type == tokenize.COMMENT]
    return [(token.start[0], token.string) for token in comments if SILENCED.search(token.string)]


def test_a_silenced_check_names_its_code_and_reason() -> None:
    found = [
        f"{source.name}:{line}: {comment}"
        for source in TREE
        for line, comment in silenced(source)
        if REASONED.search(comment) is None
    ]
    assert found == [], "name the code and say why"


@pytest.mark.parametrize(("kind", "most"), MOST.items())
def test_few_checks_are_silenced(kind: str, most: int) -> None:
    comments = [comment for source in TREE for _, comment in silenced(source)]
    assert sum(kind in comment or (kind == "type" and "pyright" in comment) for comment in comments) <= most
