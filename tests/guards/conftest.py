"""Names the files above the soft size limit after each run of the guards."""

import pytest

from guards.source import sources

FILE_LINES_SOFT = 400


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tell, without failing: such a file is worth a look before it grows further."""
    for source in sources():
        size = len(source.text.splitlines())
        if size > FILE_LINES_SOFT:
            terminalreporter.write_line(f"{source.name} has {size} lines (soft limit {FILE_LINES_SOFT})")
