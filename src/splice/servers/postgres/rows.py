"""Rows as JSON: capped, and saying so."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

from splice.servers.records import MAX_BYTES, as_json, record, unique
from splice.servers.told import told


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
        values, cut, size = record(page.columns, row, _shown)
        self._size += size
        if len(page.rows) >= self._limit or (page.rows and self._size > MAX_BYTES):
            page.is_cut = True
            return False
        page.rows.append(values)
        page.cut_values += cut
        return True


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
    return told(page, as_json(page.rows), *([" ".join(said)] if said else ()))


def changed(affected: int, status: str, page: Page) -> Changed:
    """Make the result of a tool that changed rows."""
    change = Changed(affected, status, page.rows)
    returned = [as_json(page.rows)] if page.rows else []
    return told(change, as_json([{"affected_rows": affected, "status": status}]), *returned)


def _shown(value: Any, most: int) -> tuple[Any, bool]:
    """Give a value as JSON has it, and whether it was cut."""
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity", False
    if isinstance(value, str) and len(value) > most:
        return f"{value[:most]}... ({len(value)} characters)", True
    if isinstance(value, (dict, list)):
        text = as_json(cast("Any", value))
        if len(text) > most:
            return f"{text[:most]}... ({len(text)} characters)", True
    return cast("Any", value), False
