"""A real server of the web face over a stage, on a thread of its own, and a browser to look at it."""

import asyncio
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn
from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, Dialog, Page, sync_playwright

from splice.host.asked import Visit
from splice.host.items import Question
from splice.host.web.app import Web
from splice.host.web.door import Door
from splice.transports.http.listener import bound
from support.stage import Stage

CHROMIUM = "chromium"
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-lcd-text",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
LIMIT = 20

SETTLED = """() => document.fonts.status === "loaded" && document.querySelector(".app, .welcome")
    && !document.querySelector("[data-fresh], .skel:not(.said .skel)")
    && [...document.querySelectorAll("use")].every((each) => each.getBBox().width
        || !each.closest("svg").getClientRects().length)
    && !document.getAnimations().some(
    (each) => each.playState === "running" && each.effect.getTiming().iterations !== Infinity)"""
"""Nothing is on its way: questions take clicks, texts and icons have come, what moves once has moved."""

DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
"""Two frames were drawn: icons that came late are on the second."""


class Set(Stage):
    """A stage whose visits can be opened."""

    async def visit(self, question: str) -> None:
        self._tell("visit", question=question)
        asked = self.board.get(question, Question)
        assert asked is not None
        assert isinstance(asked.asked, Visit)
        self.board.change(question, asked=replace(asked.asked, is_opened=True))


class Served:
    """A stage that is served. What changes it runs on the server's own loop."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self._listening = bound("127.0.0.1", 0)
        self.port: int = self._listening.getsockname()[1]
        web = Web(stage, is_over=lambda: self._listening.fileno() == -1, name="trip-planner")
        self.door = Door(web.app, self.port)
        self.origin = f"http://127.0.0.1:{self.port}"
        config = uvicorn.Config(self.door, log_level="critical", ws="none", timeout_graceful_shutdown=1)
        self._server = uvicorn.Server(config)
        self._contexts: list[BrowserContext] = []
        self._loop: asyncio.AbstractEventLoop
        self._is_up = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self._thread.start()
        self._is_up.wait(LIMIT)

    @property
    def link(self) -> str:
        """The address that opens it, once."""
        return f"{self.origin}/?token={self.door.token}"

    async def _run(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._is_up.set()
        await self._server.serve(sockets=[self._listening])

    def do(self, act: Callable[[Stage], Any]) -> Any:
        """Let something happen on the stage."""

        async def acted() -> Any:
            return act(self.stage)

        return asyncio.run_coroutine_threadsafe(acted(), self._loop).result(LIMIT)

    def opened(self, browser: Browser, page: str = "/chat", *, width: int = 1280, **options: Any) -> Page:
        """Open it by its link, in a browser of its own."""
        context = browser.new_context(viewport={"width": width, "height": 800}, **options)
        self._contexts.append(context)
        context.set_default_timeout(LIMIT * 1000 / 2)
        tab = context.new_page()
        self.faults: list[str] = []
        self.requests: list[str] = []
        tab.on("request", lambda request: self.requests.append(request.url))
        tab.on("pageerror", lambda error: self.faults.append(str(error)))
        tab.on("dialog", self._alarmed)
        tab.goto(self.link)
        tab.wait_for_selector(".app, .welcome")
        tab.goto(f"{self.origin}/#{page}")
        return tab

    def _alarmed(self, dialog: Dialog) -> None:
        self.faults.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def break_streams(self) -> None:
        """Cut every connection."""

        async def cut() -> None:
            for each in list(self._server.server_state.connections):
                each.transport.abort()

        asyncio.run_coroutine_threadsafe(cut(), self._loop).result(LIMIT)

    def told(self, name: str, count: int = 1) -> list[dict[str, Any]]:
        """Wait until the page has told so much of a name, and list all of it."""
        end = time.monotonic() + LIMIT
        while len(self.stage.named(name)) < count:
            assert time.monotonic() < end, f"{name} does not come"
            self._contexts[-1].pages[0].wait_for_timeout(20)
        return self.stage.named(name)

    def answers(self, count: int = 0) -> list[Any]:
        """Wait for so many answers, and list all that came."""
        return [each["answer"] for each in self.told("answer", count)]

    def has_answered(self) -> bool:
        """Tell whether the page has sent an answer, wherever that is now."""
        return any("/do/answer" in each for each in self.requests)

    def close(self) -> None:
        """Close the browsers that look at it, and stop serving."""
        for context in self._contexts:
            context.close()
        self._server.should_exit = True
        self._thread.join(LIMIT)
        self._listening.close()


def still(page: Page) -> None:
    """Wait until nothing on the page is on its way any more."""
    page.wait_for_function(SETTLED)
    page.evaluate(DRAWN)


def fresh(page: Page) -> None:
    """Wait for a question, and until it takes answers."""
    page.locator("[role=dialog], [data-question]").first.wait_for()
    still(page)


@contextmanager
def chromium() -> Iterator[Browser]:
    """Open a browser without a window."""
    program = shutil.which(CHROMIUM)
    assert program is not None, f"there is no {CHROMIUM} on the path: tests/interop/setup_peers.py installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def served(*scenes: Callable[[Stage], Any]) -> Iterator[Served]:
    """Serve a stage with scenes on it."""
    stage = Set()
    for scene in scenes:
        scene(stage)
    face = Served(stage)
    try:
        yield face
    finally:
        face.close()
