"""Shells complete the words of `splice`."""

import pytest

from cli.conftest import Splice, splice_process
from splice.cli.commands import COMMANDS
from splice.cli.completion import SHELLS
from splice.cli.outcomes import OK, USAGE


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script(splice: Splice, monkeypatch: pytest.MonkeyPatch, shell: str) -> None:
    done = splice("completion", shell)
    assert done.code == OK
    assert f"_SPLICE_COMPLETE={shell}_complete" in done.out
    monkeypatch.setenv("_SPLICE_COMPLETE", f"{shell}_source")
    assert splice().out == done.out


@pytest.mark.parametrize(
    ("words", "position", "found"),
    [
        ("splice ", 1, [f"plain,{name}" for name in COMMANDS]),
        ("splice ca", 1, ["plain,call"]),
        ("splice call --pro", 2, ["plain,--protocol"]),
        ("splice call --protocol leg", 3, ["plain,legacy"]),
        ("splice call serv", 2, ["file,serv"]),
        ("splice run serv", 2, ["file,serv"]),
        ("splice doctor serv", 2, ["file,serv"]),
        ("splice doctor --js", 2, ["plain,--json"]),
        ("splice install s --to cur", 4, ["plain,cursor"]),
        ("splice nope x", 2, []),
    ],
)
def test_words_are_completed(
    splice: Splice, monkeypatch: pytest.MonkeyPatch, words: str, position: int, found: list[str]
) -> None:
    monkeypatch.setenv("_SPLICE_COMPLETE", "bash_complete")
    monkeypatch.setenv("COMP_WORDS", words)
    monkeypatch.setenv("COMP_CWORD", str(position))
    assert splice().out.split() == found


def test_a_shell_that_is_not_known(splice: Splice) -> None:
    assert splice("completion", "cmd").code == USAGE
    assert b"Invalid value" in splice_process("completion", "cmd").stderr
