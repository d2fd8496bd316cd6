"""The web face of a real host: engine, servers of this process, a script in the place of a model, and a browser."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn
from playwright.sync_api import Browser, BrowserContext, Page

from splice.host.host import Host
from splice.host.models.script import ScriptModel
from splice.host.web.app import Web
from splice.host.web.door import Door
from splice.transports.http.listener import bound

LIMIT = 20


class Running:
    """A host that is served on a loop of its own."""

    def __init__(self, home: Path, servers: dict[str, Any], turns: tuple[dict[str, Any], ...]) -> None:
        self.host = Host.from_config(servers=servers, cwd=home, home=home, model=ScriptModel(turns))
        self._listening = bound("127.0.0.1", 0)
        self._port: int = self._listening.getsockname()[1]
        self._ended = False
        self._contexts: list[BrowserContext] = []
        self.faults: list[str] = []
        self._loop: asyncio.AbstractEventLoop
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        assert self._is_up.wait(LIMIT)

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        web = Web(self.host, is_over=lambda: self._ended)
        self._door = Door(web.app, self._port)
        config = uvicorn.Config(self._door, log_level="critical", ws="none", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        async with self.host:
            self._is_up.set()
            await self._server.serve(sockets=[self._listening])

    def do(self, work: Coroutine[Any, Any, Any]) -> Any:
        """Let something happen where the host runs."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(LIMIT)

    def call(self, act: Callable[[], Any]) -> Any:
        """Call something where the host runs."""

        async def acted() -> Any:
            return act()

        return self.do(acted())

    def opened(self, browser: Browser, *, width: int = 1280) -> Page:
        """Open it by its link, in a browser of its own."""
        context = browser.new_context(viewport={"width": width, "height": 800})
        self._contexts.append(context)
        context.set_default_timeout(LIMIT * 1000 / 2)
        page = context.new_page()
        page.on("pageerror", lambda error: self.faults.append(str(error)))
        page.goto(f"http://127.0.0.1:{self._port}/?token={self._door.token}")
        page.wait_for_selector(".app, .welcome")
        return page

    def second(self) -> Page:
        """Open one more page in the same browser."""
        page = self._contexts[-1].new_page()
        page.goto(f"http://127.0.0.1:{self._port}/")
        page.wait_for_selector(".app, .welcome")
        return page

    def close(self) -> None:
        """Close the browsers, the server and the host."""
        for context in self._contexts:
            context.close()
        self._ended = self._server.should_exit = True
        self._thread.join(LIMIT)
        assert not self._thread.is_alive()
        self._listening.close()


@contextmanager
def engine(home: Path, servers: dict[str, Any], *turns: dict[str, Any]) -> Iterator[Running]:
    """Run a host whose model plays these turns, with its web face."""
    running = Running(home, servers, turns)
    try:
        yield running
    finally:
        running.close()
    assert not running.faults
