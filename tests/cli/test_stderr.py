"""What a server wrote to stderr, and what of it belongs to a failure."""

import pytest

from splice.cli.stderr import SHOWN_LINES, Stderr

LOG = b"starting\ntool boom failed (reference 0badcafe)\nTraceback\nKeyError: \x1b\n"


@pytest.mark.parametrize(
    ("message", "about"),
    [
        (
            "it failed: KeyError (reference 0badcafe)",
            "tool boom failed (reference 0badcafe)\nTraceback\nKeyError: \\x1b",
        ),
        (
            "it failed (reference 00000000)",
            "starting\ntool boom failed (reference 0badcafe)\nTraceback\nKeyError: \\x1b",
        ),
        ("lost; the last: KeyError: \\x1b", ""),
    ],
)
def test_what_belongs_to_a_failure(message: str, about: str) -> None:
    stderr = Stderr()
    stderr(LOG)
    assert stderr.about(message) == about


def test_only_the_end_is_shown_and_nothing_of_nothing() -> None:
    stderr = Stderr()
    assert stderr.about("it failed") == ""
    for number in range(100_000):
        stderr(b"%d\n" % number)
    assert stderr.about("it failed").splitlines() == [str(each) for each in range(100_000 - SHOWN_LINES, 100_000)]


def test_live_each_line_is_shown_as_it_comes(capsys: pytest.CaptureFixture[str]) -> None:
    stderr = Stderr(live=True)
    stderr(b"a\x1b\nb")
    assert capsys.readouterr().err == "a\\x1b\n"
    stderr(b"c\n")
    assert capsys.readouterr().err == "bc\n"
    assert stderr.about("it failed") == ""


def test_the_complaint_of_a_splice_that_ended() -> None:
    stderr = Stderr()
    assert stderr.complaint() is None
    stderr(b"loading\nsplice: no such name\n")
    assert stderr.complaint() == "no such name"
