"""One conversation in two faces at once: `splice host chat --web`, a terminal and a real browser."""

import os
import pty
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, expect

LIMIT = 30.0

SERVER = """
from splice import Server

server = Server("kit")


@server.tool
def add(a: int, b: int) -> int:
    "Add two numbers."
    return a + b


server.run()
"""


class Terminal:
    """What a person at the terminal sees, and types."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._text = ""
        self._came = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        while True:
            try:
                data = os.read(self._number, 65_536)
            except OSError:
                return
            with self._came:
                self._text += data.decode()
                self._came.notify_all()

    def type(self, line: str) -> None:
        os.write(self._number, f"{line}\n".encode())

    def until(self, pattern: str) -> re.Match[str]:
        """Wait for something that was not read yet, and read on behind it."""
        end = time.monotonic() + LIMIT
        with self._came:
            while (found := re.search(pattern, self._text)) is None:
                assert self._came.wait(end - time.monotonic()), f"{pattern} did not come; {self._text}"
            self._text = self._text[found.end() :]
            return found


@contextmanager
def chat(folder: Path) -> Iterator[Terminal]:
    (folder / "kit.py").write_text(SERVER, encoding="utf-8")
    environment = {**os.environ, "SPLICE_HOME": str(folder / "home"), "BROWSER": "true"}
    splice = [sys.executable, "-m", "splice.cli", "host"]
    adding = [*splice, "mcp", "add", "kit", "--", sys.executable, str(folder / "kit.py")]
    subprocess.run(adding, env=environment, cwd=folder, check=True, timeout=LIMIT, capture_output=True)
    ours, theirs = pty.openpty()
    command = [*splice, "chat", "--web", "--plain", "--model", "demo"]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, cwd=folder) as process:
        os.close(theirs)
        try:
            yield Terminal(ours)
        finally:
            os.write(ours, b"\x04")
            assert process.wait(LIMIT) == 0
            os.close(ours)


def test_what_one_face_asks_the_other_answers(tmp_path: Path, browser: Browser) -> None:
    with chat(tmp_path) as terminal:
        link = terminal.until(r"http://\S+(?=,)")[0]
        page = browser.new_page()
        page.set_default_timeout(LIMIT * 1000)
        page.goto(link)
        terminal.until("/help lists")
        terminal.type("call kit.add a=2 b=3")
        card = page.locator("[data-question]")
        expect(card).to_contain_text("add")
        page.wait_for_selector("[data-fresh]", state="detached")
        card.get_by_role("button", name="Allow once").click()
        terminal.until(r"(?s)(?=.*This question is over: [^\n]*web).*Tool 1, kit add: done")
        expect(page.locator(".thread")).to_contain_text("call kit.add a=2 b=3")
        page.get_by_role("textbox").first.fill("call kit.add a=20 b=30")
        page.keyboard.press("Enter")
        terminal.until("allow kit add")
        expect(card).to_contain_text("30")
        terminal.until("Answer once")
        page.wait_for_timeout(500)  # what is typed before the question can be read is no answer
        terminal.type("once")
        terminal.until("Allowed once")
        expect(card).to_have_count(0)
        terminal.until("Tool 1, kit add: done")
        page.close()
