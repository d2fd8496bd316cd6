"""Says what to do when the peers are not there."""

from pathlib import Path

import pytest

from interop.peer import NODE, peer_python
from interop.setup_peers import PYTHON_PINS


def pytest_collection_modifyitems() -> None:
    """Fail at once and clearly, instead of in every test."""
    if not all(path.exists() for path in (NODE, *(Path(peer_python(each)) for each in PYTHON_PINS))):
        pytest.exit("the peers are not installed: run `python tests/interop/setup_peers.py`", returncode=1)
