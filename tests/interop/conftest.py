"""Says what to do when the peers are not there, and runs the PostgreSQL that tests share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.fuzz_postgres import SHOP
from interop.peer import NODE, peer_python
from interop.postgres import postgres
from interop.setup_peers import PYTHON_PINS, postgres_bin


def pytest_collection_modifyitems() -> None:
    """Fail at once and clearly, instead of in every test."""
    programs = (NODE, *(Path(peer_python(each)) for each in PYTHON_PINS))
    if postgres_bin() is None or not all(path.exists() for path in programs):
        pytest.exit("the peers are not installed: run `python tests/interop/setup_peers.py`", returncode=1)


EXAMPLE = [
    *SHOP,
    "CREATE ROLE spy LOGIN PASSWORD 'spy' IN ROLE pg_read_server_files",
    "CREATE TABLE kinds(a int, b text, c numeric, d timestamptz, e jsonb, f int[], g bytea, h float8, i date, j uuid)",
    "INSERT INTO kinds VALUES (1, 'x', 1.5, 'infinity', '{\"k\": [1]}', '{1,2}', '\\x00ff', 'NaN', '4713-01-01 BC')",
    "GRANT SELECT ON kinds TO reader",
]


@pytest.fixture(scope="session")
def admin() -> Iterator[str]:
    """Run PostgreSQL; the value is the connection string of its superuser."""
    with postgres(EXAMPLE) as dsn:
        yield dsn
