"""The activity log for other programs and other people: as JSON lines, and as a page of HTML.

The page stands alone: no script, nothing loaded, and every text of a server is escaped, invisible characters too.
"""

import time
from collections.abc import Iterable
from html import escape

import msgspec

from splice.host.records.activity import Record
from splice.host.text import as_json, one_line

_STYLE = (
    "body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color-scheme:light dark}"
    "table{border-collapse:collapse;width:100%}th,td{text-align:left;vertical-align:top;padding:.4rem .6rem;"
    "border-bottom:1px solid #8884}pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;font-size:13px}"
)
TOP = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Activity</title>'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
    f"<style>{_STYLE}</style></head><body><h1>Activity</h1><table>"
    "<thead><tr><th>No.</th><th>Time</th><th>Kind</th><th>Server</th><th>What</th></tr></thead><tbody>"
)
END = "</tbody></table></body></html>\n"
"""What stands around the rows of a page."""


def jsonl(records: Iterable[Record]) -> str:
    """Write records as JSON, one in a line."""
    return "".join(f"{msgspec.json.encode(record).decode()}\n" for record in records)


def html(records: Iterable[Record]) -> str:
    """Write records as a page."""
    return TOP + "".join(map(row, records)) + END


def row(record: Record) -> str:
    """Write a record as a row of the page."""
    at = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(record.at))
    cells = "".join(
        f"<td>{escape(each)}</td>" for each in (str(record.number), at, record.kind, one_line(record.server))
    )
    return f"<tr>{cells}<td><pre>{escape(as_json(record.facts))}</pre></td></tr>"
