"""A table of many small rows as one test: `@rows(...)` stands where `@pytest.mark.parametrize(...)` would.

Each item of pytest costs a millisecond, in four workers and in the process that hears of it, which is more than such a
row takes. All rows run, each coroutine on a loop of its own; then the rows that failed are named, with their errors.
For tests that take no fixtures: several tables multiply, as they do with `parametrize`.
"""

import asyncio
import functools
import inspect
import itertools
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import Any

LIMIT_SECONDS = 30.0
MAX_NAME = 120

Row = dict[str, Any]
Table = tuple[Callable[..., Any], list[Row]]


def rows(
    names: str | Sequence[str], values: Iterable[Any], ids: Iterable[str] = ()
) -> Callable[[Callable[..., Any]], Callable[[], None]]:
    """Run a test for each of the values; `ids` are the names of the rows, which else are what they hold."""
    more = [_row(names, value, name) for value, name in itertools.zip_longest(values, ids)]

    def of(test: Callable[..., Any]) -> Callable[[], None]:
        inner, before = _table_of(test)
        return _as_one((inner, [{**last, **first} for last in more for first in before]))

    return of


def _table_of(test: Callable[..., Any]) -> Table:
    """Find the table that a test is already, or the one row of any other."""
    found: Table = getattr(test, "_table", (test, [{}]))
    return found


def on_a_loop(test: Coroutine[Any, Any, None]) -> None:
    """Run a coroutine on a loop of its own, bounded."""

    async def bounded() -> None:
        async with asyncio.timeout(LIMIT_SECONDS):
            await test

    asyncio.run(bounded())


def _row(names: str | Sequence[str], value: Any, name: str | None) -> Row:
    given = {names: value} if isinstance(names, str) else dict(zip(names, value, strict=True))
    said = name if name is not None else ", ".join(f"{each}={what!r}" for each, what in given.items())
    return {**given, f"row {'/'.join(given)}": said}


def _as_one(table: Table) -> Callable[[], None]:
    test, all_rows = table
    assert all_rows, "a table without rows shows nothing"

    @functools.wraps(test)
    def run() -> None:
        failed = [error for row in all_rows if (error := _failure(test, row)) is not None]
        if failed:
            raise BaseExceptionGroup(f"{len(failed)} of {len(all_rows)} rows failed", failed)

    run.__signature__ = inspect.Signature()  # type: ignore[attr-defined]  # pytest takes what it names for fixtures
    run._table = table  # type: ignore[attr-defined]
    return run


def _failure(test: Callable[..., Any], row: Row) -> BaseException | None:
    try:
        done = test(**{name: value for name, value in row.items() if not name.startswith("row ")})
        if inspect.iscoroutine(done):
            on_a_loop(done)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:  # noqa: BLE001  # whatever ends a row is told, and those after it run
        said = "; ".join(value for name, value in row.items() if name.startswith("row "))
        error.add_note(f"in the row {said[:MAX_NAME]}")
        return error
    return None
