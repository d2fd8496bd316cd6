"""What a program supplies to a login: a text, a file, a function."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from splice.auth.errors import AuthorizationFailed
from splice.auth.login.steps import Source, Supply
from splice.auth.login.supplies import supplied


async def from_a_coroutine() -> str:
    await asyncio.sleep(0)
    return "abc"


class Asynchronous:
    async def __call__(self) -> str:
        return "abc"


async def supply(source: Source | Any) -> str:
    return await supplied(Supply(source, "the assertion"))


@pytest.mark.parametrize("source", ["abc", " abc\n", lambda: "abc", from_a_coroutine, Asynchronous()])
def test_a_text_comes_from_many_sources(source: Source) -> None:
    assert asyncio.run(supply(source)) == "abc"


def test_a_file_is_read_anew_each_time(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("one\n")
    assert asyncio.run(supply(path)) == "one"
    path.write_text("two\n")
    assert asyncio.run(supply(path)) == "two"


def test_a_function_may_block() -> None:
    threads: list[int] = []

    def slow() -> str:
        threads.append(threading.get_ident())
        return "abc"

    asyncio.run(supply(slow))
    assert threads != [threading.get_ident()]


@pytest.mark.parametrize("found", ["", " ", "a b", "a\r\nb", "é", "x" * 70_000, None, 5, b"abc"])
def test_what_is_not_a_token_is_refused(found: Any) -> None:
    with pytest.raises(AuthorizationFailed, match="the assertion is not one") as caught:
        asyncio.run(supply(lambda: found))
    assert "abc" not in str(caught.value)


def test_a_file_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(AuthorizationFailed, match="the assertion cannot be read: No such file"):
        asyncio.run(supply(tmp_path / "none"))
    (tmp_path / "binary").write_bytes(b"\xff\x00")
    with pytest.raises(AuthorizationFailed, match="the assertion cannot be read: the file is not text"):
        asyncio.run(supply(tmp_path / "binary"))
    (tmp_path / "huge").write_bytes(b"x" * 100_000)
    with pytest.raises(AuthorizationFailed, match="the assertion is not one"):
        asyncio.run(supply(tmp_path / "huge"))


def test_a_function_that_fails_is_named_by_its_error() -> None:
    def fail() -> str:
        raise RuntimeError("token s3cret")

    with pytest.raises(AuthorizationFailed, match="its function raised RuntimeError") as caught:
        asyncio.run(supply(fail))
    assert "s3cret" not in str(caught.value)
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_a_step_does_not_show_its_source() -> None:
    assert repr(Supply("s3cret", "the assertion")) == "Supply('the assertion')"
