"""Rows as JSON: capped, and saying so."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeVar, cast

from splice.types import CallToolResult, TextContent

MAX_BYTES = 200_000
"""How long the rows of a result may be as JSON, about."""

MAX_CELL = 20_000
"""How many characters of a value are shown."""

T = TypeVar("T")


@dataclass
class Page:
    """The first rows of a result."""

    columns: Annotated[list[str], "Names of the columns, made unique; none if there are no rows"] = field(
        default_factory=list[str]
    )
    rows: Annotated[list[dict[str, Any]], "The rows: values by column"] = field(default_factory=list[dict[str, Any]])
    is_cut: Annotated[bool, "There are more rows"] = False
    cut_values: Annotated[int, "How many long values are shown in part"] = 0


@dataclass
class Changed:
    """What a statement did."""

    affected_rows: Annotated[int, "How many rows were inserted, updated or deleted"]
    status: Annotated[str, "What PostgreSQL says it did"]
    returned: Annotated[list[dict[str, Any]], "The rows of its RETURNING clause"]


class Shelf:
    """Takes rows until there is no more room for them."""

    def __init__(self, limit: int) -> None:
        self.page = Page()
        self._limit = limit
        self._size = 0

    def put(self, names: Sequence[str], row: Sequence[Any]) -> bool:
        """Take a row; False if it does not fit any more."""
        page = self.page
        page.columns = page.columns or unique(names)
        record, cut, size = _record(page.columns, row)
        self._size += size
        if len(page.rows) >= self._limit or (page.rows and self._size > MAX_BYTES):
            page.is_cut = True
            return False
        page.rows.append(record)
        page.cut_values += cut
        return True


def unique(names: Sequence[str]) -> list[str]:
    """Give columns of one name names of their own: a, a:1, a:2."""
    taken: dict[str, None] = {}
    for name in names:
        candidate, number = name, 0
        while candidate in taken:
            number += 1
            candidate = f"{name}:{number}"
        taken[candidate] = None
    return list(taken)


def answer(page: Page) -> Page:
    """Make the result of a tool: the rows as text, then in words what is missing from them; all of it structured."""
    said: list[str] = []
    if page.is_cut:
        said.append(
            f"These are the first {len(page.rows)} rows; there are more. Go on with ORDER BY and OFFSET, or ask for "
            "fewer: WHERE, GROUP BY, an aggregate."
        )
    if page.cut_values:
        said.append(f"{page.cut_values} long values are shown in part: ask for pieces of them with substr().")
    return _result(page, page.rows, " ".join(said))


def changed(affected: int, status: str, page: Page) -> Changed:
    """Make the result of a tool that changed rows."""
    change = Changed(affected, status, page.rows)
    returned = json.dumps(page.rows, ensure_ascii=False) if page.rows else ""
    return _result(change, [{"affected_rows": affected, "status": status}], returned)


def _result(structured: T, shown: Any, said: str) -> T:
    """Put texts beside what is structured. The annotation gives the tool its output schema; a result may replace it."""
    texts = [json.dumps(shown, ensure_ascii=False), *([said] if said else ())]
    result = CallToolResult(content=[TextContent(text=text) for text in texts], structured_content=structured)
    return cast("T", result)


def _record(names: Sequence[str], row: Sequence[Any]) -> tuple[dict[str, Any], int, int]:
    """Give a row as JSON has it, how many of its values were cut, and how long it is.

    Where long values do not fit beside each other, each gets its share of the room.
    """
    record, cut, size = _cut(names, row, MAX_CELL)
    return (record, cut, size) if size <= MAX_BYTES else _cut(names, row, min(MAX_CELL, MAX_BYTES // len(row)))


def _cut(names: Sequence[str], row: Sequence[Any], most: int) -> tuple[dict[str, Any], int, int]:
    shown = [_shown(value, most) for value in row]
    record = dict(zip(names, (value for value, _ in shown), strict=True))
    return record, sum(is_cut for _, is_cut in shown), len(json.dumps(record, ensure_ascii=False))


def _shown(value: Any, most: int) -> tuple[Any, bool]:
    """Give a value as JSON has it, and whether it was cut."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity", False
    if isinstance(value, str) and len(value) > most:
        return f"{value[:most]}... ({len(value)} characters)", True
    if isinstance(value, (dict, list)):
        text = json.dumps(cast("Any", value), ensure_ascii=False)
        if len(text) > most:
            return f"{text[:most]}... ({len(text)} characters)", True
    return cast("Any", value), False
