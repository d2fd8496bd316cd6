"""What users can add to Splice, shown with its public names only."""

import pytest

ERAS = ("2025-11-25", "2026-07-28")


@pytest.fixture(params=ERAS)
def version(request: pytest.FixtureRequest) -> str:
    """Run over a version of each era."""
    value: str = request.param
    return value
