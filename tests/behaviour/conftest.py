"""Behaviour: one scenario, one test, run over every transport and in every version.

A test names the requirements it shows to hold, by their numbers in `requirements.toml`.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from types import ModuleType
from typing import Any, TypeAlias

import pytest

from splice import Client, StdioServer
from splice.types import VERSIONS
from support import behaving_server
from support.listening import listening
from support.warm import warm_python

Connect: TypeAlias = Callable[..., AbstractAsyncContextManager[Client]]
"""Opens a client of a new server; the options are those of `Client`."""

TRANSPORTS = ("memory", "stdio", "http")


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


@pytest.fixture(params=TRANSPORTS)
def transport(request: pytest.FixtureRequest) -> str:
    value: str = request.param
    return value


@pytest.fixture
def served() -> ModuleType:
    """Name the program that `connect` reaches, with a `build` that makes its server. A file may name another one."""
    return behaving_server


@pytest.fixture
def connect(transport: str, version: str, served: ModuleType) -> Connect:
    @asynccontextmanager
    async def connected(**options: Any) -> AsyncIterator[Client]:
        options = {"protocol": version, "timeout": 5.0, **options}
        if transport == "http":
            app = served.build().http_app()
            async with listening(app) as url, Client(url, **options) as client:
                yield client
            return
        program = StdioServer(warm_python(), str(served.__file__))
        async with Client(program if transport == "stdio" else served.build(), **options) as client:
            yield client

    return connected
