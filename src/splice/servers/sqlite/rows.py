"""Rows as JSON: capped, and saying so.

A value that JSON lacks becomes one that it has: a BLOB is `{"base64": ..., "bytes": ...}`, an infinite number a text.
"""

import base64
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from splice.servers.records import MAX_BYTES, as_json, record, unique
from splice.servers.told import told


@dataclass
class Page:
    """Some rows of a result."""

    columns: Annotated[list[str], "Names of the columns, made unique"]
    rows: Annotated[list[dict[str, Any]], "The rows: values by column"]
    next_offset: Annotated[int | None, "Where the next rows begin; null if these are the last"] = None
    cut_values: Annotated[int, "How many long values are shown in part"] = 0


@dataclass
class Changed:
    """What a statement did."""

    affected_rows: Annotated[int, "How many rows were inserted, updated or deleted"]
    returned: Annotated[list[dict[str, Any]] | None, "The rows of its RETURNING clause, if it has one"] = None


class Cursor(Protocol):
    """What is needed of a cursor."""

    @property
    def description(self) -> Any:
        """The columns, each a sequence that begins with its name; None for a statement that returns no rows."""

    def __iter__(self) -> Iterator[Any]:
        """Give the rows."""
        ...


def collected(cursor: Cursor, limit: int, offset: int, *, to_the_end: bool = False) -> Page:
    """Take up to `limit` rows behind the first `offset`. With `to_the_end` the others are passed over, not left."""
    names = unique([column[0] for column in cursor.description or ()])
    page, size, passed = Page(names, []), 0, 0
    for row in cursor:
        passed += 1
        if passed <= offset or page.next_offset is not None:
            continue
        values, cut, length = record(names, row, _shown)
        size += length
        if len(page.rows) >= limit or (page.rows and size > MAX_BYTES):
            page.next_offset = offset + len(page.rows)
            if not to_the_end:
                break
        else:
            page.rows.append(values)
            page.cut_values += cut
    return page


def answer(page: Page) -> Page:
    """Make the result of a tool: the rows as text, then in words what is missing from them; all of it structured."""
    return told(page, as_json(page.rows), *filter(None, [note(page)]))


def changed(affected: int, page: Page) -> Changed:
    """Make the result of a tool that changed rows."""
    change = Changed(affected, page.rows if page.columns else None)
    returned = [] if change.returned is None else [as_json(change.returned)]
    return told(change, as_json([{"affected_rows": affected}]), *returned)


def note(page: Page) -> str | None:
    """Say in words what a page leaves out."""
    said: list[str] = []
    if page.next_offset is not None:
        said.append(
            f"There are more rows: call again with offset={page.next_offset} (and an ORDER BY), or ask for fewer."
        )
    if page.cut_values:
        said.append(f"{page.cut_values} long values are shown in part: ask for pieces of them with substr().")
    return " ".join(said) or None


def _shown(value: Any, most: int) -> tuple[Any, bool]:
    """Give a value as JSON has it, and whether it was cut."""
    match value:
        case float() if not math.isfinite(value):
            return "Infinity" if value > 0 else "-Infinity", False
        case str() if len(value) > most:
            return f"{value[:most]}... ({len(value)} characters)", True
        case bytes():
            return {"base64": base64.b64encode(value[:most]).decode(), "bytes": len(value)}, len(value) > most
        case _:
            return value, False
