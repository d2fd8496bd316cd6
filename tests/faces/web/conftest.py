"""One browser for all tests, a context of its own for each."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from faces.web.face import chromium


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened
