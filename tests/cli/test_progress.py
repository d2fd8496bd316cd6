"""Progress of a call, on a terminal and elsewhere."""

import io

from splice.cli.progress import CLEAR, ProgressLine


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_elsewhere_each_report_has_its_line() -> None:
    stream = io.StringIO()
    with ProgressLine(stream) as progress:
        progress(1, None, None)
        progress(1.5, 3, "half\nway \x1b")
    assert stream.getvalue() == "1\n1.5/3 (50%) half way \\x1b\n"


def test_on_a_terminal_there_is_one_line_and_then_none() -> None:
    stream = Terminal()
    with ProgressLine(stream) as progress:
        progress(1, 2, "a")
        progress(2, 2, "b")
    assert stream.getvalue() == f"{CLEAR}1/2 (50%) a{CLEAR}2/2 (100%) b{CLEAR}"


def test_without_a_report_nothing_is_written() -> None:
    stream = Terminal()
    with ProgressLine(stream):
        pass
    assert stream.getvalue() == ""
