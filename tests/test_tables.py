"""The helper that makes one test of a table: what fails in it is as easy to see as in a test of its own."""

import asyncio
from typing import Any

import pytest

from support.tables import rows


def failures(test: Any) -> list[tuple[BaseException, list[str]]]:
    """Run a table; its errors, with what they say of their row."""
    with pytest.raises(BaseExceptionGroup) as caught:
        test()
    return [(error, error.__notes__) for error in caught.value.exceptions]


def test_all_rows_run_and_those_that_fail_are_named() -> None:
    ran: list[int] = []

    @rows("number", range(5))
    def odd(number: int) -> None:
        ran.append(number)
        assert number % 2, f"{number} is even"

    found = failures(odd)
    assert ran == [0, 1, 2, 3, 4]
    assert [str(error).splitlines()[0] for error, _ in found] == ["0 is even", "2 is even", "4 is even"]
    assert [notes for _, notes in found] == [[f"in the row number={number}"] for number in (0, 2, 4)]


def test_tables_multiply_and_rows_may_have_names() -> None:
    seen: list[tuple[Any, ...]] = []

    @rows("version", ["old", "new"], ids=["an old one", "a new one"])
    @rows(("a", "b"), [(1, "x"), (2, "y")])
    def test(a: int, b: str, version: str) -> None:
        seen.append((version, a, b))
        assert (version, a) != ("new", 2)

    ((_, notes),) = failures(test)
    assert seen == [("old", 1, "x"), ("old", 2, "y"), ("new", 1, "x"), ("new", 2, "y")]
    assert len(notes) == 1
    assert "a=2, b='y'" in notes[0]
    assert "a new one" in notes[0]


def test_coroutines_run_to_their_end_each_on_a_loop_of_its_own() -> None:
    loops: list[Any] = []

    @rows("number", [1, 2, 3])
    async def test(number: int) -> None:
        await asyncio.sleep(0)
        loops.append(asyncio.get_running_loop())
        assert number != 2

    ((_, notes),) = failures(test)
    assert notes == ["in the row number=2"]
    assert len({id(loop) for loop in loops}) == 3
    assert all(loop.is_closed() for loop in loops)


@pytest.mark.parametrize("fault", [lambda: pytest.fail("no"), lambda: pytest.skip("no"), lambda: int("x")])
def test_whatever_does_not_pass_is_a_failure(fault: Any) -> None:
    @rows("number", [1, 2])
    def test(number: int) -> None:
        if number == 2:
            fault()

    ((_, notes),) = failures(test)
    assert notes == ["in the row number=2"]


def test_what_raises_nothing_is_a_failure() -> None:
    @rows("number", [1])
    def test(number: int) -> None:
        with pytest.raises(ValueError, match="never"):
            str(number)

    assert len(failures(test)) == 1


def test_a_table_without_rows_is_refused() -> None:
    with pytest.raises(AssertionError, match="without rows"):
        rows("number", [])(print)


def test_marks_stay_and_nothing_is_taken_for_a_fixture() -> None:
    @rows("number", [1])
    @pytest.mark.filterwarnings("error")
    def test(number: int) -> None:
        assert number

    assert [mark.name for mark in test.pytestmark] == ["filterwarnings"]  # type: ignore[attr-defined]
    test()


def test_pytest_shows_the_row_and_its_error() -> None:
    @rows("number", range(50))
    def test(number: int) -> None:
        assert 2 * number != 84, "the answer"

    with pytest.raises(BaseExceptionGroup, match="1 of 50 rows failed") as caught:
        test()
    shown = str(caught.getrepr())
    assert "the answer" in shown
    assert "in the row number=42" in shown
