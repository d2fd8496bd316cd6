"""What counts as an effect, and whose it is."""

import os
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from splice.cli.effects import NOWHERE, effect_of, line_of, outwards, statement_of, waiting
from support.tables import rows

HERE = SimpleNamespace(host="shop.example")


@rows(
    ("event", "arguments", "told"),
    [
        ("open", ("a.txt", "w", os.O_WRONLY | os.O_CREAT), "opens 'a.txt' for writing"),
        ("open", (b"a.txt", None, os.O_RDWR), "opens b'a.txt' for writing"),
        ("open", ("a.txt", "r", os.O_RDONLY | os.O_CLOEXEC), None),
        ("open", (3, "w", os.O_WRONLY), None),
        ("open", (os.devnull, "w", os.O_WRONLY), None),
        ("os.symlink", ("a.txt", "b.txt", -1), "makes the link 'b.txt'"),
        ("os.kill", (12, 15), "sends a signal to process 12"),
        ("subprocess.Popen", ("git", ["git", "push"], None, None), "starts 'git'"),
        ("os.spawn", (0, "git", [], {}), "starts 'git'"),
        ("socket.connect", (None, ("127.0.0.1", 80)), "connects to ('127.0.0.1', 80)"),
        ("http.client.send", (HERE, b"POST /items HTTP/1.1"), "sends to shop.example"),
        ("http.client.send", (HERE, iter([b"cake"])), "sends to shop.example"),
        ("http.client.send", (HERE, b"GET /items HTTP/1.1"), None),
        ("os.listdir", (".",), None),
        ("import", ("wave", None, [], [], []), None),
    ],
)
def test_an_effect_is_told_in_words(event: str, arguments: tuple[Any, ...], told: str | None) -> None:
    assert effect_of(event, arguments) == told


@pytest.mark.parametrize(
    ("sql", "told"),
    [
        ("INSERT INTO sold VALUES ('secret')", "changes a database (INSERT)"),
        (" update sold SET name = ''", "changes a database (UPDATE)"),
        ("WITH old AS (SELECT 1)\nDELETE FROM sold", "changes a database (DELETE)"),
        ("SELECT * FROM deleted", None),
        ("BEGIN", None),
        ("CREATE TABLE IF NOT EXISTS sold (name TEXT)", None),
        ("", None),
    ],
)
def test_a_statement_is_told_without_its_values(sql: str, told: str | None) -> None:
    assert statement_of(sql) == told


def frame_of(file: str) -> Any:
    return SimpleNamespace(f_code=SimpleNamespace(co_filename=file, co_name="f"), f_lineno=7)


STDLIB = os.__file__.removesuffix("os.py")
SPLICE = sys.modules["splice"].__file__ or ""


@pytest.mark.parametrize(
    ("files", "event", "found"),
    [
        (["/home/ann/shop.py"], "open", "/home/ann/shop.py"),
        ([f"{STDLIB}pathlib.py", "<frozen os>", "/home/ann/shop.py", "/home/ann/late.py"], "open", "/home/ann/shop.py"),
        ([f"{STDLIB}site-packages/aiofiles/os.py", "/home/ann/shop.py"], "open", "/home/ann/shop.py"),
        ([SPLICE, "/home/ann/shop.py"], "open", None),
        (["<frozen importlib._bootstrap_external>", "/home/ann/shop.py"], "open", None),
        ([f"{STDLIB}logging/__init__.py", "/home/ann/shop.py"], "open", None),
        ([f"{STDLIB}http/client.py", "/home/ann/shop.py"], "socket.connect", None),
        ([f"{STDLIB}http/client.py", "/home/ann/shop.py"], "http.client.send", "/home/ann/shop.py"),
        ([f"{STDLIB}threading.py"], "open", ""),
        ([], "open", ""),
    ],
)
def test_the_innermost_line_of_the_user_has_it(files: list[str], event: str, found: str | None) -> None:
    line = line_of(map(frame_of, files), event)
    assert (None if line is None else line.file) == found
    assert (line is NOWHERE) == (found == "")


def test_frames_of_a_call_and_of_what_waits() -> None:
    async def inner() -> None:
        await never()

    async def outer() -> None:
        await inner()

    class never:  # noqa: N801 - it is awaited as a function would be
        def __await__(self) -> Any:
            yield

    assert next(outwards(sys._getframe())).f_code.co_name != "test_frames_of_a_call_and_of_what_waits"
    coroutine = outer()
    coroutine.send(None)
    assert [frame.f_code.co_name for frame in waiting(coroutine)] == ["inner", "outer"]
    coroutine.close()
