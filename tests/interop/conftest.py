"""Says what to do when the peers are not there."""

import pytest

from interop.peer import NODE, PYTHON


def pytest_collection_modifyitems() -> None:
    """Fail at once and clearly, instead of in every test."""
    if not (NODE.exists() and PYTHON.exists()):
        pytest.exit("the peers are not installed: run `python tests/interop/setup_peers.py`", returncode=1)
